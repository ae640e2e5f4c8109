#include "options.h"

#include "gv-run/live/control.h"

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

/* What is asked of a run that is under way; whether it is. */
static bool
check_request(struct settings *o, struct gv_opt *opt, int argc, char **argv)
{
	if (o->request != CONTROL_NONE) {
		const char *name = control_name[o->request];

		if (o->state == NULL)
			gv_opt_usage(opt, "--%s needs the state: -s DIR", name);
		if (optind >= argc)
			gv_opt_usage(opt, "--%s needs jobs", name);
		return true;
	}
	if (o->status || o->follow) {
		const char *name = o->status ? "status" : "follow";

		if (o->state == NULL)
			gv_opt_usage(opt, "--%s needs the state: -s DIR", name);
		if (optind < argc)
			gv_opt_usage(opt, "--%s reads no table", name);
		return true;
	}
	if (o->submit) {
		if (o->state == NULL)
			gv_opt_usage(opt, "--submit needs the state: -s DIR");
		o->input = gv_opt_input(opt, argc, argv);
		return true;
	}
	return false;
}

/* What goes with --launcher=slurm. */
static void
check_launcher(const struct settings *o, const struct gv_opt *opt)
{
	if (o->launcher == LAUNCHER_SLURM && o->node != NULL)
		gv_opt_usage(opt, "--node cannot be combined with --launcher=slurm");
	if (o->launcher == LAUNCHER_SLURM && !o->dry_run && o->state == NULL)
		gv_opt_usage(
		    opt, "--launcher=slurm needs a state that all nodes see: -s DIR");
	if (o->launcher != LAUNCHER_SLURM && o->slurm_job != NULL)
		gv_opt_usage(opt, "--slurm-job goes with --launcher=slurm");
}

/* A run, new or gone on with, or a look at what damage its state has. */
static void
check_run(struct settings *o, struct gv_opt *opt, int argc, char **argv)
{
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
	check_launcher(o, opt);
	if (!o->resume && o->cluster == NULL &&
	    (o->launcher != LAUNCHER_SLURM || o->dry_run))
		gv_opt_usage(opt, "no cluster: -c FILE");
	if (!o->resume)
		o->input = gv_opt_input(opt, argc, argv);
}

void
options_parse(struct settings *o, struct gv_opt *opt, int argc, char **argv)
{
	int code;

	*opt = (struct gv_opt){.usage = usage, .help = help};
	while ((code = getopt_long(argc, argv,
		    GV_OPT_SHORT GV_OPT_TABLE_SHORT "c:s:r:g:p:n", longopts, NULL)) != -1)
		parse_option(o, opt, code, argc, argv);
	o->quiet = opt->quiet;
	o->verbose = opt->verbose;
	o->tsv = opt->tsv;
	if (!check_request(o, opt, argc, argv))
		check_run(o, opt, argc, argv);
}
