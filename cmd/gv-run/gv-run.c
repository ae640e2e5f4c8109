/*
 * gv-run: trains the jobs of an allocation table on this machine's GPUs, round
 * by round, so that each receives the share of time it was given.
 *
 * It reads the whole table, then launches workers until every job is done, and
 * writes what happens as events.  Everything it must know after a kill is in
 * the state directory, before it is told to anybody.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/opt.h"
#include "run.h"

static const char usage[] = "usage: gv-run -c CLUSTER [-s DIR] [-r TIME] [-g TIME] [-p "
			    "COMMAND] [-o FILE] [TABLE]";
static const char help[] =
    "usage: gv-run -c CLUSTER [OPTION]... [ALLOCATION]\n"
    "       gv-run --resume -s DIR [OPTION]...\n"
    "Run the jobs of an allocation table in rounds; write events.\n"
    "\n"
    "  -c, --cluster FILE     the GPUs: gpu_type, gpus, node, threads\n"
    "  -s, --state DIR        where the run's state is kept (default: below TMPDIR)\n"
    "      --resume           go on with the run in DIR; no table is read\n"
    "  -r, --round TIME       length of a round (360s)\n"
    "  -g, --grace TIME       from SIGTERM to SIGKILL (60s)\n"
    "  -p, --policy COMMAND   rates in, allocation out; asked when jobs come and go\n"
    "      --policy-timeout TIME  for its answer (60s)\n"
    "      --max-failures N   in a row without progress, then the job is dropped (5)\n"
    "      --log-dir DIR      for the jobs' output (default: in the state)\n"
    "      --node NAME        run on the GPUs of this node of the cluster table\n"
    "      --clean-env        give workers PATH, HOME, LANG, TZ and USER only\n"
    "  -n, --dry-run          print the first rounds; start nothing\n"
    "      --tsv              write TSV, not CSV\n"
    "  -o, --output FILE      write to FILE, not to standard output\n"
    "  -q, --quiet            no warnings about failing jobs\n"
    "  -v, --verbose          say what is decided\n"
    "  -h, --help  -V, --version\n";

enum {
	OPT_RESUME = GV_OPT_OWN,
	OPT_POLICY_TIMEOUT,
	OPT_MAX_FAILURES,
	OPT_LOG_DIR,
	OPT_NODE,
	OPT_CLEAN_ENV
};

static const struct option longopts[] = {GV_OPT_COMMON, GV_OPT_TABLE,
    {"cluster", required_argument, NULL, 'c'}, {"state", required_argument, NULL, 's'},
    {"resume", no_argument, NULL, OPT_RESUME}, {"round", required_argument, NULL, 'r'},
    {"grace", required_argument, NULL, 'g'}, {"policy", required_argument, NULL, 'p'},
    {"policy-timeout", required_argument, NULL, OPT_POLICY_TIMEOUT},
    {"max-failures", required_argument, NULL, OPT_MAX_FAILURES},
    {"log-dir", required_argument, NULL, OPT_LOG_DIR},
    {"node", required_argument, NULL, OPT_NODE},
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
	case OPT_LOG_DIR:
		o->log_dir = optarg;
		break;
	case OPT_NODE:
		o->node = optarg;
		break;
	case OPT_CLEAN_ENV:
		o->clean_env = true;
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
	if (o->resume && o->dry_run)
		gv_opt_usage(opt, "--dry-run cannot be combined with --resume");
	if (o->resume && o->state == NULL)
		gv_opt_usage(opt, "--resume needs the state: -s DIR");
	if (o->resume && optind < argc)
		gv_opt_usage(opt, "--resume reads no table");
	if (!o->resume && o->cluster == NULL)
		gv_opt_usage(opt, "no cluster: -c FILE");
	if (!o->resume)
		o->input = gv_opt_input(opt, argc, argv);
}

/* ---- getting ready ---- */

/* The cluster of -c, or the one kept in the state; only this machine's pools. */
static void
read_cluster(struct run *r, struct gv_frame *f)
{
	struct gv_error e = {0};
	char *kept = NULL;
	const char *path = r->o->cluster;

	if (path == NULL) {
		size_t len = strlen(r->o->state) + sizeof("/cluster.csv");

		kept = gv_xcalloc(len, 1);
		strcat(strcpy(kept, r->o->state), "/cluster.csv");
		path = kept;
	}
	if (r->o->resume && access(path, F_OK) != 0)
		gv_die("%s: holds no run to resume", r->o->state);
	if (gv_cluster_read(&r->cluster, path, &e) != 0 ||
	    node_select(&r->cluster, path, r->o->node, &e) != 0 ||
	    gv_frame_load(f, path, &e) != 0)
		gv_die_error(&e);
	free(kept);
}

static void
make_jobs(struct run *r)
{
	size_t m;

	gv_rounds_init(&r->rounds, &r->cluster, r->o->round_s);
	r->n_jobs = r->table.n_jobs;
	r->job = gv_xcalloc(r->n_jobs + 1, sizeof(*r->job));
	r->policy.asked = gv_xcalloc(r->n_jobs + 1, sizeof(*r->policy.asked));
	r->holder = gv_xcalloc(r->rounds.n_gpus + 1, sizeof(*r->holder));
	r->plan = gv_xcalloc(r->rounds.n_gpus + 1, sizeof(*r->plan));
	for (m = 0; m < r->rounds.n_gpus; m++)
		r->holder[m] = r->plan[m] = GV_GPU_IDLE;
	for (m = 0; m < r->n_jobs; m++) {
		const struct gv_job *spec = &r->table.job[m];
		double done = spec->total_steps - spec->steps_remaining;

		gv_rounds_add(&r->rounds, (size_t)spec->scale_factor);
		r->job[m] = (struct job){.state = JOB_LATER,
		    .spec = spec,
		    .failed_at = -1,
		    .report = {.steps = -1, .checkpoint = -1},
		    .checkpoint = -1,
		    .isolated_s = spec->isolated_elapsed_s,
		    .isolated_steps = done > 0 ? done : 0};
	}
	policy_table_shares(r);
	r->told = gv_xcalloc(r->rounds.n_jobs * r->cluster.n_types + 1, sizeof(*r->told));
}

/* The table given, merged into the one kept. */
static int
keep_table(struct run *r, const struct gv_rates *given, const struct gv_frame *cluster,
    struct gv_error *e)
{
	char *jobs = state_path(r, "jobs.csv");
	char *pools = state_path(r, "cluster.csv");
	struct gv_rates known = {0};
	struct gv_frame f = {0};
	bool kept = state_has(r, "jobs.csv");
	int rc = 0;

	if (kept && (gv_frame_load(&f, jobs, e) != 0 ||
			gv_rates_from(&known, &f, &r->cluster, e) != 0))
		rc = -1;
	if (rc == 0 && (r->o->cluster != NULL))
		rc = node_write(&r->cluster, cluster, pools, e);
	if (rc == 0 && given != NULL)
		rc = table_merge(kept ? &known : NULL, given, jobs, e);
	gv_rates_free(&known);
	if (rc == 0 && gv_frame_load(&f, jobs, e) == 0)
		rc = gv_rates_from(&r->table, &f, &r->cluster, e);
	else
		rc = -1;
	if (rc == 0)
		gv_rates_spread(&r->table, &r->cluster);
	free(jobs);
	free(pools);
	return rc;
}

static void
prepare(struct run *r, const struct gv_rates *given, const struct gv_frame *cluster)
{
	struct gv_error e = {0};
	size_t m;

	if (r->o->log_dir != NULL && gv_mkdirs(r->o->log_dir, &e) != 0)
		gv_die_error(&e);
	if (state_open(r, &e) != 0 || keep_table(r, given, cluster, &e) != 0 ||
	    policy_choose(r, &e) != 0 || state_directory(r, &e) != 0 ||
	    state_wait_workers(r, &e) != 0)
		gv_die_error(&e);
	make_jobs(r);
	for (m = 0; m < r->n_jobs; m++)
		if (state_job(r, m, &e) != 0)
			gv_die_error(&e);
}

/* Begins to write events; a run that was there before goes on. */
static void
begin(struct run *r, struct gv_out *out)
{
	struct gv_error e = {0};
	size_t m;

	r->journal.out = out;
	r->round = -1;
	r->zero_s = gv_clock_s();
	if (restore(r, &e) != 0)
		gv_die_error(&e);
	policy_table_shares(r);
	for (m = 0; m < r->n_jobs; m++)
		if (r->job[m].launches > 0 &&
		    gv_progress_read(r->job[m].progress, &r->job[m].report, &e) != 0)
			gv_die_error(&e);
	if (r->restored) {
		r->now_s = r->restart_s;
		journal_event(r, GV_EVENT_RESTART, -1, "");
	} else {
		journal_pools(r);
	}
	r->round_end_s = r->now_s;
	r->read_s = r->now_s;
	r->policy.due = true;
	r->policy.answered = !r->restored && r->o->policy == NULL;
}

static void
run_free(struct run *r)
{
	size_t m;

	for (m = 0; m < r->n_jobs; m++) {
		free(r->job[m].directory);
		free(r->job[m].checkpoint_dir);
		free(r->job[m].progress);
		free(r->job[m].log);
	}
	free(r->job);
	free(r->holder);
	free(r->plan);
	free(r->told);
	free(r->policy.asked);
	free(r->policy.command);
	free(r->directory);
	gv_rounds_free(&r->rounds);
	gv_rates_free(&r->table);
	gv_cluster_free(&r->cluster);
}

static int
exit_status(const struct run *r)
{
	size_t m;

	if (r->broken)
		return GV_EXIT_TROUBLE;
	if (r->signal != 0)
		return 128 + r->signal;
	for (m = 0; m < r->n_jobs; m++)
		if (r->job[m].state == JOB_DROPPED)
			return GV_EXIT_NO;
	return GV_EXIT_OK;
}

int
main(int argc, char **argv)
{
	struct settings o = {
	    .round_s = 360, .grace_s = 60, .policy_timeout_s = 60, .max_failures = 5};
	struct run r = {.o = &o, .lock_fd = -1, .workers_fd = -1, .clock_fd = -1};
	struct gv_error e = {0};
	struct gv_rates given = {0};
	struct gv_frame cluster = {0};
	struct gv_out *out;
	struct gv_opt opt;
	int status;

	gv_init("gv-run");
	parse_options(&o, &opt, argc, argv);
	read_cluster(&r, &cluster);
	if (!o.resume && table_read(&given, o.input, &r.cluster, &o, &e) != 0)
		gv_die_error(&e);
	if (gv_out_open(&out, opt.output, &e) != 0)
		gv_die_error(&e);
	if (o.dry_run) {
		r.table = given;
		make_jobs(&r);
		dryrun(&r, out);
		status = 0;
	} else {
		loop_signals();
		prepare(&r, o.resume ? NULL : &given, &cluster);
		gv_rates_free(&given);
		begin(&r, out);
		loop(&r);
		journal_close(&r);
		status = exit_status(&r);
		state_close(&r, status == 0);
	}
	/* an output that failed says why when it is closed */
	if (status == GV_EXIT_TROUBLE && r.journal.out_errno == 0)
		gv_out_discard(out);
	else if (opt.output != NULL && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	gv_frame_free(&cluster);
	run_free(&r);
	if (status == 128 + SIGPIPE) { /* as any filter whose reader has gone */
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : status;
}
