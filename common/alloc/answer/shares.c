#include "shares.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/problem/classes.h"
#include "alloc/program/multipliers.h"
#include "disaggregate.h"
#include "draw.h"
#include "lp/tolerance.h"

static const char too_far[] =
    "the numbers of this table are too far apart for double precision";

/* ---- the problem of a table ---- */

struct named {
	struct gv_cell id;
	size_t row;
};

static int
by_id(const void *a, const void *b)
{
	const struct named *x = a;
	const struct named *y = b;

	return strcmp(x->id.s, y->id.s);
}

/* The jobs of a->p in the order of their names. */
static void
rank_jobs(struct gv_answer *a, const struct gv_rates *r)
{
	struct named *job = gv_xcalloc(a->p.n, sizeof(*job));
	size_t i, n = 0;

	a->rank = gv_xcalloc(a->p.n, sizeof(*a->rank));
	for (i = 0; i < r->n_jobs; i++)
		if (a->row[i] != SIZE_MAX)
			job[n++] = (struct named){r->job[i].id, a->row[i]};
	qsort(job, n, sizeof(*job), by_id);
	for (i = 0; i < n; i++)
		a->rank[job[i].row] = i;
	free(job);
}

/* Jobs that wait for GPUs that are away. */
static void
find_later(struct gv_answer *a, const struct gv_rates *r, const struct gv_cluster *c)
{
	size_t i;

	a->later = gv_xcalloc(r->n_jobs + 1, sizeof(*a->later));
	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];

		if (a->row[rate->job] == SIZE_MAX && rate->type >= 0 && rate->with < 0 &&
		    rate->steps_per_s > GV_SMALLEST_RATE &&
		    (uint64_t)r->job[rate->job].scale_factor <=
			c->type[rate->type].gpus + c->type[rate->type].away)
			a->later[rate->job] = true;
	}
}

/* Who can share with whom, where the policy lets them. */
static int
find_pairs(struct gv_answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_answer_options *opt,
    struct gv_error *e)
{
	const struct gv_frame *f = &r->frame;
	size_t i = 0;

	while (i < r->n_rates && r->rate[i].with < 0)
		i++;
	if (i < r->n_rates && !policy->shares)
		return gv_frame_error(f, r->rate[i].row, gv_frame_find(f, "with_job_id"),
		    e, "policy %s gives no GPU to two jobs", policy->name);
	if (i == r->n_rates && opt->pairs == NULL)
		return 0;
	gv_pairs_find(&a->p, &a->together, opt->pairs, r, c, a->type, a->row);
	if (a->p.together != NULL)
		rank_jobs(a, r);
	return 0;
}

/* What is free counts as so small a part of the lowest price: steps per dollar stay finite. */
static const double next_to_free = 1e-6;

static void
price_free_types(struct gv_problem *p)
{
	double lowest = INFINITY;
	size_t j;

	for (j = 0; j < p->m; j++)
		if (p->price[j] > 0)
			lowest = fmin(lowest, p->price[j]);
	for (j = 0; j < p->m; j++)
		if (!(p->price[j] > 0))
			p->price[j] = isinf(lowest) ? 1 : lowest * next_to_free;
}

int
gv_answer_problem(struct gv_answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const struct gv_policy *policy,
    const struct gv_answer_options *opt, struct gv_error *e)
{
	unsigned numbers = policy->numbers;

	*a = (struct gv_answer){0};
	a->type = gv_xcalloc(c->n_types, sizeof(*a->type));
	a->row = gv_xcalloc(r->n_jobs, sizeof(*a->row));
	if (policy->entities && opt->policy.inside == GV_INSIDE_FIFO)
		numbers |= 1u << GV_NUMBER_POSITION;
	if (gv_problem_from_rates(&a->p, r, c, numbers, a->type, a->row, e) != 0)
		return -1;
	find_later(a, r, c);
	if (policy->prices)
		price_free_types(&a->p);
	a->p.budget = opt->budget;
	if (policy->entities && opt->policy.inside != GV_INSIDE_NONE &&
	    gv_frame_find(&r->frame, "entity") >= 0)
		gv_entities_number(&a->p, &a->tree, opt->entities, r, a->row);
	if (a->p.number[GV_NUMBER_DRAW] != NULL)
		gv_draw_order(&a->p, opt->seed, r, a->row);
	return find_pairs(a, r, c, policy, opt, e);
}

void
gv_answer_agnostic(struct gv_answer *a)
{
	const struct gv_problem *p = &a->p;

	gv_problem_agnostic(&a->p);
	if (p->together != NULL)
		gv_together_agnostic(
		    &a->together, p->reference != NULL ? p->reference : p->capacity);
}

/* ---- the shares ---- */

/* What each class was told of its deadline, for its jobs. */
static void
disaggregate_late(struct gv_answer *a, const struct gv_classes *c)
{
	bool *late = a->s.late;
	size_t i;

	if (late == NULL)
		return;
	a->s.late = gv_xcalloc(a->p.n, sizeof(*late));
	for (i = 0; i < a->p.n; i++)
		a->s.late[i] = late[c->of[i]];
	free(late);
}

/* The multipliers of the classes, for their jobs. */
static void
disaggregate_multipliers(struct gv_answer *a, const struct gv_classes *c)
{
	struct gv_multipliers *to = &a->s.multipliers;
	struct gv_multipliers of = *to;
	size_t i;

	if (of.job == NULL)
		return;
	to->job = gv_xcalloc(a->p.n, sizeof(*to->job));
	to->time = gv_xcalloc(a->p.n, sizeof(*to->time));
	for (i = 0; i < a->p.n; i++) {
		to->job[i] = of.job[c->of[i]];
		to->time[i] = of.time[c->of[i]];
	}
	free(of.job);
	free(of.time);
}

/* The pairs of the classes, for pairs of their jobs. */
static void
disaggregate_shared(struct gv_answer *a, const struct gv_classes *c)
{
	struct gv_pair *pair = a->s.pair;

	if (a->p.together == NULL)
		return;
	a->s.pair =
	    gv_disaggregate_pairs(c, a->p.n, a->rank, pair, a->s.n_pairs, &a->s.n_pairs);
	free(pair);
}

/* Tables have finite numbers: what a program has that is not is made of them. */
static void
say_too_far(struct gv_error *e)
{
	static const char invalid[] = "linear program: ";

	if (e->count == 0 || strncmp(e->text[0], invalid, sizeof(invalid) - 1) != 0)
		return;
	gv_error_clear(e);
	gv_error_set(e, "%s", too_far);
}

/* Are equal jobs one row?  Only a solver can be asked to look at each by itself. */
static bool
merges(const struct gv_policy *policy, const struct gv_answer_options *opt)
{
	return opt->policy.solve.solver != GV_SOLVER_GLPK ||
	       policy->measure == GV_MEASURE_NONE;
}

int
gv_answer_solve(struct gv_answer *a, const struct gv_policy *policy,
    const struct gv_answer_options *opt, struct gv_error *e)
{
	struct gv_classes c;
	double *x;
	double excess;
	int rc;

	gv_classes_make(&c, &a->p, merges(policy, opt));
	a->n_classes = c.p.n;
	x = gv_xcalloc(c.p.n, c.p.m * sizeof(*x));
	a->s.x = x;
	if (opt->multipliers)
		gv_multipliers_alloc(&a->s.multipliers, c.p.n, c.p.m);
	rc = policy->solve(&c.p, &opt->policy, &a->s, e);
	if (rc == -1)
		say_too_far(e);
	if (rc == 0)
		gv_problem_trim(&c.p, x);
	a->s.x = gv_xcalloc(a->p.n, a->p.m * sizeof(*x));
	gv_classes_disaggregate(&c, a->p.n, x, a->s.x);
	disaggregate_shared(a, &c);
	if (rc == 0 && a->p.together != NULL)
		gv_solution_trim(&a->p, &a->s);
	disaggregate_late(a, &c);
	disaggregate_multipliers(a, &c);
	gv_classes_free(&c);
	free(x);
	a->impossible = rc == 1;
	if (rc != 0)
		return rc == 1 ? 0 : -1;
	excess = gv_solution_excess(&a->p, &a->s);
	if (!(excess <= GV_TOL_FEASIBLE) ||
	    !(isfinite(a->s.objective) || (isinf(a->s.objective) && a->s.late != NULL)) ||
	    (a->s.has_bound && !isfinite(a->s.bound)) ||
	    (a->s.objective <= 0 && !(a->s.has_bound && a->s.bound == 0) &&
		!(a->s.objective == 0 &&
		    (a->s.late != NULL ||
			a->p.tree != NULL)))) /* needs and quotas may leave nothing */
		return gv_error_set(e, "%s", too_far);
	return 0;
}

void
gv_answer_free(struct gv_answer *a)
{
	gv_problem_free(&a->p);
	gv_together_free(&a->together);
	gv_tree_free(&a->tree);
	free(a->rank);
	free(a->type);
	free(a->row);
	free(a->later);
	free(a->s.x);
	free(a->s.pair);
	free(a->s.late);
	gv_multipliers_free(&a->s.multipliers);
	*a = (struct gv_answer){0};
}
