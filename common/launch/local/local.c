/* Launches on this node: each has a guard and a keeper. */
#include "launch/local/local.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launch/launcher.h"
#include "launch/local/keeper.h"
#include "launch/local/site.h"
#include "launch/local/strays.h"

/* How long all workers of a launch may take to become their shells, to be watched. */
static const int patience_ms = 1000;

/* Between two looks at what a killed guard and keeper have left behind. */
static const double stray_tick_s = 0.01;

struct local {
	struct gv_launch launch;
	pid_t guard; /* 0 = it was killed, and its keeper stops */
	int status;  /* of a guard that was killed */
	char *log;   /* NULL = not known */
	off_t from;  /* where its own words begin there */
	int control; /* a socket: what we say, and end of file when guard and keeper are gone */
};

/* A pipe whose ends are not inherited across exec.  0, or -1 with errno set. */
static int
make_pipe(int fd[2])
{
	if (pipe(fd) != 0) {
		fd[0] = fd[1] = -1;
		return -1;
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

/* Forks the guard; its pid, or -1 with errno set. */
static pid_t
fork_guard(struct gv_keeper *k)
{
	sigset_t all;
	sigset_t old;
	pid_t pid;
	int error;

	/* so that none of our handlers ever runs in the guard and the keeper */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = fork();
	if (pid == 0)
		gv_guard_run(k);
	error = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = error;
	return pid;
}

static void
say_why(struct gv_launch_news *news, const struct gv_keeper_ready *r)
{
	if (r->shell)
		gv_launch_not_started(
		    news, r->error, "cannot run /bin/sh as worker %d", r->worker);
	else if (r->worker < 0)
		gv_launch_not_started(news, r->error, "cannot set up the keeper process");
	else
		gv_launch_not_started(
		    news, r->error, "cannot start worker %d", r->worker);
}

/*
 * Waits until the keeper has said that all workers are there, and each has become
 * its shell or said that it cannot; for these not long, since entering a directory
 * may take for ever.  0, or -1 with *news filled.
 */
static int
await_ready(int fd, struct gv_launch_news *news)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct gv_keeper_ready ready;
	bool heard = false, failed = false;
	ssize_t n;

	for (;;) {
		n = 0;
		if (heard && poll(&p, 1, patience_ms) == 0)
			break;
		do
			n = read(fd, &ready, sizeof(ready));
		while (n == -1 && errno == EINTR);
		if (n != (ssize_t)sizeof(ready))
			break;
		heard = heard || !ready.shell;
		if (ready.error != 0 && !failed)
			say_why(news, &ready);
		failed = failed || ready.error != 0;
	}
	if (n == -1)
		gv_launch_not_started(news, errno, "cannot hear of the keeper process");
	else if (!heard)
		gv_launch_not_started(news, 0, "the keeper process has died");
	return n == 0 && heard && !failed ? 0 : -1;
}

/*
 * Each launch holds a socket: many need more descriptors than most shells allow.  What
 * workers may open stays as it was, NULL = as it is.
 */
static const struct rlimit *
allow_many(void)
{
	static struct rlimit usual;
	static bool looked, raised;
	struct rlimit most;

	if (!looked && getrlimit(RLIMIT_NOFILE, &usual) == 0) {
		most = usual;
		most.rlim_cur = most.rlim_max;
		raised = usual.rlim_cur != usual.rlim_max &&
			 setrlimit(RLIMIT_NOFILE, &most) == 0;
	}
	looked = true;
	return raised ? &usual : NULL;
}

/* A pair of sockets that are not inherited across exec.  0, or -1 with errno set. */
static int
make_sockets(int fd[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0) {
		fd[0] = fd[1] = -1;
		return -1;
	}
	fcntl(fd[0], F_SETFD, FD_CLOEXEC);
	fcntl(fd[1], F_SETFD, FD_CLOEXEC);
	return 0;
}

static void
tell(int control, char what)
{
	while (send(control, &what, 1, MSG_NOSIGNAL) == -1 && errno == EINTR)
		;
}

/* Remembers where the words of its workers are going to be. */
static void
mark_log(struct local *l, const struct gv_keeper *k)
{
	struct stat st;

	if (k->spec->log == NULL || fstat(k->log, &st) != 0)
		return;
	l->log = gv_xstrdup(k->spec->log);
	l->from = st.st_size;
}

static struct gv_launch *
launch(struct gv_keeper *k, struct gv_launch_news *news)
{
	int control[2] = {-1, -1};
	int ready[2] = {-1, -1};
	pid_t guard = -1;
	struct local *l = gv_xcalloc(1, sizeof(*l));
	int r = -1;

	gv_strays_adopt();
	mark_log(l, k);
	if (make_sockets(control) != 0 || make_pipe(ready) != 0) {
		gv_launch_not_started(news, errno, "cannot make a pipe");
	} else {
		k->control = control[0];
		k->ready = ready[1];
		/* the guard's own copies of the other ends go when it closes what it does not know */
		guard = fork_guard(k);
		if (guard == -1)
			gv_launch_not_started(news, errno, "cannot start a process");
	}
	close_fd(&control[0]);
	close_fd(&ready[1]);
	if (guard > 0)
		r = await_ready(ready[0], news);
	close_fd(&ready[0]);
	if (r != 0) {
		/* a keeper that lives stops now; workers of it have nothing to save yet */
		if (guard > 0)
			tell(control[1], GV_TELL_KILL);
		close_fd(&control[1]);
		while (guard > 0 && waitpid(guard, NULL, 0) == -1 && errno == EINTR)
			;
		free(l->log);
		free(l);
		return NULL;
	}
	l->guard = guard;
	l->control = control[1];
	news->state = GV_LAUNCH_UP;
	return &l->launch;
}

/* Of the workers, those that are started here: the first and how many.  0, or -1. */
static int
find_here(const struct gv_launch_spec *spec, size_t *first, size_t *n)
{
	*first = 0;
	*n = spec->n_gpus;
	if (spec->here == NULL || spec->node == NULL)
		return spec->node == NULL ||
			       strcmp(spec->node[0], spec->node[*n - 1]) == 0
			   ? 0
			   : -1;
	while (*first < spec->n_gpus && strcmp(spec->node[*first], spec->here) != 0)
		++*first;
	for (*n = 0; *first + *n < spec->n_gpus &&
		     strcmp(spec->node[*first + *n], spec->here) == 0;)
		++*n;
	return *n > 0 ? 0 : -1;
}

static struct gv_launch *
local_start(const struct gv_launcher *by, const struct gv_launch_spec *spec,
    struct gv_launch_news *news)
{
	struct gv_keeper k = {.spec = spec, .log = STDERR_FILENO};
	struct gv_launch_meeting m;
	struct gv_launch *l;
	size_t first, i;

	(void)by;
	k.files = allow_many();
	if (find_here(spec, &first, &k.n) != 0) {
		gv_launch_not_started(news, 0,
		    "job \"%s\" has GPUs of nodes %s and %s, and workers are started "
		    "on this node only",
		    spec->job_id, spec->node[0], spec->node[spec->n_gpus - 1]);
		return NULL;
	}
	if (gv_launch_meet(&m, spec) != 0) {
		gv_launch_not_started(news, errno, "cannot draw a key for the gang");
		return NULL;
	}
	if (spec->log != NULL) {
		k.log = open(spec->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
		if (k.log == -1) {
			gv_launch_not_started(news, errno, "%s: cannot open", spec->log);
			return NULL;
		}
	}
	if (m.port == 0)
		m.port = gv_launch_free_port();
	k.env = gv_xcalloc(k.n, sizeof(*k.env));
	k.worker = gv_xcalloc(k.n, sizeof(*k.worker));
	for (i = 0; i < k.n; i++)
		k.env[i] = gv_launch_env(spec, first + i, &m);
	l = launch(&k, news);
	for (i = 0; i < k.n; i++)
		gv_launch_env_free(k.env[i]);
	free(k.env);
	free(k.worker);
	if (spec->log != NULL)
		close(k.log);
	return l;
}

static void
local_stop(struct gv_launch *launch)
{
	tell(((const struct local *)launch)->control, GV_TELL_STOP);
}

static void
local_kill(struct gv_launch *launch)
{
	tell(((const struct local *)launch)->control, GV_TELL_KILL);
}

/* The guard was killed; whether its keeper, which stops the workers then, is gone, too. */
static bool
keeper_is_gone(const struct local *l, bool wait)
{
	char nothing;
	ssize_t n = recv(l->control, &nothing, 1, wait ? 0 : MSG_DONTWAIT);

	return n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR);
}

/* Whether nothing is left of a launch whose guard and keeper were killed. */
static bool
all_ended(bool wait)
{
	while (gv_strays_end() > 0) {
		if (!wait)
			return false;
		gv_sleep_s(stray_tick_s);
	}
	return true;
}

/* Whether a line is what sh says when it cannot fork, whichever it is. */
static bool
is_starving(const char *line, size_t len)
{
	char text[128];

	snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : 127), line);
	return strncmp(text, "sh: ", 4) == 0 && strstr(text, "fork") != NULL;
}

/*
 * Whether a shell left because it could not fork: with the status that dash or bash
 * have for it, and their words in the log.
 */
static bool
was_starved(const struct local *l, int status)
{
	char buf[4096], *line = buf, *end;
	struct stat st;
	bool is = false;
	ssize_t n;
	int fd;

	if ((status != 2 && status != 254) || l->log == NULL)
		return false;
	fd = open(l->log, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd == -1)
		return false;
	n = fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)
		? -1
		: pread(fd, buf, sizeof(buf) - 1,
		      st.st_size - l->from < (off_t)sizeof(buf)
			  ? l->from
			  : st.st_size - (off_t)sizeof(buf) + 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	for (; !is && (end = strchr(line, '\n')) != NULL; line = end + 1)
		is = is_starving(line, (size_t)(end - line));
	return is;
}

/* Its workers are gone, with that status. */
static void
has_left(const struct local *l, int status, struct gv_launch_news *news)
{
	news->state = GV_LAUNCH_LEFT;
	news->status = status;
	news->starved = was_starved(l, status);
}

static void
local_poll(struct gv_launch *launch, bool wait, struct gv_launch_news *news)
{
	struct local *l = (struct local *)launch;
	int status = 0;
	pid_t pid = l->guard;

	news->state = GV_LAUNCH_UP;
	if (l->guard > 0)
		pid = waitpid(l->guard, &status, wait ? 0 : WNOHANG);
	if ((pid == 0 && l->guard > 0) || (pid == -1 && errno == EINTR))
		return;
	if (pid == -1) { /* somebody else has waited for it */
		snprintf(news->reason, sizeof(news->reason),
		    "cannot wait for a process: %s", strerror(errno));
		news->state = GV_LAUNCH_LEFT;
		news->status = 125;
		return;
	}
	if (pid > 0 && WIFEXITED(status)) {
		has_left(l, WEXITSTATUS(status), news);
		return;
	}
	if (pid > 0)
		l->status = 128 + WTERMSIG(status);
	l->guard = 0;
	if (keeper_is_gone(l, wait) && all_ended(wait)) {
		news->state = GV_LAUNCH_LOST;
		snprintf(news->reason, sizeof(news->reason),
		    "who looked after it was killed (status %d)", l->status);
	}
}

/*
 * Those whose end of the control socket was closed: guard and keeper are gone, or are
 * leaving and SIGCHLD is to come.
 */
static void
local_changed(struct gv_launch *const *l, size_t n, bool *changed)
{
	struct pollfd *fd = gv_xcalloc(n, sizeof(*fd));
	size_t i;

	for (i = 0; i < n; i++)
		fd[i].fd = ((const struct local *)l[i])->control;
	if (poll(fd, (nfds_t)n, 0) >= 0)
		for (i = 0; i < n; i++)
			changed[i] = fd[i].revents != 0;
	free(fd);
}

static void
local_free(struct gv_launch *launch)
{
	struct local *l = (struct local *)launch;

	close_fd(&l->control);
	free(l->log);
	free(l);
}

const struct gv_launcher gv_launch_local = {"local", local_start, local_stop, local_kill,
    local_poll, local_free, gv_local_look, gv_local_usable, local_changed};

pid_t
gv_launch_local_guard(const struct gv_launch *l)
{
	return ((const struct local *)l)->guard;
}
