#include "options.h"

#include <math.h>
#include <string.h>

#include "base/num.h"

static const char usage[] =
    "usage: gv-sim -c CLUSTER [-t THROUGHPUTS] [-p COMMAND] [OPTION]... [JOBS]";

static const char help[] =
    "usage: gv-sim -c CLUSTER [-t THROUGHPUTS] [-p COMMAND] [OPTION]... [JOBS]\n"
    "Run jobs as gv-run would, on a virtual clock; write events.\n"
    "\n"
    "  -c, --cluster FILE      the GPUs: gpu_type, gpus, node, usd_per_h\n"
    "  -t, --throughputs FILE  the input is jobs without rates; they are here\n"
    "      --changes FILE      GPUs go and come: time_s, gpu_type, node, event\n"
    "      --prices FILE, --bid [TYPE:]USD,...  what GPUs cost; away above that\n"
    "      --node-mtbf TIME, --repair TIME, --seed N  nodes fail at random\n"
    "      --job-mtbf TIME, --max-failures N  jobs do, and are dropped\n"
    "  -p, --policy COMMAND    rates in, allocation out; asked when jobs come and go\n"
    "      --policy-timeout TIME, --interval TIME, --ask-every TIME  when it is asked\n"
    "  -s, --state FILE        keep its answers; go on where it was ended\n"
    "  -r, --round TIME        length of a round (360s)\n"
    "      --order ORDER, --shuffle SEED  owed or gavel; gavel's types at random\n"
    "      --strict            who was promised nothing does not run\n"
    "      --in-step, --ask-first  jobs come between rounds; wait for the policy\n"
    "      --ideal             no rounds: each job has exactly its shares\n"
    "      --load TIME, --save TIME, --checkpoint TIME  what launches, stops cost\n"
    "      --measure FIRST-LAST  these rows of the jobs, from 0; ends when they end\n"
    "      --until TIME, --most-waiting N  ends then; when more than N jobs wait\n"
    "      --isolated          beside each job: alone on its part of the GPUs\n"
    "      --events FILE, --jobs FILE, --summary FILE  write these; - is the output\n"
    "  -o, --output FILE       write there; events, if none of those does; --tsv\n"
    "  -q, --quiet; -v, --verbose; -h, --help; -V, --version\n";

static const char *const orders[] = {
    [GV_ROUND_OWED] = "owed", [GV_ROUND_GAVEL] = "gavel"};

static double
above_0(const struct options *o, const char *name, const char *arg)
{
	double v = gv_opt_duration(&o->common, name, arg);

	if (!(v > 0))
		gv_opt_usage(&o->common, "%s: expected a time above 0", name);
	return v;
}

static void
set_round(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.round_s = above_0(o, "--round", arg);
}

static void
set_timeout(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->timeout_s = above_0(o, "--policy-timeout", arg);
}

static void
set_until(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.until_s = above_0(o, "--until", arg);
}

static void
set_interval(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.interval_s = gv_opt_duration(&o->common, "--interval", arg);
}

static void
set_load(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.load_s = gv_opt_duration(&o->common, "--load", arg);
}

static void
set_save(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.save_s = gv_opt_duration(&o->common, "--save", arg);
}

static void
set_checkpoint(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.checkpoint_s = above_0(o, "--checkpoint", arg);
}

static void
set_node_mtbf(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.node_mtbf_s = above_0(o, "--node-mtbf", arg);
}

static void
set_repair(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.repair_s = above_0(o, "--repair", arg);
}

static void
set_job_mtbf(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.job_mtbf_s = above_0(o, "--job-mtbf", arg);
}

static void
set_max_failures(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.max_failures =
	    (int)gv_opt_int(&o->common, "--max-failures", arg, 1, 1000000);
}

static void
set_seed(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.fault_seed = (uint64_t)gv_opt_int(&o->common, "--seed", arg, 0, INT64_MAX);
}

static void
set_ask_every(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.ask_every_s = above_0(o, "--ask-every", arg);
}

static void
set_order(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.order =
	    (enum gv_round_order)gv_opt_one_of(&o->common, "--order", arg, orders, 2);
}

static void
set_most_waiting(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.most_waiting =
	    (size_t)gv_opt_int(&o->common, "--most-waiting", arg, 0, INT64_MAX);
}

static void
set_shuffle(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->sim.shuffle = true;
	o->sim.seed = (uint64_t)gv_opt_int(&o->common, "--shuffle", arg, 0, INT64_MAX);
}

static void
set_measure(void *ctx, const char *arg)
{
	struct options *o = ctx;
	const char *dash = strchr(arg, '-');
	char q[GV_QUOTE_LEN];
	int64_t first;
	int64_t last;

	if (dash == NULL || gv_parse_int(arg, (size_t)(dash - arg), &first) != 0 ||
	    gv_parse_int(dash + 1, strlen(dash + 1), &last) != 0 || last < first)
		gv_opt_usage(&o->common,
		    "--measure: expected rows such as 4000-4999, got %s",
		    gv_quote(q, arg, strlen(arg)));
	o->sim.first = (size_t)first;
	o->sim.last = (size_t)last + 1;
}

static bool
is_output(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

/* Each table in a place of its own. */
static void
check_outputs(struct options *o)
{
	const char *const file[] = {o->common.output, o->events, o->jobs, o->summary};
	size_t n = 0;
	size_t i;
	size_t k;

	for (i = 1; i < 4; i++)
		n += is_output(file[i]);
	if (n > 1)
		gv_opt_usage(&o->common, "the output can have only one table");
	for (i = 0; i < 4; i++)
		for (k = 0; k < i; k++)
			if (file[i] != NULL && file[k] != NULL && !is_output(file[i]) &&
			    strcmp(file[i], file[k]) == 0 &&
			    strncmp(file[i], "/dev/", 5) != 0)
				gv_opt_usage(
				    &o->common, "%s is to have two tables", file[i]);
	if (n == 0 && o->events == NULL)
		o->events = "-";
}

/* What does not go together. */
static void
check(struct options *o)
{
	const struct sim_settings *s = &o->sim;
	const char *rounds = s->in_step                   ? "--in-step"
			     : s->ask_first               ? "--ask-first"
			     : s->order == GV_ROUND_GAVEL ? "--order"
			     : s->strict                  ? "--strict"
			     : s->load_s + s->save_s > 0  ? "--load, --save"
			     : o->prices != NULL          ? "--prices"
			     : o->changes != NULL         ? "--changes"
			     : s->node_mtbf_s > 0         ? "--node-mtbf"
			     : s->job_mtbf_s > 0          ? "--job-mtbf"
			     : s->ask_every_s > 0         ? "--ask-every"
							  : NULL;

	if (o->cluster == NULL)
		gv_opt_usage(&o->common, "a cluster is needed: -c CLUSTER");
	if (s->ideal && rounds != NULL)
		gv_opt_usage(&o->common, "--ideal does not go together with %s", rounds);
	if (o->changes == NULL && o->bids == NULL &&
	    !(s->node_mtbf_s + s->job_mtbf_s > 0) && s->checkpoint_s > 0)
		gv_opt_usage(&o->common, "--checkpoint is an option of --changes, --bid, "
					 "--node-mtbf and --job-mtbf");
	if (o->bids != NULL && o->prices == NULL)
		gv_opt_usage(&o->common, "--bid is an option of --prices");
	if (o->policy == NULL && (s->ask_every_s > 0 || o->state != NULL))
		gv_opt_usage(&o->common, "%s is an option of --policy",
		    o->state != NULL ? "--state" : "--ask-every");
	if (s->shuffle && s->order != GV_ROUND_GAVEL)
		gv_opt_usage(&o->common, "--shuffle is an option of --order=gavel");
	check_outputs(o);
}

void
options_parse(struct options *o, int argc, char **argv)
{
	const struct gv_opt_own own[] = {
	    {"cluster", required_argument, 'c', .text = &o->cluster},
	    {"throughputs", required_argument, 't', .text = &o->throughputs},
	    {"policy", required_argument, 'p', .text = &o->policy},
	    {"changes", required_argument, .text = &o->changes},
	    {"checkpoint", required_argument, .set = set_checkpoint},
	    {"node-mtbf", required_argument, .set = set_node_mtbf},
	    {"repair", required_argument, .set = set_repair},
	    {"job-mtbf", required_argument, .set = set_job_mtbf},
	    {"max-failures", required_argument, .set = set_max_failures},
	    {"seed", required_argument, .set = set_seed},
	    {"prices", required_argument, .text = &o->prices},
	    {"bid", required_argument, .text = &o->bids},
	    {"ask-every", required_argument, .set = set_ask_every},
	    {"state", required_argument, 's', .text = &o->state},
	    {"policy-timeout", required_argument, .set = set_timeout},
	    {"interval", required_argument, .set = set_interval},
	    {"round", required_argument, 'r', .set = set_round},
	    {"order", required_argument, .set = set_order},
	    {"shuffle", required_argument, .set = set_shuffle},
	    {"strict", no_argument, .flag = &o->sim.strict},
	    {"in-step", no_argument, .flag = &o->sim.in_step},
	    {"ask-first", no_argument, .flag = &o->sim.ask_first},
	    {"ideal", no_argument, .flag = &o->sim.ideal},
	    {"load", required_argument, .set = set_load},
	    {"save", required_argument, .set = set_save},
	    {"measure", required_argument, .set = set_measure},
	    {"until", required_argument, .set = set_until},
	    {"most-waiting", required_argument, .set = set_most_waiting},
	    {"isolated", no_argument, .flag = &o->isolated},
	    {"events", required_argument, .text = &o->events},
	    {"jobs", required_argument, .text = &o->jobs},
	    {"summary", required_argument, .text = &o->summary}, {.name = NULL}};

	*o = (struct options){.common = {.usage = usage, .help = help},
	    .sim = {.round_s = 360,
		.last = SIZE_MAX,
		.until_s = HUGE_VAL,
		.most_waiting = SIZE_MAX},
	    .timeout_s = 60};
	o->sim.repair_s = 3600;
	o->sim.max_failures = 5;
	gv_opt_parse(&o->common, true, own, o, argc, argv);
	check(o);
	o->input = gv_opt_input(&o->common, argc, argv);
}
