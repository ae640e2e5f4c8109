/*
 * The ranking against running every plan there is, on random small chains: each schedule,
 * with and without a memory limit.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/placed/placed.h"
#include "gv-partition/schedule/interleave.h"
#include "gv-partition/rank/rank.h"
#include "gv-partition/schedule/pipe.h"
#include "plan/simulate.h"
#include "partition_help.h"
#include "tap.h"

enum { LAYERS = 7 };

struct world {
	struct gv_graph g;
	struct gv_graph_layer layer[LAYERS];
	struct gv_graph_edge edge[LAYERS];
	struct gv_machine m;
	struct search_options o;
};

static void
random_world(struct world *w, enum gv_schedule_kind schedule)
{
	size_t v;

	memset(w, 0, sizeof(*w));
	w->g = (struct gv_graph){
	    .n = 3 + draw(LAYERS - 2), .layer = w->layer, .edge = w->edge};
	w->g.n_edges = w->g.n - 1;
	for (v = 0; v < w->g.n; v++) {
		w->layer[v].forward_s = (double)(1 + draw(9));
		w->layer[v].time_s = w->layer[v].forward_s + (double)(1 + draw(20));
		w->layer[v].activation = (double)(1 + draw(40));
		w->layer[v].kept = w->layer[v].activation;
		w->layer[v].parameter = draw(3) ? (double)draw(60) : 0;
		if (v > 0)
			w->edge[v - 1] =
			    (struct gv_graph_edge){(uint32_t)v - 1, (uint32_t)v};
	}
	w->m = (struct gv_machine){.n_levels = 1, .gpus = {2 + draw(4)}};
	w->m.bytes_per_s[0] = (double)(2 + draw(30));
	w->o.rules = (struct cost_rules){.schedule = schedule,
	    .model = (enum cost_model)draw(2),
	    .micro_batches = schedule == GV_SCHEDULE_1F1B ? 0 : 12,
	    .recompute = RECOMPUTE_NONE,
	    .state = (double)draw(3),
	    .chunks = schedule == GV_SCHEDULE_INTERLEAVED ? 2 : 0};
	if (draw(3) == 0)
		w->o.rules.memory = (double)(200 + draw(800));
}

/* Time of a plan; INFINITY when it cannot run or does not fit. */
static double
time_of(const struct world *w, const struct gv_plan *p)
{
	struct plan_report r = {0};
	struct gv_error e = {0};
	struct gv_simulation s = {0};
	struct gv_timetable t = {0};
	struct gv_pipe pipe = {0};
	double step_s = INFINITY;
	size_t i;

	bool interleaved = w->o.rules.schedule == GV_SCHEDULE_INTERLEAVED;

	if ((interleaved ? interleave_evaluate : plan_evaluate)(
		&r, p, &w->g, &w->m, &w->o.rules, IDEALS_ALL, &e) == 0 &&
	    pipe_make(&pipe, p, &r, &w->g, &w->m, &w->o.rules, &e) == 0 &&
	    gv_simulation_run(&s, &t, &pipe, &e) == 0)
		step_s = s.step_s;
	for (i = 0; i < s.n; i++)
		if (w->o.rules.memory > 0 && s.place[i].holding.bytes > w->o.rules.memory)
			step_s = INFINITY;
	gv_timetable_free(&t);
	gv_simulation_free(&s);
	gv_pipe_free(&pipe);
	plan_report_free(&r);
	return step_s;
}

/* The best of all plans that begin as *p with stages up to layer at, on so many GPUs more. */
static double
best_of_all(const struct world *w, struct gv_plan *p, size_t at, size_t gpus)
{
	double best = INFINITY, found;
	size_t end, m, v;

	if (at == w->g.n)
		return time_of(w, p);
	for (end = at + 1; end <= w->g.n; end++)
		for (m = 1; m <= gpus; m++) {
			p->stage[p->n] =
			    (struct gv_stage){.replicas = {m}, .within = {p->n}};
			for (v = at; v < end; v++)
				p->of[v] = (uint32_t)p->n;
			p->n++;
			found = best_of_all(w, p, end, gpus - m);
			p->n--;
			if (found < best)
				best = found;
		}
	return best;
}

/* The best plan of the interleaved schedule: so many replicas of all, two stages on each GPU. */
static double
best_interleaved(const struct world *w, struct gv_plan *p, size_t at, size_t replicas)
{
	size_t places = p->n / 2, end, v;
	double best = INFINITY, found;

	if (p->n * replicas > 2 * w->m.gpus[0])
		return INFINITY;
	if (at == w->g.n)
		return p->n % 2 == 0 && places >= 2 ? time_of(w, p) : INFINITY;
	for (end = at + 1; end <= w->g.n; end++) {
		p->stage[p->n] =
		    (struct gv_stage){.replicas = {replicas}, .within = {p->n}};
		for (v = at; v < end; v++)
			p->of[v] = (uint32_t)p->n;
		p->n++;
		found = best_interleaved(w, p, end, replicas);
		p->n--;
		if (found < best)
			best = found;
	}
	return best;
}

static double
best_of_world(const struct world *w, struct gv_plan *p)
{
	double best = INFINITY, found;
	size_t m;

	if (w->o.rules.schedule != GV_SCHEDULE_INTERLEAVED)
		return best_of_all(w, p, 0, w->m.gpus[0]);
	for (m = 1; m <= w->m.gpus[0]; m++) {
		found = best_interleaved(w, p, 0, m);
		if (found < best)
			best = found;
	}
	return best;
}

/* What the caller was told of a ranking under way. */
static struct {
	size_t tried, most, wrong;
} told;

/* One plan after another, never more than the most there can be, which stays. */
static void
hear(size_t tried, size_t most)
{
	told.wrong += tried != told.tried + 1 || tried > most ||
		      (told.tried > 0 && most != told.most);
	told.tried = tried;
	told.most = most;
}

struct score {
	size_t n, equal, none, missed, wrong;
	double worst;
};

static void
compare(struct score *s, const struct world *w)
{
	struct gv_stage stage[LAYERS];
	uint32_t of[LAYERS];
	struct gv_plan p = {.stage = stage, .of = of};
	struct ideals ideals;
	struct ranking k;
	const struct rank_task task = {.s = &ideals,
	    .g = &w->g,
	    .m = &w->m,
	    .o = &w->o,
	    .cut = IDEALS_ALL,
	    .progress = hear};
	double best = best_of_world(w, &p);
	size_t i;

	ideals_make(&ideals, &w->g, IDEALS_ALL, NULL, 0, 1000);
	told.tried = told.wrong = 0;
	ranking_make(&k, &task);
	s->n++;
	s->wrong += told.wrong > 0 || told.tried != k.tried;
	for (i = 0; i < k.n; i++) {
		double time = time_of(w, &k.row[i].plan);

		s->wrong += fabs(time - k.row[i].step_s) > 1e-9 * time ||
			    k.row[i].step_s < best * (1 - 1e-9) ||
			    (i > 0 && k.row[i].step_s < k.row[i - 1].step_s * (1 - 1e-6));
	}
	if (k.n == 0) {
		s->none += isinf(best);
		s->missed += !isinf(best);
	} else if (isfinite(best)) {
		s->equal += k.row[0].step_s <= best * (1 + 1e-9);
		s->worst = fmax(s->worst, k.row[0].step_s / best);
	}
	ranking_free(&k);
	ideals_free(&ideals);
}

/*
 * How many plans are tried at most, counted by hand: under both cost models for each number
 * of GPUs that is looked at, the straight ones of up to 64 stages with and without replicas,
 * the best of all, with each stage where it is, and on fewer of the outer components; and of
 * ten that are varied themselves and 400 more, on more than 32 GPUs the fewer, 40 at least.
 */
static void
test_most(void)
{
	static const struct {
		struct gv_machine m;
		size_t types;
		bool flat, interleaved;
		size_t most;
	} row[] = {
	    {{.n_levels = 1, .gpus = {4}}, 0, false, false, 2 * 4 + 2 * 4 + 2 + 10 * 401},
	    {{.n_levels = 1, .gpus = {4}}, 0, true, false, 2 * 4 + 2 * 4 + 10 * 401},
	    {{.n_levels = 2, .gpus = {4, 3}}, 0, true, false,
		2 * 12 + 2 * 12 + 2 + 10 * 401},
	    {{.n_levels = 2, .gpus = {4, 3}}, 0, false, false,
		2 * 12 + 2 * 12 + 2 + 2 + 2 * 3 + 10 * 401},
	    {{.n_levels = 1, .gpus = {4}}, 0, false, true, 4 + 4 * 401},
	    {{.n_levels = 1, .gpus = {12}}, 0, false, true, 12 + 10 * 401},
	    {{.n_levels = 1, .gpus = {4}}, 2, false, false, 2 * 9 + 10 * 401},
	    {{.n_levels = 1, .gpus = {33}}, 0, false, false,
		2 * 27 + 2 * 27 + 2 + 10 * 388},
	    {{.n_levels = 1, .gpus = {100}}, 0, false, false,
		2 * 37 + 2 * 33 + 2 + 10 * 129},
	    {{.n_levels = 1, .gpus = {512}}, 0, false, false,
		2 * 51 + 2 * 33 + 2 + 10 * 41},
	};
	static double time_s[] = {4, 6, 5}, forward_s[] = {1, 2, 2};
	size_t i, t;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct gv_fleet f = {.n = row[i].types, .bytes_per_s = 8};
		struct world w;
		struct ideals ideals;
		struct ranking k;
		struct rank_task task = {.s = &ideals,
		    .g = &w.g,
		    .m = &w.m,
		    .o = &w.o,
		    .fleet = f.n > 0 ? &f : NULL,
		    .flat = row[i].flat,
		    .cut = IDEALS_ALL,
		    .progress = hear};

		do
			random_world(&w, row[i].interleaved ? GV_SCHEDULE_INTERLEAVED
							    : GV_SCHEDULE_FLUSH);
		while (w.g.n != (row[i].interleaved ? 5 : 3));
		w.o.rules.memory = 0;
		w.m = row[i].m;
		w.m.bytes_per_s[0] = w.m.bytes_per_s[1] = 8;
		for (t = 0; t < f.n; t++)
			f.type[t] = (struct gv_fleet_type){
			    .gpus = 2, .time_s = time_s, .forward_s = forward_s};
		ideals_make(&ideals, &w.g, IDEALS_ALL, NULL, 0, 1000);
		told.tried = told.wrong = 0;
		ranking_make(&k, &task);
		ok(told.wrong == 0 && told.tried == k.tried && k.n > 0,
		    "all that is tried is told (%zu)", k.tried);
		is_int(told.most, row[i].most, "tried at most on %zu GPUs%s",
		    gv_machine_component(&w.m, w.m.n_levels),
		    row[i].flat ? ", flat" : "");
		ranking_free(&k);
		ideals_free(&ideals);
	}
}

/* ---- which plans are ranked ---- */

static bool
same_stages(const struct gv_plan *a, const struct gv_plan *b)
{
	size_t k, l;

	for (k = 0; a->n == b->n && k < a->n; k++) {
		const struct gv_stage *x = &a->stage[k], *y = &b->stage[k];

		for (l = 0; l < GV_PLAN_LEVELS; l++)
			if (x->replicas[l] != y->replicas[l] ||
			    x->within[l] != y->within[l])
				return false;
		if (x->recompute != y->recompute || x->type != y->type)
			return false;
	}
	return a->n == b->n;
}

static bool
is_close(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

/* Whether stages compute, hold and receive as much, in plans of the same stages. */
static bool
same_loads(const struct ranked *a, const struct ranked *b)
{
	size_t i;

	for (i = 0; i < a->report.n; i++) {
		const struct stage_report *x = &a->report.row[i], *y = &b->report.row[i];

		if (!is_close(x->size.time_s, y->size.time_s, 1e-12) ||
		    !is_close(x->size.parameter, y->size.parameter, 1e-12) ||
		    !is_close(x->size.in, y->size.in, 1e-12) ||
		    !is_close(x->memory, y->memory, 1e-12))
			return false;
	}
	return true;
}

/* Whether the plan is ranked on so many levels; what costs nothing may be anywhere. */
static bool
is_ranked(const struct ranking *k, const struct world *w, const struct gv_plan *p,
    size_t levels)
{
	size_t i, v;

	for (i = 0; i < k->n; i++) {
		const struct ranked *r = &k->row[i];

		if (r->machine.n_levels != levels || !same_stages(&r->plan, p))
			continue;
		for (v = 0;
		     v < w->g.n && (r->plan.of[v] == p->of[v] || w->layer[v].time_s <= 0);
		     v++)
			;
		if (v == w->g.n)
			return true;
	}
	return false;
}

/* Plans that must be ranked and are not: the best on the machine, under both cost models. */
static size_t
missing_best(const struct ranking *k, const struct world *w, const struct ideals *s,
    const struct gv_machine *m, bool placed)
{
	struct search_options o = w->o;
	size_t missing = 0, model;

	for (model = 0; model < 2; model++) {
		struct gv_plan p = {0};

		o.rules.model = model == 0 ? COST_PAPER : COST_COMPAT;
		if ((placed ? placed_search(&p, s, w->g.n, m, &o)
			    : plan_search(&p, s, w->g.n, m, &o)) == SEARCH_FOUND)
			missing += !is_ranked(k, w, &p, placed ? 1 : m->n_levels);
		gv_plan_free(&p);
	}
	return missing;
}

/* Straight plans of each number of stages, alone and with the same replicas of all. */
static size_t
missing_straight(const struct ranking *k, const struct world *w, size_t gpus)
{
	size_t missing = 0, d, i, j, replicas;

	for (d = 1; d <= gpus && d <= w->g.n; d++)
		for (replicas = 1; replicas <= gpus / d;
		     replicas += replicas < gpus / d ? gpus / d - replicas : 1) {
			bool there = replicas > stage_replicas_most(&w->o.rules);

			for (i = 0; i < k->n && !there; i++) {
				const struct ranked *r = &k->row[i];

				there = r->plan.n == d && r->machine.n_levels == 1;
				for (j = 0; j < d && there; j++)
					there = r->plan.stage[j].replicas[0] == replicas;
			}
			missing += !there;
		}
	return missing;
}

/* Rows out of order, or that say what others say. */
static size_t
wrong_rows(const struct ranking *k)
{
	size_t wrong = 0, i, j;

	for (i = 0; i < k->n; i++) {
		const struct ranked *a = &k->row[i], *b;

		for (j = i + 1; j < k->n; j++)
			wrong += a->machine.n_levels == k->row[j].machine.n_levels &&
				 same_stages(&a->plan, &k->row[j].plan) &&
				 same_loads(a, &k->row[j]);
		if (i + 1 == k->n)
			break;
		b = a + 1;
		if (is_close(a->step_s, b->step_s, 1e-10))
			wrong += a->report.gpus > b->report.gpus ||
				 (a->report.gpus == b->report.gpus &&
				     a->bytes > b->bytes * (1 + 1e-12));
		else
			wrong += a->step_s > b->step_s * (1 + 1e-9);
	}
	return wrong;
}

static size_t
missing_of(const struct ranking *k, const struct world *w, const struct ideals *s)
{
	size_t outer = w->m.n_levels - 1, missing = 0, n;
	struct gv_machine flat = w->m, part = w->m;

	gv_machine_flatten(&flat);
	for (n = 1; n <= w->m.gpus[outer]; n++) {
		part.gpus[outer] = n;
		missing += missing_best(k, w, s, &part, false);
	}
	if (outer > 0)
		missing += missing_best(k, w, s, &w->m, true);
	missing += missing_straight(k, w, flat.gpus[0]);
	for (; flat.gpus[0] > 0; flat.gpus[0]--)
		missing += missing_best(k, w, s, &flat, false);
	return missing;
}

/* Chains, some layers of which cost nothing, on machines of a level or two. */
static void
test_rows(void)
{
	static const enum gv_schedule_kind kinds[] = {
	    GV_SCHEDULE_1F1B, GV_SCHEDULE_FLUSH, GV_SCHEDULE_GPIPE};
	size_t i, v, missing = 0, wrong = 0, rows = 0;

	for (i = 0; i < 45; i++) {
		struct rank_task task = {.cut = IDEALS_ALL};
		struct ideals ideals;
		struct ranking k;
		struct world w;

		draws_begin(6, (uint32_t)i, 0);
		random_world(&w, kinds[i % 3]);
		w.o.rules.memory = 0;
		if (i % 7 == 1) /* more replicas would have none of these */
			w.o.rules.micro_batches = 2;
		for (v = 1; v < w.g.n && i % 2 == 0; v++)
			if (draw(3) == 0)
				w.layer[v] = (struct gv_graph_layer){0};
		if (i % 5 < 2) {
			w.m = (struct gv_machine){.n_levels = 2,
			    .gpus = {2, 2 + i % 2},
			    .bytes_per_s = {
				(double)(9 + draw(30)), (double)(2 + draw(8))}};
		}
		task = (struct rank_task){
		    .s = &ideals, .g = &w.g, .m = &w.m, .o = &w.o, .cut = IDEALS_ALL};
		ideals_make(&ideals, &w.g, IDEALS_ALL, NULL, 0, 1000);
		ranking_make(&k, &task);
		missing += missing_of(&k, &w, &ideals);
		wrong += wrong_rows(&k);
		rows += k.n;
		ranking_free(&k);
		ideals_free(&ideals);
	}
	is_int(missing, 0, "the best plans of all parts of a machine are ranked");
	is_int(wrong, 0, "%zu rows in their order, none twice", rows);
}

int
main(void)
{
	enum { CASES = 60 };
	static const size_t lacks[GV_SCHEDULES] = {[GV_SCHEDULE_1F1B] = 2,
	    [GV_SCHEDULE_2BW] = 2,
	    [GV_SCHEDULE_FLUSH] = 2,
	    [GV_SCHEDULE_GPIPE] = 1,
	    [GV_SCHEDULE_INTERLEAVED] = 8,
	    [GV_SCHEDULE_ZB_H1] = 0};
	enum gv_schedule_kind schedule;
	size_t i;

	draws_begin(5, 7, 7);
	for (schedule = 0; schedule < GV_SCHEDULES; schedule++) {
		struct score s = {.worst = 1};
		struct world w;

		for (i = 0; i < CASES; i++) {
			random_world(&w, schedule);
			compare(&s, &w);
		}
		is_int(s.wrong, 0, "%s: times of the ranking, %zu chains",
		    gv_schedule_name[schedule], s.n);
		is_int(s.missed, 0, "%s: where a plan fits, one is found",
		    gv_schedule_name[schedule]);
		/* each move of the search finds some of them */
		ok(s.equal + s.none + lacks[schedule] >= s.n && s.worst < 1.11,
		    "%s: the best of all plans comes first in %zu of %zu, else %.3g "
		    "times as slow "
		    "at most",
		    gv_schedule_name[schedule], s.equal, s.n - s.none, s.worst);
	}
	test_most();
	test_rows();
	return done_testing();
}
