/*
 * One pipeline over a machine with levels against trying every one, on random graphs
 * of up to 6 layers: stages by stage from the first, costed when all are there.
 * The formulas here are written anew.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "gv-partition/placed.h"
#include "tap.h"

enum { MOST = 6 };

struct world {
	struct graph g;
	struct layer layer[MOST];
	struct graph_edge edge[MOST * MOST];
	unsigned before[MOST], behind[MOST]; /* masks */
	struct machine m;
	size_t gpus;
	struct search_options o;
};

struct pipeline {
	size_t n;
	unsigned from[MOST], to[MOST];
	size_t replicas[MOST];
};

static uint64_t draw_seed, draw_count;

static size_t
draw(size_t n)
{
	return (size_t)(gv_random(draw_seed, 7, 9, draw_count++) % n);
}

static bool
closed(const struct world *w, unsigned set)
{
	size_t v;

	for (v = 0; v < w->g.n; v++)
		if ((set >> v & 1) && (w->before[v] & ~set) != 0)
			return false;
	return true;
}

static double
crossing(const struct world *w, unsigned set)
{
	double sum = 0;
	size_t v;

	for (v = 0; v < w->g.n; v++)
		if ((set >> v & 1) && (w->behind[v] & ~set) != 0)
			sum += w->layer[v].activation;
	return sum;
}

/* Bytes per second between the farthest two of GPUs first to last. */
static double
slowest_link(const struct world *w, size_t first, size_t last)
{
	double slowest = INFINITY;
	size_t l, group = 1;

	for (l = 0; l < w->m.n_levels; l++) {
		slowest = fmin(slowest, w->m.bytes_per_s[l]);
		group *= w->m.gpus[l];
		if (first / group == last / group)
			break;
	}
	return slowest;
}

/* The j-th stage, first its first GPU, w GPUs its own and behind it. */
static double
load_of(
    const struct world *w, const struct pipeline *p, size_t j, size_t first, size_t left)
{
	const struct cost_rules *r = &w->o.rules;
	unsigned in = p->to[j] & ~p->from[j];
	size_t n = p->replicas[j], last = first + n - 1, v;
	double time = 0, forward = 0, weights = 0, activation = 0, m = (double)n, copies,
	       flight = ceil((double)left / m), link = slowest_link(w, first, last), load;
	double receives = crossing(w, p->from[j]), sends = crossing(w, p->to[j]);
	bool kept, again;

	for (v = 0; v < w->g.n; v++)
		if (in >> v & 1) {
			time += w->layer[v].time_s;
			forward += w->layer[v].forward_s;
			weights += w->layer[v].parameter;
			activation += w->layer[v].activation;
		}
	copies = (r->schedule == SCHEDULE_1F1B ? flight : 2) + 1 + r->state;
	if (r->schedule == SCHEDULE_FLUSH || r->schedule == SCHEDULE_GPIPE) {
		double own = ceil((double)r->micro_batches / m);

		copies = 2 + r->state;
		flight = r->schedule == SCHEDULE_GPIPE ? own : fmin(flight, own);
	}
	kept = r->memory <= 0 || copies * weights + flight * activation <= r->memory;
	again = r->memory <= 0 ||
		copies * weights + flight * receives + activation <= r->memory;
	kept = kept && r->recompute != RECOMPUTE_FULL;
	again = again && r->recompute != RECOMPUTE_NONE;
	if (!kept && !again)
		return INFINITY;
	if (!kept)
		time += forward;
	if (r->model == COST_PAPER)
		load = fmax(time, 2 * (m - 1) * weights / link) / m;
	else
		load = (time + 4 * (m - 1) * weights / (link * m)) / m;
	if (j > 0) {
		link = slowest_link(w, first - p->replicas[j - 1], last);
		load = fmax(load, 2 * receives / link / (r->model == COST_PAPER ? 1 : m));
	}
	if (j > 0 && j + 1 < p->n && r->model == COST_COMPAT) {
		link = slowest_link(w, first, last + p->replicas[j + 1]);
		load = fmax(load, 2 * sends / link / m);
	}
	return load;
}

struct best {
	double time_s;
	size_t gpus;
	double load[MOST]; /* descending */
};

static int
descending(const void *p, const void *q)
{
	const double *a = p, *b = q;

	return *a > *b ? -1 : *a < *b;
}

/* Whether a's loads are the lower ones, by more than rounding; then on fewer GPUs. */
static bool
better(const struct best *a, const struct best *b)
{
	size_t i;

	for (i = 0; i < MOST; i++)
		if (fabs(a->load[i] - b->load[i]) > 1e-10 * b->load[0])
			return a->load[i] < b->load[i];
	return a->gpus < b->gpus;
}

static void
cost(const struct world *w, const struct pipeline *p, size_t used, struct best *best)
{
	struct best now = {.gpus = used};
	size_t j, left = used;

	for (j = 0; j < p->n; left -= p->replicas[j++]) {
		now.load[j] = load_of(w, p, j, w->gpus - left, left);
		if (!isfinite(now.load[j]))
			return;
	}
	qsort(now.load, MOST, sizeof(*now.load), descending);
	now.time_s = now.load[0];
	if (!isfinite(best->time_s) || better(&now, best))
		*best = now;
}

/* All ways to go on from a prefix. */
static void
try_all(const struct world *w, struct pipeline *p, unsigned at, size_t used,
    struct best *best)
{
	unsigned all = (1U << w->g.n) - 1, room = all & ~at, next;
	size_t m;

	if (at == all) {
		if (used == w->gpus || w->o.use != USE_ALL)
			cost(w, p, used, best);
		return;
	}
	for (next = room; next != 0; next = (next - 1) & room) {
		if (!closed(w, at | next))
			continue;
		for (m = 1; used + m <= w->gpus && (m == 1 || !w->o.straight); m++) {
			p->from[p->n] = at;
			p->to[p->n] = at | next;
			p->replicas[p->n++] = m;
			try_all(w, p, at | next, used + m, best);
			p->n--;
		}
	}
}

static void
make_world(struct world *w, bool memory)
{
	static const size_t gpus[][3] = {{2, 2}, {3, 2}, {2, 3}, {2, 2, 2}, {4}, {1, 3}};
	size_t i, k, machine = draw(6), density = 1 + draw(9);

	memset(w, 0, sizeof(*w));
	w->g.n = 1 + draw(machine == 3 ? 5 : MOST);
	w->g.layer = w->layer;
	w->g.edge = w->edge;
	for (i = 0; i < w->g.n; i++) {
		w->layer[i].forward_s = (double)draw(100) / 1000;
		w->layer[i].time_s = w->layer[i].forward_s + (double)draw(200) / 1000;
		w->layer[i].activation = (double)draw(60) * 1e6;
		w->layer[i].parameter = draw(3) == 0 ? 0 : (double)draw(60) * 1e6;
		for (k = 0; k < i; k++)
			if (draw(10) < density) {
				w->edge[w->g.n_edges++] =
				    (struct graph_edge){(uint32_t)k, (uint32_t)i};
				w->before[i] |= 1U << k;
				w->behind[k] |= 1U << i;
			}
	}
	for (w->gpus = 1; w->m.n_levels < 3 && gpus[machine][w->m.n_levels] > 0;) {
		w->m.gpus[w->m.n_levels] = gpus[machine][w->m.n_levels];
		w->gpus *= w->m.gpus[w->m.n_levels];
		w->m.bytes_per_s[w->m.n_levels++] = (double)(1 + draw(20)) * 2e8;
	}
	w->o.rules.model = draw(2) ? COST_PAPER : COST_COMPAT;
	w->o.straight = draw(6) == 0;
	w->o.use = draw(3) == 0 ? USE_ALL : USE_UP_TO;
	w->o.rules.recompute = (enum recompute)draw(3);
	w->o.rules.state = (double)draw(3);
	if (memory) {
		w->o.rules.memory = (double)(50 + draw(600)) * 1e6;
		w->o.rules.schedule = (enum schedule)draw(SCHEDULE_GPIPE + 1);
		w->o.rules.micro_batches = 1 + draw(9);
	}
}

static size_t wrong;

static void
differs(const struct world *w, uint64_t seed, const char *what, double got, double want)
{
	if (wrong++ < 5)
		printf("# seed %llu: %s: got %.17g, want %.17g; %zu layers, %zu GPUs\n",
		    (unsigned long long)seed, what, got, want, w->g.n, w->gpus);
}

static void
check_world(const struct world *w, uint64_t seed, size_t *planned)
{
	struct best best = {.time_s = INFINITY}, got = {0};
	struct pipeline all = {0};
	struct plan p = {0};
	struct plan_report r = {0};
	struct gv_error e = {0};
	struct ideals s;
	size_t i;

	try_all(w, &all, 0, 0, &best);
	ideals_make(&s, &w->g, IDEALS_ALL, NULL, 0, 1000);
	if (placed_search(&p, &s, w->g.n, &w->m, &w->o) != SEARCH_FOUND) {
		if (isfinite(best.time_s))
			differs(w, seed, "no plan found", 0, best.time_s);
	} else if (placed_evaluate(&r, &p, &w->g, &w->m, &w->o.rules, IDEALS_ALL, &e) !=
		   0) {
		differs(w, seed, e.text[0], 0, best.time_s);
	} else {
		++*planned;
		if (!(fabs(r.bottleneck_s - best.time_s) <= 1e-11 * best.time_s))
			differs(w, seed, "the time", r.bottleneck_s, best.time_s);
		got.gpus = r.gpus;
		for (i = 0; i < r.n; i++)
			got.load[i] = r.row[i].terms.load_s;
		qsort(got.load, MOST, sizeof(*got.load), descending);
		if (better(&best, &got) || better(&got, &best))
			differs(w, seed, "the loads", (double)r.gpus, (double)best.gpus);
		for (i = 0; i < r.n; i++)
			if (w->o.rules.memory > 0 && r.row[i].memory > w->o.rules.memory)
				differs(w, seed, "memory", r.row[i].memory,
				    w->o.rules.memory);
	}
	plan_report_free(&r);
	plan_free(&p);
	ideals_free(&s);
}

static void
check_many(const char *name, size_t n, bool memory)
{
	struct world w;
	size_t i, planned = 0;

	wrong = 0;
	for (i = 0; i < n; i++) {
		draw_seed = i + 1;
		draw_count = memory * 2000;
		make_world(&w, memory);
		check_world(&w, i + 1, &planned);
	}
	is_int(wrong, 0, "%s: %zu random graphs, %zu with a plan", name, n, planned);
	ok(planned > n / 4, "%s: many have a plan", name);
}

int
main(void)
{
	size_t n = getenv("GV_LONG") != NULL ? 10000 : 1000;

	check_many("placed", n, false);
	check_many("placed, memory", n, true);
	return done_testing();
}
