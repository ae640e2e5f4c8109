#include "policy/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/clock.h"

/* ---- starting ---- */

static void
close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Both ends close when another program is started. */
static int
make_pipe(int fd[2])
{
	int i;

	if (pipe(fd) != 0) {
		fd[0] = fd[1] = -1;
		return -1;
	}
	for (i = 0; i < 2; i++)
		if (fcntl(fd[i], F_SETFD, FD_CLOEXEC) == -1)
			return -1;
	return 0;
}

static GV_NORETURN void
become(const char *command, const char *directory, int in, int out)
{
	sigset_t none;

	setpgid(0, 0);
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if ((directory != NULL && chdir(directory) != 0) || dup2(in, 0) == -1 ||
	    dup2(out, 1) == -1)
		_exit(125);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

int
gv_child_start(
    struct gv_child *c, const char *command, const char *directory, struct gv_error *e)
{
	int to[2] = {-1, -1};
	int from[2] = {-1, -1};
	pid_t pid = -1;

	*c = GV_CHILD_NONE;
	if (directory != NULL && access(directory, X_OK) != 0)
		return gv_error_sys(e, "%s: cannot enter", directory);
	if (make_pipe(to) != 0 || make_pipe(from) != 0 ||
	    fcntl(to[1], F_SETFL, O_NONBLOCK) == -1 ||
	    fcntl(from[0], F_SETFL, O_NONBLOCK) == -1)
		gv_error_sys(e, "cannot make a pipe");
	else if ((pid = fork()) == -1)
		gv_error_sys(e, "cannot start a process");
	else if (pid == 0)
		become(command, directory, to[0], from[1]);
	close_end(&to[0]);
	close_end(&from[1]);
	if (pid == -1) {
		close_end(&to[1]);
		close_end(&from[0]);
		return -1;
	}
	setpgid(pid, pid); /* whoever of us is first */
	*c = (struct gv_child){.pid = pid, .in = to[1], .out = from[0]};
	return 0;
}

/* ---- its pipes ---- */

/* write without SIGPIPE, whatever its disposition is: it is held back and taken. */
static ssize_t
write_quietly(int fd, const char *s, size_t len)
{
	static const struct timespec at_once;
	sigset_t pipe_only, pending, before;
	ssize_t n;
	int error;

	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigemptyset(&pending);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
	do
		n = write(fd, s, len);
	while (n == -1 && errno == EINTR);
	error = errno;
	if (n == -1 && error == EPIPE && sigismember(&pending, SIGPIPE) != 1)
		while (sigtimedwait(&pipe_only, NULL, &at_once) == -1 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return n;
}

size_t
gv_child_write(struct gv_child *c, const char *s, size_t len)
{
	size_t done = 0;

	while (c->in >= 0 && done < len) {
		ssize_t n = write_quietly(c->in, s + done, len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return done;
		else
			close_end(&c->in);
	}
	return len;
}

void
gv_child_end_input(struct gv_child *c)
{
	close_end(&c->in);
}

ssize_t
gv_child_read(struct gv_child *c, char *buf, size_t len)
{
	ssize_t n;

	if (c->out < 0)
		return -1;
	do
		n = read(c->out, buf, len);
	while (n == -1 && errno == EINTR);
	if (n > 0)
		return n;
	if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	close_end(&c->out);
	return -1;
}

/* ---- its end ---- */

bool
gv_child_exited(struct gv_child *c, int *status)
{
	pid_t pid = c->pid > 0 ? waitpid(c->pid, status, WNOHANG) : 0;

	if (pid <= 0)
		return false;
	c->pid = 0;
	return true;
}

void
gv_child_kill(struct gv_child *c)
{
	close_end(&c->in);
	close_end(&c->out);
	if (c->pid > 0) {
		kill(-c->pid, SIGKILL);
		kill(c->pid, SIGKILL); /* should it not have made its group yet */
		while (waitpid(c->pid, NULL, 0) == -1 && errno == EINTR)
			;
	}
	c->pid = 0;
}

void
gv_child_dismiss(struct gv_child *c, double seconds)
{
	double end_s = gv_clock_s() + seconds;
	int status;

	close_end(&c->in);
	close_end(&c->out);
	while (c->pid > 0 && !gv_child_exited(c, &status) && gv_clock_s() < end_s)
		gv_sleep_s(.001);
	gv_child_kill(c);
}
