/*
 * cmd/gv-sim/asking: a file of answers at the limits of its lines, and where writing fails.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/strbuf.h"
#include "gv-sim/asking/journal.h"
#include "scratch.h"

static char key[JOURNAL_KEY_LEN + 1];
static bool cannot_cut, cannot_open;

int
ftruncate(int fd, off_t len)
{
	if (cannot_cut) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_ftruncate, fd, len);
}

FILE *
fdopen(int fd, const char *mode)
{
	FILE *(*real)(int, const char *);
	void *found = dlsym(RTLD_NEXT, "fdopen");

	if (cannot_open) {
		errno = EMFILE;
		return NULL;
	}
	memcpy(&real, &found, sizeof(real));
	return real(fd, mode);
}

/* Files may have no more bytes than that, also what the checks are written to. */
static void
limit_files(rlim_t bytes)
{
	struct rlimit limit;

	fflush(stdout);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* The whole file, "" where there is none. */
static const char *
content(const char *name)
{
	static char text[4096];
	FILE *f = fopen(name, "r");
	size_t n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = '\0';
	if (f != NULL)
		fclose(f);
	return text;
}

static void
says(struct gv_error *e, const char *want)
{
	is_str(e->count > 0 ? e->text[0] : "", want, "what is said: %s", want);
	gv_error_clear(e);
}

/* ---- lines ---- */

#define HEAD "gv-sim answers 1 "

/* A file of so many bytes that begins as ours do, without the end of a line, or with one. */
static void
opens(size_t len, const char *end, const char *want)
{
	struct gv_error e = {0};
	struct journal j;
	char text[400];

	memset(text, 'a', sizeof(text));
	memcpy(text, HEAD, strlen(HEAD));
	memcpy(text + len, end, strlen(end));
	scratch_file("state", text, len + strlen(end));
	is_int(journal_open(&j, "state", key, &e), want == NULL ? 0 : -1, "%zu bytes%s",
	    len, *end == '\n' ? " and an end" : "");
	says(&e, want == NULL ? "" : want);
	journal_close(&j);
}

static void
test_heads(void)
{
	static const char other[] = "state is of another simulation: its jobs, cluster, "
				    "policy or options are others",
			  none[] = "state is no file of --state";
	const size_t ours = strlen(HEAD) + JOURNAL_KEY_LEN;

	opens(ours, "\n", NULL);
	opens(ours - 1, "\n", other);
	opens(ours + 1, "\n", other);
	opens(ours - 1, "", NULL);
	opens(ours, "", NULL); /* it was ended just there */
	opens(ours + 1, "", none);
	opens(254, "\n", other);
	opens(255, "\n", none);
	scratch_file("state", "gv-sim answers 2\n", 17);
	opens(strlen(HEAD) - 1, "\n", other);
}

/* An answer as it is written, whole. */
#define WHOLE "1.5 2\n0 -1 1 0.25 3 0\n2 3 0 1 2 0.5\nend\n"

/* Of an answer of which that text is there: whether it is one, and what is left of it. */
static void
answers(const char *text, int want)
{
	struct gv_reply reply = {0};
	struct gv_error e = {0};
	struct gv_strbuf all = {0};
	struct journal j;
	char head[100];
	static int number;

	snprintf(head, sizeof(head), HEAD "%s\n", key);
	gv_strbuf_fmt(&all, "%s%s", head, text);
	scratch_file("state", all.s, all.len);
	is_int(journal_open(&j, "state", key, &e), 0, "opened");
	is_int(journal_next(&j, 1.5, 4, 2, &reply, &e), want, "answer %d", ++number);
	is_int(reply.n, want == 1 ? 2 : 0, "its shares");
	is_int(j.n, want == 1, "it counts once it is whole");
	says(&e, "");
	is_int(journal_next(&j, 2, 4, 2, &reply, &e), 0, "behind it there is none");
	is_int(reply.n, 0, "nor shares");
	is_str(content("state"), want == 1 ? all.s : head, "what is none is cut off");
	gv_reply_free(&reply);
	journal_close(&j);
	gv_strbuf_free(&all);
}

static void
test_answers(void)
{
	answers(WHOLE, 1);
	answers("1.5 2\n0 -1 1 0.25 3 0\n3 0 0 1 2 0.5\nend\n", 1);
	answers("1.5 2\n0 -1 1 0.25 3 0\n4 0 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 1 0.25 3 0\n-1 0 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 1 0.25 3 0\n2 4 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 1 0.25 3 0\n2 -2 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 1 0.25 3 0\n2 0.5 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 2 0.25 3 0\n2 0 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 -1 0.25 3 0\n2 0 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 1.5 0.25 3 0\n2 0 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 1 0.25 3\n2 0 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 1 0.25 3 0 \n2 0 0 1 2 0.5\nend\n", 0);
	answers("1.5 2 \n0 -1 1 0.25 3 0\n2 3 0 1 2 0.5\nend\n", 0);
	answers("1.5  2\n0 -1 1 0.25 3 0\n2 3 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 1 0.25 3 0\n2 3 0 1 2 0.5\nend", 0);
	answers("1.5 2\n0 -1 1 0.25 3 0\n2 3 0 1 2 0.5\nend \n", 0);
	answers("1.5 3\n0 -1 1 0.25 3 0\n2 3 0 1 2 0.5\nend\n", 0);
	answers("1.5 1\n0 -1 1 0.25 3 0\n2 3 0 1 2 0.5\nend\n", 0);
	answers("1.5 2\n0 -1 1 0.25 3 0\n", 0);
	answers("1.5", 0);
	answers("\n", 0);
}

/* A line that begins with a NUL is none. */
static void
test_nul(void)
{
	struct gv_reply reply = {0};
	struct gv_error e = {0};
	struct journal j;
	char text[100];

	snprintf(text, sizeof(text), HEAD "%s\n%c\n", key, 0);
	scratch_file("state", text, strlen(HEAD) + JOURNAL_KEY_LEN + 3);
	is_int(journal_open(&j, "state", key, &e), 0, "opened");
	is_int(journal_next(&j, 0, 4, 2, &reply, &e), 0, "a NUL is no answer");
	says(&e, "");
	journal_close(&j);
	ok(j.path == NULL && j.file == NULL, "nothing is open any more");
	journal_close(&j);
}

/* At another time it is said which line the answer ends in. */
static void
test_other_time(void)
{
	struct gv_reply reply = {0};
	struct gv_error e = {0};
	struct gv_strbuf all = {0};
	struct journal j;

	gv_strbuf_fmt(&all, HEAD "%s\n%s", key, WHOLE);
	scratch_file("state", all.s, all.len);
	is_int(journal_open(&j, "state", key, &e), 0, "opened");
	is_int(journal_next(&j, 1.25, 4, 2, &reply, &e), -1, "an answer of another time");
	says(&e, "state:5: an answer at 1.5 s, but the question is at 1.25 s: of another "
		 "version of gv-sim");
	is_int(j.n, 0, "which is not taken");
	gv_reply_free(&reply);
	journal_close(&j);
	gv_strbuf_free(&all);
}

/* What is written is read again, and written behind it. */
static void
test_again(void)
{
	static const struct gv_reply_share share[] = {
	    {.job = 0, .with = -1, .type = 1, .share = .25, .rate = 3},
	    {.job = 2, .with = 3, .share = 1, .rate = 2, .with_rate = .5}};
	struct gv_reply reply = {0}, back = {0};
	struct gv_error e = {0};
	struct journal j, none = {0};
	struct stat st;
	char want[200];
	size_t i;

	unlink("state");
	umask(0);
	is_int(journal_open(&j, "state", key, &e), 0, "a new one");
	ok(stat("state", &st) == 0 && (st.st_mode & 0777) == 0600, "of its owner alone");
	for (i = 0; i < 2; i++)
		gv_reply_add(&reply, &share[i]);
	is_int(journal_next(&j, 1.5, 4, 2, &back, &e), 0, "which has no answer");
	is_int(journal_add(&j, 1.5, &reply, &e), 0, "one is added");
	snprintf(want, sizeof(want), HEAD "%s\n%s", key, WHOLE);
	is_str(content("state"), want, "as it is read");
	journal_close(&j);
	is_int(journal_open(&j, "state", key, &e), 0, "the same again");
	is_int(journal_next(&j, 1.5, 4, 2, &back, &e), 1, "the answer");
	for (i = 0; i < 2; i++)
		ok(back.n == 2 && back.share[i].job == share[i].job &&
			back.share[i].with == share[i].with &&
			back.share[i].type == share[i].type &&
			back.share[i].share == share[i].share &&
			back.share[i].rate == share[i].rate &&
			back.share[i].with_rate == share[i].with_rate,
		    "share %zu", i);
	reply.n = 0;
	is_int(journal_next(&j, 2, 4, 2, &back, &e), 0, "no more");
	is_int(journal_add(&j, 2, &reply, &e), 0, "one more");
	strcat(want, "2 0\nend\n");
	is_str(content("state"), want, "behind the first");
	journal_close(&j);
	is_int(journal_next(&none, 1, 4, 2, &back, &e), 0, "without a file: no answer");
	is_int(journal_add(&none, 1, &reply, &e), 0, "nor is one kept");
	gv_reply_free(&reply);
	gv_reply_free(&back);
}

/* ---- failures ---- */

static void
test_failures(void)
{
	struct gv_reply reply = {0};
	struct gv_error e = {0};
	struct journal j;
	int in, rc;

	is_int(journal_open(&j, "none/state", key, &e), -1, "no folder");
	says(&e, "cannot open none/state: No such file or directory");
	journal_close(&j);
	scratch_file("state", HEAD, strlen(HEAD));
	cannot_cut = true;
	is_int(journal_open(&j, "state", key, &e), -1, "what is there cannot be cut off");
	says(&e, "cannot write state: Operation not permitted");
	journal_close(&j);
	cannot_cut = false;
	unlink("state");
	limit_files(10); /* also of what is said here */
	rc = journal_open(&j, "state", key, &e);
	journal_close(&j);
	limit_files(RLIM_INFINITY);
	is_int(rc, -1, "no room for the key");
	says(&e, "cannot write state: File too large");
	unlink("state");
	is_int(journal_open(&j, "state", key, &e), 0, "room for the key");
	limit_files(90);
	rc = journal_add(&j, 1.5, &reply, &e);
	limit_files(RLIM_INFINITY);
	is_int(rc, -1, "but for no answer");
	says(&e, "cannot write state: File too large");
	is_int(journal_add(&j, 2, &reply, &e), -1, "nor for one behind what is lost");
	gv_error_clear(&e);
	journal_close(&j);

	in = dup(0); /* a file may be number 0 as well */
	close(0);
	is_int(journal_open(&j, "state", key, &e), 0, "opened as standard input");
	is_int(fileno(j.file), 0, "which it is");
	journal_close(&j);
	cannot_open = true;
	is_int(journal_open(&j, "state", key, &e), -1, "no file of C");
	cannot_open = false;
	says(&e, "cannot open state: Too many open files");
	is_int(fcntl(0, F_GETFD), -1, "what was open is closed");
	dup2(in, 0);
	close(in);
}

int
main(void)
{
	static const char *const made[] = {"state", NULL};

	memset(key, 'a', JOURNAL_KEY_LEN);
	signal(SIGXFSZ, SIG_IGN);
	scratch_enter();
	test_heads();
	test_answers();
	test_nul();
	test_other_time();
	test_again();
	test_failures();
	scratch_leave(made);
	return done_testing();
}
