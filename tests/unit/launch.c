/* common/launch: whatever a job's workers do, they are gone in time and told of rightly. */
#define _GNU_SOURCE /* RTLD_NEXT, flock */
#include "tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fileio.h"
#include "launch/launcher.h"
#include "launch/local/local.h"
#include "launch/progress.h"
#include "net/sock.h"

static char dir[] = "/tmp/gv-launch.XXXXXX";

/* ---- a fork that can fail ---- */

static int
    fail_fork; /* the n-th call from now on, counted through the keeper; 0 = none */

pid_t fork(void);
pid_t
fork(void)
{
	pid_t (*real)(void);
	void *p = dlsym(RTLD_NEXT, "fork");

	memcpy(&real, &p, sizeof(p));
	if (fail_fork > 0 && --fail_fork == 0) {
		errno = EAGAIN;
		return -1;
	}
	return real();
}

/* ---- an exec that can fail ---- */

static int fail_exec;             /* errno of the workers' exec; 0 = none fails */
static const char *fail_exec_for; /* "RANK=1": of that worker only; NULL = of all */

int execve(const char *file, char *const argv[], char *const env[]);
int
execve(const char *file, char *const argv[], char *const env[])
{
	int (*real)(const char *, char *const[], char *const[]);
	void *p = dlsym(RTLD_NEXT, "execve");
	size_t i;

	memcpy(&real, &p, sizeof(p));
	for (i = 0; fail_exec_for != NULL && env[i] != NULL; i++)
		if (strcmp(env[i], fail_exec_for) == 0)
			break;
	if (fail_exec != 0 && (fail_exec_for == NULL || env[i] != NULL)) {
		errno = fail_exec;
		return -1;
	}
	return real(file, argv, env);
}

/* ---- helpers ---- */

static const char *
path(const char *name)
{
	static char buf[4][512];
	static int n;
	char *s = buf[n++ % 4];

	snprintf(s, sizeof(buf[0]), "%s/%s", dir, name);
	return s;
}

static struct gv_launch_spec
spec_of(const char *command, int n)
{
	static const int gpus[] = {0, 1, 2, 3};
	struct gv_launch_spec s = {.job_id = "j1",
	    .command = command,
	    .gpu_type = "cpu2",
	    .gpus = gpus,
	    .n_gpus = (size_t)n,
	    .threads = 2,
	    .checkpoint_dir = dir,
	    .total_steps = NAN,
	    .round = -1,
	    .grace_s = 0.3,
	    .keep_fd = -1};

	s.progress = path("progress");
	s.log = path("log");
	return s;
}

enum { LOST = -4 };

/* Its status, -1 when it has not left within the time; LOST. */
static int
left_within(struct gv_launch **l, double seconds)
{
	double end = gv_clock_s() + seconds;
	struct gv_launch_news news;

	do {
		switch (gv_launch_poll(l, false, &news)) {
		case GV_LAUNCH_UP:
			break;
		case GV_LAUNCH_LEFT:
			return *l == NULL ? news.status : -3;
		case GV_LAUNCH_LOST:
			return LOST;
		default:
			return -2;
		}
		gv_sleep_s(0.005);
	} while (gv_clock_s() < end);
	return -1;
}

static int
start(struct gv_launch **l, const struct gv_launch_spec *s)
{
	struct gv_launch_news news;

	if (gv_launch_start(l, &gv_launch_local, s, &news) == GV_LAUNCH_UP)
		return 0;
	printf("# %s\n", news.reason);
	return -1;
}

static pid_t
guard_of(const struct gv_launch *l)
{
	return gv_launch_local_guard(l);
}

/* The guard's only child. */
static pid_t
keeper_of(const struct gv_launch *l)
{
	char name[100], line[64] = "";
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%ld/task/%ld/children", (long)guard_of(l),
	    (long)guard_of(l));
	f = fopen(name, "r");
	if (f == NULL || fgets(line, sizeof(line), f) == NULL)
		printf("# %s: no keeper\n", name);
	if (f != NULL)
		fclose(f);
	return (pid_t)atol(line);
}

/* Runs a command to its end. */
static int
status_of(const char *command, int n)
{
	struct gv_launch_spec s = spec_of(command, n);
	struct gv_launch *l;

	return start(&l, &s) == 0 ? left_within(&l, 60) : -3;
}

/* It is there, and something has been written. */
static bool
exists(const char *name)
{
	struct stat st;

	return stat(path(name), &st) == 0 && st.st_size > 0;
}

/* It is there, with what is written to it. */
static bool
appears(const char *name)
{
	double end = gv_clock_s() + 60;
	struct stat st;
	bool there;

	while (
	    !(there = stat(path(name), &st) == 0 && st.st_size > 0) && gv_clock_s() < end)
		gv_sleep_s(0.005);
	return there;
}

static char *
content(const char *name)
{
	struct gv_error e = {0};
	char *s = NULL;
	size_t len;

	if (gv_file_read(path(name), &s, &len, 1 << 20, &e) != 0)
		s = strdup("");
	return s;
}

/* The process whose number stands in a file is no more. */
static bool
gone(const char *name)
{
	double end = gv_clock_s() + 30;
	char *s = content(name);
	pid_t pid = (pid_t)atol(s);

	free(s);
	if (pid <= 0)
		return false;
	while (kill(pid, 0) == 0 && gv_clock_s() < end)
		gv_sleep_s(0.01);
	return kill(pid, 0) == -1 && errno == ESRCH;
}

/* Whether it is gone, without waiting for it. */
static bool
is_gone_now(const char *name)
{
	char *s = content(name);
	pid_t pid = (pid_t)atol(s);

	free(s);
	return pid > 0 && kill(pid, 0) == -1 && errno == ESRCH;
}

static void
put(const char *name, const char *s)
{
	struct gv_error e = {0};

	if (gv_file_write(path(name), s, strlen(s), &e) != 0)
		printf("Bail out! %s\n", e.text[0]);
}

/* ---- statuses ---- */

static void
test_status(void)
{
	struct gv_launch_spec s;
	struct gv_launch *l = NULL;
	struct gv_launch_news news;
	char *log;

	is_int(status_of("exit 0", 1), 0, "0");
	is_int(status_of("exit 3", 1), 3, "3");
	is_int(status_of("no-such-command-here", 1), 127, "not found is 127");
	is_int(status_of("/", 1), 126, "not executable is 126");
	is_int(status_of("kill -9 $$", 1), 137, "death by SIGKILL is 137");
	is_int(status_of("kill -15 $$", 1), 143, "death by SIGTERM is 143");
	is_int(status_of("[ $RANK = 1 ] && exit 7; exec sleep 100", 2), 7,
	    "one of a gang fails: its status, the others are stopped");
	is_int(status_of(
		   "[ $RANK = 0 ] && kill -9 $$; trap '' TERM; sleep 100; sleep 100", 3),
	    137, "also when they will not go");
	is_int(status_of("[ $RANK = 0 ] && exit 0; sleep 0.1; exit 0", 2), 0,
	    "one may be done before another");

	s = spec_of("true", 1);
	s.working_directory = "/no/such/place";
	remove(path("log"));
	ok(start(&l, &s) == 0, "start in a directory that is not there");
	is_int(left_within(&l, 60), 126, "is 126");
	log = content("log");
	is_str(log,
	    "gv: cannot change to the directory /no/such/place: No such file or "
	    "directory\n",
	    "and the log says why");
	free(log);
	ok(gv_launch_poll(&l, false, &news) == GV_LAUNCH_NONE,
	    "nothing is known of what is over");
	gv_launch_stop(l);
	gv_launch_kill(l);
	ok(l == NULL, "stopping it does nothing");
}

/* ---- stopping ---- */

static void
test_stop(void)
{
	struct gv_launch_spec s = spec_of("", 1);
	struct gv_launch_news news;
	struct gv_launch *l;
	double t;

	s.command =
	    "trap '' TERM; echo >$GV_CHECKPOINT_DIR/up; while :; do sleep 0.05; done";
	remove(path("up"));
	ok(start(&l, &s) == 0 && appears("up"), "a worker that ignores SIGTERM");
	is_int(left_within(&l, 0.1), -1, "runs on");
	t = gv_clock_s();
	gv_launch_stop(l);
	is_int(left_within(&l, 60), 137, "is killed");
	t = gv_clock_s() - t;
	ok(t >= 0.3 && t < 20, "after the grace time (%.2f s)", t);

	s.command = "trap 'sleep 0.1; echo >$GV_CHECKPOINT_DIR/saved; exit 143' TERM;"
		    "echo >$GV_CHECKPOINT_DIR/up2; while :; do sleep 0.01; done";
	s.grace_s = 30;
	ok(start(&l, &s) == 0 && appears("up2"), "a worker that saves itself");
	t = gv_clock_s();
	gv_launch_stop(l);
	ok(gv_launch_poll(&l, false, &news) == GV_LAUNCH_UP && news.told, "is told");
	is_int(left_within(&l, 60), 143, "leaves with 143");
	ok(exists("saved"), "after it has saved itself");
	ok(gv_clock_s() - t < 20, "and nobody waits for the rest of the grace time");

	s.command = "echo >$GV_CHECKPOINT_DIR/up3; kill -STOP $$";
	ok(start(&l, &s) == 0 && appears("up3"), "a worker that is stopped");
	gv_launch_stop(l);
	is_int(left_within(&l, 60), 143, "is woken to take its SIGTERM");

	s.command = "exec sleep 100";
}

/* sh's children in sessions of their own, as torchrun and daemons make them. */
static void
test_strays(void)
{
	struct gv_launch_spec s = spec_of("", 1);
	struct gv_launch *l;
	double t;

	s.command = "cd $GV_CHECKPOINT_DIR;"
		    "setsid sh -c 'trap \"\" TERM; echo $$ >stray1; while :; do sleep "
		    "0.05; done' &"
		    "(setsid sh -c 'echo $$ >stray2; exec sleep 100' &);"
		    "sh -c 'echo $$ >stray3; exec sleep 100' &"
		    "wait";
	ok(start(&l, &s) == 0 && appears("stray1") && appears("stray2") &&
		appears("stray3"),
	    "a worker with children in other sessions");
	gv_sleep_s(0.1);
	gv_launch_stop(l);
	is_int(left_within(&l, 60), 143, "is stopped");
	ok(gone("stray1") && gone("stray2") && gone("stray3"),
	    "and all of them are gone");

	remove(path("stray1"));
	s.command = "cd $GV_CHECKPOINT_DIR;"
		    "setsid sh -c 'trap \"\" TERM; echo $$ >stray1; while :; do sleep "
		    "0.05; done' &"
		    "while ! [ -s stray1 ]; do sleep 0.01; done; exit 0";
	t = gv_clock_s();
	ok(start(&l, &s) == 0, "a worker that leaves a daemon behind");
	is_int(left_within(&l, 60), 0, "has its own status");
	ok(gone("stray1"), "but the daemon does not stay");
	ok(gv_clock_s() - t >= 0.3, "longer than the grace time");

	/* a stray that saves itself gets SIGTERM, and only once */
	remove(path("stray1"));
	remove(path("terms"));
	s.grace_s = 20;
	s.command = "cd $GV_CHECKPOINT_DIR;"
		    "setsid sh -c 'trap \"echo >>terms; sleep 0.3; exit 0\" TERM; echo "
		    "$$ >stray1;"
		    " while :; do sleep 0.01; done' & exec sleep 100";
	ok(start(&l, &s) == 0 && appears("stray1"), "a stray that wants to save itself");
	gv_sleep_s(0.05);
	gv_launch_stop(l);
	is_int(left_within(&l, 60), 143, "is waited for");
	ok(gone("stray1"), "is gone");
	{
		char *terms = content("terms");

		is_str(terms, "\n", "after one SIGTERM");
		free(terms);
	}
}

/* A worker's children are the worker's to tell, as long as it lives. */
static void
test_children(void)
{
	struct gv_launch_spec s = spec_of("", 1);
	struct gv_launch *l;
	char *order;

	s.grace_s = 20;
	s.command = "cd $GV_CHECKPOINT_DIR;"
		    "sh -c 'trap \"echo child >>order; exit 0\" TERM; echo >child;"
		    " while :; do sleep 0.01; done' &"
		    "trap 'sleep 0.2; echo worker >>order; exit 143' TERM; echo >parent;"
		    "while :; do sleep 0.01; done";
	ok(start(&l, &s) == 0 && appears("child") && appears("parent"),
	    "a worker with a child in its group");
	gv_launch_stop(l);
	is_int(left_within(&l, 60), 143, "is told");
	order = content("order");
	is_str(order, "worker\nchild\n", "and its child when it is gone");
	free(order);
}

/* kill -9 of the launcher, and of the keeper. */
static void
test_killed(void)
{
	struct gv_launch_spec s = spec_of("", 2);
	struct gv_launch *l;
	int status;
	pid_t pid;

	s.command = "echo $$ >$GV_CHECKPOINT_DIR/orphan$RANK; trap '' TERM; while :; do "
		    "sleep 0.05; done";
	pid = fork();
	if (pid == 0) {
		if (start(&l, &s) != 0)
			_exit(1);
		for (;;)
			pause();
	}
	ok(pid > 0 && appears("orphan0") && appears("orphan1"),
	    "a process launches a gang");
	gv_sleep_s(0.05);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ok(gone("orphan0") && gone("orphan1"),
	    "it is killed: so is the gang, after the grace time");
	while (waitpid(-1, NULL, 0) > 0) /* its guard, orphaned, is ours */
		;
}

/*
 * A worker whose child has left for a session of its own and will not hear of
 * SIGTERM; then the keeper or the guard is killed, or both.  When the launch has left,
 * nothing of it may run any more: the job is going to be started again.
 */
static void
test_killed_keeper(bool keeper, bool guard)
{
	const char *who = !guard ? "keeper" : keeper ? "guard and keeper" : "guard";
	struct gv_launch_spec s = spec_of("", 1);
	struct gv_launch *l;

	s.command = "cd $GV_CHECKPOINT_DIR; setsid sh -c 'trap \"\" TERM; echo $$ >far; "
		    "while :; do sleep 0.05; done' & "
		    "sh -c 'echo $$ >near; exec sleep 100'; echo";
	remove(path("near"));
	remove(path("far"));
	ok(start(&l, &s) == 0 && appears("near") && appears("far"), "a launch");
	gv_sleep_s(0.05);
	kill(guard_of(l), SIGSTOP); /* it cannot act before it is killed */
	if (keeper)
		kill(keeper_of(l), SIGKILL);
	kill(guard_of(l), guard ? SIGKILL : SIGCONT);
	is_int(left_within(&l, 60), LOST,
	    "whose %s is killed: it is lost, by no fault of the job's", who);
	ok(is_gone_now("near") && is_gone_now("far"),
	    "%s: when it has left, nothing of it runs", who);
}

/* A launch whose guard is killed is waited for, too. */
static void
test_wait_without_guard(void)
{
	struct gv_launch_spec s = spec_of(
	    "trap '' TERM; echo >$GV_CHECKPOINT_DIR/up4; while :; do sleep 0.05; done",
	    1);
	struct gv_launch_news news = {0};
	struct gv_launch *l;
	double t;

	ok(start(&l, &s) == 0 && appears("up4"), "a launch");
	t = gv_clock_s();
	kill(guard_of(l), SIGKILL);
	while (l != NULL)
		gv_launch_poll(&l, true, &news);
	is_int(news.state, GV_LAUNCH_LOST, "is waited for when its guard is killed");
	ok(gv_clock_s() - t >= 0.3, "through the grace time of its worker");
}

/*
 * A worker that a debugger is attaching to while it is told to stop: PTRACE_ATTACH
 * sends SIGSTOP, and a SIGCONT that comes before it takes effect would take it
 * away, so that the debugger waits for ever.  LeakSanitizer does that at exit.
 * Counted is how often the worker got SIGCONT though it was not stopped.
 */
static void
test_tracer(void)
{
	struct gv_launch_spec s = spec_of("", 1);
	struct gv_launch *l;
	char *conts;

	s.grace_s = 20;
	s.command = "cd $GV_CHECKPOINT_DIR; trap 'echo cont >>conts' CONT;"
		    "trap 'sleep 0.2; echo done >>conts; exit 143' TERM; echo >up5;"
		    "while :; do sleep 0.01; done";
	ok(start(&l, &s) == 0 && appears("up5"), "a worker that is not stopped");
	gv_launch_stop(l);
	is_int(left_within(&l, 60), 143, "is told to stop");
	conts = content("conts");
	is_str(conts, "done\n", "without a SIGCONT");
	free(conts);
}

/*
 * Many that ignore SIGTERM: the keepers' own work while they wait must not grow
 * with what else runs, or thousands of them keep each other from being in time.
 */
static void
test_many(void)
{
	enum { MANY = 150 };
	static struct gv_launch *l[MANY];
	struct gv_launch_spec s =
	    spec_of("trap '' TERM; echo >>$GV_CHECKPOINT_DIR/many; exec sleep 100", 1);
	struct rusage before, after;
	struct gv_launch_news news;
	int i, up = 0, killed = 0;
	double t, cpu;

	s.grace_s = 1;
	for (i = 0; i < MANY; i++)
		up += start(&l[i], &s) == 0;
	is_int(up, MANY, "many launches");
	getrusage(RUSAGE_CHILDREN, &before);
	for (t = gv_clock_s(); gv_clock_s() < t + 120;) {
		char *all = content("many");
		size_t n = strlen(all);

		free(all);
		if (n == MANY)
			break;
		gv_sleep_s(0.02);
	}
	t = gv_clock_s();
	for (i = 0; i < MANY; i++)
		gv_launch_stop(l[i]);
	for (i = 0; i < MANY; i++) {
		while (l[i] != NULL)
			gv_launch_poll(&l[i], true, &news);
		killed += news.status == 137;
	}
	t = gv_clock_s() - t;
	getrusage(RUSAGE_CHILDREN, &after);
	cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec +
		       after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
	      1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec +
			      after.ru_stime.tv_usec - before.ru_stime.tv_usec);
	is_int(killed, MANY, "that ignore SIGTERM are killed");
	ok(t >= 1, "after the grace time (%.2f s)", t);
	ok(cpu / MANY < 0.02, "for %.1f ms of processor time each", 1e3 * cpu / MANY);
}

static void
test_changed(void)
{
	struct gv_launch *l[2] = {NULL, NULL};
	struct gv_launch_spec s = spec_of("exec sleep 100", 1);
	struct gv_launch_news news;
	bool changed[2] = {true, true};
	double t = gv_clock_s();

	gv_launch_changed(l, 0, changed);
	ok(changed[0], "of no launch nothing is said");
	ok(start(&l[0], &s) == 0 && start(&l[1], &s) == 0, "two launches");
	if (l[0] == NULL || l[1] == NULL)
		return;
	gv_launch_changed(l, 2, changed);
	ok(!changed[0] && !changed[1], "while they run neither is to be polled");
	gv_launch_stop(l[1]);
	while (!changed[1] && gv_clock_s() < t + 60) {
		gv_sleep_s(0.01);
		gv_launch_changed(l, 2, changed);
	}
	ok(!changed[0] && changed[1], "one that has left is");
	is_int(left_within(&l[1], 60), 143, "it is over then");
	kill(gv_launch_local_guard(l[0]), SIGKILL);
	for (changed[0] = false; !changed[0] && gv_clock_s() < t + 60;) {
		gv_sleep_s(0.01);
		gv_launch_changed(l, 1, changed);
	}
	ok(changed[0], "and one whose guard was killed, when its keeper has stopped it");
	is_int(gv_launch_poll(&l[0], false, &news), GV_LAUNCH_LOST, "it is lost");
}

/* ---- what a keeper and its workers hold on to ---- */

static bool
is_locked(const char *name)
{
	int fd = open(path(name), O_RDWR | O_CREAT, 0666);
	bool locked = flock(fd, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK;

	close(fd);
	return locked;
}

static void
test_lock(void)
{
	int fd = open(path("lock"), O_RDWR | O_CREAT, 0666);
	struct gv_launch_spec s =
	    spec_of("cd $GV_CHECKPOINT_DIR; ls -l /proc/self/fd >fds; exec sleep 100", 1);
	struct gv_launch *l;
	char *fds;

	flock(fd, LOCK_EX);
	s.keep_fd = fd;
	ok(start(&l, &s) == 0 && appears("fds"), "a launch that keeps a lock");
	close(fd);
	gv_sleep_s(0.1);
	ok(is_locked("lock"), "the lock is held while it runs");
	fds = content("fds");
	ok(strstr(fds, "0 -> /dev/null") != NULL, "a worker reads /dev/null");
	ok(strstr(fds, "2 -> ") != NULL && strstr(strstr(fds, "2 -> "), "/log\n") != NULL,
	    "and writes to the log");
	ok(strstr(fds, "/lock") == NULL && strstr(fds, "pipe:") == NULL,
	    "but has neither the lock nor a pipe");
	free(fds);
	gv_launch_stop(l);
	is_int(left_within(&l, 60), 143, "it leaves");
	ok(!is_locked("lock"), "and the lock is free");
}

static void
test_descriptors(void)
{
	struct gv_launch_spec s = spec_of("exec sleep 100", 1);
	struct gv_launch *a, *b;
	int saved = dup(STDOUT_FILENO);
	int out[2];
	char c;

	fflush(stdout);
	ok(pipe(out) == 0, "a pipe to read our stdout");
	fflush(stdout);
	dup2(out[1], STDOUT_FILENO);
	close(out[1]);
	ok(start(&a, &s) == 0 && start(&b, &s) == 0, "two launches");
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	while (read(out[0], &c, 1) == 1)
		putchar(c);
	ok(read(out[0], &c, 1) == 0, "none of them holds our stdout open");
	close(out[0]);
	gv_launch_stop(a);
	is_int(left_within(&a, 5), 143, "the first leaves when it is told");
	is_int(left_within(&b, 0.1), -1, "the second runs on");
	gv_launch_stop(b);
	is_int(left_within(&b, 5), 143, "the second when it is told");
}

/* A process ignores what others send (SIGHUP), but no signal of its own faults. */
static bool
shows_faults(pid_t pid)
{
	static const int fault[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	char name[64], line[200];
	unsigned long long ignored = 0, of = 0;
	size_t i;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%ld/status", (long)pid);
	f = fopen(name, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "SigIgn:", 7) == 0)
			ignored = strtoull(line + 7, NULL, 16);
	if (f != NULL)
		fclose(f);
	for (i = 0; i < sizeof(fault) / sizeof(fault[0]); i++)
		of |= 1ull << (fault[i] - 1);
	return (ignored & of) == 0 && (ignored & 1ull << (SIGHUP - 1)) != 0;
}

static void
test_signals(void)
{
	/* make leaves signals 32 and 33 ignored, which are the C library's own */
	struct gv_launch_spec s =
	    spec_of("grep -E 'SigBlk|SigIgn' /proc/self/status | "
		    "sed 's/[01][08]0000000$/000000000/' >$GV_CHECKPOINT_DIR/sig",
		1);
	struct gv_launch *l;
	sigset_t set, old;
	char *sig;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	ok(start(&l, &s) == 0, "started with signals blocked and ignored");
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	is_int(left_within(&l, 60), 0, "it runs");
	sig = content("sig");
	is_str(sig, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n",
	    "a worker has none of them blocked or ignored");
	free(sig);

	s.command = "exec sleep 100";
	ok(start(&l, &s) == 0, "a launch");
	ok(shows_faults(keeper_of(l)), "whose keeper ends by its own faults");
	kill(guard_of(l), SIGINT);
	kill(guard_of(l), SIGHUP);
	kill(guard_of(l), SIGQUIT);
	is_int(left_within(&l, 0.2), -1, "does not mind what a terminal sends");
	ok(getpgid(guard_of(l)) == guard_of(l) && getsid(guard_of(l)) == guard_of(l),
	    "it has left the session");
	kill(guard_of(l), SIGTERM);
	is_int(left_within(&l, 60), 143, "SIGTERM tells it to stop");
}

/* ---- shells that cannot be run ---- */

/* It is the machine's fault, not the job's, and nothing of a gang is left behind. */
static void
test_no_shell(void)
{
	struct gv_launch_spec s =
	    spec_of("trap '' TERM; echo $$ >$GV_CHECKPOINT_DIR/first; exec sleep 100", 3);
	struct gv_launch_news news;
	struct gv_launch *l;
	double t = gv_clock_s();
	char *big;

	s.grace_s = 60;
	fail_exec = EAGAIN;
	fail_exec_for = "RANK=1";
	ok(gv_launch_start(&l, &gv_launch_local, &s, &news) == GV_LAUNCH_NOT_STARTED &&
		l == NULL,
	    "the shell of one of a gang cannot be run: no launch");
	is_int(news.error, EAGAIN, "with its errno");
	is_str(news.reason,
	    "cannot run /bin/sh as worker 1: Resource temporarily unavailable",
	    "and its reason");
	ok(gv_clock_s() - t < 30, "nobody waits for the grace time of the others");
	ok(!exists("first") || gone("first"), "which are gone");
	fail_exec_for = NULL;
	fail_exec = ENOMEM;
	ok(gv_launch_start(&l, &gv_launch_local, &s, &news) == GV_LAUNCH_NOT_STARTED,
	    "none can be run: no launch");
	is_int(news.error, ENOMEM, "with an errno");
	fail_exec = 0;

	big = malloc(1 << 20);
	memset(big, 'x', (1 << 20) - 1);
	big[(1 << 20) - 1] = '\0';
	s.command = big;
	s.n_gpus = 1;
	ok(start(&l, &s) == 0, "a command that no system takes");
	is_int(left_within(&l, 60), 126, "is the job's failure");
	free(big);
	big = content("log");
	ok(strstr(big, "gv: cannot run /bin/sh: Argument list too long\n") != NULL,
	    "and the log says why");
	free(big);
}

/* The directory of a worker that takes long to enter, as one of a dead server does. */
static int slow_chdir_s;

int chdir(const char *to);
int
chdir(const char *to)
{
	int (*real)(const char *);
	void *p = dlsym(RTLD_NEXT, "chdir");

	memcpy(&real, &p, sizeof(p));
	gv_sleep_s(slow_chdir_s);
	return real(to);
}

static void
test_slow_directory(void)
{
	struct gv_launch_spec s = spec_of("exit 5", 1);
	struct gv_launch *l;
	double t = gv_clock_s();

	s.working_directory = dir;
	slow_chdir_s = 6;
	ok(start(&l, &s) == 0 && gv_clock_s() - t < 5.5,
	    "a directory that takes long is not waited for");
	is_int(left_within(&l, 60), 5, "but entered");
	fail_exec = EIO;
	slow_chdir_s = 2;
	ok(start(&l, &s) == 0, "should the shell fail after that");
	is_int(left_within(&l, 60), 126, "it counts as the job's status");
	fail_exec = slow_chdir_s = 0;
}

/* ---- the environment ---- */

static void
has(const char *env, const char *want)
{
	char line[512];

	snprintf(line, sizeof(line), "\n%s\n", want);
	ok(strstr(env, line) != NULL, "%s", want);
}

static char *
environment_of(struct gv_launch_spec *s)
{
	struct gv_launch *l;
	char *env;
	char *text;

	s->command = "if [ $RANK = 1 ]; then echo; env; fi >$GV_CHECKPOINT_DIR/env$RANK";
	if (start(&l, s) != 0 || left_within(&l, 60) != 0)
		printf("Bail out! cannot run env\n");
	env = content("env1");
	text = malloc(strlen(env) + 2);
	sprintf(text, "%s\n", env);
	free(env);
	return text;
}

static void
test_environment(void)
{
	static const char *const wanted[] = {"GV_GPU_TYPE=cpu2", "GV_GPUS=1;3",
	    "GV_THREADS=2", "OMP_NUM_THREADS=2", "CUDA_VISIBLE_DEVICES=", "GV_JOB_ID=j1",
	    "GV_ROUND=12", "GV_TOTAL_STEPS=1000000000000000", "RANK=1", "LOCAL_RANK=1",
	    "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2", "GROUP_RANK=0", "GROUP_WORLD_SIZE=1",
	    "ROLE_NAME=default", "ROLE_RANK=1", "ROLE_WORLD_SIZE=2",
	    "MASTER_ADDR=127.0.0.1", "TORCHELASTIC_RESTART_COUNT=5",
	    "TORCHELASTIC_MAX_RESTARTS=5", "TORCHELASTIC_RUN_ID=j1", "MINE=kept"};
	static const int gpus[] = {1, 3};
	struct gv_launch_spec s = spec_of("", 2);
	char line[600];
	char *env;
	const char *port;
	size_t i;

	setenv("MINE", "kept", 1);
	setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1);
	setenv("RANK", "77", 1);
	setenv("OMP_NUM_THREADS", "9", 1);
	s.gpus = gpus;
	s.round = 12;
	s.restart_count = 5;
	s.total_steps = 1e15;
	env = environment_of(&s);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		has(env, wanted[i]);
	snprintf(line, sizeof(line), "GV_PROGRESS=%s", s.progress);
	has(env, line);
	snprintf(line, sizeof(line), "GV_CHECKPOINT_DIR=%s", dir);
	has(env, line);
	port = strstr(env, "\nMASTER_PORT=");
	ok(port != NULL && atoi(port + 13) > 1023, "MASTER_PORT is a port");
	ok(strstr(env, "AGENT_STORE") == NULL, "no promise of an agent");
	ok(strstr(env, "CUDA_DEVICE_ORDER") == NULL,
	    "no order of GPUs that are not there");
	free(env);

	s.threads = 0;
	s.gpu_type = "v100";
	s.round = -1;
	s.total_steps = NAN;
	s.clean_env = true;
	setenv("LANG", "C", 1);
	env = environment_of(&s);
	has(env, "CUDA_VISIBLE_DEVICES=1,3");
	has(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID");
	has(env, "GV_GPU_TYPE=v100");
	has(env, "LANG=C");
	ok(strstr(env, "\nPATH=") != NULL, "a clean environment has a PATH");
	ok(strstr(env, "MINE=") == NULL, "but not ours");
	ok(strstr(env, "GV_THREADS=") == NULL && strstr(env, "OMP_NUM") == NULL,
	    "GPUs have no threads");
	ok(strstr(env, "GV_ROUND=") == NULL && strstr(env, "GV_TOTAL_STEPS=") == NULL,
	    "what is unknown is not there");
	free(env);
	unsetenv("MINE");
	unsetenv("RANK");
	unsetenv("OMP_NUM_THREADS");
	unsetenv("TORCHELASTIC_USE_AGENT_STORE");
}

/* Workers may open what they could, however many the launcher holds. */
static void
test_limits(void)
{
	struct gv_launch_spec s = spec_of("", 1);
	struct gv_launch *l;
	struct rlimit now;
	char *got;

	s.command = "echo $(ulimit -S -n) >$GV_CHECKPOINT_DIR/limit";
	ok(start(&l, &s) == 0 && left_within(&l, 60) == 0,
	    "a worker that looks at its limit");
	got = content("limit");
	is_str(got, "200\n", "it is the one that was there");
	free(got);
	getrlimit(RLIMIT_NOFILE, &now);
	ok(now.rlim_cur == now.rlim_max, "ours has grown");
}

/* The value of a variable in an environment, "" when it is not there. */
static const char *
value(char **env, const char *name)
{
	size_t len = strlen(name);

	for (; *env != NULL; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	return "";
}

/* A gang of two GPUs of one node and one of another. */
static void
test_nodes(void)
{
	static const char *const nodes[] = {"a", "a", "b"};
	static const char *const want[][7] = {
	    {"0", "0", "2", "0", "2", "4;7", "3"},
	    {"1", "1", "2", "0", "2", "4;7", "3"},
	    {"2", "0", "1", "1", "2", "0", "3"},
	};
	static const char *const name[] = {"RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
	    "GROUP_RANK", "GROUP_WORLD_SIZE", "GV_GPUS", "WORLD_SIZE"};
	static const int gpus[] = {4, 7, 0};
	struct gv_launch_spec s = spec_of("", 3);
	struct gv_launch_meeting m;
	size_t rank, i;

	s.node = nodes;
	s.gpus = gpus;
	ok(gv_launch_meet(&m, &s) == 0, "where a gang of two nodes meets");
	is_str(m.addr, "a", "at the first");
	m.port = 4711;
	for (rank = 0; rank < 3; rank++) {
		char **env = gv_launch_env(&s, rank, &m);

		for (i = 0; i < 7; i++)
			is_str(value(env, name[i]), want[rank][i], "rank %zu: %s", rank,
			    name[i]);
		is_str(value(env, "MASTER_ADDR"), "a", "rank %zu: MASTER_ADDR", rank);
		is_str(value(env, "MASTER_PORT"), "4711", "rank %zu: MASTER_PORT", rank);
		gv_launch_env_free(env);
	}
	s.master_addr = "10.0.0.1";
	ok(gv_launch_meet(&m, &s) == 0 && strcmp(m.addr, "10.0.0.1") == 0,
	    "or at the address that is named");
}

/* Each launch of a gang draws a key of its own; one worker needs none. */
static void
test_key(void)
{
	struct gv_launch_spec s = spec_of("", 2);
	char *env, *key[2];
	int i;

	setenv("GV_GANG_KEY", "inherited", 1);
	for (i = 0; i < 2; i++) {
		env = environment_of(&s);
		key[i] = strstr(env, "\nGV_GANG_KEY=");
		key[i] = strdup(key[i] != NULL ? key[i] + 13 : "");
		key[i][strcspn(key[i], "\n")] = '\0';
		free(env);
		is_int((int)strspn(key[i], "0123456789abcdef"), 64, "a key of 64 digits");
		is_int((int)strlen(key[i]), 64, "and nothing else");
	}
	ok(strcmp(key[0], key[1]) != 0, "each launch has another");
	free(key[0]);
	free(key[1]);
	is_int(status_of("exec test -z \"$GV_GANG_KEY\"", 1), 0, "one worker has none");
	unsetenv("GV_GANG_KEY");
}

/* ---- failures of the launcher itself ---- */

static void
not_started(const struct gv_launch_spec *s, int error, const char *why, const char *name)
{
	struct gv_launch_news news;
	struct gv_launch *l = (struct gv_launch *)dir;

	is_int(gv_launch_start(&l, &gv_launch_local, s, &news), GV_LAUNCH_NOT_STARTED,
	    "%s: not started", name);
	is_int(news.error, error, "%s: errno", name);
	is_str(news.reason, why, "%s: says so", name);
	ok(l == NULL && news.state == GV_LAUNCH_NOT_STARTED, "%s: no launch", name);
}

static void
test_failures(void)
{
	struct gv_launch_spec s =
	    spec_of("echo $$ >$GV_CHECKPOINT_DIR/half; exec sleep 100", 3);
	static const char *const nodes[] = {"n1", "n1", "n2"};
	struct gv_launch_news news;
	struct gv_launch *l;
	double t;

	fail_fork = 1;
	not_started(&s, EAGAIN,
	    "cannot start a process: Resource temporarily unavailable",
	    "no process for the guard");
	fail_fork = 2;
	not_started(&s, EAGAIN,
	    "cannot set up the keeper process: Resource temporarily unavailable",
	    "no process for the keeper itself");
	fail_fork = 4;
	t = gv_clock_s();
	not_started(&s, EAGAIN, "cannot start worker 1: Resource temporarily unavailable",
	    "no process for the second worker");
	fail_fork = 0;
	ok(gv_clock_s() - t < 20, "the first is stopped at once");
	ok(!exists("half") || gone("half"), "and does not run on");
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	    "no process is left over");
	s.log = "/no/such/log";
	not_started(&s, ENOENT, "/no/such/log: cannot open: No such file or directory",
	    "a log that cannot be opened");
	s.node = nodes;
	not_started(&s, 0,
	    "job \"j1\" has GPUs of nodes n1 and n2, and workers are started on this "
	    "node only",
	    "several nodes");
	s.n_gpus = 0;
	not_started(&s, 0, "job \"j1\" was given no GPU", "no GPU");
	s = spec_of("exit 0", 2);
	s.node = nodes;
	ok(start(&l, &s) == 0 && left_within(&l, 60) == 0, "one node of any name");

	/* the keeper is waited for behind the launcher's back */
	ok(start(&l, &s) == 0, "a launch");
	waitpid(guard_of(l), NULL, 0);
	ok(gv_launch_poll(&l, true, &news) == GV_LAUNCH_LEFT && news.status == 125,
	    "whose status somebody else has taken");
	is_str(news.reason, "cannot wait for a process: No child processes", "says so");
}

/* ---- the progress file ---- */

static struct gv_progress_report
report_of(const char *text)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	struct gv_error e = {0};

	put("p", text);
	if (gv_progress_read(path("p"), &p, &e) != 0)
		p.steps = -99;
	return p;
}

static void
test_progress(void)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	struct gv_error e = {0};
	char *big = malloc(300001);
	FILE *f;

	ok(gv_progress_read(path("none"), &p, &e) == 0 && p.steps == -1 &&
		p.checkpoint == -1,
	    "a missing file reports nothing");
	p = report_of("step 1\nstep 20\ncheckpoint 10\nstep 21\n");
	ok(p.steps == 21 && p.checkpoint == 10, "the last of a kind counts");
	p = report_of("step 1\nstep 2");
	ok(p.steps == 1 && p.offset == 7, "a line without its end is none");
	p = report_of(
	    "step 5\nstep -1\nstep x\nstep \nstep\nSTEP 9\n step 9\nstep 9 \nstep 1e400\n"
	    "\n\x01\xff\ncheckpoint\nstep nan\nsteps 9\n");
	ok(p.steps == 5 && p.checkpoint == -1, "what is no report is passed over");
	p = report_of("step 1e3\n");
	ok(p.steps == 1000, "any number will do");
	p = report_of("step 10\nstep 3\n");
	ok(p.steps == 3, "back to a checkpoint");

	p = report_of("step 7\nst");
	f = fopen(path("p"), "a");
	fputs("ep 8\nche", f);
	fclose(f);
	ok(gv_progress_read(path("p"), &p, &e) == 0 && p.steps == 8,
	    "the rest of a line comes later");
	put("p", "step 1\n");
	ok(gv_progress_read(path("p"), &p, &e) == 0 && p.steps == 1,
	    "a file that was emptied");

	/* a line that never ends, across many buffers, with what looks like a report within */
	memset(big, 'x', 300000);
	memcpy(big + 65536, "step 3", 6);
	big[300000] = '\0';
	p = report_of(big);
	ok(p.steps == -1, "an endless line");
	f = fopen(path("p"), "a");
	fputs("step 4\nstep 5\n", f);
	fclose(f);
	ok(gv_progress_read(path("p"), &p, &e) == 0 && p.steps == 5 && p.offset == 300014,
	    "is skipped to its end");
	free(big);

	gv_error_clear(&e);
	ok(gv_progress_read(dir, &p, &e) == -1, "a directory is no progress file");
	ok(strstr(e.text[0], ": a progress file must be a regular file") != NULL,
	    "says so");
}

static void
test_progress_write(void)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	struct gv_error e = {0};
	struct rlimit was, few;
	int rc;

	unsetenv("GV_PROGRESS");
	ok(gv_progress_write("step", 1, &e) == 0,
	    "without GV_PROGRESS nothing is written");
	remove(path("w"));
	setenv("GV_PROGRESS", path("w"), 1);
	ok(gv_progress_write("step", 41, &e) == 0 &&
		gv_progress_write("checkpoint", 40, &e) == 0 &&
		gv_progress_write("step", 9000000000000000000, &e) == 0,
	    "three reports");
	ok(gv_progress_read(path("w"), &p, &e) == 0 && p.steps == 9e18 &&
		p.checkpoint == 40,
	    "are read back");
	setenv("GV_PROGRESS", "/no/such/file", 1);
	ok(gv_progress_write("step", 1, &e) == -1, "a file that cannot be opened");
	is_str(e.text[0], "/no/such/file: cannot open: No such file or directory",
	    "says so");
	gv_error_clear(&e);
	setenv("GV_PROGRESS", "/dev/full", 1);
	ok(gv_progress_write("step", 1, &e) == -1, "a full disk");
	is_str(e.text[0], "/dev/full: cannot write: No space left on device", "says so");

	/* a file that may not grow takes a part of the line */
	gv_error_clear(&e);
	fflush(stdout);
	signal(SIGXFSZ, SIG_IGN);
	remove(path("w"));
	setenv("GV_PROGRESS", path("w"), 1);
	getrlimit(RLIMIT_FSIZE, &was);
	few = was;
	few.rlim_cur = 3;
	setrlimit(RLIMIT_FSIZE, &few);
	errno = 0;
	rc = gv_progress_write("step", 1, &e);
	setrlimit(RLIMIT_FSIZE, &was);
	signal(SIGXFSZ, SIG_DFL);
	is_int(rc, -1, "a line that is cut");
	ok(e.count == 1 && strstr(e.text[0], "/w: cannot write: No space left") != NULL,
	    "says so");
}

/* The port of a gang is none that the system gives to any connection meanwhile. */
static void
test_port(void)
{
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
	int first = 0, wrong = 0, i;

	if (f == NULL || fscanf(f, "%d", &first) != 1 || first < 21000)
		first = 65536;
	if (f != NULL)
		fclose(f);
	for (i = 0; i < 200; i++) {
		struct gv_error e = {0};
		int fd, port = gv_launch_free_port();

		wrong += port < 10000 || port >= first;
		wrong += gv_sock_listen(&fd, NULL, &port, &e) != 0;
		close(fd);
	}
	is_int(wrong, 0, "ports that stay free");
}

/* What a worker's environment has of a variable, "-" = it has none. */
static const char *
value_of(char **env, const char *name)
{
	size_t len = strlen(name);

	for (; *env != NULL; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	return "-";
}

static void
test_numbers(void)
{
	static const struct {
		double steps;
		const char *want, *round;
	} step[] = {{1e15, "1000000000000000", "-"}, {7, "7", "0"}, {2.5, "2.5", "1"},
	    {1e19, "1e+19", "2"}, {NAN, "-", "3"}, {INFINITY, "-", "4"}};
	static const int gpus[] = {3};
	struct gv_launch_spec spec = {.job_id = "j",
	    .gpu_type = "t",
	    .gpus = gpus,
	    .n_gpus = 1,
	    .checkpoint_dir = "/c",
	    .progress = "/p"};
	struct gv_launch_meeting m = {.addr = "127.0.0.1", .port = 1};
	const char *before = getenv("PYTHONPATH");
	char *own = before != NULL ? strdup(before) : NULL;
	char **env;
	size_t i, plain;

	for (i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		spec.total_steps = step[i].steps;
		spec.round = (int64_t)i - 1;
		env = gv_launch_env(&spec, 0, &m);
		is_str(value_of(env, "GV_TOTAL_STEPS"), step[i].want, "steps in all");
		is_str(value_of(env, "GV_ROUND"), step[i].round,
		    "the round, if there is one");
		gv_launch_env_free(env);
	}
	unsetenv("PYTHONPATH");
	env = gv_launch_env(&spec, 0, &m);
	plain = strlen(value_of(env, "PYTHONPATH"));
	is_str(value_of(env, "PYTHONPATH"), value_of(env, "GV_DATA"), "our modules");
	is_str(value_of(env, "GV_GANG_KEY"), "-", "one worker has no key");
	gv_launch_env_free(env);
	setenv("PYTHONPATH", "", 1);
	env = gv_launch_env(&spec, 0, &m);
	is_str(value_of(env, "PYTHONPATH"), value_of(env, "GV_DATA"),
	    "no empty one before them");
	gv_launch_env_free(env);
	setenv("PYTHONPATH", "/own", 1);
	env = gv_launch_env(&spec, 0, &m);
	ok(strncmp(value_of(env, "PYTHONPATH"), "/own:", 5) == 0 &&
		strlen(value_of(env, "PYTHONPATH")) == plain + 5,
	    "behind the user's own");
	gv_launch_env_free(env);
	spec.clean_env = true;
	env = gv_launch_env(&spec, 0, &m);
	is_str(value_of(env, "PYTHONPATH"), value_of(env, "GV_DATA"),
	    "unless nothing is inherited");
	gv_launch_env_free(env);
	gv_launch_env_free(NULL);
	if (own != NULL)
		setenv("PYTHONPATH", own, 1);
	else
		unsetenv("PYTHONPATH");
	free(own);
}

/* A way to run workers on GPUs that never change. */
static void
test_plain_launcher(void)
{
	struct gv_launcher plain = {.name = "plain"};
	struct gv_launch_site site = {.over = true};
	const char *why = NULL;

	gv_launch_look(&plain, true, &site);
	ok(site.left_s == HUGE_VAL && !site.over && site.turns == 0, "it does not end");
	ok(gv_launch_usable(&plain, "", 0, &why) && why[0] == '\0', "all can be used");
}

int
main(void)
{
	struct gv_error e = {0};
	struct rlimit few;

	setvbuf(
	    stdout, NULL, _IOLBF, 0); /* nothing for a forked sanitizer to print again */
	if (mkdtemp(dir) == NULL)
		return 2;
	getrlimit(RLIMIT_NOFILE, &few);
	few.rlim_cur = 200;
	setrlimit(RLIMIT_NOFILE, &few);
	test_status();
	test_limits();
	test_stop();
	test_strays();
	test_children();
	test_killed();
	test_killed_keeper(true, false);
	test_killed_keeper(false, true);
	test_killed_keeper(true, true);
	test_wait_without_guard();
	test_tracer();
	test_many();
	test_changed();
	test_lock();
	test_descriptors();
	test_signals();
	test_no_shell();
	test_slow_directory();
	test_environment();
	test_nodes();
	test_key();
	test_port();
	test_numbers();
	test_plain_launcher();
	test_failures();
	test_progress();
	test_progress_write();
	ok(gv_remove_tree(dir, &e) == 0, "cleaned up");
	return done_testing();
}
