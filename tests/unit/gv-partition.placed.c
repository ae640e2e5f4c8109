/*
 * One pipeline over a machine with levels against trying every one, on random graphs
 * of up to 6 layers: stages by stage from the first, costed when all are there.
 * The formulas here and in partition_help.h are written anew.
 */
#include <stdlib.h>

#include "gv-partition/placed/placed.h"
#include "gv-partition/graph/prefixes.h"
#include "partition_help.h"
#include "tap.h"

enum { MOST = 6 };

struct world {
	struct dag d;
	struct gv_machine m;
	size_t gpus;
	struct search_options o;
};

struct pipeline {
	size_t n;
	unsigned from[MOST], to[MOST];
	size_t replicas[MOST];
};

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
	struct amounts a = {.receives = crossing(&w->d, p->from[j])};
	double sends = crossing(&w->d, p->to[j]), m = (double)n,
	       link = slowest_link(w, first, last), load, time;

	for (v = 0; v < w->d.g.n; v++)
		if (in >> v & 1) {
			a.time += w->d.layer[v].time_s;
			a.forward += w->d.layer[v].forward_s;
			a.weights += w->d.layer[v].parameter;
			a.activation += w->d.layer[v].kept;
		}
	time = time_within(&a, r, r->memory, ceil((double)left / m), n);
	if (!isfinite(time))
		return INFINITY;
	if (r->model == COST_PAPER)
		load = fmax(time, 2 * (m - 1) * a.weights / link) / m;
	else
		load = (time + 4 * (m - 1) * a.weights / (link * m)) / m;
	if (j > 0) {
		link = slowest_link(w, first - p->replicas[j - 1], last);
		load =
		    fmax(load, 2 * a.receives / link / (r->model == COST_PAPER ? 1 : m));
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
	unsigned all = (1U << w->d.g.n) - 1, room = all & ~at, next;
	size_t m;

	if (at == all) {
		if (used == w->gpus || w->o.use != USE_ALL)
			cost(w, p, used, best);
		return;
	}
	for (next = room; next != 0; next = (next - 1) & room) {
		if (!closed(&w->d, at | next))
			continue;
		for (m = 1; used + m <= w->gpus && !too_many_replicas(&w->o, m); m++) {
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
	size_t i, machine = draw(6), density = 1 + draw(9);

	memset(w, 0, sizeof(*w));
	dag_begin(&w->d, 1 + draw(machine == 3 ? 5 : MOST));
	for (i = 0; i < w->d.g.n; i++) {
		w->d.layer[i].forward_s = (double)draw(100) / 1000;
		w->d.layer[i].time_s = w->d.layer[i].forward_s + (double)draw(200) / 1000;
		w->d.layer[i].activation = (double)draw(60) * 1e6;
		w->d.layer[i].kept = w->d.layer[i].activation + (double)draw(20) * 1e6;
		w->d.layer[i].parameter = draw(3) == 0 ? 0 : (double)draw(60) * 1e6;
		dag_draw_edges(&w->d, i, density);
	}
	dag_draw_ties(&w->d);
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
		w->o.rules.schedule = (enum gv_schedule_kind)draw(GV_SCHEDULE_GPIPE + 1);
		w->o.rules.micro_batches = 1 + draw(9);
	}
}

static size_t wrong;

static void
differs(const struct world *w, uint64_t seed, const char *what, double got, double want)
{
	if (wrong++ < 5)
		printf("# seed %llu: %s: got %.17g, want %.17g; %zu layers, %zu GPUs\n",
		    (unsigned long long)seed, what, got, want, w->d.g.n, w->gpus);
}

static void
check_world(const struct world *w, uint64_t seed, size_t *planned)
{
	struct best best = {.time_s = INFINITY}, got = {0};
	struct pipeline all = {0};
	struct gv_plan p = {0};
	struct plan_report r = {0};
	struct gv_error e = {0};
	struct prefixes x;
	size_t i;

	try_all(w, &all, 0, 0, &best);
	prefixes_make(&x, &w->d.g, IDEALS_ALL, 1000, 1000);
	if (placed_search(&p, &x.s, w->d.g.n, &w->m, &w->o) != SEARCH_FOUND) {
		if (isfinite(best.time_s))
			differs(w, seed, "no plan found", 0, best.time_s);
	} else if (placed_evaluate(&r, &p, &w->d.g, &w->m, &w->o.rules, IDEALS_ALL, &e) !=
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
	gv_plan_free(&p);
	prefixes_free(&x);
}

static void
check_many(const char *name, size_t n, bool memory)
{
	struct world w;
	size_t i, planned = 0;

	wrong = 0;
	for (i = 0; i < n; i++) {
		draws_begin(i + 1, 7, 9);
		draws.n = memory * 2000;
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
