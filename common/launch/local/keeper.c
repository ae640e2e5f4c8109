/* The keeper: starts the workers of a job, waits for them, stops all of them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#include "launch/local/keeper.h"

/* Descriptors of a keeper beside 0, 1 and 2, which are /dev/null. */
enum { CONTROL = 3, READY, LOG, KEEP, FIRST_OTHER };

enum { MAX_ASKED = 4096 };

static const double tick_s = 0.05; /* between two looks at what is left while stopping */

struct state {
	struct gv_keeper *k;
	size_t running; /* workers that have not left */
	pid_t group;
	int status; /* the first that is not 0 */
	bool stopping;
	bool again; /* waiting has failed: look again soon */
	double deadline_s;
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

static void
say_ready(int worker, int error)
{
	struct gv_keeper_ready ready = {worker, error};

	while (write(READY, &ready, sizeof(ready)) == -1 && errno == EINTR)
		;
	close(READY);
}

/* Closes every descriptor from FIRST_OTHER on: the locks and pipes of the parent. */
static void
close_others(void)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *entry;
	long max;
	int fd;

	if (d != NULL) {
		while ((entry = readdir(d)) != NULL) {
			fd = (int)strtol(entry->d_name, NULL, 10);
			if (fd >= FIRST_OTHER && fd != dirfd(d))
				close(fd);
		}
		closedir(d);
		return;
	}
	max = sysconf(_SC_OPEN_MAX);
	if (max < 0 || max > 65536)
		max = 65536;
	for (fd = FIRST_OTHER; fd < max; fd++)
		close(fd);
}

/*
 * Puts the descriptors where they belong.  0, or -1 with errno set; then READY
 * may not be in place, so the parent learns of it by the keeper's exit.
 */
static int
arrange_descriptors(const struct gv_keeper *k)
{
	int from[4] = {k->control, k->ready, k->log, k->spec->keep_fd};
	int null = open("/dev/null", O_RDWR);
	int i;

	/* above all targets first: a source may have the number of a target */
	for (i = 0; i < 4; i++)
		if (from[i] >= 0 && (from[i] = fcntl(from[i], F_DUPFD, 16)) == -1)
			return -1;
	if (null == -1 || (null = fcntl(null, F_DUPFD, 16)) == -1)
		return -1;
	for (i = 0; i < 4; i++) {
		if (from[i] < 0)
			close(CONTROL + i);
		else if (dup2(from[i], CONTROL + i) == -1)
			return -1;
	}
	if (dup2(null, 0) == -1 || dup2(null, 1) == -1 || dup2(null, 2) == -1)
		return -1;
	close_others();
	return 0;
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

static void
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
	int error;
	int sig;
	int fd;

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
	if (dup2(LOG, STDOUT_FILENO) == -1 || dup2(LOG, STDERR_FILENO) == -1)
		_exit(125);
	for (fd = CONTROL; fd < FIRST_OTHER; fd++)
		close(fd);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (spec->working_directory != NULL && chdir(spec->working_directory) != 0) {
		complain("change to the directory", spec->working_directory);
		_exit(126);
	}
	argv[0] = sh;
	argv[1] = dash_c;
	argv[2] = strdup(spec->command);
	if (argv[2] != NULL)
		execve("/bin/sh", argv, k->env[rank]);
	error = errno;
	complain("run", "/bin/sh");
	_exit(error == ENOENT ? 127 : 126);
}

/* Starts all workers.  0, or the errno of the fork that failed. */
static int
start(struct state *s)
{
	const struct gv_launch_spec *spec = s->k->spec;
	pid_t keeper = getpid();
	size_t rank;

	for (rank = 0; rank < spec->n_gpus; rank++) {
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

static pid_t
parent_of(pid_t pid)
{
	char path[64];
	char stat[512];
	const char *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	stat[n] = '\0';
	p = strrchr(stat, ')'); /* the name before it may hold anything */
	if (p == NULL || strlen(p) < 5)
		return -1;
	return (pid_t)strtol(p + 4, NULL, 10);
}

/* SIGTERM to a child, once. */
static void
ask(struct state *s, pid_t pid)
{
	size_t i;

	for (i = 0; i < s->n_asked; i++)
		if (s->asked[i] == pid)
			return;
	if (s->n_asked == MAX_ASKED)
		return;
	s->asked[s->n_asked++] = pid;
	kill(pid, SIGTERM);
	kill(pid, SIGCONT); /* should it be stopped */
}

/*
 * Sends a signal to every child of the keeper: only children, whose numbers
 * cannot be given to others before they are waited for.  What they leave behind
 * becomes a child in its turn.  Returns their number, -1 when /proc is missing.
 */
static long
signal_children(struct state *s, int sig)
{
	DIR *d = opendir("/proc");
	const struct dirent *entry;
	pid_t self = getpid();
	long n = 0;

	if (d == NULL)
		return -1;
	while ((entry = readdir(d)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || parent_of(pid) != self)
			continue;
		n++;
		if (sig == SIGTERM)
			ask(s, pid);
		else
			kill(pid, sig);
	}
	closedir(d);
	return n;
}

static void
begin_stop(struct state *s)
{
	if (s->stopping)
		return;
	s->stopping = true;
	s->deadline_s = gv_clock_s() + s->k->spec->grace_s;
	/* where children cannot be listed, the group has to do */
	if (signal_children(s, SIGTERM) <= 0 && group_is_ours(s)) {
		kill(-s->group, SIGTERM);
		kill(-s->group, SIGCONT);
	}
}

/* While stopping: asks what has become a child; past the grace time kills. */
static void
continue_stop(struct state *s)
{
	bool ours;

	if (gv_clock_s() < s->deadline_s) {
		signal_children(s, SIGTERM);
		return;
	}
	ours = group_is_ours(s);
	if (ours)
		kill(-s->group, SIGKILL);
	if (signal_children(s, SIGKILL) == -1 && !ours)
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
	for (i = 0; i < s->k->spec->n_gpus && s->k->worker[i] != pid; i++)
		;
	if (i == s->k->spec->n_gpus)
		return;
	s->k->worker[i] = 0;
	s->running--;
	if (s->status == 0)
		s->status = status;
}

static void
sleep_until_something(const struct state *s)
{
	struct timespec tick = {.tv_nsec = (long)(tick_s * 1e9)};
	sigset_t none;
	fd_set set;

	sigemptyset(&none);
	FD_ZERO(&set);
	if (!s->stopping)
		FD_SET(CONTROL, &set);
	if (pselect(CONTROL + 1, &set, NULL, NULL, s->stopping || s->again ? &tick : NULL,
		&none) == 1)
		told = 1;
}

void
gv_keeper_run(struct gv_keeper *k)
{
	static struct state s;
	int error;

	s.k = k;
	setsid();
#ifdef PR_SET_CHILD_SUBREAPER
	prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
	arrange_signals();
	if (arrange_descriptors(k) != 0) {
		struct gv_keeper_ready ready = {-1, errno};

		while (write(k->ready, &ready, sizeof(ready)) == -1 && errno == EINTR)
			;
		_exit(125);
	}
	error = start(&s);
	if (error != 0) {
		s.status = 125;
		begin_stop(&s);
	}
	say_ready((int)s.running, error);
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
