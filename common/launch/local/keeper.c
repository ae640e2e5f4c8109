/* The keeper: starts the workers of a job, waits for them, stops all of them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "launch/local/children.h"
#include "launch/local/keeper.h"

enum { MAX_ASKED = 4096 };

/*
 * Between two looks at what is left while stopping, though nobody has left: what
 * children leave behind becomes our child with their death, of which we hear, but what
 * their children do without a word.  Each is tick_growth times as long as the one
 * before, since thousands of keepers may wait for workers that take their time; so
 * whoever became our child still has most of the grace time that is left.
 */
static const double ask_tick_s = 0.2, tick_growth = 3;

/* While killing, and after a failure. */
static const double kill_tick_s = 0.05;

struct state {
	struct gv_keeper *k;
	size_t running; /* workers that have not left */
	pid_t group;
	int status; /* the first that is not 0 */
	bool stopping;
	bool again; /* waiting has failed: look again soon */
	bool killing;
	bool alone; /* the launcher is gone: nobody can tell us anything any more */
	double deadline_s;
	double tick_s;
	pid_t asked[MAX_ASKED]; /* children that were sent SIGTERM */
	size_t n_asked;
};

static volatile sig_atomic_t told;
static volatile sig_atomic_t hurried; /* by SIGUSR1: no grace any more */

static void
on_signal(int sig)
{
	if (sig == SIGTERM)
		told = 1;
	if (sig == SIGUSR1)
		hurried = 1;
}

/* ---- becoming a keeper ---- */

void
gv_keeper_say_ready(int fd, int worker, int error)
{
	struct gv_keeper_ready ready = {worker, error, false};

	while (write(fd, &ready, sizeof(ready)) == -1 && errno == EINTR)
		;
	close(fd);
}

static void
set_signal(int sig, void (*handler)(int))
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

/* A worker that could not become its shell: no fault of the job's. */
static GV_NORETURN void
not_begun(size_t rank, int error)
{
	struct gv_keeper_ready ready = {(int)rank, error, true};

	set_signal(SIGPIPE, SIG_IGN); /* the launcher may have lost patience */
	while (write(GV_KEEPER_READY, &ready, sizeof(ready)) == -1 && errno == EINTR)
		;
	_exit(126);
}

/*
 * Only the parent decides: what a terminal sends is ignored.  SIGCHLD,
 * SIGTERM and SIGUSR1 stay blocked but while the keeper sleeps.
 */
static void
arrange_signals(void)
{
	sigset_t set;
	int sig;

	for (sig = 1; sig <= SIGRTMAX; sig++)
		if (sig != SIGCHLD && sig != SIGTERM && sig != SIGUSR1)
			set_signal(sig, SIG_IGN);
	/* faults of the keeper itself must show */
	set_signal(SIGSEGV, SIG_DFL);
	set_signal(SIGBUS, SIG_DFL);
	set_signal(SIGFPE, SIG_DFL);
	set_signal(SIGILL, SIG_DFL);
	set_signal(SIGABRT, SIG_DFL);
	set_signal(SIGCHLD, on_signal);
	set_signal(SIGTERM, on_signal);
	set_signal(SIGUSR1, on_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

/* ---- starting ---- */

static GV_NORETURN void
complain(const char *what, const char *which)
{
	char line[512];
	int error = errno;
	size_t len;

	snprintf(line, sizeof(line), "%s: cannot %s %.300s: %s", gv_progname(), what,
	    which, strerror(error));
	len = strlen(line);
	line[len] = '\n';
	(void)!write(STDERR_FILENO, line, len + 1);
	_exit(126);
}

/* A worker, just forked. */
static GV_NORETURN void
work(const struct gv_keeper *k, size_t rank, pid_t group, pid_t keeper)
{
	const struct gv_launch_spec *spec = k->spec;
	char *argv[] = {NULL, NULL, NULL, NULL};
	static char sh[] = "sh";
	static char dash_c[] = "-c";
	sigset_t none;
	int sig;

	setpgid(0, group);
#ifdef __linux__
	/* should the keeper be killed, the worker must not go on unkept */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(125);
#else
	(void)keeper;
#endif
	for (sig = 1; sig <= SIGRTMAX; sig++)
		set_signal(sig, SIG_DFL);
	if (dup2(GV_KEEPER_LOG, STDOUT_FILENO) == -1 ||
	    dup2(GV_KEEPER_LOG, STDERR_FILENO) == -1 ||
	    fcntl(GV_KEEPER_READY, F_SETFD, FD_CLOEXEC) == -1)
		not_begun(rank, errno);
	close(GV_KEEPER_CONTROL);
	close(GV_KEEPER_LOG);
	close(GV_KEEPER_KEEP);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (k->files != NULL)
		setrlimit(RLIMIT_NOFILE, k->files);
	if (spec->working_directory != NULL && chdir(spec->working_directory) != 0)
		complain("change to the directory", spec->working_directory);
	argv[0] = sh;
	argv[1] = dash_c;
	argv[2] = strdup(spec->command);
	if (argv[2] != NULL)
		execve("/bin/sh", argv, k->env[rank]);
	if (errno == E2BIG) /* at any other time, too */
		complain("run", "/bin/sh");
	not_begun(rank, errno);
}

/* Starts all workers.  0, or the errno of the fork that failed. */
static int
start(struct state *s)
{
	pid_t keeper = getpid();
	size_t rank;

	for (rank = 0; rank < s->k->n; rank++) {
		pid_t pid = fork();

		if (pid == -1)
			return errno;
		if (pid == 0)
			work(s->k, rank, s->group, keeper);
		if (s->group == 0)
			s->group = pid;
		setpgid(pid, s->group); /* in both processes: whoever comes first */
		s->k->worker[rank] = pid;
		s->running++;
	}
	return 0;
}

/* ---- stopping ---- */

/*
 * Whether a child of ours is in the group of the workers.  While one is, the
 * group's number cannot belong to anybody else.
 */
static bool
group_is_ours(const struct state *s)
{
	siginfo_t info;

	return s->group > 0 &&
	       waitid(P_PGID, (id_t)s->group, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/*
 * SIGTERM to a child, once; and it is woken if it is stopped.  Not whatever it
 * does: SIGCONT would take away the stop of a debugger (or of LeakSanitizer, which
 * is one at exit) that is just attaching, and that would wait for ever.
 */
static void
ask(void *ctx, pid_t pid)
{
	struct state *s = ctx;
	size_t i;

	for (i = 0; i < s->n_asked && s->asked[i] != pid; i++)
		;
	if (i == s->n_asked && s->n_asked < MAX_ASKED) {
		s->asked[s->n_asked++] = pid;
		kill(pid, SIGTERM);
	}
	if (gv_child_is_stopped(pid))
		kill(pid, SIGCONT);
}

/* Only children, whose numbers cannot be given to others before they are waited for. */
static void
slay(void *ctx, pid_t pid)
{
	(void)ctx;
	kill(pid, SIGKILL);
}

static void
begin_stop(struct state *s)
{
	if (s->stopping)
		return;
	s->stopping = true;
	s->deadline_s = gv_clock_s() + s->k->spec->grace_s;
	s->tick_s = ask_tick_s;
	/* where children cannot be listed, the group has to do */
	if (gv_children_each(ask, s) <= 0 && group_is_ours(s)) {
		kill(-s->group, SIGTERM);
		kill(-s->group, SIGCONT);
	}
}

/*
 * While stopping: asks what has become a child; past the grace time kills.  What
 * the killed leave behind becomes a child before we hear of their death.
 */
static void
continue_stop(struct state *s)
{
	bool ours;

	if (gv_clock_s() < s->deadline_s) {
		gv_children_each(ask, s);
		return;
	}
	if (!s->killing)
		s->tick_s = kill_tick_s;
	s->killing = true;
	ours = group_is_ours(s);
	if (ours)
		kill(-s->group, SIGKILL);
	if (gv_children_each(slay, NULL) == -1 && !ours)
		_exit(s->status); /* what is left cannot be found here */
}

/* ---- waiting ---- */

static void
has_left(struct state *s, pid_t pid, int wait_status)
{
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
					    : 128 + WTERMSIG(wait_status);
	size_t i;

	for (i = 0; i < s->n_asked; i++)
		if (s->asked[i] == pid)
			s->asked[i] =
			    s->asked[--s->n_asked]; /* its number may come again */
	for (i = 0; i < s->k->n && s->k->worker[i] != pid; i++)
		;
	if (i == s->k->n)
		return;
	s->k->worker[i] = 0;
	s->running--;
	if (s->status == 0)
		s->status = status;
}

static void
hear_control(struct state *s)
{
	char told_to[16];
	ssize_t n = read(GV_KEEPER_CONTROL, told_to, sizeof(told_to));

	if (n == -1)
		return;
	told = 1;
	s->alone = n == 0;
	if (n > 0 && memchr(told_to, GV_TELL_KILL, (size_t)n) != NULL)
		hurried = 1;
}

static void
sleep_until_something(struct state *s)
{
	double wait = s->stopping ? s->tick_s : kill_tick_s;
	struct timespec tick;
	sigset_t none;
	fd_set set;

	if (s->stopping && !s->killing)
		wait = fmin(wait, fmax(s->deadline_s - gv_clock_s(), 0));
	tick.tv_sec = (time_t)wait;
	tick.tv_nsec = (long)((wait - (double)tick.tv_sec) * 1e9);
	sigemptyset(&none);
	FD_ZERO(&set);
	if (!s->alone)
		FD_SET(GV_KEEPER_CONTROL, &set);
	switch (pselect(GV_KEEPER_CONTROL + 1, &set, NULL, NULL,
	    s->stopping || s->again ? &tick : NULL, &none)) {
	case 1:
		hear_control(s);
		break;
	case 0:
		s->tick_s *= tick_growth;
		break;
	}
}

/* Should the guard be killed, the keeper stops. */
static void
follow(pid_t guard)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "gv-keeper");
	if (getppid() != guard)
		_exit(125);
#else
	(void)guard;
#endif
}

void
gv_keeper_run(struct gv_keeper *k, pid_t guard)
{
	static struct state s;
	int error;

	s.k = k;
	setsid(); /* a signal to the guard's group must not reach both */
	follow(guard);
	arrange_signals();
	error = start(&s);
	if (error != 0) {
		s.status = 125;
		begin_stop(&s);
	}
	gv_keeper_say_ready(GV_KEEPER_READY, (int)s.running, error);
	for (;;) {
		int wait_status;
		pid_t pid;

		while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0)
			has_left(&s, pid, wait_status);
		s.again = pid == -1;
		if (pid == -1 && errno == ECHILD)
			_exit(s.status);
		if (told || s.status != 0 || s.running == 0)
			begin_stop(&s);
		if (hurried) {
			begin_stop(&s);
			s.deadline_s = 0;
		}
		if (s.stopping)
			continue_stop(&s);
		sleep_until_something(&s);
	}
}
