/*
 * The search against trying every plan, on random graphs of up to 9 layers: flat
 * machines and those of two levels, both cost models, with and without a memory
 * limit, replicas, idle GPUs.  The formulas here are written anew from
 * the reference, not taken from the program.
 */
#include <stdlib.h>

#include "gv-partition/graph/prefixes.h"
#include "partition_help.h"
#include "tap.h"

enum { MOST = 9 };

struct world {
	struct dag d;
	struct gv_machine m;
	struct search_options o;
};

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

/* ---- trying everything ---- */

/* Where a component stands in the whole pipeline. */
struct place {
	size_t base, copies;
};

static double component(
    const struct world *w, size_t level, unsigned from, unsigned to, struct place at);

static double
innermost(
    const struct world *w, unsigned from, unsigned to, size_t replicas, size_t in_flight)
{
	double time = 0, forward = 0, activation = 0, weights = 0, copies = 1, stashes,
	       own, none, full;
	const struct cost_rules *r = &w->o.rules;
	size_t v;

	for (v = 0; v < w->d.g.n; v++)
		if ((to & ~from) >> v & 1) {
			time += w->d.layer[v].time_s;
			forward += w->d.layer[v].forward_s;
			activation += w->d.layer[v].kept;
			weights += w->d.layer[v].parameter;
		}
	stashes = (double)in_flight;
	if (r->schedule == GV_SCHEDULE_1F1B)
		copies = stashes;
	if (r->schedule == GV_SCHEDULE_2BW)
		copies = 2;
	own = ceil((double)r->micro_batches / (double)replicas);
	if (r->schedule == GV_SCHEDULE_GPIPE ||
	    (r->schedule == GV_SCHEDULE_FLUSH && stashes > own))
		stashes = own;
	none = (copies + 1 + r->state) * weights + stashes * activation;
	full = (copies + 1 + r->state) * weights + stashes * crossing(&w->d, from) +
	       activation;
	if (r->recompute != RECOMPUTE_FULL && (r->memory <= 0 || none <= r->memory))
		return time;
	if (r->recompute != RECOMPUTE_NONE && (r->memory <= 0 || full <= r->memory))
		return time + forward;
	return INFINITY;
}

/* A stage on n replicas, the first of its pipeline or not. */
static double
stage(const struct world *w, size_t level, unsigned from, unsigned to, size_t n,
    bool first, double inner)
{
	double weights = 0, bandwidth = w->m.bytes_per_s[level], sync, load;
	unsigned all = (1U << w->d.g.n) - 1;
	size_t v;

	for (v = 0; v < w->d.g.n; v++)
		if ((to & ~from) >> v & 1)
			weights += w->d.layer[v].parameter;
	if (w->o.rules.model == COST_PAPER) {
		load =
		    larger(inner, 2 * (double)(n - 1) * weights / bandwidth) / (double)n;
		return first ? load : larger(load, 2 * crossing(&w->d, from) / bandwidth);
	}
	sync = 4 * (double)(n - 1) * weights / (bandwidth * (double)n);
	if (first)
		return (inner + sync / (level > 0 ? (double)w->m.gpus[level - 1] : 1)) /
		       (double)n;
	load = larger((inner + sync) / (double)n,
	    2 * crossing(&w->d, from) / (bandwidth * (double)n));
	return to == all
		   ? load
		   : larger(load, 2 * crossing(&w->d, to) / (bandwidth * (double)n));
}

/* The loads of the pipeline tried, and those of the best. */
struct words {
	size_t n, gpus;
	double load[MOST];
};

static int
descending(const void *p, const void *q)
{
	const double *a = p, *b = q;

	return *a > *b ? -1 : *a < *b;
}

/* Whether a is the lower one, by more than rounding; then on fewer GPUs. */
static bool
better(const struct words *a, const struct words *b)
{
	double x[MOST] = {0}, y[MOST] = {0};
	size_t i;

	memcpy(x, a->load, a->n * sizeof(*x));
	memcpy(y, b->load, b->n * sizeof(*y));
	qsort(x, MOST, sizeof(*x), descending);
	qsort(y, MOST, sizeof(*y), descending);
	for (i = 0; i < MOST; i++)
		if (fabs(x[i] - y[i]) > 1e-10 * y[0])
			return x[i] < y[i];
	return a->gpus < b->gpus;
}

/* Pipelines of exactly `left` components from prefix at to the end; time: the slowest so far. */
static void
try_all(const struct world *w, size_t level, unsigned from, unsigned at, unsigned to,
    size_t left, struct place where, struct words *now, double *best,
    struct words *best_words)
{
	size_t m, g = level == 0 ? 1 : w->m.gpus[0], i;
	unsigned next, room = to & ~at;
	double time = 0;

	if (at == to) {
		for (i = 0; i < now->n; i++)
			time = larger(time, now->load[i]);
		if (left == 0 && time < *best)
			*best = time;
		if (left == 0 && best_words != NULL &&
		    (best_words->n == 0 || better(now, best_words)))
			*best_words = *now;
		return;
	}
	for (next = room; next != 0; next = (next - 1) & room) {
		if (!closed(&w->d, at | next))
			continue;
		for (m = 1; m <= left && !too_many_replicas(&w->o, m); m++) {
			size_t gpus = where.copies * m;
			struct place inside = {
			    where.base + where.copies * g * (left - m), gpus};
			double inner;

			if (level == 0)
				inner = innermost(w, at, at | next, gpus,
				    (where.base + where.copies * left + gpus - 1) / gpus);
			else
				inner = component(w, 0, at, at | next, inside);
			if (!isfinite(inner))
				continue;
			now->load[now->n++] =
			    stage(w, level, at, at | next, m, at == from, inner);
			try_all(w, level, from, at | next, to, left - m, where, now, best,
			    best_words);
			now->n--;
		}
	}
}

static double
best_of(const struct world *w, size_t level, unsigned from, unsigned to,
    struct place where, struct words *best_words)
{
	bool all =
	    w->o.use == USE_ALL || (w->o.rules.memory > 0 && level + 1 < w->m.n_levels);
	double best = INFINITY;
	size_t n;

	for (n = all ? w->m.gpus[level] : 1; n <= w->m.gpus[level]; n++) {
		struct words now = {.gpus = n};

		try_all(w, level, from, from, to, n, where, &now, &best, best_words);
	}
	return best;
}

static double
component(
    const struct world *w, size_t level, unsigned from, unsigned to, struct place where)
{
	return best_of(w, level, from, to, where, NULL);
}

/* ---- random worlds ---- */

static void
make_world(struct world *w, bool two, bool memory)
{
	static const size_t pairs[][2] = {{2, 2}, {3, 2}, {2, 3}, {1, 3}};
	size_t i, density = 1 + draw(9), pair = draw(4);

	memset(w, 0, sizeof(*w));
	dag_begin(&w->d, two ? 1 + draw(6) : 1 + draw(MOST));
	for (i = 0; i < w->d.g.n; i++) {
		struct gv_graph_layer *a = &w->d.layer[i];

		a->forward_s = (double)draw(100) / 1000;
		a->time_s = a->forward_s + (double)draw(200) / 1000;
		a->activation = (double)draw(40) * 1e6;
		a->kept = a->activation + (draw(3) == 0 ? (double)draw(40) * 1e6 : 0);
		a->parameter = draw(3) == 0 ? 0 : (double)draw(60) * 1e6;
		dag_draw_edges(&w->d, i, density);
	}
	dag_draw_ties(&w->d);
	w->m.n_levels = two ? 2 : 1;
	w->m.gpus[0] = two ? pairs[pair][0] : 1 + draw(w->d.g.n > 7 ? 3 : 5);
	w->m.gpus[1] = pairs[pair][1];
	w->m.bytes_per_s[0] = (double)(1 + draw(20)) * 5e8;
	w->m.bytes_per_s[1] = (double)(1 + draw(10)) * 2e8;
	w->o.rules.model = draw(2) ? COST_PAPER : COST_COMPAT;
	w->o.rules.micro_batches = 1 + draw(6);
	w->o.straight = draw(6) == 0;
	w->o.use = draw(3) == 0 ? USE_ALL : USE_UP_TO;
	if (memory) {
		w->o.rules.memory = (double)(50 + draw(600)) * 1e6;
		w->o.rules.schedule = (enum gv_schedule_kind)draw(GV_SCHEDULE_GPIPE + 1);
		w->o.rules.state = (double)draw(3);
		w->o.rules.recompute = (enum recompute)draw(3);
	}
}

static size_t wrong;

static void
differs(const struct world *w, uint64_t seed, const char *what, double got, double want)
{
	if (wrong++ < 5)
		printf("# seed %llu: %s: got %.17g, want %.17g; %zu layers, %zux%zu\n",
		    (unsigned long long)seed, what, got, want, w->d.g.n, w->m.gpus[0],
		    w->m.n_levels > 1 ? w->m.gpus[1] : 1);
}

/* The loads of a flat plan are the best, too. */
static void
check_words(const struct world *w, uint64_t seed, const struct plan_report *r,
    const struct words *best)
{
	struct words got = {.gpus = r->gpus};
	size_t i;

	for (i = 0; i < r->n; i++)
		got.load[got.n++] = r->row[i].terms.load_s;
	if (better(best, &got) || better(&got, best))
		differs(w, seed, "the loads", (double)got.gpus, (double)best->gpus);
}

static void
check_world(const struct world *w, uint64_t seed, size_t *planned)
{
	struct words words = {0};
	struct gv_plan p = {0};
	struct plan_report r = {0};
	struct gv_error e = {0};
	struct prefixes x;
	struct place whole = {0, 1};
	double want =
	    best_of(w, w->m.n_levels - 1, 0, (1U << w->d.g.n) - 1, whole, &words);
	size_t i;

	prefixes_make(&x, &w->d.g, IDEALS_ALL, 1000, 1000);
	if (plan_search(&p, &x.s, w->d.g.n, &w->m, &w->o) != SEARCH_FOUND) {
		if (isfinite(want))
			differs(w, seed, "no plan found", 0, want);
	} else if (plan_evaluate(&r, &p, &w->d.g, &w->m, &w->o.rules, IDEALS_ALL, &e) !=
		   0) {
		differs(w, seed, e.text[0], 0, want);
	} else {
		++*planned;
		if (!(fabs(r.bottleneck_s - want) <= 1e-11 * want))
			differs(w, seed, "the time", r.bottleneck_s, want);
		for (i = 0; i < r.n; i++)
			if (w->o.rules.memory > 0 && r.row[i].memory > w->o.rules.memory)
				differs(w, seed, "memory", r.row[i].memory,
				    w->o.rules.memory);
		if (w->m.n_levels == 1)
			check_words(w, seed, &r, &words);
	}
	plan_report_free(&r);
	gv_plan_free(&p);
	prefixes_free(&x);
}

static void
check_many(const char *name, size_t n, bool two, bool memory)
{
	struct world w;
	size_t i, planned = 0;

	wrong = 0;
	for (i = 0; i < n; i++) {
		draws_begin(i + 1, 7, 7);
		draws.n = two * 1000 + memory * 2000;
		make_world(&w, two, memory);
		check_world(&w, i + 1, &planned);
	}
	is_int(wrong, 0, "%s: %zu random graphs, %zu with a plan", name, n, planned);
	ok(planned > n / 4, "%s: many have a plan", name);
}

/* Fewer GPUs in use: as fast, and no plan that is as fast has fewer. */
static void
check_fewest(size_t n)
{
	size_t i, g;

	wrong = 0;
	for (i = 0; i < n; i++) {
		struct world w;
		struct place whole = {0, 1};
		struct gv_plan p = {0};
		struct prefixes x;
		double want;
		size_t used = 0, k;

		draws_begin(i + 1, 7, 7);
		draws.n = 9000;
		make_world(&w, false, false);
		w.o.use = USE_UP_TO;
		want = best_of(&w, 0, 0, (1U << w.d.g.n) - 1, whole, NULL);
		prefixes_make(&x, &w.d.g, IDEALS_ALL, 1000, 1000);
		w.o.use = USE_FEWEST;
		plan_search(&p, &x.s, w.d.g.n, &w.m, &w.o);
		for (k = 0; k < p.n; k++)
			used += p.stage[k].replicas[0];
		g = w.m.gpus[0];
		w.o.use = USE_UP_TO;
		for (w.m.gpus[0] = 1; w.m.gpus[0] < g; w.m.gpus[0]++)
			if (best_of(&w, 0, 0, (1U << w.d.g.n) - 1, whole, NULL) <=
			    want * (1 + 1e-12))
				break;
		if (used != w.m.gpus[0])
			differs(&w, i + 1, "GPUs", (double)used, (double)w.m.gpus[0]);
		gv_plan_free(&p);
		prefixes_free(&x);
	}
	is_int(wrong, 0, "fewest GPUs: %zu random graphs", n);
}

int
main(void)
{
	size_t n = getenv("GV_LONG") != NULL ? 10000 : 1000;

	check_many("flat", n, false, false);
	check_many("flat, memory", n, false, true);
	check_many("two levels", n, true, false);
	check_many("two levels, memory", n, true, true);
	check_fewest(n / 4);
	return done_testing();
}
