#include "layers_run.h"

#include <math.h>
#include <stdio.h>

#include "base/err.h"
#include "gv-partition/fleet/fleet.h"
#include "gv-partition/placed/placed.h"
#include "gv-partition/refine/refine.h"
#include "gv-partition/schedule/interleave.h"
#include "say.h"

static char units[64] = "prefixes";

static void
tell(size_t done, size_t of)
{
	say_progress(done, of, units);
}

static void
tell_round(size_t round, size_t most)
{
	snprintf(
	    units, sizeof(units), "prefixes, search %zu of at most %zu", round, most);
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

static bool
find(void *ctx, struct gv_plan *p, const struct ideals *s)
{
	enum fleet_result why;

	return search(p, ctx, s, &why);
}

static int
cost(void *ctx, struct plan_report *r, const struct gv_plan *p)
{
	const struct task *t = ctx;
	struct gv_error ignored = {0};

	return layers_cost(r, t->o, t->l, p, &ignored);
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

/*
 * Prefixes of a search to begin with: where it takes far longer than on one level, few,
 * and plans near the one it finds soon are as good.
 */
static size_t
first_prefixes(const struct task *t)
{
	enum { FEW = 512 };
	const struct options *o = t->o;
	bool slow = (o->machine.n_levels > 1 && o->search.rules.memory > 0) ||
		    o->placed.n_levels > 0 || t->fleet != NULL ||
		    o->search.rules.schedule == GV_SCHEDULE_INTERLEAVED;

	return slow && !o->prefixes_said ? FEW : o->prefixes;
}

/*
 * The plan to begin with, between prefixes into *x; false when there is none between any
 * that may be looked at.
 */
static bool
first_plan(
    struct gv_plan *p, const struct task *t, struct prefixes *x, enum fleet_result *why)
{
	const struct options *o = t->o;
	size_t limit = first_prefixes(t);

	say_prefixes(x, o, t->l, limit, exact_prefixes(o, t->l, t));
	if (search(p, t, &x->s, why))
		return true;
	if (x->exact || limit == o->prefixes)
		return false;
	prefixes_free(x);
	prefixes_make(x, &t->l->g, o->cut, o->prefixes, o->prefixes);
	return search(p, t, &x->s, why);
}

static struct refining
refining_of(struct task *t)
{
	return (struct refining){.g = &t->l->g,
	    .cut = t->o->cut,
	    .limit = first_prefixes(t),
	    .find = find,
	    .cost = cost,
	    .ctx = t,
	    .progress = t->o->common.quiet ? NULL : tell_round};
}

/*
 * Also from the plan that --cut=upstream gives, so that none is worse than that.  All its
 * cuts are among those looked at already where these are few.
 */
static void
refine_twice(struct gv_plan *p, const struct task *t, const struct refining *how)
{
	struct options o = *t->o;
	struct task published = *t;
	enum fleet_result why;
	struct gv_plan q = {0};
	struct prefixes x;

	o.cut = IDEALS_UPSTREAM;
	o.common.quiet = true;
	published.o = &o;
	if (first_plan(&q, &published, &x, &why) && !x.exact)
		refine_second(p, &q, how);
	gv_plan_free(&q);
	prefixes_free(&x);
}

void
layers_run(struct gv_plan *p, const struct options *o, const struct gv_layers *l,
    struct prefixes *x, const struct gv_fleet *fleet)
{
	struct task t = {o, l, fleet, o->search};
	const struct refining how = refining_of(&t);
	enum fleet_result why = FLEET_NONE;

	if (!o->common.quiet)
		t.search.progress = tell;
	if (!first_plan(p, &t, x, &why)) {
		if (fleet != NULL)
			say_no_types(why);
		if (o->search.rules.schedule == GV_SCHEDULE_INTERLEAVED)
			say_no_chunks(o);
		say_no_plan(o, l, &x->s);
	}
	/* PipeDream's program has no more than its cuts */
	if (x->exact || o->cut == IDEALS_UPSTREAM)
		return;
	refine(p, &how);
	if (!o->search.rules.free_transfers)
		refine_twice(p, &t, &how);
}
