/*
 * gv-run: trains the jobs of an allocation table on this machine's GPUs, round
 * by round, so that each receives the share of time it was given.
 *
 * It reads the whole table, then launches workers until every job is done, and
 * writes what happens as events.  Everything it must know after a kill is in
 * the state directory, before it is told to anybody.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/stderr.h"
#include "gv-run/core/jobs.h"
#include "gv-run/core/node.h"
#include "gv-run/core/settings.h"
#include "gv-run/core/signals.h"
#include "gv-run/core/table.h"
#include "gv-run/live/control.h"
#include "gv-run/live/submit.h"
#include "gv-run/look/dryrun.h"
#include "gv-run/look/follow.h"
#include "gv-run/look/status.h"
#include "gv-run/running/allocation.h"
#include "gv-run/running/intake.h"
#include "gv-run/running/loop.h"
#include "gv-run/running/places.h"
#include "gv-run/running/policy.h"
#include "gv-run/running/watch.h"
#include "gv-run/running/work.h"
#include "gv-run/state/clock.h"
#include "gv-run/state/journal.h"
#include "gv-run/state/output.h"
#include "gv-run/state/restore.h"
#include "gv-run/state/state.h"
#include "launch/local/local.h"
#include "options.h"

/* ---- getting ready ---- */

/* The parts of a run; each changes what is its own. */
struct run {
	struct settings o;
	struct state state;
	struct jobs jobs;
	struct journal journal;
	struct output output;
	struct policy policy;
	struct work work;
	struct control control;
	struct intake intake;
	struct watch watch;
	struct allocation allocation;
	struct places places;
	struct loop loop;
};

/* The cluster of -c, or the one kept in the state; only this machine's pools. */
static void
read_cluster(const struct settings *o, struct gv_cluster *c, struct node_choice *node,
    struct gv_frame *f)
{
	struct gv_error e = {0};
	char *kept = NULL;
	const char *path = o->cluster;
	const char *name = o->node;

	GV_HOLDS(o->state != NULL); /* options demand -c or -s */
	if (path == NULL) {
		size_t len = strlen(o->state) + sizeof("/cluster.csv");

		kept = gv_xcalloc(len, 1);
		strcat(strcpy(kept, o->state), "/cluster.csv");
		path = kept;
	}
	if (o->resume && access(path, F_OK) != 0)
		gv_die("%s: holds no run to resume", o->state);
	if (gv_cluster_read(c, path, &e) != 0)
		gv_die_error(&e);
	if (kept != NULL && name == NULL)
		name = node_only(c); /* its pools were chosen before */
	if (node_select(c, path, name, node, &e) != 0 || gv_frame_load(f, path, &e) != 0)
		gv_die_error(&e);
	free(kept);
}

/* The cluster of an allocation of Slurm; a dry run takes all that -c names. */
static void
read_allocation(struct run *r, struct node_choice *node, struct gv_frame *f)
{
	struct gv_error e = {0};

	*node = (struct node_choice){0};
	if (r->o.dry_run ? gv_frame_load(f, r->o.cluster, &e) != 0
			 : allocation_open(&r->allocation, &r->o, &e) != 0 ||
			       allocation_table(&r->allocation, &r->o, f, &e) != 0)
		gv_die_error(&e);
	if (gv_cluster_from(&r->jobs.cluster, f, &e) != 0)
		gv_die_error(&e);
}

/* The table given, merged into the one kept. */
static int
keep_table(struct run *r, const struct gv_rates *given, const struct gv_frame *cluster,
    struct gv_error *e)
{
	char *jobs = state_path(&r->state, "jobs.csv");
	char *pools = state_path(&r->state, "cluster.csv");
	struct gv_rates known = {0};
	struct gv_frame f = {0};
	bool kept = state_has(&r->state, "jobs.csv");
	int rc = 0;

	if (kept && (gv_frame_load(&f, jobs, e) != 0 ||
			gv_rates_from(&known, &f, &r->jobs.cluster, e) != 0))
		rc = -1;
	if (rc == 0 && r->allocation.slurm != NULL)
		rc = allocation_keep(&r->allocation, &r->o, e);
	if (rc == 0 && (r->o.cluster != NULL || r->allocation.slurm != NULL))
		rc = node_write(&r->jobs.cluster, cluster, pools, e);
	if (rc == 0 && given != NULL)
		rc = table_merge(kept ? &known : NULL, given, jobs, e);
	gv_rates_free(&known);
	if (rc == 0 && gv_frame_load(&f, jobs, e) == 0)
		rc = gv_rates_from(&r->jobs.table, &f, &r->jobs.cluster, e);
	else
		rc = -1;
	if (rc == 0)
		gv_rates_spread(&r->jobs.table, &r->jobs.cluster);
	free(jobs);
	free(pools);
	return rc;
}

static size_t
largest_gang(const struct jobs *jobs)
{
	size_t gang = 0, m;

	for (m = 0; m < jobs->table.n_jobs; m++)
		if ((size_t)jobs->table.job[m].scale_factor > gang)
			gang = (size_t)jobs->table.job[m].scale_factor;
	return gang;
}

/* Who runs the workers; on the nodes of Slurm nothing of a run before is left.  0 or -1. */
static int
choose_launcher(struct run *r, struct gv_error *e)
{
	r->places = (struct places){
	    .o = &r->o, .jobs = &r->jobs, .watch = &r->watch, .by = &gv_launch_local};
	if (r->allocation.slurm == NULL)
		return 0;
	r->places.by = gv_slurm_launcher(r->allocation.slurm);
	r->jobs.allocated = true;
	if (allocation_check_groups(
		&r->allocation, &r->jobs.cluster, largest_gang(&r->jobs), e) != 0)
		return -1;
	return gv_slurm_clean(r->allocation.slurm, e);
}

static void
prepare(struct run *r, const struct gv_rates *given, const struct gv_frame *cluster)
{
	struct gv_error e = {0};

	if (r->o.log_dir != NULL && gv_mkdirs(r->o.log_dir, &e) != 0)
		gv_die_error(&e);
	if (state_open(&r->state, &r->o, &e) != 0 ||
	    keep_table(r, given, cluster, &e) != 0 ||
	    state_directory(&r->state, &e) != 0 ||
	    policy_open(&r->policy, &r->o, &r->state, &r->jobs, &e) != 0 ||
	    state_wait_workers(&r->state, &e) != 0 || choose_launcher(r, &e) != 0 ||
	    work_open(&r->work, &r->o, &r->state, &r->jobs, r->places.by, &e) != 0)
		gv_die_error(&e);
	jobs_make(&r->jobs, &r->o, r->work.log);
}

/* Time goes on where it was, plus the time that gv-run was away. */
static void
go_on(struct run *r)
{
	struct gv_life *life = &r->jobs.life;
	double now_s = life->now_s;
	struct clock c;
	double alive_s;

	if (clock_read(r->state.clock_fd, &c) == 0) {
		/* what ran when gv-run died ran until then, as far as anybody knows */
		alive_s = fmax(c.now_s, life->now_s);
		now_s = fmax(alive_s, gv_now_s() - c.epoch_s);
		if (c.round > life->round)
			life->round = c.round;
	} else {
		alive_s = life->now_s;
	}
	r->loop.zero_s = gv_clock_s() - now_s;
	work_read_all_progress(&r->work);
	gv_life_restart(life, alive_s, floor(now_s * 1000) / 1000, "gv-run was killed");
}

/* Begins to write events; a run that was there before goes on. */
static void
begin(struct run *r, struct gv_out *out)
{
	struct gv_error e = {0};
	bool pairs = r->jobs.life.rounds.pairs.n > 0 || r->policy.pairs;
	bool before, other;

	if (restore(&r->jobs, r->state.dir, r->o.repair, &pairs, &before, &e) != 0 ||
	    journal_open(&r->journal, r->state.dir, pairs, &e) != 0)
		gv_die_error(&e);
	output_open(&r->output, out == gv_stdout() ? NULL : out, r->o.tsv, r->journal.fd,
	    r->journal.size);
	r->loop = (struct loop){.o = &r->o,
	    .state = &r->state,
	    .jobs = &r->jobs,
	    .journal = &r->journal,
	    .output = &r->output,
	    .policy = &r->policy,
	    .work = &r->work,
	    .control = &r->control,
	    .intake = &r->intake,
	    .watch = &r->watch,
	    .places = &r->places,
	    .zero_s = gv_clock_s()};
	control_open(&r->control, r->state.dir);
	r->watch = (struct watch){.o = &r->o,
	    .state = &r->state,
	    .jobs = &r->jobs,
	    .journal = &r->journal,
	    .policy = &r->policy,
	    .work = &r->work,
	    .allocation = &r->allocation};
	watch_open(&r->watch);
	r->intake = (struct intake){.o = &r->o,
	    .state = &r->state,
	    .jobs = &r->jobs,
	    .journal = &r->journal,
	    .policy = &r->policy,
	    .work = &r->work};
	other = r->allocation.slurm != NULL || r->o.cluster != NULL;
	if (before)
		go_on(r);
	loop_carry_out(&r->loop); /* what was before goes before */
	if (before && other &&
	    journal_gone_pools(&r->journal, &r->jobs, r->state.dir, &e) != 0)
		gv_die_error(&e);
	if (!before || other)
		gv_life_tell_pools(&r->jobs.life);
	gv_life_take_shares(&r->jobs.life, &r->jobs.table);
	loop_carry_out(&r->loop);
	intake_turn(&r->intake);
	if (before && other && places_check_room(&r->places, &e) != 0)
		gv_die_error(&e);
	control_take(&r->control, &r->jobs);
	loop_carry_out(&r->loop);
	r->loop.read_s = r->jobs.life.now_s;
	policy_due(&r->policy);
	r->policy.answered = !before && r->o.policy == NULL;
}

static int
exit_status(const struct run *r)
{
	if (loop_is_broken(&r->loop))
		return GV_EXIT_TROUBLE;
	if (r->loop.signal != 0)
		return 128 + r->loop.signal;
	if (r->places.over && !gv_life_done(&r->jobs.life))
		return GV_EXIT_TEMPFAIL;
	return r->jobs.life.n[GV_LIFE_DROPPED] > 0 ? GV_EXIT_NO : GV_EXIT_OK;
}

static int
run(struct run *r, const struct gv_rates *given, const struct gv_frame *cluster,
    struct gv_out *out)
{
	int status;

	signals_catch(r->o.watch);
	gv_stderr_nowait(gv_progname());
	prepare(r, given, cluster);
	begin(r, out);
	loop_run(&r->loop);
	status = exit_status(r);
	if (r->output.error != 0 && !r->output.gone && r->output.file == NULL)
		gv_warn("cannot write to standard output: %s", strerror(r->output.error));
	journal_close(&r->journal);
	state_close(&r->state, status == 0);
	gv_stderr_last();
	return status;
}

/* Says what damage in the state would lose. */
static int
inspect(const struct settings *o)
{
	struct gv_error e = {0};
	int rc = restore_inspect(o->state, gv_stdout(), &e);

	if (rc < 0)
		gv_die_error(&e);
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : rc == 0 ? GV_EXIT_OK : GV_EXIT_NO;
}

/* --status, --follow */
static int
look_at(const struct settings *o, const char *output)
{
	struct gv_error e = {0};
	struct gv_out *out;
	bool aligned = output == NULL && !o->tsv && isatty(STDOUT_FILENO) != 0;

	if (gv_out_open(&out, output, &e) != 0 ||
	    (o->follow ? follow(o, output == NULL ? NULL : out, &e)
		       : status_write(o, out, aligned, &e)) != 0 ||
	    (output != NULL && gv_out_close(out, &e) != 0))
		gv_die_error(&e);
	return gv_finish();
}

static void
close_run(struct run *r)
{
	output_close(&r->output);
	work_close(&r->work);
	allocation_close(&r->allocation);
	control_close(&r->control);
	intake_close(&r->intake);
	watch_close(&r->watch);
	policy_close(&r->policy);
	jobs_free(&r->jobs);
}

/* What is asked of a run that another gv-run makes, or of its state; false: it is to be run. */
static bool
answered(const struct settings *o, const struct gv_opt *opt, char **operand, size_t n,
    int *status)
{
	struct gv_error slips = {0};
	struct gv_error e = {0};

	if (o->request != CONTROL_NONE) {
		if (control_send(o->state, o->request, operand, n, &e) != 0)
			gv_die_error(&e);
		*status = gv_finish();
	} else if (o->submit) {
		if (submit_send(o, &slips, &e) != 0)
			gv_die_error(&e);
		if (!o->quiet)
			gv_warn_each(&slips);
		*status = gv_finish();
	} else if (o->status || o->follow) {
		*status = look_at(o, opt->output);
	} else if (o->repair && !o->resume) {
		*status = inspect(o);
	} else {
		return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	struct run r = {.o = {.round_s = 360,
			    .grace_s = 60,
			    .policy_timeout_s = 60,
			    .max_failures = 5},
	    .state = STATE_NONE};
	struct gv_error slips = {0};
	struct gv_error e = {0};
	struct gv_rates given = {0};
	struct gv_frame cluster = {0};
	struct node_choice node;
	struct gv_out *out;
	struct gv_opt opt;
	int status = 0;

	gv_init("gv-run");
	if (argc == 2 && strncmp(argv[1], "--worker=", 9) == 0)
		return gv_slurm_worker(
		    argv[1] + 9); /* on a node of Slurm, by ourselves */
	options_parse(&r.o, &opt, argc, argv);
	if (r.o.state != NULL && state_check(r.o.state, &e) != 0)
		gv_die_error(&e);
	if (answered(&r.o, &opt, argv + optind, (size_t)(argc - optind), &status))
		return status;
	if (r.o.launcher == LAUNCHER_SLURM)
		read_allocation(&r, &node, &cluster);
	else
		read_cluster(&r.o, &r.jobs.cluster, &node, &cluster);
	if (!r.o.resume && table_read(&given, r.o.input, &r.jobs.cluster, &node,
			       r.o.policy == NULL, &slips, &e) != 0)
		gv_die_error(&e);
	if (!r.o.quiet)
		gv_warn_each(&slips);
	if (gv_out_open(&out, opt.output, &e) != 0)
		gv_die_error(&e);
	if (r.o.dry_run) {
		r.jobs.table = given;
		given = (struct gv_rates){0};
		jobs_make(&r.jobs, &r.o, NULL);
		if (!dryrun(&r.jobs, r.o.round_s, out, r.o.tsv))
			status = GV_EXIT_NO;
	} else {
		status = run(&r, r.o.resume ? NULL : &given, &cluster, out);
	}
	/* an output that failed says why when it is closed */
	if (status == GV_EXIT_TROUBLE && r.output.error == 0)
		gv_out_discard(out);
	else if (opt.output != NULL && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	gv_frame_free(&cluster);
	node_free(&node);
	gv_rates_free(&given);
	close_run(&r);
	if (status == 128 + SIGPIPE) { /* as any filter whose reader has gone */
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : status;
}
