/*
 * gv-profile jobs: how many steps per second each job does on each GPU type of
 * the cluster, by running it there for a while; gv-profile pairs: each two of them,
 * on the same GPUs.
 */
#include <signal.h>
#include <string.h>

#include "base/hash.h"
#include "base/opt.h"
#include "gv-profile/rates/plan.h"
#include "gv-profile/rates/rates_table.h"
#include "gv-profile/rates/run_plan.h"
#include "gv-profile/rates/site.h"
#include "profile.h"

struct options {
	struct gv_opt common;
	const char *jobs;
	const char *known;
	bool throughputs;
	bool pairs;       /* gv-profile pairs */
	int64_t parallel; /* 0 = not said */
	struct site_options site;
	struct run_options run;
};

enum {
	OPT_WARMUP = GV_OPT_OWN,
	OPT_WINDOW,
	OPT_TIMEOUT,
	OPT_GRACE,
	OPT_NODE,
	OPT_THROUGHPUTS,
	OPT_CLEAN_ENV,
	OPT_PARALLEL,
	OPT_LAUNCHER,
	OPT_SLURM_JOB,
	OPT_USAGE
};

static const char *const launcher_name[] = {"local", "slurm"};

#define SHARED_OPTIONS                                                                   \
	"      --window=TIME    measure for at least this long (5s)\n"                   \
	"      --timeout=TIME   give a run up after this long (120s)\n"                  \
	"      --grace=TIME     from SIGTERM to SIGKILL when a run ends (10s)\n"         \
	"      --node=NAME      what the cluster table calls this machine (its host "    \
	"name)\n"                                                                        \
	"      --parallel=N     at once on a node (1; in an allocation as many as "      \
	"fit)\n"                                                                         \
	"      --launcher=slurm  in an allocation of Slurm: this, or "                   \
	"--slurm-job=ID|NAME\n"                                                          \
	"  -s, --state=DIR      for files of jobs; under Slurm one that all nodes see\n" \
	"      --clean-env      give jobs PATH, HOME, LANG, TZ and USER only\n"          \
	"      --tsv            write TSV instead of CSV\n"                              \
	"  -o, --output=FILE    write to FILE, which is replaced whole or not at all\n"  \
	"  -q, --quiet          no warnings\n"                                           \
	"  -v, --verbose        say what was measured and how well\n"                    \
	"  -h, --help           this text\n"                                             \
	"  -V, --version        the version\n"

static const char usage[] = "usage: gv-profile jobs -c CLUSTER [-qvV] [-o FILE] [-s "
			    "DIR] [-t KNOWN] [option ...] [jobs.csv]";

static const char help[] =
    "usage: gv-profile jobs -c CLUSTER [option ...] [jobs.csv]\n"
    "Runs each job for a while on each GPU type and writes its rate: a rates table.\n"
    "\n"
    "  -c, --cluster=FILE   the GPUs: gpu_type, gpus, ... (required but under Slurm)\n"
    "  -t, --known=FILE     throughputs that need no measuring\n"
    "      --throughputs    write the throughputs of the job types instead, for -t\n"
    "      --usage          also how much the GPUs are used, where NVML tells\n"
    "      --warmup=TIME    after the first report, not measured (2s)\n" SHARED_OPTIONS;

static const char pairs_usage[] = "usage: gv-profile pairs -c CLUSTER [-qvV] [-o FILE] "
				  "[-s DIR] [-t KNOWN] [option ...] [jobs.csv]";

static const char pairs_help[] =
    "usage: gv-profile pairs -c CLUSTER [option ...] [jobs.csv]\n"
    "Runs each two jobs on the same GPUs, writes their rates: a pairs table.\n"
    "\n"
    "  -c, --cluster=FILE   the GPUs: gpu_type, gpus, ... (required but under Slurm)\n"
    "  -t, --known=FILE     throughputs alone that need no measuring\n"
    "      --usage          also how much the GPUs are used, where NVML tells\n"
    "      --warmup=TIME    after both have reported, not measured (2s)\n" SHARED_OPTIONS;

/* The first is not one of pairs. */
static const struct option longopts[] = {
    {"throughputs", no_argument, NULL, OPT_THROUGHPUTS}, GV_OPT_COMMON, GV_OPT_TABLE,
    {"cluster", required_argument, NULL, 'c'}, {"known", required_argument, NULL, 't'},
    {"usage", no_argument, NULL, OPT_USAGE},
    {"warmup", required_argument, NULL, OPT_WARMUP},
    {"window", required_argument, NULL, OPT_WINDOW},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"grace", required_argument, NULL, OPT_GRACE},
    {"node", required_argument, NULL, OPT_NODE},
    {"parallel", required_argument, NULL, OPT_PARALLEL},
    {"launcher", required_argument, NULL, OPT_LAUNCHER},
    {"slurm-job", required_argument, NULL, OPT_SLURM_JOB},
    {"state", required_argument, NULL, 's'},
    {"clean-env", no_argument, NULL, OPT_CLEAN_ENV}, {NULL, 0, NULL, 0}};

static volatile sig_atomic_t interrupt;

static void
check_options(const struct options *o)
{
	const struct gv_opt *c = &o->common;
	const struct site_options *site = &o->site;

	if (site->slurm && site->node != NULL)
		gv_opt_usage(c, "--node cannot be combined with --launcher=slurm");
	if (site->slurm && site->state == NULL)
		gv_opt_usage(
		    c, "--launcher=slurm needs a state that all nodes see: -s DIR");
	if (!site->slurm && site->slurm_job != NULL)
		gv_opt_usage(c, "--slurm-job goes with --launcher=slurm");
	if (!site->slurm && site->cluster == NULL)
		gv_opt_usage(c, "no cluster given: use -c");
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	const struct gv_opt *c = &o->common;
	int code;

	opterr = 0;
	while ((code = getopt_long(argc, argv, GV_OPT_SHORT GV_OPT_TABLE_SHORT "c:s:t:",
		    longopts + o->pairs, NULL)) != -1) {
		switch (code) {
		case 'c':
			o->site.cluster = optarg;
			break;
		case 't':
			o->known = optarg;
			break;
		case OPT_THROUGHPUTS:
			o->throughputs = true;
			break;
		case OPT_WARMUP:
			o->run.measure.rule.warmup_s =
			    gv_opt_duration(c, "--warmup", optarg);
			break;
		case OPT_WINDOW:
			o->run.measure.rule.window_s =
			    gv_opt_duration(c, "--window", optarg);
			break;
		case OPT_TIMEOUT:
			o->run.measure.timeout_s =
			    gv_opt_duration(c, "--timeout", optarg);
			break;
		case OPT_GRACE:
			o->run.measure.grace_s = gv_opt_duration(c, "--grace", optarg);
			break;
		case OPT_NODE:
			o->site.node = optarg;
			break;
		case 's':
			o->site.state = optarg;
			break;
		case OPT_PARALLEL:
			o->parallel = gv_opt_int(c, "--parallel", optarg, 1, 1000000);
			break;
		case OPT_LAUNCHER:
			o->site.slurm =
			    gv_opt_one_of(c, "--launcher", optarg, launcher_name, 2) == 1;
			break;
		case OPT_SLURM_JOB:
			o->site.slurm_job = optarg;
			break;
		case OPT_USAGE:
			o->run.measure.usage = true;
			break;
		case OPT_CLEAN_ENV:
			o->run.measure.clean_env = true;
			break;
		default:
			gv_opt_common(&o->common, code, argc, argv);
		}
	}
	check_options(o);
	o->jobs = gv_opt_input(c, argc, argv);
	if ((strcmp(o->jobs, "-") == 0) +
		(o->site.cluster != NULL && strcmp(o->site.cluster, "-") == 0) +
		(o->known != NULL && strcmp(o->known, "-") == 0) >
	    1)
		gv_opt_usage(c, "standard input can be read only once");
}

static void
on_signal(int sig)
{
	interrupt = sig;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_SIGNALS = sizeof(signals) / sizeof(signals[0]) };

/* While jobs run, SIGINT and the like end them, not the program: it has to clean up. */
static void
catch_signals(struct sigaction old[N_SIGNALS])
{
	struct sigaction sa;
	size_t i;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	sigemptyset(&sa.sa_mask);
	for (i = 0; i < N_SIGNALS; i++)
		if (sigaction(signals[i], NULL, &old[i]) == 0 &&
		    old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
}

static void
restore_signals(const struct sigaction old[N_SIGNALS])
{
	size_t i;

	for (i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i], &old[i], NULL);
}

/* Whether a job runs nowhere, and says which, or it is not known how fast on some type. */
static bool
some_lack(const struct plan *p, const struct gv_rates *jobs)
{
	bool some = false;
	size_t class, type;

	for (class = 0; class < p->n_classes; class ++) {
		bool runs = false, known = true;

		for (type = 0; type < p->n_types; type++) {
			const struct cell *c = plan_cell(p, class, type);

			runs |= c->source != UNMEASURED && c->steps_per_s > 0;
			known &= c->source != UNMEASURED;
		}
		if (known && !runs)
			gv_warn("job \"%s\" runs on no GPU type of the cluster",
			    jobs->job[p->job[class]].id.s);
		some |= !runs || !known;
	}
	return some;
}

/* A row of pairs with the name of a job is that job's, and nobody's of the same type. */
static void
warn_of_names(const struct plan *p, const struct gv_rates *jobs)
{
	struct gv_hash ids = {0};
	size_t class, i;

	for (i = 0; i < jobs->n_jobs; i++)
		gv_hash_add(&ids, jobs->job[i].id.s, jobs->job[i].id.len);
	for (class = 0; class < p->n_classes; class ++) {
		struct gv_cell type = jobs->job[p->job[class]].job_type;
		ptrdiff_t at = gv_hash_find(&ids, type.s, type.len);
		bool others = false;
		char q[GV_QUOTE_LEN];

		for (i = 0; at != -1 && i < jobs->n_jobs; i++)
			others |= i != (size_t)at && p->class_of[i] == class;
		if (others)
			gv_warn("warning: job type %s is also the name of a job: "
				"gv-alloc takes its rows for those of that job alone",
			    gv_quote(q, type.s, type.len));
	}
	gv_hash_free(&ids);
}

/* ---- the whole ---- */

struct inputs {
	struct gv_rates jobs;
	struct site site;
	struct gv_frame known;
};

static int
read_inputs(struct inputs *in, const struct options *o, struct gv_error *e)
{
	struct gv_frame frame = {0};
	int rc = o->site.slurm ? 0 : site_open(&in->site, &o->site, e);

	if (o->known != NULL)
		rc |= gv_frame_load(&in->known, o->known, e);
	rc |= gv_frame_load(&frame, o->jobs, e);
	return rc != 0 ? -1 : gv_jobs_from(&in->jobs, &frame, e);
}

/* What can be read and was probably meant otherwise. */
static void
warn_of_slips(const struct inputs *in)
{
	struct gv_error w = {0};

	if (in->site.cluster.warnings != NULL)
		w = *in->site.cluster.warnings;
	gv_rates_slips(&in->jobs, NULL, &w);
	gv_warn_each(&w);
}

static void
write_table(const struct inputs *in, const struct plan *p, const struct options *o,
    struct gv_out *out)
{
	struct gv_error e = {0};
	struct gv_tabw w;

	gv_tabw_init(&w, out, o->common.tsv);
	if (o->pairs)
		write_pairs(&w, p, &in->jobs, &in->site.cluster, o->run.measure.usage);
	else if (o->throughputs)
		write_throughputs(&w, p, &in->jobs, &in->site.cluster);
	else
		write_rates(&w, p, &in->jobs, &in->site.cluster, o->run.measure.usage);
	if (gv_out_close(out, &e) != 0)
		gv_die_error(&e);
}

/* Measures, writes; the exit status.  old: what signals do otherwise. */
static int
answer(struct inputs *in, struct plan *p, struct gpus *g, const struct options *o,
    const struct sigaction old[N_SIGNALS])
{
	struct gv_error e = {0};
	struct gv_out *out;
	int status;

	/* a file that cannot be written is found out before the long part */
	if (gv_out_open(&out, o->common.output, &e) != 0 ||
	    (plan_count(p, TO_MEASURE) > 0 && site_scratch(&in->site, &o->site, &e) != 0))
		gv_die_error(&e);
	status = run_plan(p, &in->jobs, &in->site, g, &o->run, &e);
	restore_signals(old);
	if (status == -1)
		gv_die_error(&e);
	if (status == 1) {
		gv_out_discard(out);
		return 128 + interrupt;
	}
	write_table(in, p, o, out);
	return some_lack(p, &in->jobs) || plan_count(p, UNMEASURED) > 0 ? GV_EXIT_NO
									: GV_EXIT_OK;
}

/* So many are measured at once on a node. */
static size_t
most_at_once(const struct options *o)
{
	if (o->parallel > 0)
		return (size_t)o->parallel;
	/* beside each other they disturb each other: who has a few machines has the time */
	return o->site.slurm ? SIZE_MAX : 1;
}

static int
profile(struct options *o, int argc, char **argv)
{
	struct gv_error e = {0};
	struct inputs in = {0};
	struct plan plan = {0};
	struct gpus gpus;
	struct sigaction old[N_SIGNALS];
	int status;
	int rc;

	o->run.measure = (struct measure_options){
	    .rule = {2, 5}, .timeout_s = 120, .grace_s = 10, .interrupt = &interrupt};
	parse_options(o, argc, argv);
	o->site.quiet = o->run.quiet = o->common.quiet;
	o->run.verbose = o->common.verbose;
	if (read_inputs(&in, o, &e) != 0)
		gv_die_error(&e);
	catch_signals(old);
	if ((o->site.slurm && site_open(&in.site, &o->site, &e) != 0) ||
	    plan_make(&plan, &in.jobs, &in.site.cluster,
		o->known != NULL ? &in.known : NULL, &e) != 0)
		gv_die_error(&e);
	if (o->pairs)
		plan_add_pairs(&plan, &in.jobs);
	if (!o->common.quiet)
		warn_of_slips(&in);
	if (!o->common.quiet && o->pairs)
		warn_of_names(&plan, &in.jobs);
	site_gpus(&gpus, &in.site, most_at_once(o));
	status = run_check(&plan, &in.jobs, &in.site, &gpus, &e);
	if (status != 0)
		gv_warn_error(&e);
	else
		status = answer(&in, &plan, &gpus, o, old);
	gv_error_clear(&e);
	plan_free(&plan);
	site_gpus_free(&gpus);
	gv_rates_free(&in.jobs);
	gv_frame_free(&in.known);
	if (site_close(&in.site, &e) != 0)
		gv_die_error(&e);
	rc = gv_finish();
	return rc != 0 ? rc : status;
}

int
profile_jobs(int argc, char **argv)
{
	struct options o = {.common = {.usage = usage, .help = help}};

	return profile(&o, argc, argv);
}

int
profile_pairs(int argc, char **argv)
{
	struct options o = {
	    .common = {.usage = pairs_usage, .help = pairs_help}, .pairs = true};

	return profile(&o, argc, argv);
}
