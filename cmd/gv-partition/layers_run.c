#include "layers_run.h"

#include <math.h>

#include "base/err.h"
#include "gv-partition/fleet/fleet.h"
#include "gv-partition/placed/placed.h"
#include "gv-partition/schedule/interleave.h"
#include "say.h"

enum { ROUNDS = 50 }; /* of looking near the plan, at most */

static void
tell(size_t done, size_t of)
{
	say_progress(done, of, "prefixes");
}

int
layers_cost(struct plan_report *r, const struct options *o, const struct gv_layers *l,
    const struct gv_plan *p, struct gv_error *e)
{
	const struct cost_rules *rules = &o->search.rules;

	if (p->fleet != NULL)
		return fleet_evaluate(r, p, &l->g, p->fleet, rules, o->cut, e);
	if (o->placed.n_levels > 0)
		return placed_evaluate(r, p, &l->g, &o->placed, rules, o->cut, e);
	return (rules->schedule == GV_SCHEDULE_INTERLEAVED
		    ? interleave_evaluate
		    : plan_evaluate)(r, p, &l->g, &o->machine, rules, o->cut, e);
}

/* What is planned. */
struct task {
	const struct options *o;
	const struct gv_layers *l;
	const struct gv_fleet *fleet;
	struct search_options search; /* those of o, with progress */
};

/* The best plan between these prefixes; false when there is none, or it is not looked for. */
static bool
search(struct gv_plan *p, const struct task *t, const struct ideals *s,
    enum fleet_result *why)
{
	const struct options *o = t->o;
	const struct gv_graph *g = &t->l->g;

	if (t->fleet != NULL) {
		*why = fleet_search(p, s, g->n, t->fleet, &t->search);
		p->fleet = t->fleet;
		return *why == FLEET_FOUND;
	}
	if (t->search.rules.schedule == GV_SCHEDULE_INTERLEAVED) {
		const struct interleaving i = {s, g, &o->machine, &t->search, o->cut};

		return interleave_search(p, &i) == SEARCH_FOUND;
	}
	if (o->placed.n_levels > 0)
		return placed_search(p, s, g->n, &o->placed, &t->search) == SEARCH_FOUND;
	return plan_search(p, s, g->n, &o->machine, &t->search) == SEARCH_FOUND;
}

/* Time of the slowest stage. */
static double
time_of(const struct task *t, const struct gv_plan *p)
{
	struct gv_error ignored = {0};
	struct plan_report r = {0};
	double time_s = INFINITY;

	if (layers_cost(&r, t->o, t->l, p, &ignored) == 0)
		time_s = r.bottleneck_s;
	plan_report_free(&r);
	return time_s;
}

/* To a faster plan whose cuts are so many layers away at most; false when there is none. */
static bool
step(struct gv_plan *p, const struct task *t, size_t moved)
{
	const struct gv_graph *g = &t->l->g;
	struct gv_plan q = {0};
	enum fleet_result why;
	struct prefixes near;
	bool faster;

	if (!prefixes_near(&near, g, t->o->cut, p, moved, t->o->prefixes))
		return false;
	faster =
	    search(&q, t, &near.s, &why) && time_of(t, &q) < time_of(t, p) * (1 - 1e-9);
	if (faster) {
		gv_plan_free(p);
		*p = q;
	} else {
		gv_plan_free(&q);
	}
	prefixes_free(&near);
	return faster;
}

/*
 * Up to how many prefixes all are looked at, where --prefixes does not say: on one level
 * so many that a search takes seconds, since it takes the time of their square.
 */
static size_t
exact_prefixes(const struct options *o, const struct gv_layers *l, const struct task *t)
{
	double words = (double)(l->g.n / 64 + 1), gpus = (double)o->machine.gpus[0];
	double n = sqrt(1e9 / words * 64 / fmax(gpus, 64));

	if (o->prefixes_said || o->cut != IDEALS_ALL || t->fleet != NULL ||
	    o->machine.n_levels > 1 || o->placed.n_levels > 0 ||
	    o->search.rules.schedule == GV_SCHEDULE_INTERLEAVED)
		return o->prefixes;
	if (o->search.rules.memory > 0)
		n /= 2;
	n = fmin(fmax(n, (double)o->prefixes), 20000);
	return (size_t)n;
}

void
layers_run(struct gv_plan *p, const struct options *o, const struct gv_layers *l,
    struct prefixes *x, const struct gv_fleet *fleet)
{
	struct task t = {o, l, fleet, o->search};
	enum fleet_result why = FLEET_NONE;
	size_t round;

	if (!o->common.quiet)
		t.search.progress = tell;
	say_prefixes(x, o, l, exact_prefixes(o, l, &t));
	if (!search(p, &t, &x->s, &why)) {
		if (fleet != NULL)
			say_no_types(why);
		if (o->search.rules.schedule == GV_SCHEDULE_INTERLEAVED)
			say_no_chunks(o);
		say_no_plan(o, l, &x->s);
	}
	for (round = 0; !x->exact && round < ROUNDS && (step(p, &t, 1) || step(p, &t, 2));
	     round++)
		;
}
