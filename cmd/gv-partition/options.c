#include "options_machine.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "help.h"

static const char *const planner_name[PLANNERS] = {"pipedream", "2bw", "ptd-p"};

static void
set_planner(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->planner = (enum planner)gv_opt_one_of(
	    &o->common, "--planner", arg, planner_name, PLANNERS);
	o->common.usage = planner_help[o->planner].usage;
	o->common.help = planner_help[o->planner].help;
}

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

/* What --schedule, --recompute and --ties mean to the planner. */
static void
set_words(struct options *o)
{
	static const char *const stages[] = {"none", "full", "auto"};
	static const char *const layers[] = {"none", "selective", "full", "auto"};
	static const char *const ties[] = {"apart", "together"};
	const struct gv_opt *c = &o->common;
	const char *schedule = o->schedule, *recompute = o->recompute;
	size_t i;

	if (o->planner == PLANNER_PTD_P) {
		if (schedule != NULL)
			o->ptd.schedule = (int)gv_opt_one_of(
			    c, "--schedule", schedule, ptd_schedule_name, PTD_SCHEDULES);
		i = recompute == NULL
			? PTD_RECOMPUTES
			: gv_opt_one_of(c, "--recompute", recompute, layers, 4);
		o->ptd.recompute = i == PTD_RECOMPUTES ? -1 : (int)i;
		return;
	}
	if (schedule != NULL)
		o->search.rules.schedule = (enum gv_schedule_kind)gv_opt_one_of(
		    c, "--schedule", schedule, gv_schedule_name, GV_SCHEDULES);
	if (recompute != NULL)
		o->search.rules.recompute =
		    (enum recompute)gv_opt_one_of(c, "--recompute", recompute, stages, 3);
	/* copies of a weight stay the same where all stages are updated at once */
	o->together = o->ties != NULL
			  ? gv_opt_one_of(c, "--ties", o->ties, ties, 2) == 1
			  : o->planner == PLANNER_2BW ||
				o->search.rules.schedule == GV_SCHEDULE_1F1B ||
				o->search.rules.schedule == GV_SCHEDULE_2BW;
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
set_features(void *ctx, const char *arg)
{
	struct options *o = ctx;

	ptd_options_features(&o->ptd, &o->common, arg);
}

static void
set_precision(void *ctx, const char *arg)
{
	struct options *o = ctx;

	ptd_options_precision(&o->ptd, &o->common, arg);
}

static void
set_zero(void *ctx, const char *arg)
{
	struct options *o = ctx;

	ptd_options_zero(&o->ptd, &o->common, arg);
}

static void
set_gpus(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->ptd.gpus = (size_t)gv_opt_int(&o->common, "--gpus", arg, 1, PTD_GPUS);
}

static void
set_top(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->top = (size_t)gv_opt_int(&o->common, "--top", arg, 0, 1000000);
	o->listed = true;
}

static void
set_rank(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->rank = (size_t)gv_opt_int(&o->common, "--rank", arg, 1, 1000000);
}

static void
set_batch(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->batch = (size_t)gv_opt_int(&o->common, "--batch", arg, 1, 1000000);
}

static void
set_micro_batches(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->search.rules.micro_batches =
	    (size_t)gv_opt_int(&o->common, "--micro-batches", arg, 1, 1000000);
}

static void
set_export(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->export = (int)gv_opt_one_of(&o->common, "--export", arg, export_name, EXPORTS);
}

static void
set_chunks(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->search.rules.chunks = (size_t)gv_opt_int(&o->common, "--chunks", arg, 1, 64);
}

static void
set_prefixes(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->prefixes = (size_t)gv_opt_int(&o->common, "--prefixes", arg, 2, 20000);
	o->prefixes_said = true;
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
	options_level(ctx, arg);
}

static void
set_moving(void *ctx, const char *arg)
{
	options_moving(ctx, arg);
}

static void
set_gpu_speed(void *ctx, const char *arg)
{
	options_gpu_speed(ctx, arg);
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
	    {"planner", required_argument, 'p', .set = set_planner},
	    /* the machine */
	    {"level", required_argument, 'l', .set = add_level},
	    {"memory", required_argument, 'm', .set = set_memory},
	    {"levels", required_argument, .text = &o->levels},
	    {"moving", required_argument, .set = set_moving},
	    {"flat", no_argument, .flag = &o->flat},
	    {"cluster", required_argument, 'c', .text = &o->cluster},
	    {"times", required_argument, .text = &o->times.file},
	    {"gpu-speed", required_argument, .set = set_gpu_speed},
	    {"gpu-type", required_argument, .text = &o->ptd.gpu_type},
	    {"gpu-types", required_argument, .text = &o->ptd.gpu_types},
	    {"gpus", required_argument, .set = set_gpus},
	    /* the model and its training */
	    {"edges", required_argument, 'e', .text = &o->edges},
	    {"schedule", required_argument, .text = &o->schedule},
	    {"micro-batches", required_argument, .set = set_micro_batches},
	    {"chunks", required_argument, .set = set_chunks},
	    {"batch", required_argument, .set = set_batch},
	    {"speeds", required_argument, .text = &o->speeds},
	    {"optimizer", required_argument, .set = set_optimizer},
	    {"precision", required_argument, .set = set_precision},
	    {"features", required_argument, .set = set_features},
	    {"zero", required_argument, .set = set_zero},
	    {"recompute", required_argument, .text = &o->recompute},
	    /* the search */
	    {"all-gpus", no_argument, .set = set_all_gpus},
	    {"fewest-gpus", no_argument, .set = set_fewest_gpus},
	    {"straight", no_argument, .flag = &o->search.straight},
	    {"cost", required_argument, .set = set_cost},
	    {"cut", required_argument, .set = set_cut},
	    {"prefixes", required_argument, .set = set_prefixes},
	    {"ties", required_argument, .text = &o->ties},
	    /* what is read and written */
	    {"evaluate", no_argument, .flag = &o->evaluate},
	    {"explain", no_argument, .flag = &o->explain},
	    {"timeline", no_argument, .flag = &o->timeline},
	    {"compare", required_argument, .text = &o->compare},
	    {"export", required_argument, .set = set_export},
	    {"top", required_argument, .set = set_top},
	    {"rank", required_argument, .set = set_rank}, {.name = NULL}};

	gv_opt_parse(&o->common, true, own, o, argc, argv);
}

/* What the schedule needs and what it has no use for. */
static void
check_schedule(const struct options *o)
{
	const struct cost_rules *r = &o->search.rules;

	if (r->micro_batches == 0 && r->schedule != GV_SCHEDULE_1F1B &&
	    r->schedule != GV_SCHEDULE_2BW)
		gv_opt_usage(&o->common, "--schedule=%s needs --micro-batches=N",
		    gv_schedule_name[r->schedule]);
	if (r->chunks > 0 && r->schedule != GV_SCHEDULE_INTERLEAVED)
		gv_opt_usage(&o->common, "--chunks is for --schedule=interleaved");
	if (r->schedule == GV_SCHEDULE_INTERLEAVED && o->machine.n_levels > 1 && !o->flat)
		gv_opt_usage(
		    &o->common, "--schedule=interleaved needs one --level, or --flat");
	if (o->explain + o->timeline + (o->export >= 0) + (o->compare != NULL) > 1 &&
	    !(o->explain && o->timeline))
		gv_opt_usage(&o->common, "--explain, --timeline, --compare and --export "
					 "exclude each other");
	if (o->planner == PLANNER_PIPEDREAM && o->listed &&
	    (o->evaluate || o->explain || o->timeline || o->export >= 0 ||
		o->compare != NULL || o->rank > 0))
		gv_opt_usage(&o->common,
		    "--top writes a table of its own: without --evaluate, --explain, "
		    "--timeline, --compare, --export and --rank");
	if (o->rank > 0 && o->evaluate)
		gv_opt_usage(
		    &o->common, "--rank is for a plan that is searched, not --evaluate");
	if (o->ties != NULL && o->evaluate)
		gv_opt_usage(
		    &o->common, "--ties is for a plan that is searched, not --evaluate");
	if ((o->search.straight || o->search.use != USE_UP_TO) && o->evaluate)
		gv_opt_usage(&o->common,
		    "--straight, --all-gpus and --fewest-gpus are for "
		    "a plan that is searched, not --evaluate");
	if (o->explain && o->timeline)
		gv_opt_usage(
		    &o->common, "--explain and --timeline are two tables: choose one");
}

/* What several types of GPUs exclude. */
static void
check_cluster(const struct options *o)
{
	if (o->cluster == NULL && (o->times.file != NULL || o->times.n_speeds > 0))
		gv_opt_usage(&o->common, "--times and --gpu-speed are for --cluster");
	if (o->cluster != NULL &&
	    (o->compare != NULL || o->search.rules.schedule == GV_SCHEDULE_INTERLEAVED))
		gv_opt_usage(&o->common,
		    "--cluster is without --compare and --schedule=interleaved");
}

/* Options that were given and that the planner has no use for. */
static void
check_planner(const struct options *o)
{
	const unsigned layers = 1U << PLANNER_PIPEDREAM, equal = 1U << PLANNER_2BW,
		       ptd = 1U << PLANNER_PTD_P;
	const struct search_options *s = &o->search;
	const struct {
		bool given;
		unsigned of; /* planners */
		const char *name;
	} option[] = {{o->schedule != NULL, layers | ptd, "--schedule"},
	    {o->edges != NULL, layers | equal, "--edges"},
	    {s->rules.micro_batches > 0, layers, "--micro-batches"},
	    {s->rules.chunks > 0, layers, "--chunks"},
	    {s->rules.moving > 0, layers | equal, "--moving"},
	    {s->straight, layers, "--straight"},
	    {s->use == USE_ALL, layers, "--all-gpus"},
	    {s->use == USE_FEWEST, layers, "--fewest-gpus"},
	    {o->ties != NULL, layers | equal, "--ties"},
	    {o->evaluate, layers | ptd, "--evaluate"}, {o->explain, layers, "--explain"},
	    {o->timeline, layers | equal, "--timeline"},
	    {o->compare != NULL, layers, "--compare"},
	    {o->export >= 0 && o->export != EXPORT_MEGATRON, layers | equal,
		"--export but to megatron"},
	    {o->batch > 0, equal, "--batch"}, {o->speeds != NULL, equal, "--speeds"},
	    {o->rank > 0, layers, "--rank"}, {o->cluster != NULL, layers, "--cluster"},
	    {o->times.file != NULL, layers, "--times"},
	    {o->times.n_speeds > 0, layers, "--gpu-speed"},
	    {o->ptd.gpu_type != NULL, ptd, "--gpu-type"},
	    {o->ptd.gpu_types != NULL, ptd, "--gpu-types"},
	    {o->ptd.precision >= 0, ptd, "--precision"},
	    {o->ptd.features, ptd, "--features"},
	    {o->ptd.zero >= 0 || o->ptd.any_zero, ptd, "--zero"}};
	size_t i;

	for (i = 0; i < sizeof(option) / sizeof(option[0]); i++)
		if (option[i].given && (option[i].of >> o->planner & 1) == 0)
			gv_opt_usage(&o->common, "%s is not for --planner=%s",
			    option[i].name, planner_name[o->planner]);
	if (o->planner == PLANNER_2BW && o->batch == 0)
		gv_opt_usage(&o->common, "--planner=2bw needs --batch=N");
	if (o->planner == PLANNER_2BW && o->listed && (o->timeline || o->export >= 0))
		gv_opt_usage(&o->common, "--top writes a table of its own: without "
					 "--timeline and --export");
}

static void
check(struct options *o)
{
	int most = o->planner == PLANNER_PTD_P ? PTD_GPUS : GV_PLAN_GPUS;

	check_planner(o);
	options_machine(o);
	if (gv_machine_component(&o->machine, o->machine.n_levels) > (size_t)most)
		gv_opt_usage(&o->common, "--level: more than %d GPUs", most);
	if (o->planner == PLANNER_PTD_P)
		return;
	if (o->machine.n_levels == 0)
		gv_opt_usage(&o->common, "a machine is needed: -l N@BANDWIDTH");
	if (o->edges != NULL && strcmp(o->edges, "-") == 0 && strcmp(o->input, "-") == 0)
		gv_opt_usage(&o->common, "only one input can be standard input");
	check_schedule(o);
	check_cluster(o);
}

void
options_parse(struct options *o, int argc, char **argv)
{
	*o = (struct options){
	    .common = {.usage = planner_help[0].usage, .help = planner_help[0].help},
	    .search = {.rules = {.state = 2, .recompute = RECOMPUTE_AUTO}},
	    .prefixes = 2048,
	    .top = 10,
	    .export = -1};
	ptd_options_init(&o->ptd);
	parse(o, argc, argv);
	set_words(o);
	o->input = gv_opt_input(&o->common, argc, argv);
	check(o);
	if (o->flat && o->machine.n_levels > 1 && o->planner == PLANNER_PIPEDREAM &&
	    o->search.rules.schedule != GV_SCHEDULE_INTERLEAVED)
		o->placed = o->machine;
	if (o->flat)
		gv_machine_flatten(&o->machine);
	if (o->search.rules.schedule == GV_SCHEDULE_INTERLEAVED &&
	    o->search.rules.chunks == 0)
		o->search.rules.chunks = 2;
	o->output = o->timeline                 ? OUTPUT_TIMELINE
		    : o->export >= 0            ? OUTPUT_EXPORT
		    : o->compare != NULL        ? OUTPUT_COMPARISON
		    : o->explain || o->evaluate ? OUTPUT_STAGES
						: OUTPUT_PLAN;
}
