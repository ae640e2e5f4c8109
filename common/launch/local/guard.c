#define _DEFAULT_SOURCE /* syscall */
/*
 * The guard: parent of the keeper and of whatever a keeper leaves behind that dies
 * before its workers.  It does nothing while the keeper lives.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "launch/local/children.h"
#include "launch/local/keeper.h"

static const struct timespec tick = {.tv_nsec = 20000000};

/*
 * Closes every descriptor from GV_KEEPER_OTHERS on: the locks and pipes of the
 * launcher.  At once where the system can: with thousands of launches there are
 * thousands of them.
 */
static void
close_others(void)
{
	DIR *d;
	const struct dirent *entry;
	long max;
	int fd;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, GV_KEEPER_OTHERS, ~0u, 0) == 0)
		return;
#endif
	d = opendir("/proc/self/fd");
	if (d != NULL) {
		while ((entry = readdir(d)) != NULL) {
			fd = (int)strtol(entry->d_name, NULL, 10);
			if (fd >= GV_KEEPER_OTHERS && fd != dirfd(d))
				close(fd);
		}
		closedir(d);
		return;
	}
	max = sysconf(_SC_OPEN_MAX);
	if (max < 0 || max > 65536)
		max = 65536;
	for (fd = GV_KEEPER_OTHERS; fd < max; fd++)
		close(fd);
}

/* Puts the descriptors where they belong.  0, or -1 with errno set. */
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
			close(GV_KEEPER_CONTROL + i);
		else if (dup2(from[i], GV_KEEPER_CONTROL + i) == -1)
			return -1;
	}
	if (dup2(null, 0) == -1 || dup2(null, 1) == -1 || dup2(null, 2) == -1)
		return -1;
	close_others();
	return 0;
}

static void
slay(void *ctx, pid_t pid)
{
	(void)ctx;
	kill(pid, SIGKILL);
}

/* The keeper is dead: nobody can tell its workers to save themselves any more. */
static void
end_all(void)
{

	for (;;) {
		sigset_t child;
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if ((pid == -1 && errno == ECHILD) || gv_children_each(slay, NULL) == -1)
			return;
		sigemptyset(&child);
		sigaddset(&child, SIGCHLD);
		sigtimedwait(&child, NULL, &tick);
	}
}

/* Waits for the keeper, and hands on what it is told by signals; its wait status. */
static int
await_keeper(pid_t keeper)
{
	sigset_t set;
	int status;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	for (;;) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid == keeper)
			return status;
		if (pid > 0)
			continue;
		if (pid == -1 && errno == ECHILD)
			return 125 << 8; /* somebody else has waited for it */
		/* its signal may have been for the call that has failed: look again soon */
		sig =
		    pid == -1 ? sigtimedwait(&set, NULL, &tick) : sigwaitinfo(&set, NULL);
		if (sig > 0 && sig != SIGCHLD)
			kill(keeper, sig);
	}
}

void
gv_guard_run(struct gv_keeper *k)
{
	pid_t self = getpid();
	pid_t keeper;
	int status;

	setsid();
	/* ignored signals would not be seen by sigwait, nor children that end by waitpid */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGUSR1, SIG_DFL);
#ifdef PR_SET_CHILD_SUBREAPER
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "gv-guard");
#endif
	if (arrange_descriptors(k) != 0) {
		gv_keeper_say_ready(k->ready, -1, errno);
		_exit(125);
	}
	keeper = fork();
	if (keeper == 0)
		gv_keeper_run(k, self);
	if (keeper == -1) {
		gv_keeper_say_ready(GV_KEEPER_READY, -1, errno);
		_exit(125);
	}
	close(GV_KEEPER_READY);
	close(GV_KEEPER_LOG);
	status = await_keeper(keeper);
	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	end_all();
	kill(self, SIGKILL); /* as the keeper was: no status of the job's is known */
	_exit(128 + WTERMSIG(status));
}
