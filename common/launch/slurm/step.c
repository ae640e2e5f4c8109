/* A launch: an srun, from when it has to wait for its turn until all its nodes are clean. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "launch/local/keeper.h"
#include "launch/slurm/core.h"
#include "launch/slurm/step.h"

/* So many sruns ask slurmctld for a step at once; the others wait for their turn. */
enum { MOST_STARTING = 16 };

/*
 * An srun that was told and is still there: asked to kill its tasks so long after the
 * grace time, which the nodes keep themselves; killed so long after that.
 */
static const double late_s = 10, very_late_s = 15;
/* Workers that do not come up: a prolog may take its time.  It is said after a while. */
static const double start_s = 600, slow_s = 60;
/* How often it is looked whether all have left and srun alone is still there, s. */
static const double alone_s = 5;
/*
 * Cleaning up is tried for so long; not where no worker was seen that was told to go: one
 * that comes up yet finds its directory taken away.
 */
static const double sweep_patience_s = 120, unseen_patience_s = 15;

static struct step *
step_of(struct gv_launch *l)
{
	return (struct step *)l;
}

/* ---- beginning ---- */

/* The nodes of its GPUs, all of one group.  0, or -1 with *news filled. */
static int
find_nodes(struct step *t, const struct gv_launch_spec *spec, struct gv_launch_news *news)
{
	size_t i;

	t->node = gv_xcalloc(spec->n_gpus, sizeof(*t->node));
	for (i = 0; i < spec->n_gpus; i++) {
		const char *name = spec->node[i];
		const struct gv_slurm_node *node =
		    gv_slurm_find(&t->slurm->allocation, name, strlen(name));

		if (node == NULL) {
			gv_launch_not_started(
			    news, 0, "node %s is not in the allocation", name);
			return -1;
		}
		if (i > 0 && t->node[t->n_nodes - 1] == node)
			continue;
		if (i > 0 && t->node[0]->group != node->group) {
			gv_launch_not_started(news, 0,
			    "nodes %s and %s are of two groups of a heterogeneous job",
			    t->node[0]->name, name);
			return -1;
		}
		t->node[t->n_nodes++] = node;
	}
	return 0;
}

/* A directory of its own.  0, or -1 with *news filled. */
static int
make_directory(struct step *t, struct gv_launch_news *news)
{
	struct gv_strbuf b = {0};

	gv_strbuf_fmt(&b, "%s/%zu.%ld.%.0f", t->slurm->dir, ++t->slurm->n_begun,
	    (long)getpid(), gv_now_s() * 1e3);
	t->dir = b.s;
	if (mkdir(t->dir, 0700) == 0)
		return 0;
	gv_launch_not_started(news, errno, "%s: cannot make a directory", t->dir);
	return -1;
}

static int
prepare(struct step *t, const struct gv_launch_spec *spec, struct gv_launch_news *news)
{
	struct gv_launch_spec far = *spec;
	struct gv_launch_meeting m;
	struct gv_strbuf name = {0};
	char **env;

	if (find_nodes(t, spec, news) != 0 || make_directory(t, news) != 0)
		return -1;
	if (far.master_addr == NULL)
		far.master_addr = t->n_nodes > 1 ? t->node[0]->address : "127.0.0.1";
	if (gv_launch_meet(&m, &far) != 0) {
		gv_launch_not_started(news, errno, "cannot draw a key for the gang");
		return -1;
	}
	env = gv_slurm_env();
	t->env = gv_handing_env(env, &far, &m, t->dir);
	free(env);
	/* a name of ours, and none that srun could take for something else */
	gv_strbuf_fmt(&name, "gv:%zu", t->slurm->n_begun);
	gv_srun_make(&t->srun, t->slurm, t->node, t->n_nodes, name.s, "work");
	gv_strbuf_free(&name);
	t->mask = umask(0);
	umask(t->mask);
	t->grace_s = spec->grace_s;
	t->keep_fd = spec->keep_fd;
	return 0;
}

struct gv_launch *
gv_slurm_step_start(const struct gv_launcher *by, const struct gv_launch_spec *spec,
    struct gv_launch_news *news)
{
	struct step *t;

	if (spec->node == NULL) {
		gv_launch_not_started(news, 0, "its GPUs are on no node of Slurm's");
		return NULL;
	}
	t = gv_xcalloc(1, sizeof(*t));
	t->slurm = ((const struct gv_slurm_handle *)by)->slurm;
	t->in = -1;
	t->left = gv_xcalloc(spec->n_gpus, sizeof(*t->left));
	if (prepare(t, spec, news) != 0) {
		gv_slurm_step_free(&t->launch);
		return NULL;
	}
	gv_slurm_step_poll(&t->launch, false, news); /* at once, if it is its turn */
	if (news->state != GV_LAUNCH_NOT_STARTED)
		return &t->launch;
	gv_slurm_step_free(&t->launch);
	return NULL;
}

void
gv_slurm_step_free(struct gv_launch *l)
{
	struct step *t = step_of(l);
	struct gv_error ignored = {0};

	if (t->dir != NULL)
		gv_remove_tree(t->dir, &ignored);
	if (t->in >= 0)
		close(t->in);
	gv_slurm_command_free(&t->sweep);
	gv_srun_free(&t->srun);
	gv_launch_env_free(t->env);
	free(t->node);
	free(t->left);
	free(t->dir);
	free(t);
}

/* Forks its srun. */
static void
spawn(struct step *t, struct gv_launch_news *news)
{
	char *path = gv_slurm_path(t->dir, "srun", NULL);
	int pair[2] = {-1, -1};
	mode_t mask = umask(t->mask);
	int out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	free(path);
	t->began_s = gv_clock_s();
	t->alone_s = t->began_s + alone_s;
	if (out >= 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
		fcntl(pair[0], F_SETFD, FD_CLOEXEC);
		fcntl(pair[1], F_SETFD, FD_CLOEXEC);
		t->pid = gv_slurm_spawn(t->srun.word, t->env, pair[0], out, t->keep_fd);
		t->in = pair[1];
	} else {
		t->pid = -1;
	}
	if (t->pid == -1) {
		t->pid = 0;
		t->phase = OVER;
		gv_launch_not_started(news, errno, "cannot start srun");
	} else {
		t->phase = STARTING;
		t->slurm->n_starting++;
	}
	umask(mask);
	if (pair[0] >= 0)
		close(pair[0]);
	if (out >= 0)
		close(out);
}

/* ---- stopping ---- */

static void
tell(struct step *t, char what)
{
	while (t->in >= 0 && send(t->in, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == -1 &&
	       errno == EINTR)
		;
}

void
gv_slurm_step_stop(struct gv_launch *l)
{
	struct step *t = step_of(l);

	if (t->deadline_s == 0)
		t->deadline_s = gv_clock_s() + t->grace_s + late_s;
	tell(t, GV_TELL_STOP);
}

void
gv_slurm_step_kill(struct gv_launch *l)
{
	struct step *t = step_of(l);

	if (!t->hurried)
		t->deadline_s = gv_clock_s() + late_s;
	t->hurried = true;
	tell(t, GV_TELL_KILL);
}

/* Whether all its nodes have said how it ended there. */
static bool
all_have_left(const struct step *t)
{
	size_t i;

	for (i = 0; i < t->n_nodes; i++)
		if (!gv_slurm_file_there(t->dir, "left", t->node[i]->name))
			return false;
	return true;
}

/* An srun that waits for a step that never begins, or has not heard of its end. */
static void
look_at_silence(struct step *t, double now_s)
{
	if (t->phase == STARTING && now_s > t->began_s + slow_s && !t->slurm->slow) {
		t->slurm->slow = true;
		gv_warn("warning: Slurm has not started a step for %.0f s; it is waited "
			"for up to %.0f s",
		    slow_s, start_s);
	}
	if (t->deadline_s != 0)
		return;
	if (t->phase == STARTING && now_s > t->began_s + start_s)
		t->deadline_s = now_s;
	if (now_s < t->alone_s)
		return;
	t->alone_s = now_s + alone_s;
	if (all_have_left(t))
		t->deadline_s = now_s + late_s;
}

/* Told, and still there, though its nodes should have ended it. */
static void
press(struct step *t)
{
	double now_s = gv_clock_s();

	look_at_silence(t, now_s);
	if (t->deadline_s == 0 || now_s < t->deadline_s)
		return;
	if (t->pressed)
		kill(-t->pid, SIGKILL); /* whatever stands for srun, and what it began */
	kill(t->pid, t->pressed ? SIGKILL : SIGTERM);
	t->pressed = true;
	t->deadline_s = now_s + very_late_s;
}

/* ---- what has become of it ---- */

static void
is_not_starting(struct step *t)
{
	if (t->phase == STARTING)
		t->slurm->n_starting--;
}

static bool
srun_has_gone(struct step *t)
{
	int status = 0;
	pid_t pid = waitpid(t->pid, &status, WNOHANG);

	if (pid == 0 || (pid == -1 && errno == EINTR))
		return false;
	t->srun_killed = pid > 0 && WIFSIGNALED(status);
	t->pid = 0;
	close(t->in);
	t->in = -1;
	return true;
}

/* Nodes that it cannot be asked of what is left there, for they are gone themselves. */
static bool
is_bad(const struct step *t, size_t i)
{
	return t->node[i]->bad >= 2 || !t->node[i]->mine;
}

/* Starts cleaning up the nodes that have said nothing and can be reached. */
static void
begin_sweep(struct step *t)
{
	const struct gv_slurm_node **node = gv_xcalloc(t->n_nodes, sizeof(*node));
	struct gv_strbuf mode = {0};
	struct gv_srun srun;
	size_t n = 0, i;

	for (i = 0; i < t->n_nodes; i++)
		if (!t->left[i].known && !is_bad(t, i))
			node[n++] = t->node[i];
	t->sweeping = true; /* some are left, or all would be told */
	gv_strbuf_fmt(&mode, "sweep=%.3f=%s", t->grace_s, t->dir);
	gv_srun_make(&srun, t->slurm, node, n, "gv:sweep", mode.s);
	if (gv_slurm_command_start(
		&t->sweep, srun.word, t->grace_s + gv_slurm_patience_s) != 0)
		t->sweep.status = 1;
	gv_srun_free(&srun);
	gv_strbuf_free(&mode);
	free(node);
}

/* One try is over: what was told there, and when the next one is due. */
static void
take_sweep(struct step *t)
{
	size_t i;

	gv_step_read_told(t, t->sweep.out.s != NULL ? t->sweep.out.s : "");
	t->sweeping = false;
	t->clean = t->sweep.status == 0;
	t->sweep_s = gv_clock_s() + (1 << (t->sweeps < 4 ? t->sweeps : 4));
	t->sweeps++;
	for (i = 0; i < t->n_nodes && t->left[i].known; i++)
		;
	t->clean |= i == t->n_nodes;
	if (!t->clean)
		gv_slurm_look_soon(t->slurm);
}

/* Whether all nodes have said what there was, or cannot any more. */
static bool
all_is_told(struct step *t)
{
	double now_s = gv_clock_s();
	double patience_s =
	    t->launch.told && !t->made ? unseen_patience_s : sweep_patience_s;
	size_t i;

	for (i = 0; i < t->n_nodes && (t->left[i].known || is_bad(t, i)); i++)
		;
	return i == t->n_nodes || t->clean || t->slurm->over ||
	       now_s > t->gone_s + t->grace_s + patience_s;
}

static void
settle(struct step *t)
{
	if (t->sweeping) {
		if (!gv_slurm_command_poll(&t->sweep))
			return;
		take_sweep(t);
	}
	if (all_is_told(t))
		t->phase = OVER;
	else if (gv_clock_s() >= t->sweep_s)
		begin_sweep(t);
}

/* Its srun has gone: what its nodes have said so far, and whether there is more to know. */
static void
look_at_end(struct step *t)
{
	bool begun = gv_step_read_left(t);

	is_not_starting(t);
	t->gone_s = gv_clock_s();
	t->phase = SETTLING;
	t->made = begun || t->was_up;
	gv_step_read_srun(t);
	if (!t->made && !t->srun_killed) {
		t->phase = OVER; /* no worker ever ran */
		gv_slurm_look_soon(t->slurm);
	}
}

void
gv_slurm_step_poll(struct gv_launch *l, bool wait, struct gv_launch_news *news)
{
	struct step *t = step_of(l);

	news->state = t->was_up ? GV_LAUNCH_UP : GV_LAUNCH_NONE;
	if (wait && t->phase != QUEUED)
		gv_sleep_s(.02);
	if (t->phase == QUEUED && l->told) {
		t->phase = OVER;
		gv_launch_not_started(news, 0, "it was stopped before its turn");
		return;
	}
	if (t->phase == QUEUED && t->slurm->n_starting < MOST_STARTING)
		spawn(t, news);
	if (t->phase == STARTING && gv_slurm_file_there(t->dir, "up", NULL)) {
		is_not_starting(t);
		t->slurm->slow = false;
		t->phase = UP;
		t->was_up = true;
		news->state = GV_LAUNCH_UP;
	}
	if (t->phase == STARTING || t->phase == UP) {
		if (srun_has_gone(t))
			look_at_end(t);
		else
			press(t);
	}
	if (t->phase == SETTLING)
		settle(t);
	if (t->phase == OVER && news->state != GV_LAUNCH_NOT_STARTED)
		gv_step_conclude(t, news);
}
