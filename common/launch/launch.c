#include "launch/launch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "launch/keeper.h"

enum { DEFAULT_PORT = 29500 }; /* torchrun's */

/* A port that nobody listens on at this moment. */
static int
free_port(void)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int port = DEFAULT_PORT;

	if (fd == -1)
		return port;
	memset(&a, 0, sizeof(a));
	a.sin_family = AF_INET;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&a, &len) == 0)
		port = ntohs(a.sin_port);
	close(fd);
	return port;
}

/* A pipe whose ends are not inherited across exec. */
static int
make_pipe(int fd[2], struct gv_error *e)
{
	if (pipe(fd) != 0) {
		fd[0] = fd[1] = -1;
		return gv_error_sys(e, "cannot make a pipe");
	}
	fcntl(fd[0], F_SETFD, FD_CLOEXEC);
	fcntl(fd[1], F_SETFD, FD_CLOEXEC);
	return 0;
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Forks the keeper; its pid, or -1. */
static pid_t
fork_keeper(struct gv_keeper *k, struct gv_error *e)
{
	sigset_t all;
	sigset_t old;
	pid_t pid;

	/* so that none of our handlers ever runs in the keeper */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = fork();
	if (pid == 0)
		gv_keeper_run(k);
	if (pid == -1)
		gv_error_sys(e, "cannot start a process");
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

/* Waits until the keeper says that the workers run.  0, or -1 with *e set. */
static int
await_ready(int fd, struct gv_error *e)
{
	struct gv_keeper_ready ready;
	ssize_t n;

	do
		n = read(fd, &ready, sizeof(ready));
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return gv_error_sys(e, "cannot hear of the keeper process");
	if (n != (ssize_t)sizeof(ready))
		return gv_error_set(e, "the keeper process has died");
	if (ready.error == 0)
		return 0;
	errno = ready.error;
	if (ready.worker < 0)
		return gv_error_sys(e, "cannot set up the keeper process");
	return gv_error_sys(e, "cannot start worker %d", ready.worker);
}

static int
launch(struct gv_launch *l, struct gv_keeper *k, struct gv_error *e)
{
	int control[2] = {-1, -1};
	int ready[2] = {-1, -1};
	pid_t keeper = -1;
	int r = -1;

	if (make_pipe(control, e) == 0 && make_pipe(ready, e) == 0) {
		k->control = control[0];
		k->ready = ready[1];
		/* the keeper's own copies of the other ends go when it closes what it does not know */
		keeper = fork_keeper(k, e);
	}
	close_fd(&control[0]);
	close_fd(&ready[1]);
	if (keeper > 0)
		r = await_ready(ready[0], e);
	close_fd(&ready[0]);
	if (r == 0) {
		*l = (struct gv_launch){.keeper = keeper, .control = control[1]};
		return 0;
	}
	close_fd(&control[1]); /* a keeper that lives stops now */
	while (keeper > 0 && waitpid(keeper, NULL, 0) == -1 && errno == EINTR)
		;
	return -1;
}

int
gv_launch_start(
    struct gv_launch *l, const struct gv_launch_spec *spec, struct gv_error *e)
{
	struct gv_keeper k = {.spec = spec, .log = STDERR_FILENO};
	int port = free_port();
	size_t rank;
	int r;

	if (spec->n_gpus == 0)
		return gv_error_set(e, "job \"%s\" was given no GPU", spec->job_id);
	if (spec->log != NULL) {
		k.log = open(spec->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
		if (k.log == -1)
			return gv_error_sys(e, "%s: cannot open", spec->log);
	}
	k.env = gv_xcalloc(spec->n_gpus, sizeof(*k.env));
	k.worker = gv_xcalloc(spec->n_gpus, sizeof(*k.worker));
	for (rank = 0; rank < spec->n_gpus; rank++)
		k.env[rank] = gv_launch_env(spec, rank, port);
	r = launch(l, &k, e);
	for (rank = 0; rank < spec->n_gpus; rank++)
		gv_launch_env_free(k.env[rank]);
	free(k.env);
	free(k.worker);
	if (spec->log != NULL)
		close(k.log);
	return r;
}

void
gv_launch_stop(struct gv_launch *l)
{
	if (l->keeper <= 0)
		return;
	l->told = true;
	/* the pipe tells it too when somebody else holds a copy of our end */
	kill(l->keeper, SIGTERM);
	close_fd(&l->control);
}

void
gv_launch_kill(struct gv_launch *l)
{
	if (l->keeper <= 0)
		return;
	gv_launch_stop(l);
	kill(l->keeper, SIGUSR1);
}

int
gv_launch_poll(struct gv_launch *l, bool wait, int *status, struct gv_error *e)
{
	int wait_status;
	pid_t pid;

	if (l->keeper <= 0)
		return gv_error_set(e, "no process to wait for");
	pid = waitpid(l->keeper, &wait_status, wait ? 0 : WNOHANG);
	if (pid == 0 || (pid == -1 && errno == EINTR))
		return 0;
	if (pid == -1)
		return gv_error_sys(e, "cannot wait for a process");
	*status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
					 : 128 + WTERMSIG(wait_status);
	close_fd(&l->control);
	l->keeper = 0;
	return 1;
}

enum gv_outcome
gv_launch_outcome(int status, bool told, double steps, double total_steps)
{
	if (status == 0)
		return told && steps < total_steps ? GV_PREEMPTED : GV_FINISHED;
	return told && status == 128 + SIGTERM ? GV_PREEMPTED : GV_FAILED;
}
