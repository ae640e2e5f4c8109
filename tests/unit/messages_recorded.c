/* What a process says before it ends, and how it ends, is what it was. */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "recorded.h"

static void
say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(99);
}

static void
clean(void)
{
	say("cleaned\n");
	gv_die("again");
}

static void
flush(void)
{
	say("flushed\n");
}

static void
discard(void)
{
	say("discarded\n");
}

static struct gv_error
errors(size_t n)
{
	struct gv_error e = {0};
	size_t i;

	for (i = 0; i < n; i++)
		gv_error_set(
		    &e, "the %zuth\tof\n\x1b[31m%s", i, i == 1 ? "\xc3\xbc\xff" : "");
	return e;
}

/* Whether the standard error says that it is a terminal. */
static bool terminal;

int
isatty(int fd)
{
	return terminal && fd == STDERR_FILENO;
}

/* Lines of progress, the last one erased by a message or for its own sake. */
static void
progress(size_t n)
{
	char text[400];
	size_t i;

	memset(text, 'x', sizeof(text));
	text[n < 9 ? 4 * n : 225 + 10 * n] = '\0';
	terminal = n != 3;
	gv_progress(NULL);
	for (i = 0; i < n % 4; i++)
		gv_progress("%zu\t\n\x1b[m%s", i, text);
	if (n % 2 == 0)
		gv_progress(NULL);
	gv_warn("a message");
	gv_progress(NULL);
}

/* What is set is said to have failed. */
static void
returned(void)
{
	struct gv_error e = {0};

	gv_warn("%d", gv_error_set(&e, "a"));
	errno = ENOENT;
	gv_warn("%d", gv_error_sys(&e, "b"));
	gv_warn("%d", gv_error_at(&e, "c", 1, NULL, "d"));
	gv_warn_error(&e);
}

enum {
	WARN_ERROR,
	WARN_EACH,
	DIE_ERROR,
	DIE,
	DIE_SYS,
	LONG,
	CLOSED,
	PROGRESS,
	RETURNED,
	KINDS
};

static void
child(int kind, size_t n)
{
	struct gv_error e = errors(n);
	static char long_name[150];
	char text[4000];
	size_t len;
	int fd;

	memset(long_name, 'n', sizeof(long_name) - 1);
	for (fd = 0; kind == CLOSED && fd < 2; fd++)
		if ((n >> fd & 1) != 0)
			close(fd);
	gv_init(n == 12 ? long_name : "prog");
	if (n % 2 == 1) {
		gv_before_message(flush);
		gv_before_death(discard);
		gv_on_die(clean);
	}
	switch (kind) {
	case WARN_ERROR:
		gv_warn_error(&e);
		break;
	case WARN_EACH:
		gv_warn_each(&e);
		break;
	case DIE_ERROR:
		gv_die_error(&e);
	case DIE:
		gv_die("%zu of %s", n, "them");
	case DIE_SYS:
		errno = n < 10 ? ENOENT : EACCES;
		gv_die_sys("%zu of %s", n, "them");
	case LONG:
		len = 380 + 3 * n + (n > 9 ? 1700 : 0);
		memset(text, 'x', len);
		text[len] = '\0';
		gv_error_clear(&e);
		gv_error_at(&e, text + 100, (long)n, "column", "%s", text + 300);
		gv_error_at(&e, NULL, 0, NULL, "%s", text);
		errno = ENOENT;
		gv_error_sys(&e, "%s", text);
		gv_error_set(&e, "behind it");
		gv_warn("%s", text);
		gv_warn_error(&e);
		errno = ENOENT;
		gv_die_sys("%s", text);
	case PROGRESS:
		progress(n);
		break;
	case RETURNED:
		returned();
		break;
	default:
		gv_warn("%s, %zu, %zu", gv_progname(),
		    (size_t)(fcntl(0, F_GETFL) & O_ACCMODE),
		    (size_t)(fcntl(1, F_GETFL) & O_ACCMODE));
	}
	_exit(5);
}

static void
ask(struct recorded *r, int kind, size_t n)
{
	char text[9000];
	size_t len = 0;
	ssize_t got;
	int to[2], status;
	pid_t pid;

	fflush(stdout);
	if (pipe(to) != 0 || (pid = fork()) == -1)
		abort();
	if (pid == 0) {
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(open("/dev/null", O_WRONLY), 1);
		dup2(to[1], STDERR_FILENO);
		close(to[0]);
		close(to[1]);
		child(kind, n);
	}
	close(to[1]);
	while ((got = read(to[0], text + len, sizeof(text) - len)) > 0)
		len += (size_t)got;
	close(to[0]);
	waitpid(pid, &status, 0);
	recorded_bytes(r, text, len);
	recorded_whole(r, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int
main(void)
{
	static const char *const name[KINDS] = {"errors", "warnings", "fatal errors",
	    "fatal", "of the system", "long", "closed", "progress", "returned"};
	static const size_t n[] = {0, 1, 2, 3, 9, 10, 11, 12};
	struct recorded r;
	size_t i;
	int kind;

	recorded_open(&r);
	for (kind = 0; kind < KINDS; kind++)
		for (i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
			ask(&r, kind, n[i]);
			recorded_answer(&r, "%s, %zu", name[kind], n[i]);
		}
	recorded_close(&r);
	return done_testing();
}
