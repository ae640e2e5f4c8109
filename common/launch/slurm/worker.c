/* What runs on the nodes: PROGRAM --worker. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launch/local/keeper.h"
#include "launch/local/local.h"
#include "launch/slurm/step.h"
#include "launch/slurm/sweep.h"

extern char **environ;

/* How long the other nodes of a gang wait for the port of the first, s. */
static const double port_s = 60;
/* How often it is looked whether the launch is still wanted, s. */
static const double fence_s = 2;

/* ---- signals ---- */

static int wake[2] = {-1, -1};
static volatile sig_atomic_t termed;

static void
on_signal(int sig)
{
	int error = errno;

	if (sig != SIGCHLD)
		termed = 1;
	(void)!write(wake[1], "", 1);
	errno = error;
}

static int
catch_signals(void)
{
	static const int caught[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
	struct sigaction sa;
	size_t i;

	if (pipe(wake) != 0)
		return -1;
	for (i = 0; i < 2; i++) {
		fcntl(wake[i], F_SETFD, FD_CLOEXEC);
		fcntl(wake[i], F_SETFL, O_NONBLOCK);
	}
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		memset(&sa, 0, sizeof(sa));
		sa.sa_handler = on_signal;
		sigemptyset(&sa.sa_mask);
		sigaction(caught[i], &sa, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

/* ---- the environment ---- */

/*
 * A worker is no task of Slurm's: an srun or an MPI of its own would otherwise take
 * itself for one.
 */
static void
leave_slurm(void)
{
	char *job = getenv("SLURM_JOB_ID");

	job = job != NULL ? gv_xstrdup(job) : NULL;
	environ = gv_slurm_env();
	if (job != NULL)
		setenv("SLURM_JOB_ID", job, 1);
	free(job);
}

/* ---- one launch ---- */

struct worker {
	struct gv_handing h;
	struct gv_launch *launch;
	struct left left;
	bool deaf;       /* nobody can tell it anything any more */
	double fenced_s; /* the next look at the directory */
	int missing;     /* looks in a row that found none */
};

static bool
is_first(const struct worker *w)
{
	return strcmp(w->h.spec.here, w->h.spec.node[0]) == 0;
}

static bool
is_alone(const struct worker *w)
{
	const struct gv_launch_spec *spec = &w->h.spec;

	return strcmp(spec->node[0], spec->node[spec->n_gpus - 1]) == 0;
}

static void
stop(struct worker *w, enum how how)
{
	if (w->left.how == OWN)
		w->left.how = how;
	gv_launch_stop(w->launch);
}

static void
hear(struct worker *w)
{
	char buf[16];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	w->deaf = n <= 0;
	stop(w, w->deaf ? CUT : TOLD);
	if (n > 0 && memchr(buf, GV_TELL_KILL, (size_t)n) != NULL)
		gv_launch_kill(w->launch);
}

/* Whether the launch was given up: twice, since a file system may stumble. */
static void
look_at_fence(struct worker *w)
{
	if (gv_clock_s() < w->fenced_s)
		return;
	w->fenced_s = gv_clock_s() + fence_s;
	w->missing = access(w->h.dir, F_OK) != 0 && errno == ENOENT ? w->missing + 1 : 0;
	if (w->missing >= 2)
		stop(w, FENCED);
}

static void
sleep_a_while(struct worker *w, double most_s)
{
	struct pollfd fd[2] = {{.fd = wake[0], .events = POLLIN},
	    {.fd = w->deaf ? -1 : STDIN_FILENO, .events = POLLIN}};
	char buf[64];

	poll(fd, 2, (int)(most_s * 1000));
	while (read(wake[0], buf, sizeof(buf)) > 0)
		;
	if (fd[1].revents != 0)
		hear(w);
	if (termed)
		stop(w, TERM);
	look_at_fence(w);
}

/* The port of the gang: chosen on the first node, heard of on the others.  0 or -1. */
static int
find_port(struct worker *w)
{
	double until_s = gv_clock_s() + port_s;
	struct gv_strbuf b = {0};
	int rc = 0;

	if (is_alone(w))
		return 0;
	if (is_first(w)) {
		w->h.spec.master_port = gv_launch_free_port();
		gv_strbuf_fmt(&b, "%d\n", w->h.spec.master_port);
		rc = gv_slurm_file_put(w->h.dir, "port", NULL, b.s);
		gv_strbuf_free(&b);
		return rc;
	}
	while (w->h.spec.master_port == 0 && w->left.how == OWN) {
		char *s = gv_slurm_file_get(w->h.dir, "port", NULL);

		if (s != NULL)
			w->h.spec.master_port = (int)strtol(s, NULL, 10);
		free(s);
		if (w->h.spec.master_port != 0)
			break;
		if (gv_clock_s() > until_s)
			return -1;
		sleep_a_while(w, .05);
	}
	return 0;
}

static void
refuse(struct worker *w, const char *why)
{
	w->left.how = REFUSED;
	w->left.status = 125;
	snprintf(w->left.text, sizeof(w->left.text), "%s", why);
}

/*
 * Slurm signals the processes of a step one by one: the workers may have had SIGTERM or
 * SIGKILL a moment before ours comes, or before srun's end is seen; then the end was not
 * the job's.
 */
static void
await_own_end(struct worker *w, int status)
{
	bool killed = status == 128 + SIGKILL;
	int i;

	for (i = 0; i < 10 && !w->deaf; i++) {
		if (!killed && (status != 128 + SIGTERM || w->left.how != OWN))
			return;
		sleep_a_while(w, .05);
	}
	if (killed && w->deaf && w->left.how == TOLD)
		w->left.how = CUT;
}

static void
run(struct worker *w)
{
	struct gv_launch_news news;
	enum gv_launch_state state;

	if (find_port(w) != 0) {
		refuse(w, "the first node of the gang has told no port");
		return;
	}
	if (w->left.how != OWN) { /* told before it could begin */
		w->left.status = 128 + SIGTERM;
		return;
	}
	state = gv_launch_start(&w->launch, &gv_launch_local, &w->h.spec, &news);
	if (state == GV_LAUNCH_NOT_STARTED) {
		refuse(w, news.reason);
		return;
	}
	if (is_first(w))
		gv_slurm_file_put(w->h.dir, "up", NULL, "");
	w->fenced_s = gv_clock_s() + fence_s;
	for (;;) {
		state = gv_launch_poll(&w->launch, false, &news);
		if (state != GV_LAUNCH_UP && state != GV_LAUNCH_NONE)
			break;
		sleep_a_while(w, fence_s);
	}
	w->left.status = news.status;
	w->left.starved = news.starved;
	if (state == GV_LAUNCH_LOST) {
		w->left.how = UNKEPT;
		w->left.status = 128 + SIGKILL;
		snprintf(w->left.text, sizeof(w->left.text), "%s", news.reason);
	}
	await_own_end(w, news.status);
}

static int
work(void)
{
	struct worker w = {.left.how = OWN};
	struct gv_strbuf line = {0};
	bool own, told;

	if (gv_handing_take(&w.h) != 0) {
		gv_warn("--worker is for gv itself: it is started by Slurm");
		return GV_EXIT_TROUBLE;
	}
	leave_slurm();
	if (catch_signals() != 0 ||
	    gv_slurm_file_put(w.h.dir, "here", w.h.spec.here, "") != 0)
		refuse(&w, "cannot write into the state");
	else
		run(&w);
	w.left.time_s = gv_now_s();
	gv_step_write_left(&line, &w.left);
	told = gv_slurm_file_put(w.h.dir, "left", w.h.spec.here, line.s) == 0;
	gv_strbuf_free(&line);
	if (!told) /* a step looks after what nothing is known of */
		return GV_EXIT_TROUBLE;
	/* any other status ends the gang's other workers: they may still save themselves */
	own = w.left.how == OWN || w.left.how == REFUSED;
	return own ? w.left.status : 0;
}

/* ---- looks at a node ---- */

static int
probe(const char *dir)
{
	const char *node = getenv("SLURMD_NODENAME");
	const char *devices = getenv("CUDA_VISIBLE_DEVICES");

	if (node == NULL)
		return GV_EXIT_TROUBLE;
	gv_slurm_file_put(dir, "probe", node, "");
	printf("probe %s %s\n", node, devices != NULL ? devices : "");
	return fflush(stdout) == 0 ? 0 : GV_EXIT_TROUBLE;
}

/* The mode "sweep=GRACE=DIR": ends what is left of a launch, says what the node has written. */
static int
sweep(const char *arguments)
{
	const char *node = getenv("SLURMD_NODENAME");
	char *dir, *line;
	double grace_s = strtod(arguments, &dir);

	if (node == NULL || *dir != '=')
		return GV_EXIT_TROUBLE;
	if (gv_slurm_sweep(++dir, grace_s) != 0)
		return GV_EXIT_TROUBLE;
	line = gv_slurm_file_get(dir, "left", node);
	if (line != NULL)
		printf("left %s %s", node, line);
	free(line);
	return fflush(stdout) == 0 ? 0 : GV_EXIT_TROUBLE;
}

int
gv_slurm_worker(const char *mode)
{
	if (strcmp(mode, "work") == 0)
		return work();
	if (strncmp(mode, "probe=", 6) == 0)
		return probe(mode + 6);
	if (strncmp(mode, "sweep=", 6) == 0)
		return sweep(mode + 6);
	gv_warn("--worker is for gv itself: it is started by Slurm");
	return GV_EXIT_TROUBLE;
}
