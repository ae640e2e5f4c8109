#include "options.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"

static const char usage[] = "usage: gv-partition -l N@BANDWIDTH... [OPTION...] [LAYERS]";

static const char help[] =
    "usage: gv-partition -l N@BANDWIDTH... [OPTION...] [LAYERS]\n"
    "Cut a model into stages for pipeline and data parallel training.\n"
    "  -l, --level=N@BANDWIDTH   N GPUs; again: N groups of those: 4@25GB/s, 4@10Gb/s\n"
    "  -e, --edges=FILE          table of edges: src, dst (or behind the layers)\n"
    "  -m, --memory=BYTES        of a GPU: every stage has to fit\n"
    "      --flat                one pipeline over all GPUs, at the slowest bandwidth\n"
    "      --straight            no replicas\n"
    "      --all-gpus            leave no GPU idle\n"
    "      --fewest-gpus         no more GPUs than the best time needs\n"
    "      --cost=paper|compat   formulas of PipeDream's paper, or of its program\n"
    "      --cut=true|upstream|none   bytes that cross; as its program counts; free\n"
    "      --schedule=1f1b|2bw|flush|gpipe     what is in memory at once\n"
    "      --micro-batches=N     between two flushes, for flush and gpipe\n"
    "      --optimizer=sgd|momentum|adam       its state in memory\n"
    "      --recompute=auto|none|full          activations: only where needed, ...\n"
    "      --prefixes=N          group layers when more prefixes than that (2048)\n"
    "      --evaluate            the input is a plan: what does it cost?\n"
    "      --explain             write a table of the stages instead\n"
    "      --tsv                 write TSV\n"
    "  -o, --output=FILE         write here, whole or not at all\n"
    "  -q, --quiet               no warnings\n"
    "  -v, --verbose             times of the plan and its bound on stderr\n"
    "  -h, --help                show this\n"
    "  -V, --version             show the version\n";

static void
set_cost(void *ctx, const char *arg)
{
	static const char *const names[] = {"paper", "compat"};
	struct options *o = ctx;

	o->search.rules.model =
	    (enum cost_model)gv_opt_one_of(&o->common, "--cost", arg, names, 2);
}

static void
set_cut(void *ctx, const char *arg)
{
	static const char *const names[] = {"true", "upstream", "none"};
	struct options *o = ctx;
	size_t cut = gv_opt_one_of(&o->common, "--cut", arg, names, 3);

	o->cut = cut == 1 ? IDEALS_UPSTREAM : IDEALS_ALL;
	o->search.rules.free_transfers = cut == 2;
}

static void
set_schedule(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->search.rules.schedule = (enum schedule)gv_opt_one_of(
	    &o->common, "--schedule", arg, schedule_name, SCHEDULES);
}

static void
set_optimizer(void *ctx, const char *arg)
{
	static const char *const names[] = {"sgd", "momentum", "adam"};
	struct options *o = ctx;

	o->search.rules.state =
	    (double)gv_opt_one_of(&o->common, "--optimizer", arg, names, 3);
}

static void
set_recompute(void *ctx, const char *arg)
{
	static const char *const names[] = {"none", "full", "auto"};
	struct options *o = ctx;

	o->search.rules.recompute =
	    (enum recompute)gv_opt_one_of(&o->common, "--recompute", arg, names, 3);
}

static void
set_micro_batches(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->search.rules.micro_batches =
	    (size_t)gv_opt_int(&o->common, "--micro-batches", arg, 1, 1000000);
}

static void
set_prefixes(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->prefixes = (size_t)gv_opt_int(&o->common, "--prefixes", arg, 2, 20000);
}

static void
set_memory(void *ctx, const char *arg)
{
	struct options *o = ctx;
	char q[GV_QUOTE_LEN];
	int64_t bytes;

	if (gv_parse_bytes(arg, &bytes) != 0 || bytes < 1)
		gv_opt_usage(&o->common, "--memory: expected bytes such as 16GiB, got %s",
		    gv_quote(q, arg, strlen(arg)));
	o->search.rules.memory = (double)bytes;
}

static void
add_level(void *ctx, const char *arg)
{
	struct options *o = ctx;
	struct machine *m = &o->machine;
	const char *at = strchr(arg, '@');
	char q[GV_QUOTE_LEN];
	int64_t n;

	if (m->n_levels == LEVELS)
		gv_opt_usage(&o->common, "--level: more than %d", LEVELS);
	if (at == NULL || gv_parse_int(arg, (size_t)(at - arg), &n) != 0 || n < 1 ||
	    n > GPUS || gv_parse_rate(at + 1, &m->bytes_per_s[m->n_levels]) != 0)
		gv_opt_usage(&o->common,
		    "--level: expected N@BANDWIDTH such as 4@25GB/s, got %s",
		    gv_quote(q, arg, strlen(arg)));
	m->gpus[m->n_levels++] = (size_t)n;
	if (machine_component(m, m->n_levels) > GPUS)
		gv_opt_usage(&o->common, "--level: more than %d GPUs", GPUS);
}

static void
set_all_gpus(void *ctx, const char *arg)
{
	struct options *o = ctx;

	(void)arg;
	o->search.use = USE_ALL;
}

static void
set_fewest_gpus(void *ctx, const char *arg)
{
	struct options *o = ctx;

	(void)arg;
	o->search.use = USE_FEWEST;
}

static void
parse(struct options *o, int argc, char **argv)
{
	const struct gv_opt_own own[] = {
	    /* the machine */
	    {"level", required_argument, 'l', .set = add_level},
	    {"memory", required_argument, 'm', .set = set_memory},
	    {"flat", no_argument, .flag = &o->flat},
	    /* the model and its training */
	    {"edges", required_argument, 'e', .text = &o->edges},
	    {"schedule", required_argument, .set = set_schedule},
	    {"micro-batches", required_argument, .set = set_micro_batches},
	    {"optimizer", required_argument, .set = set_optimizer},
	    {"recompute", required_argument, .set = set_recompute},
	    /* the search */
	    {"all-gpus", no_argument, .set = set_all_gpus},
	    {"fewest-gpus", no_argument, .set = set_fewest_gpus},
	    {"straight", no_argument, .flag = &o->search.straight},
	    {"cost", required_argument, .set = set_cost},
	    {"cut", required_argument, .set = set_cut},
	    {"prefixes", required_argument, .set = set_prefixes},
	    /* what is read and written */
	    {"evaluate", no_argument, .flag = &o->evaluate},
	    {"explain", no_argument, .flag = &o->explain}, {.name = NULL}};

	gv_opt_parse(&o->common, true, own, o, argc, argv);
}

static void
check(const struct options *o)
{
	const struct cost_rules *r = &o->search.rules;

	if (o->machine.n_levels == 0)
		gv_opt_usage(&o->common, "a machine is needed: -l N@BANDWIDTH");
	if (o->edges != NULL && strcmp(o->edges, "-") == 0 && strcmp(o->input, "-") == 0)
		gv_opt_usage(&o->common, "only one input can be standard input");
	if (r->micro_batches > 0 && r->schedule != SCHEDULE_FLUSH &&
	    r->schedule != SCHEDULE_GPIPE)
		gv_opt_usage(&o->common,
		    "--micro-batches is for --schedule=flush or --schedule=gpipe");
	if (r->micro_batches == 0 &&
	    (r->schedule == SCHEDULE_FLUSH || r->schedule == SCHEDULE_GPIPE))
		gv_opt_usage(&o->common, "--schedule=%s needs --micro-batches=N",
		    schedule_name[r->schedule]);
}

void
options_parse(struct options *o, int argc, char **argv)
{
	*o = (struct options){.common = {.usage = usage, .help = help},
	    .search = {.rules = {.state = 2, .recompute = RECOMPUTE_AUTO}},
	    .prefixes = 2048};
	parse(o, argc, argv);
	o->input = gv_opt_input(&o->common, argc, argv);
	check(o);
	if (o->flat)
		machine_flatten(&o->machine);
	o->output = o->explain || o->evaluate ? OUTPUT_STAGES : OUTPUT_PLAN;
}
