/*
 * common/policy's processes and pipes (policy/child.h), and where a policy's waiting begins
 * and ends: bytes that come back as they were, descriptors that are all closed again,
 * limits to the byte.
 */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "policy/child.h"
#include "policy/policy.h"

/* compiled in, where no process can be started while a test wants it so */
static bool no_fork;

static pid_t
fork_or_not(void)
{
	if (!no_fork)
		return fork();
	errno = EAGAIN;
	return -1;
}

#define fork fork_or_not
#include "../../common/policy/child.c"
#undef fork

/* ---- helpers ---- */

static int
open_descriptors(void)
{
	int n = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

/* The descriptor below which so many are free. */
static int
below_which(int free_)
{
	int fd;

	for (fd = 0; free_ > 0; fd++)
		free_ -= fcntl(fd, F_GETFD) == -1;
	return fd;
}

/* Waits until a child has exited: waitpid's status, -1 = it does not. */
static int
status_of(struct gv_child *c)
{
	double end_s = gv_clock_s() + 20;
	int status = -1;

	while (gv_clock_s() < end_s)
		if (gv_child_exited(c, &status))
			return status;
	return -1;
}

/* A text of so many lines, no two parts of which are the same. */
static struct gv_strbuf
text(size_t lines)
{
	struct gv_strbuf b = {0};
	size_t i;

	gv_strbuf_str(&b, "job_id,share\n");
	for (i = 0; i < lines; i++)
		gv_strbuf_fmt(&b, "%zu,%llx\n", i,
		    (unsigned long long)gv_random(1, 2, 3, (uint64_t)i));
	return b;
}

/* ---- a child ---- */

/* What is written comes back from cat, whatever errno was before. */
static void
test_bytes(size_t lines)
{
	struct gv_strbuf sent = text(lines);
	struct gv_strbuf got = {0};
	struct gv_error e = {0};
	struct gv_child c;
	size_t given = 0;
	double end_s = gv_clock_s() + 60;
	char buf[70000];
	ssize_t n = 0;

	ok(gv_child_start(&c, "exec cat", NULL, &e) == 0, "cat is started");
	while (n >= 0 && gv_clock_s() < end_s) {
		struct pollfd fd[2] = {
		    {.fd = c.in, .events = POLLOUT}, {.fd = c.out, .events = POLLIN}};

		poll(fd, 2, 100);
		errno = EINTR;
		if (given < sent.len)
			given += gv_child_write(&c, sent.s + given, sent.len - given);
		if (given >= sent.len)
			gv_child_end_input(&c);
		errno = EINTR;
		n = gv_child_read(&c, buf, sizeof(buf));
		gv_strbuf_add(&got, buf, n > 0 ? (size_t)n : 0);
	}
	ok(given == sent.len && got.len == sent.len &&
		memcmp(got.s, sent.s, sent.len) == 0,
	    "%zu bytes come back as they were", sent.len);
	is_int(c.out, -1, "its output has ended");
	is_int(gv_child_read(&c, buf, sizeof(buf)), -1, "and there is no more");
	is_int(status_of(&c), 0, "it exits");
	is_int(c.pid, 0, "and is waited for");
	gv_child_kill(&c);
	gv_strbuf_free(&sent);
	gv_strbuf_free(&got);
}

/* A slow reader takes little at once: pieces of what one call writes. */
static void
test_pieces(void)
{
	struct gv_strbuf sent = text(60000);
	struct gv_strbuf got = {0};
	struct gv_error e = {0};
	struct gv_child c;
	size_t given = 0;
	char buf[65536];
	ssize_t n;

	ok(gv_child_start(&c, "exec dd bs=1000 iflag=fullblock 2>/dev/null", NULL, &e) ==
		0,
	    "dd is started");
	for (;;) {
		given += gv_child_write(&c, sent.s + given, sent.len - given);
		if (given == sent.len)
			gv_child_end_input(&c);
		n = gv_child_read(&c, buf, sizeof(buf));
		if (n < 0)
			break;
		gv_strbuf_add(&got, buf, (size_t)n);
	}
	ok(got.len == sent.len && memcmp(got.s, sent.s, sent.len) == 0,
	    "what is written in pieces comes back as it was");
	gv_child_kill(&c);
	gv_strbuf_free(&sent);
	gv_strbuf_free(&got);
}

static volatile sig_atomic_t pipes;

static void
count_pipe(int signal_)
{
	(void)signal_;
	pipes++;
}

/* Who does not read takes everything, and no SIGPIPE comes, but for one that waited before. */
static void
test_deaf(void)
{
	struct sigaction act = {.sa_handler = count_pipe};
	struct sigaction was;
	struct gv_error e = {0};
	struct gv_child c;
	sigset_t set, before, pending;
	int i;

	sigaction(SIGPIPE, &act, &was);
	for (i = 0; i < 2; i++) {
		ok(gv_child_start(&c, "exec true", NULL, &e) == 0 && status_of(&c) == 0,
		    "one that does not read");
		sigemptyset(&set);
		sigaddset(&set, SIGPIPE);
		pipes = 0;
		if (i == 1) {
			sigprocmask(SIG_BLOCK, &set, &before);
			raise(SIGPIPE);
		}
		ok(gv_child_write(&c, "abc", 3) == 3 && c.in == -1,
		    "takes everything and is closed");
		is_int(pipes, 0, "without a signal");
		sigpending(&pending);
		is_int(sigismember(&pending, SIGPIPE), i, "what was pending still is");
		if (i == 1)
			sigprocmask(SIG_SETMASK, &before, NULL);
		is_int(pipes, i, "and comes when it may");
		sigprocmask(SIG_SETMASK, NULL, &before);
		is_int(sigismember(&before, SIGPIPE), 0, "signals come as before");
		gv_child_kill(&c);
	}
	sigaction(SIGPIPE, &was, NULL);
}

/* What a child is: signals as usual, a group of its own, our descriptors closed. */
static void
test_surroundings(void)
{
	struct gv_error e = {0};
	struct gv_child c, other;
	sigset_t all, before;
	int status;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	signal(SIGPIPE, SIG_IGN);
	ok(gv_child_start(&c, "kill -PIPE $$; exit 3", NULL, &e) == 0, "all blocked");
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGPIPE, SIG_DFL);
	status = status_of(&c);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE,
	    "signals are as usual to it");
	gv_child_kill(&c);

	ok(gv_child_start(&other, "exec cat", NULL, &e) == 0 &&
		gv_child_start(&c, "exec sleep 60", NULL, &e) == 0,
	    "one beside another one");
	is_int(getpgid(other.pid), other.pid, "each leads a group of its own");
	gv_child_end_input(&other);
	is_int(status_of(&other), 0, "and holds no pipe of the other's");
	gv_child_kill(&c);
	gv_child_kill(&other);

	ok(gv_child_start(&c, "[ \"$PWD\" = / ] && [ \"$(pwd)\" = / ]", "/", &e) == 0,
	    "in a directory");
	is_int(status_of(&c), 0, "it is there");
	gv_child_kill(&c);
}

/* Killed with all of its group; dismissed, it may leave by itself first. */
static void
test_ends(void)
{
	struct gv_error e = {0};
	struct gv_child c;
	double start_s;
	char byte;
	int out;

	ok(gv_child_start(&c, "sleep 60 & trap '' TERM; echo; wait", NULL, &e) == 0,
	    "one with a child");
	while (gv_child_read(&c, &byte, 1) == 0)
		;
	out = dup(c.out);
	gv_child_kill(&c);
	ok(c.pid == 0 && c.in == -1 && c.out == -1, "it is killed and all is closed");
	fcntl(out, F_SETFL, 0);
	is_int(read(out, &byte, 1), 0, "its child, too");
	close(out);
	gv_child_kill(&c);
	is_int(c.pid, 0, "killing none does nothing");

	start_s = gv_clock_s();
	ok(gv_child_start(&c, "cat; exit 5", NULL, &e) == 0, "one that leaves");
	gv_child_dismiss(&c, 20);
	ok(c.pid == 0 && gv_clock_s() - start_s < 10,
	    "is not waited for longer than it takes");
	start_s = gv_clock_s();
	ok(gv_child_start(&c, "exec sleep 60", NULL, &e) == 0, "one that stays");
	gv_child_dismiss(&c, .3);
	ok(c.pid == 0 && gv_clock_s() - start_s >= .3 && gv_clock_s() - start_s < 20,
	    "has its time and is killed");
}

/* Where descriptors run out nothing is started, and none is left open. */
static void
test_descriptors(void)
{
	int n = open_descriptors();
	struct rlimit was, few;
	int started = 0;
	int refused = 0;
	int room;

	getrlimit(RLIMIT_NOFILE, &was);
	for (room = 0; room < 6; room++) {
		struct gv_error e = {0};
		struct gv_child c;
		int rc, error_is_right;

		few = was;
		few.rlim_cur = (rlim_t)below_which(room);
		setrlimit(RLIMIT_NOFILE, &few);
		rc = gv_child_start(&c, "true", NULL, &e);
		error_is_right =
		    e.count == 1 &&
		    strcmp(e.text[0], "cannot make a pipe: Too many open files") == 0;
		setrlimit(RLIMIT_NOFILE, &was);
		if (rc == 0) {
			started += status_of(&c) == 0;
		} else {
			refused += error_is_right;
			ok(c.pid == 0 && c.in == -1 && c.out == -1, "no child");
		}
		gv_child_kill(&c);
		is_int(open_descriptors(), n, "room for %d: all closed again", room);
	}
	is_int(refused, 4, "room for less than four is not enough");
	is_int(started, 2, "and for four it is");
}

/* What stands in the way of a child is told, and nothing of it is left. */
static void
test_refused(void)
{
	struct gv_error e = {0};
	struct gv_child c;
	int n = open_descriptors();

	no_fork = true;
	is_int(gv_child_start(&c, "true", NULL, &e), -1, "no process can be started");
	no_fork = false;
	is_str(e.text[0], "cannot start a process: Resource temporarily unavailable",
	    "it is said");
	ok(e.count == 1 && c.pid == 0 && c.in == -1 && c.out == -1, "once, and no child");
	gv_error_clear(&e);
	is_int(
	    gv_child_start(&c, "true", "/nowhere/at/all", &e), -1, "no such directory");
	is_str(e.text[0], "/nowhere/at/all: cannot enter: No such file or directory",
	    "it is said");
	ok(e.count == 1 && c.pid == 0 && c.in == -1 && c.out == -1, "once, and no child");
	is_int(open_descriptors(), n, "all closed again");
	ok(gv_child_start(&c, "test $PWD = /", "/", &e) == 0 && status_of(&c) == 0,
	    "a directory it can enter");
	gv_child_kill(&c);
}

/* ---- a policy ---- */

/* An answer of just the limit is within it. */
static void
test_limit(void)
{
	size_t limit;

	for (limit = 1; limit <= 14; limit++) {
		struct gv_policy_spec spec = {
		    .command = "cat", .timeout_s = 20, .limit_bytes = limit};
		struct gv_policy *p = gv_policy_new(&spec);
		struct gv_strbuf b = {0};
		struct gv_error e = {0};
		char want[128];
		bool fits = limit >= 12;

		gv_strbuf_str(&b, "job_id,share"); /* 12 bytes */
		is_int(gv_policy_ask(p, &b, &e) == 0 ? gv_policy_wait(p, &e) : -2,
		    fits ? 0 : -1, "12 bytes, %zu may be", limit);
		snprintf(want, sizeof(want),
		    "the policy has answered more than %zu bytes", limit);
		ok(fits || strcmp(e.text[0], want) == 0, "the sentence");
		gv_policy_free(p);
	}
}

/* A large question comes back as it was asked, from who streams and who does not. */
static void
test_echo(const char *command)
{
	struct gv_policy_spec spec = {.command = command, .timeout_s = 60};
	struct gv_policy *p = gv_policy_new(&spec);
	struct gv_strbuf want = text(100000);
	struct gv_error e = {0};
	int i;

	for (i = 0; i < 2; i++) {
		struct gv_strbuf b = text(100000);
		const char *s;
		size_t len = 0;

		ok(gv_policy_ask(p, &b, &e) == 0 && gv_policy_wait(p, &e) == 0,
		    "%s: asked", command);
		s = gv_policy_answer(p, &len);
		ok(s != NULL && len == want.len && memcmp(s, want.s, len) == 0,
		    "%s: the answer is the question", command);
	}
	gv_strbuf_free(&want);
	gv_policy_free(p);
}

/* How long may be waited for what. */
static void
test_wait(void)
{
	struct gv_policy_spec spec = {.command = "exec sleep 60", .timeout_s = 3};
	struct gv_policy *p = gv_policy_new(&spec);
	struct gv_strbuf b = text(1);
	struct gv_error e = {0};
	struct pollfd fd[2];
	double wait_s, before_s;
	int turns;

	ok(gv_policy_wait_s(p) == HUGE_VAL && gv_policy_fds(p, fd) == 0,
	    "nothing is asked, nothing is waited for");
	ok(gv_policy_ask(p, &b, &e) == 0, "one that does not answer");
	is_int((long long)gv_policy_fds(p, fd), 2, "there is to give and to take");
	ok(fd[0].events == POLLOUT && fd[1].events == POLLIN && fd[0].fd != fd[1].fd,
	    "by two pipes");
	before_s = gv_clock_s();
	is_int(gv_policy_turn(p, &e), GV_POLICY_ASKED, "it is given");
	is_int((long long)gv_policy_fds(p, fd), 1, "now there is to take");
	is_int(fd[0].events, POLLIN, "alone");
	wait_s = gv_policy_wait_s(p);
	ok(wait_s > .249 - (gv_clock_s() - before_s) && wait_s <= .25,
	    "a quarter of a second: it may leave (%g)", wait_s);
	gv_sleep_s(2.9);
	wait_s = gv_policy_wait_s(p);
	ok(wait_s <= .1 && wait_s >= 0, "at its end what is left of its time (%g)",
	    wait_s);
	gv_sleep_s(.15);
	ok(gv_policy_wait_s(p) == 0, "then nothing");
	is_int(gv_policy_turn(p, &e), GV_POLICY_FAILED, "it has failed");
	gv_policy_free(p);

	spec.command = "exec >&-; exec sleep 60";
	p = gv_policy_new(&spec);
	b = text(1);
	gv_policy_ask(p, &b, &e);
	for (turns = 0, wait_s = 1; wait_s >= .0011 && turns < 200; turns++) {
		gv_sleep_s(.01);
		gv_policy_turn(p, &e);
		wait_s = gv_policy_wait_s(p);
	}
	ok(wait_s < .0011 && wait_s >= 0, "its output has ended: it exits at once (%g)",
	    wait_s);
	gv_sleep_s(.05);
	wait_s = gv_policy_wait_s(p);
	ok(wait_s > .01 && wait_s < .021, "or is busy with something else (%g)", wait_s);
	gv_policy_free(p);

	spec.command = "exec sleep 60";
	spec.streams = true;
	p = gv_policy_new(&spec);
	b = text(1);
	before_s = gv_clock_s();
	gv_policy_ask(p, &b, &e);
	gv_policy_turn(p, &e);
	wait_s = gv_policy_wait_s(p);
	ok(wait_s > .499 - (gv_clock_s() - before_s) && wait_s <= .5,
	    "one that streams has its patience (%g)", wait_s);
	gv_policy_free(p);
}

int
main(void)
{
	int n = open_descriptors();

	test_bytes(1);
	test_bytes(200000);
	test_pieces();
	test_deaf();
	test_surroundings();
	test_ends();
	test_descriptors();
	test_refused();
	test_limit();
	test_echo("cat");
	test_echo("awk '{ print } /^$/ { fflush() } END { print \"\" }'");
	test_wait();
	is_int(open_descriptors(), n, "all descriptors are closed");
	return done_testing();
}
