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
#include "allocation.h"
#include "control.h"
#include "dryrun.h"
#include "follow.h"
#include "intake.h"
#include "jobs.h"
#include "journal.h"
#include "launch/local/local.h"
#include "loop.h"
#include "node.h"
#include "output.h"
#include "places.h"
#include "policy.h"
#include "restore.h"
#include "settings.h"
#include "signals.h"
#include "state.h"
#include "status.h"
#include "submit.h"
#include "table.h"
#include "watch.h"
#include "work.h"

static const char usage[] = "usage: gv-run -c CLUSTER [-s DIR] [-r TIME] [-g TIME] [-p "
			    "COMMAND] [-o FILE] [TABLE]";
static const char help[] =
    "usage: gv-run -c CLUSTER [OPTION]... [ALLOCATION]\n"
    "       gv-run --resume|--status|--submit|--cancel|... -s DIR [TABLE|JOB...]\n"
    "Run the jobs of an allocation table in rounds; write events.\n"
    "\n"
    "  -c, --cluster FILE     the GPUs: gpu_type, gpus, node, threads\n"
    "      --watch            read it again when it changes, or on SIGHUP\n"
    "  -s, --state DIR        where the run's state is kept (default: below TMPDIR)\n"
    "      --resume           go on with the run in DIR; no table is read\n"
    "      --status, --submit  how the run in DIR is; add the jobs of a table to it\n"
    "      --cancel, --hold, --release  jobs of the run in DIR; --follow its events\n"
    "      --repair           say what damage in DIR would lose; with --resume do\n"
    "  -r, --round TIME       length of a round (360s)\n"
    "  -g, --grace TIME       from SIGTERM to SIGKILL (60s)\n"
    "  -p, --policy COMMAND   rates in, allocation out; asked when jobs come and go\n"
    "      --policy-timeout TIME  for its answer (60s)\n"
    "      --order ORDER      who goes first: owed (by default), gavel\n"
    "      --max-failures N   in a row without progress, then the job is dropped (5)\n"
    "      --log-dir DIR      for the jobs' output;  --node NAME  use its GPUs\n"
    "      --launcher=slurm   in an allocation of Slurm: this, or --slurm-job ID|NAME\n"
    "      --clean-env        give workers PATH, HOME, LANG, TZ and USER only\n"
    "  -n, --dry-run          print the first rounds; start nothing\n"
    "      --tsv              write TSV, not CSV;  -o, --output FILE  to FILE\n"
    "  -q, --quiet            no warnings about failing jobs\n"
    "  -v, --verbose          say what is decided    -h, --help    -V, --version\n";

enum {
	OPT_RESUME = GV_OPT_OWN,
	OPT_POLICY_TIMEOUT,
	OPT_MAX_FAILURES,
	OPT_LOG_DIR,
	OPT_NODE,
	OPT_REPAIR,
	OPT_CLEAN_ENV,
	OPT_ORDER,
	OPT_CANCEL,
	OPT_HOLD,
	OPT_RELEASE,
	OPT_STATUS,
	OPT_SUBMIT,
	OPT_FOLLOW,
	OPT_WATCH,
	OPT_LAUNCHER,
	OPT_SLURM_JOB
};

static const char *const order[] = {[GV_ROUND_OWED] = "owed", [GV_ROUND_GAVEL] = "gavel"};

static const char *const launcher_name[] = {
    [LAUNCHER_LOCAL] = "local", [LAUNCHER_SLURM] = "slurm"};

static const struct option longopts[] = {GV_OPT_COMMON, GV_OPT_TABLE,
    {"cluster", required_argument, NULL, 'c'}, {"state", required_argument, NULL, 's'},
    {"repair", no_argument, NULL, OPT_REPAIR}, {"resume", no_argument, NULL, OPT_RESUME},
    {"round", required_argument, NULL, 'r'}, {"grace", required_argument, NULL, 'g'},
    {"policy", required_argument, NULL, 'p'},
    {"policy-timeout", required_argument, NULL, OPT_POLICY_TIMEOUT},
    {"max-failures", required_argument, NULL, OPT_MAX_FAILURES},
    {"log-dir", required_argument, NULL, OPT_LOG_DIR},
    {"node", required_argument, NULL, OPT_NODE},
    {"launcher", required_argument, NULL, OPT_LAUNCHER},
    {"slurm-job", required_argument, NULL, OPT_SLURM_JOB},
    {"order", required_argument, NULL, OPT_ORDER},
    {"cancel", no_argument, NULL, OPT_CANCEL}, {"hold", no_argument, NULL, OPT_HOLD},
    {"release", no_argument, NULL, OPT_RELEASE},
    {"status", no_argument, NULL, OPT_STATUS}, {"submit", no_argument, NULL, OPT_SUBMIT},
    {"follow", no_argument, NULL, OPT_FOLLOW}, {"watch", no_argument, NULL, OPT_WATCH},
    {"clean-env", no_argument, NULL, OPT_CLEAN_ENV}, {"dry-run", no_argument, NULL, 'n'},
    {NULL, 0, NULL, 0}};

static double
positive(const struct gv_opt *opt, const char *name)
{
	double v = gv_opt_duration(opt, name, optarg);

	if (!(v > 0))
		gv_opt_usage(opt, "%s: expected a time above 0", name);
	return v;
}

/* One request at a time. */
static void
ask_for(struct settings *o, const struct gv_opt *opt, enum control_kind kind)
{
	if (o->request != CONTROL_NONE && o->request != kind)
		gv_opt_usage(opt, "--%s cannot be combined with --%s",
		    control_name[o->request], control_name[kind]);
	o->request = kind;
}

static void
parse_option(struct settings *o, struct gv_opt *opt, int code, int argc, char **argv)
{
	switch (code) {
	case 'c':
		o->cluster = optarg;
		break;
	case 's':
		o->state = optarg;
		break;
	case 'r':
		o->round_s = positive(opt, "--round");
		break;
	case 'g':
		o->grace_s = gv_opt_duration(opt, "--grace", optarg);
		break;
	case 'p':
		o->policy = optarg;
		break;
	case 'n':
		o->dry_run = true;
		break;
	case OPT_CANCEL:
		ask_for(o, opt, CONTROL_CANCEL);
		break;
	case OPT_HOLD:
		ask_for(o, opt, CONTROL_HOLD);
		break;
	case OPT_RELEASE:
		ask_for(o, opt, CONTROL_RELEASE);
		break;
	case OPT_STATUS:
		o->status = true;
		break;
	case OPT_FOLLOW:
		o->follow = true;
		break;
	case OPT_WATCH:
		o->watch = true;
		break;
	case OPT_SUBMIT:
		o->submit = true;
		break;
	case OPT_REPAIR:
		o->repair = true;
		break;
	case OPT_RESUME:
		o->resume = true;
		break;
	case OPT_POLICY_TIMEOUT:
		o->policy_timeout_s = positive(opt, "--policy-timeout");
		break;
	case OPT_MAX_FAILURES:
		o->max_failures =
		    (int)gv_opt_int(opt, "--max-failures", optarg, 1, 1000000);
		break;
	case OPT_ORDER:
		o->order =
		    (enum gv_round_order)gv_opt_one_of(opt, "--order", optarg, order, 2);
		break;
	case OPT_LOG_DIR:
		o->log_dir = optarg;
		break;
	case OPT_NODE:
		o->node = optarg;
		break;
	case OPT_CLEAN_ENV:
		o->clean_env = true;
		break;
	case OPT_LAUNCHER:
		o->launcher = (enum launcher)gv_opt_one_of(
		    opt, "--launcher", optarg, launcher_name, 2);
		break;
	case OPT_SLURM_JOB:
		o->slurm_job = optarg;
		break;
	default:
		gv_opt_common(opt, code, argc, argv);
	}
}

static void
parse_options(struct settings *o, struct gv_opt *opt, int argc, char **argv)
{
	int code;

	*opt = (struct gv_opt){.usage = usage, .help = help};
	while ((code = getopt_long(argc, argv,
		    GV_OPT_SHORT GV_OPT_TABLE_SHORT "c:s:r:g:p:n", longopts, NULL)) != -1)
		parse_option(o, opt, code, argc, argv);
	o->quiet = opt->quiet;
	o->verbose = opt->verbose;
	o->tsv = opt->tsv;
	if (o->request != CONTROL_NONE) {
		const char *name = control_name[o->request];

		if (o->state == NULL)
			gv_opt_usage(opt, "--%s needs the state: -s DIR", name);
		if (optind >= argc)
			gv_opt_usage(opt, "--%s needs jobs", name);
		return;
	}
	if (o->status || o->follow) {
		const char *name = o->status ? "status" : "follow";

		if (o->state == NULL)
			gv_opt_usage(opt, "--%s needs the state: -s DIR", name);
		if (optind < argc)
			gv_opt_usage(opt, "--%s reads no table", name);
		return;
	}
	if (o->submit) {
		if (o->state == NULL)
			gv_opt_usage(opt, "--submit needs the state: -s DIR");
		o->input = gv_opt_input(opt, argc, argv);
		return;
	}
	if (o->watch && o->cluster == NULL)
		gv_opt_usage(opt, "--watch needs the file: -c FILE");
	if (o->resume && o->dry_run)
		gv_opt_usage(opt, "--dry-run cannot be combined with --resume");
	if (o->resume && o->state == NULL)
		gv_opt_usage(opt, "--resume needs the state: -s DIR");
	if (o->resume && optind < argc)
		gv_opt_usage(opt, "--resume reads no table");
	if (o->repair && o->state == NULL)
		gv_opt_usage(opt, "--repair needs the state: -s DIR");
	if (o->repair && !o->resume) {
		if (optind < argc)
			gv_opt_usage(opt, "--repair reads no table");
		return;
	}
	if (o->launcher == LAUNCHER_SLURM && o->node != NULL)
		gv_opt_usage(opt, "--node cannot be combined with --launcher=slurm");
	if (o->launcher == LAUNCHER_SLURM && !o->dry_run && o->state == NULL)
		gv_opt_usage(
		    opt, "--launcher=slurm needs a state that all nodes see: -s DIR");
	if (o->launcher != LAUNCHER_SLURM && o->slurm_job != NULL)
		gv_opt_usage(opt, "--slurm-job goes with --launcher=slurm");
	if (!o->resume && o->cluster == NULL &&
	    (o->launcher != LAUNCHER_SLURM || o->dry_run))
		gv_opt_usage(opt, "no cluster: -c FILE");
	if (!o->resume)
		o->input = gv_opt_input(opt, argc, argv);
}

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

	GV_HOLDS(o->state != NULL); /* options demand -c or -s */
	if (path == NULL) {
		size_t len = strlen(o->state) + sizeof("/cluster.csv");

		kept = gv_xcalloc(len, 1);
		strcat(strcpy(kept, o->state), "/cluster.csv");
		path = kept;
	}
	if (o->resume && access(path, F_OK) != 0)
		gv_die("%s: holds no run to resume", o->state);
	if (gv_cluster_read(c, path, &e) != 0 ||
	    node_select(c, path, o->node, node, &e) != 0 ||
	    gv_frame_load(f, path, &e) != 0)
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
	double alive_s;
	double epoch_s;
	int64_t round;

	if (state_read_clock(&r->state, &epoch_s, &alive_s, &round) == 0) {
		/* what ran when gv-run died ran until then, as far as anybody knows */
		alive_s = fmax(alive_s, life->now_s);
		now_s = fmax(alive_s, gv_now_s() - epoch_s);
		if (round > life->round)
			life->round = round;
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
	bool before;

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
	if (before)
		go_on(r);
	if (before && r->allocation.slurm != NULL && /* it may be another one */
	    journal_gone_pools(&r->journal, &r->jobs, r->state.dir, &e) != 0)
		gv_die_error(&e);
	if (!before || r->allocation.slurm != NULL)
		gv_life_tell_pools(&r->jobs.life);
	gv_life_take_shares(&r->jobs.life, &r->jobs.table);
	loop_carry_out(&r->loop);
	intake_turn(&r->intake);
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
	prepare(r, given, cluster);
	begin(r, out);
	loop_run(&r->loop);
	status = exit_status(r);
	if (r->output.error != 0 && !r->output.gone && r->output.file == NULL)
		gv_warn("cannot write to standard output: %s", strerror(r->output.error));
	journal_close(&r->journal);
	state_close(&r->state, status == 0);
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
	parse_options(&r.o, &opt, argc, argv);
	if (r.o.state != NULL && state_check(r.o.state, &e) != 0)
		gv_die_error(&e);
	if (r.o.request != CONTROL_NONE) {
		if (control_send(r.o.state, r.o.request, argv + optind,
			(size_t)(argc - optind), &e) != 0)
			gv_die_error(&e);
		return gv_finish();
	}
	if (r.o.submit) {
		if (submit_send(&r.o, &slips, &e) != 0)
			gv_die_error(&e);
		if (!r.o.quiet)
			gv_warn_each(&slips);
		return gv_finish();
	}
	if (r.o.status || r.o.follow)
		return look_at(&r.o, opt.output);
	if (r.o.repair && !r.o.resume)
		return inspect(&r.o);
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
		dryrun(&r.jobs, r.o.round_s, out, r.o.tsv);
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
	output_close(&r.output);
	work_close(&r.work);
	allocation_close(&r.allocation);
	control_close(&r.control);
	intake_close(&r.intake);
	watch_close(&r.watch);
	policy_close(&r.policy);
	jobs_free(&r.jobs);
	if (status == 128 + SIGPIPE) { /* as any filter whose reader has gone */
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : status;
}
