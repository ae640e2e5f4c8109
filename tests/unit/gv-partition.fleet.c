/*
 * Pipelines on GPUs of several types against trying every one, on random graphs of
 * up to 6 layers and 2 or 3 types whose layers have times of their own.  The
 * formulas here and in partition_help.h are written anew, stages are tried from the
 * last to the first.
 */
#include <stdlib.h>

#include "gv-partition/fleet/fleet.h"
#include "gv-partition/graph/prefixes.h"
#include "partition_help.h"
#include "tap.h"

enum { MOST = 6 };

struct world {
	struct dag d;
	struct gv_fleet f;
	double time_s[GV_FLEET_TYPES][MOST], forward_s[GV_FLEET_TYPES][MOST];
	struct search_options o;
};

/* The stage of the layers in `in`, the prefix in front of it, behind it so many GPUs. */
static double
load_of(const struct world *w, unsigned from, unsigned in, size_t type, size_t n,
    size_t behind)
{
	const struct cost_rules *r = &w->o.rules;
	struct amounts a = {.receives = crossing(&w->d, from)};
	double replicas = (double)n, bandwidth = w->f.bytes_per_s, load, time,
	       sends = crossing(&w->d, from | in);
	size_t v;

	for (v = 0; v < w->d.g.n; v++)
		if (in >> v & 1) {
			a.time += w->time_s[type][v];
			a.forward += w->forward_s[type][v];
			a.weights += w->d.layer[v].parameter;
			a.activation += w->d.layer[v].kept;
		}
	time = time_within(
	    &a, r, w->f.type[type].memory, ceil((double)(behind + n) / replicas), n);
	if (!isfinite(time))
		return INFINITY;
	if (r->model == COST_PAPER) {
		load = fmax(time, 2 * (replicas - 1) * a.weights / bandwidth) / replicas;
		return from == 0 ? load : fmax(load, 2 * a.receives / bandwidth);
	}
	load =
	    (time + 4 * (replicas - 1) * a.weights / (bandwidth * replicas)) / replicas;
	return from == 0
		   ? load
		   : fmax(load, 2 * fmax(a.receives, sends) / (bandwidth * replicas));
}

struct best {
	double time_s;
	size_t gpus;
};

/* All pipelines of the prefix `to`, with what is behind it. */
static void
try_all(const struct world *w, unsigned to, size_t *left, size_t behind, double time,
    struct best *best)
{
	unsigned in;
	size_t t, m, most = w->o.straight ? 1 : stage_replicas_most(&w->o.rules);

	if (to == 0) {
		if (time < best->time_s * (1 - 1e-11) ||
		    (time <= best->time_s * (1 + 1e-11) && behind < best->gpus)) {
			best->gpus = behind;
			best->time_s = time;
		}
		return;
	}
	for (in = to; in != 0; in = (in - 1) & to) {
		if (!closed(&w->d, to & ~in))
			continue;
		for (t = 0; t < w->f.n; t++)
			for (m = 1; m <= left[t] && m <= most; m++) {
				double load = load_of(w, to & ~in, in, t, m, behind);

				if (!isfinite(load))
					continue;
				left[t] -= m;
				try_all(w, to & ~in, left, behind + m, fmax(time, load),
				    best);
				left[t] += m;
			}
	}
}

static void
make_world(struct world *w, bool memory)
{
	size_t i, t, density = 1 + draw(9);
	static const char *const name[] = {"a", "b", "c"};

	memset(w, 0, sizeof(*w));
	dag_begin(&w->d, 1 + draw(MOST));
	w->f.n = 1 + draw(3);
	w->f.bytes_per_s = (double)(1 + draw(20)) * 2e8;
	for (i = 0; i < w->d.g.n; i++) {
		w->d.layer[i].activation = (double)draw(40) * 1e6;
		w->d.layer[i].kept = w->d.layer[i].activation + (double)draw(20) * 1e6;
		w->d.layer[i].parameter = draw(3) == 0 ? 0 : (double)draw(60) * 1e6;
		dag_draw_edges(&w->d, i, density);
	}
	dag_draw_ties(&w->d);
	for (t = 0; t < w->f.n; t++) {
		double slow = (double)(1 + draw(4));

		w->f.type[t].name = name[t];
		w->f.type[t].gpus = 1 + draw(w->f.n == 3 ? 2 : 3);
		if (memory && draw(4) > 0)
			w->f.type[t].memory = (double)(50 + draw(600)) * 1e6;
		w->f.type[t].time_s = w->time_s[t];
		w->f.type[t].forward_s = w->forward_s[t];
		for (i = 0; i < w->d.g.n; i++) {
			w->forward_s[t][i] = slow * (double)draw(100) / 1000;
			w->time_s[t][i] =
			    w->forward_s[t][i] + slow * (double)draw(200) / 1000;
		}
	}
	w->o.rules.model = draw(2) ? COST_PAPER : COST_COMPAT;
	w->o.rules.micro_batches = 1 + draw(6);
	w->o.straight = draw(6) == 0;
	w->o.rules.recompute = (enum recompute)draw(3);
	w->o.rules.state = (double)draw(3);
	if (memory) {
		static const enum gv_schedule_kind schedule[] = {GV_SCHEDULE_1F1B,
		    GV_SCHEDULE_2BW, GV_SCHEDULE_FLUSH, GV_SCHEDULE_GPIPE};

		w->o.rules.schedule = schedule[draw(4)];
	}
}

static size_t wrong;

static void
differs(const struct world *w, uint64_t seed, const char *what, double got, double want)
{
	if (wrong++ < 5)
		printf("# seed %llu: %s: got %.17g, want %.17g; %zu layers, %zu types\n",
		    (unsigned long long)seed, what, got, want, w->d.g.n, w->f.n);
}

/* Each stage is within the memory of its type. */
static void
check_memory(const struct world *w, uint64_t seed, const struct gv_plan *p,
    const struct plan_report *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		double memory = w->f.type[p->stage[i].type].memory;

		if (memory > 0 && r->row[i].memory > memory)
			differs(w, seed, "memory", r->row[i].memory, memory);
	}
}

static void
check_world(const struct world *w, uint64_t seed, size_t *planned)
{
	struct best best = {INFINITY, 99};
	struct gv_plan p = {0};
	struct plan_report r = {0};
	struct gv_error e = {0};
	struct prefixes x;
	size_t left[GV_FLEET_TYPES], t;

	for (t = 0; t < w->f.n; t++)
		left[t] = w->f.type[t].gpus;
	try_all(w, (1U << w->d.g.n) - 1, left, 0, 0, &best);
	prefixes_make(&x, &w->d.g, IDEALS_ALL, 1000, 1000);
	if (fleet_search(&p, &x.s, w->d.g.n, &w->f, &w->o) != FLEET_FOUND) {
		if (isfinite(best.time_s))
			differs(w, seed, "no plan found", 0, best.time_s);
	} else if (fleet_evaluate(&r, &p, &w->d.g, &w->f, &w->o.rules, IDEALS_ALL, &e) !=
		   0) {
		differs(w, seed, e.text[0], 0, best.time_s);
	} else {
		++*planned;
		if (!(fabs(r.bottleneck_s - best.time_s) <= 1e-11 * best.time_s))
			differs(w, seed, "the time", r.bottleneck_s, best.time_s);
		if (r.gpus != best.gpus)
			differs(w, seed, "GPUs", (double)r.gpus, (double)best.gpus);
		check_memory(w, seed, &p, &r);
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
		draws_begin(i + 1, 7, 8);
		draws.n = memory * 2000;
		make_world(&w, memory);
		check_world(&w, i + 1, &planned);
	}
	is_int(wrong, 0, "%s: %zu random graphs, %zu with a plan", name, n, planned);
	ok(planned > n / 4, "%s: many have a plan", name);
}

/* Few layers, but so many GPUs that a stage has up to 20 of a type. */
static void
check_wide(void)
{
	struct world w;
	size_t i, t, planned = 0;

	wrong = 0;
	for (i = 0; i < 60; i++) {
		draws_begin(i + 1, 7, 8);
		draws.n = 4000;
		do
			make_world(&w, i % 2 == 0);
		while (w.d.g.n > 2 || w.f.n < 2);
		for (t = 0; t < w.f.n; t++)
			w.f.type[t].gpus = w.f.n == 3 ? 3 + draw(6) : 9 + draw(12);
		check_world(&w, i + 1, &planned);
	}
	is_int(
	    wrong, 0, "many GPUs of a type: 60 random graphs, %zu with a plan", planned);
	ok(planned > 20, "many GPUs of a type: many have a plan");
}

int
main(void)
{
	size_t n = getenv("GV_LONG") != NULL ? 10000 : 1000;

	check_many("types", n, false);
	check_many("types, memory", n, true);
	check_wide();
	return done_testing();
}
