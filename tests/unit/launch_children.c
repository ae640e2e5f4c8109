/*
 * Children as the system lists them (launch/local/children.h), by the list of the kernel and
 * by a look at every process: the same, all of them and nobody else, whatever they are
 * called.
 */
#include "tap.h"

#include <signal.h>
#include <sys/prctl.h>

#include "../../common/launch/local/children.c"
#include "base/clock.h"

enum { CHILDREN = 250 };

static pid_t child[CHILDREN];
static int seen[CHILDREN];
static long strangers;

static void
visit(void *ctx, pid_t pid)
{
	size_t i;

	*(long *)ctx += 1;
	for (i = 0; i < CHILDREN && child[i] != pid; i++)
		;
	if (i < CHILDREN)
		seen[i]++;
	else
		strangers++;
}

/* Sleeps for ever under a name; with a child of its own, and that one's list is right. */
static void
be_a_child(const char *name, int to)
{
	long n = 0;
	pid_t pid;

	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (to != -1) {
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		n = gv_children_each(visit, &n) == 1 && each_of_all(visit, &n) == 1 ? 1
										    : 0;
		if (write(to, n == 1 ? "y" : "n", 1) != 1)
			_exit(1);
	}
	for (;;)
		pause();
}

static void
test_each(const char *name, long (*each)(void (*)(void *, pid_t), void *), size_t n)
{
	long called = 0;
	long wrong = 0;
	size_t i;

	memset(seen, 0, sizeof(seen));
	strangers = 0;
	is_int(each(visit, &called), (long long)n, "%s: %zu children", name, n);
	is_int(called, (long long)n, "%s: as many visits", name);
	is_int(strangers, 0, "%s: nobody else", name);
	for (i = 0; i < CHILDREN; i++)
		wrong += seen[i] != (child[i] > 0);
	is_int(wrong, 0, "%s: each once", name);
}

static void
both(size_t n)
{
	test_each("by the list", gv_children_each, n);
	test_each("by a look at all", each_of_all, n);
}

static bool
becomes(pid_t pid, bool stopped)
{
	double end_s = gv_clock_s() + 20;

	while (gv_child_is_stopped(pid) != stopped && gv_clock_s() < end_s)
		gv_sleep_s(.001);
	return gv_child_is_stopped(pid) == stopped;
}

int
main(void)
{
	static const char *const name[] = {
	    "plain", ") S 1 (", "a b", "((", "))", "1", ") R 0 0", "\n)", ""};
	char said = '\0';
	int fd[2];
	size_t i;

	both(0);
	if (pipe(fd) != 0)
		return 2;
	for (i = 0; i < CHILDREN; i++) {
		fflush(stdout);
		child[i] = fork();
		if (child[i] == 0)
			be_a_child(name[i % (sizeof(name) / sizeof(name[0]))],
			    i == 3 ? fd[1] : -1);
	}
	ok(read(fd[0], &said, 1) == 1 && said == 'y',
	    "a child has one of its own and sees just that");
	both(CHILDREN);

	ok(!gv_child_is_stopped(child[0]), "a child runs");
	kill(child[0], SIGSTOP);
	ok(becomes(child[0], true) && gv_child_is_stopped(child[0]),
	    "and is stopped, also when one looks again");
	ok(!gv_child_is_stopped(child[1]), "another one is not");
	both(CHILDREN);
	kill(child[0], SIGCONT);
	ok(becomes(child[0], false), "it goes on");

	/* who is dead and not waited for is a child still */
	kill(child[1], SIGKILL);
	waitid(P_PID, (id_t)child[1], &(siginfo_t){0}, WEXITED | WNOWAIT);
	ok(!gv_child_is_stopped(child[1]), "one is dead");
	both(CHILDREN);
	for (i = 1; i < CHILDREN; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
		child[i] = 0;
	}
	both(1);
	kill(child[0], SIGKILL);
	waitpid(child[0], NULL, 0);
	child[0] = 0;
	both(0);
	ok(!gv_child_is_stopped(1), "who is no child of ours is not stopped to us");
	return done_testing();
}
