/* Plans run one by one. */
#include "rank_maker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-partition/fleet/fleet.h"
#include "gv-partition/placed/placed.h"
#include "gv-partition/schedule/interleave.h"
#include "gv-partition/schedule/pipe.h"
#include "plan/simulate.h"

static bool
same_stage(const struct gv_stage *a, const struct gv_stage *b)
{
	size_t l;

	for (l = 0; l < GV_PLAN_LEVELS; l++)
		if (a->replicas[l] != b->replicas[l] || a->within[l] != b->within[l])
			return false;
	return a->recompute == b->recompute && a->type == b->type;
}

static bool
same_stages(const struct ranked *a, const struct ranked *b)
{
	size_t k;

	if (a->plan.n != b->plan.n || a->machine.n_levels != b->machine.n_levels)
		return false;
	for (k = 0; k < a->plan.n && same_stage(&a->plan.stage[k], &b->plan.stage[k]);
	     k++)
		;
	return k == a->plan.n;
}

/* Whether there is the very same plan already. */
static bool
known(const struct maker *x, const struct ranked *r)
{
	size_t i;

	for (i = 0; i < x->k->n; i++)
		if (same_stages(&x->k->row[i], r) &&
		    memcmp(x->k->row[i].plan.of, r->plan.of,
			x->g->n * sizeof(*r->plan.of)) == 0)
			return true;
	return false;
}

/* Whether two plans differ only in where layers are that cost nothing. */
static bool
alike(const struct ranked *a, const struct ranked *b)
{
	size_t i;

	if (!same_stages(a, b) || a->report.n != b->report.n)
		return false;
	for (i = 0; i < a->report.n; i++) {
		const struct stage_report *x = &a->report.row[i], *y = &b->report.row[i];

		if (fabs(x->size.time_s - y->size.time_s) > 1e-9 * x->size.time_s ||
		    fabs(x->size.parameter - y->size.parameter) > 0.5 ||
		    fabs(x->size.in - y->size.in) > 0.5 ||
		    fabs(x->memory - y->memory) > 1e-9 * x->memory)
			return false;
	}
	return true;
}

static bool
any_alike(const struct ranking *k, const struct ranked *r)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		if (alike(&k->row[i], r))
			return true;
	return false;
}

static int
evaluate(const struct maker *x, struct ranked *r, struct gv_error *e)
{
	const struct cost_rules *rules = &x->o->rules;

	if (x->fleet != NULL)
		return fleet_evaluate(
		    &r->report, &r->plan, x->g, x->fleet, rules, x->cut, e);
	if (r->placed)
		return placed_evaluate(
		    &r->report, &r->plan, x->g, x->m, rules, x->cut, e);
	return (rules->schedule == GV_SCHEDULE_INTERLEAVED ? interleave_evaluate
							   : plan_evaluate)(
	    &r->report, &r->plan, x->g, &r->machine, rules, x->cut, e);
}

/* What a GPU of a place can hold; INFINITY: there is no limit. */
static double
memory_of(const struct maker *x, const struct gv_plan *p, size_t place)
{
	double memory = x->fleet != NULL ? x->fleet->type[p->stage[place].type].memory
					 : x->o->rules.memory;

	return memory > 0 ? memory : INFINITY;
}

bool
maker_run(const struct maker *x, struct ranked *r)
{
	const struct cost_rules *rules = &x->o->rules;
	struct gv_error e = {0};
	struct gv_timetable t = {0};
	struct gv_simulation s = {0};
	struct gv_pipe pipe = {0};
	bool good;
	size_t i;

	good = plan_too_wide(&r->plan, r->machine.n_levels, stage_replicas_most(rules),
		   &i) == r->plan.n &&
	       evaluate(x, r, &e) == 0 &&
	       pipe_make(&pipe, &r->plan, &r->report, x->g, &r->machine, rules, &e) == 0;
	if (good && r->placed)
		pipe_place(&pipe, &r->plan, &r->report, x->g, x->m, rules);
	good = good && gv_simulation_run(&s, &t, &pipe, &e) == 0;
	r->step_s = s.step_s;
	r->bubble = s.bubble;
	for (i = 0; i < s.n; i++) {
		const struct gv_holding *h = &s.place[i].holding;

		good = good && h->bytes <= memory_of(x, &r->plan, i);
		r->bytes = fmax(r->bytes, h->bytes);
		if (h->in_flight > r->in_flight)
			r->in_flight = h->in_flight;
	}
	gv_timetable_free(&t);
	gv_simulation_free(&s);
	gv_pipe_free(&pipe);
	return good && (x->o->use != USE_ALL ||
			   r->report.gpus == gv_machine_component(x->m, x->m->n_levels));
}

void
maker_add(struct maker *x, struct gv_plan *p, const struct gv_machine *m)
{
	struct ranking *k = x->k;
	struct ranked r = {
	    .plan = *p, .machine = *m, .placed = m->n_levels < x->m->n_levels};

	r.plan.fleet = x->fleet;
	k->tried++;
	if (x->progress != NULL)
		x->progress(k->tried, x->most);
	if (!known(x, &r) && maker_run(x, &r) && !any_alike(k, &r)) {
		k->row = gv_xgrow(k->row, &k->cap, k->n + 1, sizeof(*k->row));
		k->row[k->n++] = r;
		return;
	}
	plan_report_free(&r.report);
	gv_plan_free(&r.plan);
}
