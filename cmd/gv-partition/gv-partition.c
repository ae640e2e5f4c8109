/*
 * gv-partition - where to cut a model for pipeline and data parallel training.
 *
 * Reads a table of layers (time and bytes of each) and of edges between them,
 * and a description of the machine; finds the plan whose slowest stage is
 * fastest; writes the layers with the stage of each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "explain.h"
#include "layers.h"
#include "prefixes.h"

enum {
	OPT_ALL = GV_OPT_OWN,
	OPT_COST,
	OPT_CUT,
	OPT_EVALUATE,
	OPT_EXPLAIN,
	OPT_FEWEST,
	OPT_FLAT,
	OPT_MICRO_BATCHES,
	OPT_OPTIMIZER,
	OPT_PREFIXES,
	OPT_RECOMPUTE,
	OPT_SCHEDULE,
	OPT_STRAIGHT
};

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

struct options {
	struct gv_opt common;
	struct search_options search;
	struct machine machine;
	const char *edges; /* NULL: on the input, or none */
	enum ideals_kind cut;
	size_t prefixes;
	bool flat;
	bool evaluate;
	bool explain;
};

/* The number of arg among names[0..n), or a usage error. */
static size_t
one_of(const struct gv_opt *o, const char *option, const char *arg,
    const char *const *names, size_t n)
{
	char known[128] = "";
	char q[GV_QUOTE_LEN];
	size_t i, len = 0;

	for (i = 0; i < n; i++) {
		if (strcmp(arg, names[i]) == 0)
			return i;
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
		    i > 0 ? ", " : "", names[i]);
	}
	gv_opt_usage(
	    o, "%s: unknown %s; known: %s", option, gv_quote(q, arg, strlen(arg)), known);
}

static void
set_cut(struct options *o, const char *arg)
{
	static const char *const names[] = {"true", "upstream", "none"};
	size_t cut = one_of(&o->common, "--cut", arg, names, 3);

	o->cut = cut == 1 ? IDEALS_UPSTREAM : IDEALS_ALL;
	o->search.rules.free_transfers = cut == 2;
}

static void
set_optimizer(struct options *o, const char *arg)
{
	static const char *const names[] = {"sgd", "momentum", "adam"};

	o->search.rules.state = (double)one_of(&o->common, "--optimizer", arg, names, 3);
}

static void
set_memory(struct options *o, const char *arg)
{
	char q[GV_QUOTE_LEN];
	int64_t bytes;

	if (gv_parse_bytes(arg, &bytes) != 0 || bytes < 1)
		gv_opt_usage(&o->common, "--memory: expected bytes such as 16GiB, got %s",
		    gv_quote(q, arg, strlen(arg)));
	o->search.rules.memory = (double)bytes;
}

static void
add_level(struct options *o, const char *arg)
{
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
set_long(struct options *o, int code)
{
	static const char *const costs[] = {"paper", "compat"};
	static const char *const recomputes[] = {"none", "full", "auto"};
	struct cost_rules *r = &o->search.rules;

	if (code == OPT_COST)
		r->model =
		    (enum cost_model)one_of(&o->common, "--cost", optarg, costs, 2);
	else if (code == OPT_CUT)
		set_cut(o, optarg);
	else if (code == OPT_OPTIMIZER)
		set_optimizer(o, optarg);
	else if (code == OPT_MICRO_BATCHES)
		r->micro_batches =
		    (size_t)gv_opt_int(&o->common, "--micro-batches", optarg, 1, 1000000);
	else if (code == OPT_PREFIXES)
		o->prefixes =
		    (size_t)gv_opt_int(&o->common, "--prefixes", optarg, 2, 20000);
	else if (code == OPT_SCHEDULE)
		r->schedule = (enum schedule)one_of(
		    &o->common, "--schedule", optarg, schedule_name, SCHEDULES);
	else
		r->recompute = (enum recompute)one_of(
		    &o->common, "--recompute", optarg, recomputes, 3);
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	static const struct option longopts[] = {GV_OPT_COMMON, GV_OPT_TABLE,
	    {"level", required_argument, NULL, 'l'},
	    {"edges", required_argument, NULL, 'e'},
	    {"memory", required_argument, NULL, 'm'},
	    {"all-gpus", no_argument, NULL, OPT_ALL},
	    {"cost", required_argument, NULL, OPT_COST},
	    {"cut", required_argument, NULL, OPT_CUT},
	    {"evaluate", no_argument, NULL, OPT_EVALUATE},
	    {"explain", no_argument, NULL, OPT_EXPLAIN},
	    {"fewest-gpus", no_argument, NULL, OPT_FEWEST},
	    {"flat", no_argument, NULL, OPT_FLAT},
	    {"micro-batches", required_argument, NULL, OPT_MICRO_BATCHES},
	    {"optimizer", required_argument, NULL, OPT_OPTIMIZER},
	    {"prefixes", required_argument, NULL, OPT_PREFIXES},
	    {"recompute", required_argument, NULL, OPT_RECOMPUTE},
	    {"schedule", required_argument, NULL, OPT_SCHEDULE},
	    {"straight", no_argument, NULL, OPT_STRAIGHT}, {NULL, 0, NULL, 0}};
	int code;

	while ((code = getopt_long(argc, argv,
		    GV_OPT_SHORT GV_OPT_TABLE_SHORT "l:e:m:", longopts, NULL)) != -1) {
		switch (code) {
		case 'l':
			add_level(o, optarg);
			break;
		case 'e':
			o->edges = optarg;
			break;
		case 'm':
			set_memory(o, optarg);
			break;
		case OPT_ALL:
			o->search.use = USE_ALL;
			break;
		case OPT_FEWEST:
			o->search.use = USE_FEWEST;
			break;
		case OPT_EVALUATE:
			o->evaluate = true;
			break;
		case OPT_EXPLAIN:
			o->explain = true;
			break;
		case OPT_FLAT:
			o->flat = true;
			break;
		case OPT_STRAIGHT:
			o->search.straight = true;
			break;
		case OPT_COST:
		case OPT_CUT:
		case OPT_MICRO_BATCHES:
		case OPT_OPTIMIZER:
		case OPT_PREFIXES:
		case OPT_RECOMPUTE:
		case OPT_SCHEDULE:
			set_long(o, code);
			break;
		default:
			gv_opt_common(&o->common, code, argc, argv);
		}
	}
}

/* One level of all GPUs that talk as slowly as the slowest. */
static void
flatten(struct machine *m)
{
	size_t l;

	for (l = 1; l < m->n_levels; l++) {
		m->gpus[0] *= m->gpus[l];
		if (m->bytes_per_s[l] < m->bytes_per_s[0])
			m->bytes_per_s[0] = m->bytes_per_s[l];
	}
	m->n_levels = 1;
}

static void
check_options(struct options *o, const char *input)
{
	const struct cost_rules *r = &o->search.rules;

	if (o->machine.n_levels == 0)
		gv_opt_usage(&o->common, "a machine is needed: -l N@BANDWIDTH");
	if (o->edges != NULL && strcmp(o->edges, "-") == 0 && strcmp(input, "-") == 0)
		gv_opt_usage(&o->common, "only one input can be standard input");
	if (r->micro_batches > 0 && r->schedule != SCHEDULE_FLUSH &&
	    r->schedule != SCHEDULE_GPIPE)
		gv_opt_usage(&o->common,
		    "--micro-batches is for --schedule=flush or --schedule=gpipe");
	if (r->micro_batches == 0 &&
	    (r->schedule == SCHEDULE_FLUSH || r->schedule == SCHEDULE_GPIPE))
		gv_opt_usage(&o->common, "--schedule=%s needs --micro-batches=N",
		    schedule_name[r->schedule]);
	if (o->flat)
		flatten(&o->machine);
}

/* ---- why there is no plan ---- */

static GV_NORETURN void
no_plan(const struct options *o, const struct layers *l, const struct ideals *s)
{
	struct least_memory least = {.bytes = 0};
	ptrdiff_t id = gv_frame_find(&l->rows, "node_id");
	size_t v, first = 0, last = 0, n = 0;
	char a[GV_QUOTE_LEN], b[GV_QUOTE_LEN];
	struct gv_cell c, d;

	if (o->search.rules.memory > 0)
		least = plan_least_memory(s, &o->machine, &o->search);
	if (least.bytes <= o->search.rules.memory) {
		gv_warn("no plan: %zu prefixes cannot make stages for %s", s->n - 1,
		    o->search.use == USE_ALL ? "all GPUs"
					     : "this machine within its memory");
		exit(gv_finish() == GV_EXIT_OK ? GV_EXIT_NO : GV_EXIT_TROUBLE);
	}
	for (v = 0; v < l->g.n; v++) {
		if (!ideals_has(s, least.end, v) || ideals_has(s, least.first, v))
			continue;
		if (n++ == 0)
			first = v;
		last = v;
	}
	c = gv_frame_cell(&l->rows, l->row[first], id);
	d = gv_frame_cell(&l->rows, l->row[last], id);
	gv_warn(
	    "no plan fits: the fullest stage of the best one, %zu layers from %s to %s "
	    "with "
	    "replicas=%zu and in_flight=%zu, needs %.0f bytes on each GPU, %.0f too many",
	    n, gv_quote(a, c.s, c.len), gv_quote(b, d.s, d.len), least.replicas,
	    least.in_flight, least.bytes, least.bytes - o->search.rules.memory);
	exit(gv_finish() == GV_EXIT_OK ? GV_EXIT_NO : GV_EXIT_TROUBLE);
}

/* ---- the plan ---- */

static void
make_plan(
    struct plan *p, const struct options *o, const struct layers *l, struct prefixes *x)
{
	prefixes_make(x, &l->g, o->cut, o->prefixes);
	if (x->n_groups < l->g.n && !o->common.quiet)
		gv_warn(
		    "warning: more than %zu prefixes: %zu layers planned as %zu groups",
		    o->prefixes, l->g.n, x->n_groups);
	if (plan_search(p, &x->s, l->g.n, &o->machine, &o->search) != SEARCH_FOUND)
		no_plan(o, l, &x->s);
}

static void
say_times(const struct options *o, const struct plan_report *r, const struct plan *p,
    const struct prefixes *x)
{
	char num[4][GV_NUM_LEN], searched[64] = "";

	gv_format_double(num[0], r->bottleneck_s);
	gv_format_double(num[1], r->idle_s);
	gv_format_double(num[2], r->single_s);
	gv_format_double(num[3], r->data_parallel_s);
	if (!o->evaluate)
		snprintf(searched, sizeof(searched), " prefixes=%zu exact=%s", x->s.n - 1,
		    x->exact ? "yes" : "no");
	gv_warn("cost=%s%s stages=%zu gpus=%zu slowest_s=%s bound_s=%s single_s=%s "
		"data_parallel_s=%s speedup=%.4g speedup_over_data_parallel=%.4g",
	    o->search.rules.model == COST_PAPER ? "paper" : "compat", searched, p->n,
	    r->gpus, num[0], o->evaluate || !x->exact ? num[1] : num[0], num[2], num[3],
	    r->single_s / r->bottleneck_s, r->data_parallel_s / r->bottleneck_s);
}

/* Where an evaluated plan does not fit: exit 1 behind the table. */
static bool
fits(const struct options *o, const struct plan_report *r)
{
	bool all = true;
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct stage_report *s = &r->row[i];

		if (o->search.rules.memory <= 0 || s->memory <= o->search.rules.memory)
			continue;
		gv_warn("stage %zu needs %.0f bytes on each GPU, %.0f too many", s->stage,
		    s->memory, s->memory - o->search.rules.memory);
		all = false;
	}
	return all;
}

int
main(int argc, char **argv)
{
	struct options o = {.common = {.usage = usage, .help = help},
	    .search = {.rules = {.state = 2, .recompute = RECOMPUTE_AUTO}},
	    .prefixes = 2048};
	struct gv_error e = {0};
	struct layers l = {0};
	struct prefixes x = {0};
	struct plan p = {0};
	struct plan_report r = {0};
	struct gv_out *out;
	const char *input;
	bool flat = false, good;

	gv_init("gv-partition");
	parse_options(&o, argc, argv);
	input = gv_opt_input(&o.common, argc, argv);
	check_options(&o, input);
	if (layers_read(&l, input, o.edges, &e) != 0)
		gv_die_error(&e);
	if (!o.evaluate)
		make_plan(&p, &o, &l, &x);
	else if (layers_plan(&p, &l, &o.machine, &flat, &e) != 0)
		gv_die_error(&e);
	if (flat)
		flatten(&o.machine);
	if (plan_evaluate(&r, &p, &l.g, &o.machine, &o.search.rules, o.cut, &e) != 0 ||
	    gv_out_open(&out, o.common.output, &e) != 0)
		gv_die_error(&e);
	if (o.common.verbose > 0)
		say_times(&o, &r, &p, &x);
	if (o.explain || o.evaluate)
		explain_write(&r, &p, &l, &o.search.rules, out, o.common.tsv);
	else
		layers_write(&l, &p, &o.machine, out, o.common.tsv);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	good = fits(&o, &r);
	plan_report_free(&r);
	plan_free(&p);
	prefixes_free(&x);
	layers_free(&l);
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : good ? GV_EXIT_OK : GV_EXIT_NO;
}
