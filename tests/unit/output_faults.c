/* common/base/output: what the system may refuse on the way to a file, and what is left then. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "scratch.h"

/* What fails with this errno; 0 = nothing does. */
static struct {
	int sync, mode, close, rename, write;
	bool in_parts, is_terminal, packing;
	size_t synced;
} fault;

/* Signals held back while the temporary file was made. */
static sigset_t held;

static int
result(int error, int otherwise)
{
	if (error == 0)
		return otherwise;
	errno = error;
	return -1;
}

int
fsync(int fd)
{
	fault.synced++;
	return result(fault.sync, fd >= 0 ? 0 : -1);
}

int
fchmod(int fd, mode_t mode)
{
	int (*real)(int, mode_t);

	*(void **)&real = dlsym(RTLD_NEXT, "fchmod");
	return result(fault.mode, fault.mode != 0 ? -1 : real(fd, mode));
}

int
close(int fd)
{
	int (*real)(int);

	*(void **)&real = dlsym(RTLD_NEXT, "close");
	return result(fault.close, real(fd));
}

int
rename(const char *from, const char *to)
{
	return result(
	    fault.rename, fault.rename != 0 ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to));
}

ssize_t
write(int fd, const void *b, size_t n)
{
	static unsigned turn;
	struct iovec v = {(void *)(uintptr_t)b, n};

	if (fault.write != 0 && fd > 2)
		return result(fault.write, -1);
	if (fault.in_parts && ++turn % 3 == 0)
		return result(EINTR, -1);
	if (fault.in_parts && n > 7)
		v.iov_len = n / 3;
	return writev(fd, &v, 1);
}

int
mkstemp(char *name)
{
	int (*real)(char *);

	*(void **)&real = dlsym(RTLD_NEXT, "mkstemp");
	pthread_sigmask(SIG_BLOCK, NULL, &held);
	return real(name);
}

int
deflateInit2_(z_stream *z, int level, int method, int bits, int memory, int strategy,
    const char *version, int size)
{
	int (*real)(z_stream *, int, int, int, int, int, const char *, int);

	*(void **)&real = dlsym(RTLD_NEXT, "deflateInit2_");
	return fault.packing ? Z_MEM_ERROR
			     : real(z, level, method, bits, memory, strategy, version, size);
}

int
isatty(int fd)
{
	return fd >= 0 && fault.is_terminal;
}

static void
is_file(const char *path, const char *want, const char *what)
{
	char buf[4096];
	FILE *f = fopen(path, "r");
	size_t n = f != NULL ? fread(buf, 1, sizeof(buf) - 1, f) : 0;

	buf[n] = '\0';
	if (f != NULL)
		fclose(f);
	is_str(f != NULL ? buf : "none", want, "%s", what);
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* ---- one thing fails ---- */

/* A file "old" that is there is written anew; how it ends, and what is said. */
static void
replaced(const char *want, const char *what)
{
	struct gv_error e = {0};
	struct gv_out *out;
	int got;

	scratch_file("old", "old\n", 4);
	if (gv_out_open(&out, "old", &e) != 0)
		gv_die_error(&e);
	gv_out_str(out, "new\n");
	got = gv_out_close(out, &e);
	memset(&fault, 0, sizeof(fault));
	is_int(got, want[0] == '\0' ? 0 : -1, "%s: %s", what, got == 0 ? "good" : "not");
	is_str(e.count > 0 ? e.text[0] : "", want, "%s: what is said", what);
	is_file("old", want[0] == '\0' ? "new\n" : "old\n", what);
	ok(unlink("old") == 0 && rmdir(".") != 0, "%s: no more", what);
}

static void
test_faults(void)
{
	fault.sync = EIO;
	replaced("old: cannot write: Input/output error", "it is not on the disk");
	fault.sync = EINVAL;
	replaced("", "what cannot be synced");
	fault.sync = EROFS;
	replaced("", "or cannot be on this file system");
	fault.mode = EPERM;
	replaced("old: cannot write: Operation not permitted", "without its mode");
	fault.close = EDQUOT;
	replaced("old: cannot write: Disk quota exceeded", "refused when it is closed");
	fault.rename = EXDEV;
	replaced("old: cannot write: Invalid cross-device link", "without its name");
	fault.write = ENOSPC;
	replaced("old: cannot write: No space left on device", "a full disk");
	ok(fault.synced == 0, "nothing is synced by then");
	fault.sync = EIO;
	fault.mode = EPERM;
	fault.close = EDQUOT;
	fault.rename = EXDEV;
	replaced("old: cannot write: Input/output error", "the first of all");
	fault.write = ENOSPC;
	fault.sync = EIO;
	replaced("old: cannot write: No space left on device", "not what comes behind");
	fault.in_parts = true;
	replaced("", "in parts, interrupted");
}

/* Where there is no memory to pack it. */
static void
test_packing(void)
{
	struct gv_out *out = gv_stdout();
	struct gv_error e = {0};

	fault.packing = true;
	is_int(gv_out_open(&out, "old.gz", &e), -1, "no memory to pack");
	fault.packing = false;
	is_str(e.text[0], "old.gz: out of memory", "it says so");
	ok(out == NULL, "there is no output");
	gv_out_discard_all();
	unlink("said");
	ok(rmdir(scratch.path) == 0 && mkdir(scratch.path, 0700) == 0 &&
		chdir(scratch.path) == 0,
	    "and no file");
}

/* ---- names and modes ---- */

static void
written(const char *path, bool private)
{
	struct gv_error e = {0};
	struct gv_out *out;

	if (gv_out_open(&out, path, &e) != 0)
		gv_die_error(&e);
	if (private)
		gv_out_private(out);
	gv_out_str(out, "x");
	if (gv_out_close(out, &e) != 0)
		gv_die_error(&e);
}

static void
test_modes(void)
{
	umask(0);
	written("all", false);
	is_int(mode_of("all"), 0666, "without a mask");
	written("own", true);
	is_int(mode_of("own"), 0600, "its owner's");
	chmod("all", 06751);
	written("all", false);
	is_int(mode_of("all"), 06751, "as it was");
	written("all", true);
	is_int(mode_of("all"), 0600, "its owner's, whosever it was");
	umask(013);
	written("some", false);
	is_int(mode_of("some"), 0664, "by the mask");
	is_int(umask(022), 013, "which is as it was");
	written(".gz", false);
	is_file(".gz", "x", "a name that is .gz alone");
	written("ygz", false);
	is_file("ygz", "x", "or ends otherwise");
	written("a.gz", false);
	ok(mode_of("a.gz") != 0 && access("a.gz", R_OK) == 0, "one of a letter");
	{
		char head[2] = {0};
		FILE *f = fopen("a.gz", "r");

		ok(f != NULL && fread(head, 1, 2, f) == 2 && head[0] == 0x1f, "is gzip");
		fclose(f);
	}
	unlink("all");
	unlink("own");
	unlink("some");
	unlink(".gz");
	unlink("ygz");
	unlink("a.gz");
}

/* What is neither a file nor can be opened. */
static void
test_socket(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct gv_out *out = gv_stdout();
	struct gv_error e = {0};

	ok(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0, "a socket");
	is_int(gv_out_open(&out, "socket", &e), -1, "is no output");
	ok(out == NULL, "nor is there one");
	is_str(e.text[0], "socket: cannot open: No such device or address", "it says why");
	close(fd);
	unlink("socket");
	ok(gv_out_open(&out, NULL, &e) == 0 && out == gv_stdout(), "none named");
	out = NULL;
	ok(gv_out_open(&out, "-", &e) == 0 && out == gv_stdout(),
	    "and -: standard output");
	gv_out_discard(out);
	ok(out == gv_stdout(), "which is not discarded");
}

static void
test_terminal(void)
{
	struct gv_strbuf s = {0};
	struct gv_out *memory = gv_out_memory(&s), *file, *fd = gv_out_fd(1, "it");
	struct gv_error e = {0};

	if (gv_out_open(&file, "file", &e) != 0)
		gv_die_error(&e);
	ok(!gv_out_is_terminal(fd), "no terminal");
	fault.is_terminal = true;
	ok(gv_out_is_terminal(fd), "a terminal");
	ok(!gv_out_is_terminal(file) && !gv_out_is_terminal(memory),
	    "a file and memory never are");
	fault.is_terminal = false;
	gv_out_discard(file);
	gv_out_discard(fd);
	gv_out_close(memory, &e);
	gv_strbuf_free(&s);
}

/* Texts of all lengths around those of the buffers, by each function. */
static void
test_lengths(void)
{
	static const size_t length[] = {0, 1, 510, 511, 512, 513, 65535, 65536, 65537,
	    131071, 131072, 131073, 200000};
	enum { N = sizeof(length) / sizeof(length[0]) };
	char *text = gv_xcalloc(length[N - 1] + 1, 1);
	struct gv_error e = {0};
	size_t before, i, k, bad = 0;

	for (i = 0; i < length[N - 1]; i++)
		text[i] = (char)('a' + i % 23);
	for (before = 0; before < 3; before++)
		for (i = 0; i < N; i++) {
			struct gv_strbuf s = {0};
			struct gv_out *out = gv_out_memory(&s);

			for (k = 0; k < before * 40000; k++)
				gv_out_char(out, '-');
			gv_out_pad(out, before);
			gv_out_write(out, text, length[i]);
			gv_out_fmt(out, "%.*s", (int)length[i], text);
			gv_out_pad(out, length[i] % 1000);
			gv_out_close(out, &e);
			k = before * 40001;
			bad += s.len != k + 2 * length[i] + length[i] % 1000;
			bad += length[i] > 0 &&
			       (memcmp(s.s + k, text, length[i]) != 0 ||
				   memcmp(s.s + k + length[i], text, length[i]) != 0);
			gv_strbuf_free(&s);
		}
	is_int((long long)bad, 0, "texts of all lengths are whole");
	free(text);
}

/* ---- signals ---- */

static void
test_held(void)
{
	static const int fatal[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXCPU, SIGXFSZ};
	int sig, n = 0;
	size_t i;

	written("file", false);
	unlink("file");
	for (sig = 1; sig < 32; sig++)
		n += sigismember(&held, sig) == 1;
	is_int(n, 6, "six signals wait while a file comes to be");
	for (i = 0; i < 6; i++)
		ok(sigismember(&held, fatal[i]), "signal %d does", fatal[i]);
}

/* Signals that are ignored, or heard, stay so; the others remove what is not whole. */
static void
test_others(int ignored, int sig)
{
	struct gv_error e = {0};
	struct gv_out *out, *second;
	struct sigaction sa;
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		signal(ignored, SIG_IGN);
		if (gv_out_open(&out, "one", &e) != 0 ||
		    gv_out_open(&second, "two", &e) != 0)
			_exit(1);
		raise(ignored);
		if (sigaction(ignored, NULL, &sa) != 0 || sa.sa_handler != SIG_IGN)
			_exit(2);
		if (sigaction(sig, NULL, &sa) != 0 ||
		    (sa.sa_flags & (SA_RESTART | SA_NODEFER | SA_NOCLDSTOP)) != 0)
			_exit(3);
		raise(sig);
		_exit(4);
	}
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == sig, "%d ends, %d is ignored", sig,
	    ignored);
	unlink("said");
	ok(rmdir(scratch.path) == 0 && mkdir(scratch.path, 0700) == 0 &&
		chdir(scratch.path) == 0,
	    "%d: nothing is left", sig);
}

/* ---- standard output ---- */

/* The status, and what is said, where standard output is a file of that path. */
static void
finished(const char *path, int want, const char *want_said, const char *what)
{
	char buf[400];
	int to[2], status = 0;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	fflush(stdout);
	if (pipe(to) != 0)
		exit(1);
	pid = fork();
	if (pid == 0) {
		dup2(open(path, O_WRONLY | O_CREAT, 0600), 1);
		dup2(to[1], 2);
		gv_init("prog");
		fault.close = strcmp(what, "when it is closed") == 0 ? EDQUOT : 0;
		if (strcmp(what, "nothing written") != 0)
			gv_out_str(gv_stdout(), "text");
		if (strcmp(what, "closed before") == 0) {
			struct gv_error e = {0};
			int got = gv_out_close(gv_stdout(), &e);

			gv_warn("%d", got);
			gv_warn_error(&e);
		}
		_exit(gv_finish());
	}
	close(to[1]);
	while ((n = read(to[0], buf + len, sizeof(buf) - 1 - len)) > 0)
		len += (size_t)n;
	buf[len] = '\0';
	close(to[0]);
	waitpid(pid, &status, 0);
	is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, want, "%s: status", what);
	is_str(buf, want_said, "%s: what is said", what);
}

static void
test_finish(void)
{
	static const char quota[] =
	    "prog: cannot write to standard output: Disk quota exceeded\n";

	finished("out", 0, "", "a file");
	is_file("out", "text", "which has it");
	finished("out", 0, "prog: 0\n", "closed before");
	finished("out", 2, quota, "when it is closed");
	unlink("out");
	finished("/dev/full", 2,
	    "prog: cannot write to standard output: No space left on device\n", "full");
	finished("/dev/full", 0, "", "nothing written");
	finished("/dev/full", 2,
	    "prog: -1\nprog: cannot write: No space left on device\n"
	    "prog: cannot write to standard output: No space left on device\n",
	    "closed before");
}

int
main(void)
{
	static const char *const made[] = {NULL};

	scratch_enter();
	test_faults();
	test_packing();
	test_modes();
	test_socket();
	test_terminal();
	test_lengths();
	test_held();
	test_others(SIGHUP, SIGTERM);
	test_others(SIGINT, SIGXFSZ);
	test_others(SIGXFSZ, SIGHUP);
	test_finish();
	scratch_leave(made);
	return done_testing();
}
