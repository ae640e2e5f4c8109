/* What the tests of gv-alloc share: parts of random problems, and policies run on them. */
#ifndef ALLOC_HELP_H
#define ALLOC_HELP_H

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/problem/classes.h"
#include "alloc/program/multipliers.h"
#include "alloc/policy/policy.h"
#include "alloc/problem/problem.h"

static inline bool
near(double a, double b, double tol)
{
	return fabs(a - b) <= tol * fmax(fabs(a), fabs(b));
}

/* ---- problems ---- */

/* The paper's example: three jobs, two types of one GPU each. */
static inline struct gv_problem
paper_problem(void)
{
	static const double rate[] = {40, 10, 12, 4, 100, 50};
	struct gv_problem p;
	size_t i;

	gv_problem_alloc(&p, 3, 2);
	memcpy(p.rate, rate, sizeof(rate));
	for (i = 0; i < 3; i++)
		p.scale[i] = p.weight[i] = p.count[i] = 1;
	p.capacity[0] = p.capacity[1] = 1;
	return p;
}

/* Job to becomes one like job from, but for its place in the queue and its entity. */
static inline void
copy_job(struct gv_problem *p, size_t to, size_t from)
{
	size_t k;

	memcpy(&p->rate[to * p->m], &p->rate[from * p->m], p->m * sizeof(*p->rate));
	p->scale[to] = p->scale[from];
	p->weight[to] = p->weight[from];
	for (k = 0; k < GV_NUMBER_POSITION; k++)
		if (p->number[k] != NULL)
			p->number[k][to] = p->number[k][from];
}

/* A job without any rate gets one, on one GPU of some type. */
static inline void
make_runnable(struct gv_problem *p, size_t i)
{
	size_t j;

	for (j = 0; j < p->m; j++)
		if (p->rate[i * p->m + j] > 0)
			return;
	p->scale[i] = 1;
	p->rate[i * p->m + below(p->m)] = 1 + uniform();
}

/* Job i gets the numbers that the problem asks for; a need with that probability. */
static inline void
draw_numbers(struct gv_problem *p, size_t i, double with_need)
{
	if (p->number[GV_NUMBER_STEPS] != NULL)
		p->number[GV_NUMBER_STEPS][i] = uniform() < .1 ? 0 : exp(6 * uniform());
	if (p->number[GV_NUMBER_ELAPSED] != NULL)
		p->number[GV_NUMBER_ELAPSED][i] = 20 * uniform();
	if (p->number[GV_NUMBER_ISOLATED] != NULL)
		p->number[GV_NUMBER_ISOLATED][i] = 20 * uniform();
	if (p->number[GV_NUMBER_NEED] != NULL && uniform() < with_need &&
	    !(p->number[GV_NUMBER_STEPS] != NULL && p->number[GV_NUMBER_STEPS][i] == 0))
		p->number[GV_NUMBER_NEED][i] = .02 * uniform();
	if (p->number[GV_NUMBER_POSITION] != NULL)
		p->number[GV_NUMBER_POSITION][i] = (double)i;
}

/* ---- answers ---- */

/* The problem as the policy sees it: with the numbers it asks for; it owns nothing. */
static inline struct gv_problem
seen_by(const struct gv_policy *policy, const struct gv_problem *p)
{
	struct gv_problem q = *p;
	size_t k;

	for (k = 0; k < GV_N_NUMBERS; k++)
		if (!(policy->numbers >> k & 1))
			q.number[k] = NULL;
	return q;
}

/*
 * A gap is what is between the objective and the bound, a part of the larger, but for
 * rounding; where floors leave next to nothing it is a part of more.
 */
static inline void
check_gap(const struct gv_policy *policy, const struct gv_solution *s)
{
	double larger = fmax(fabs(s->objective), fabs(s->bound));

	if (s->has_bound && isfinite(s->bound) && isfinite(s->objective) &&
	    larger > 1e-2 && larger < 1e3 &&
	    !(fabs(s->gap - fabs(s->bound - s->objective) / larger) <= 1e-11))
		gv_die("%s: objective %.17g, bound %.17g, gap %g", policy->name,
		    s->objective, s->bound, s->gap);
}

/*
 * A policy's answer as a row a job: s->x [n][m] and s->late [n] (or NULL), to be
 * freed.  merge: equal jobs are one class.  Returns what the policy does.
 */
static inline int
answer(struct gv_solution *s, const struct gv_policy *policy, const struct gv_problem *p,
    const struct gv_policy_options *opt, bool merge, struct gv_error *e)
{
	struct gv_problem seen = seen_by(policy, p);
	struct gv_classes c;
	double *x;
	size_t i;
	int rc;

	*s = (struct gv_solution){0};
	gv_classes_make(&c, &seen, merge);
	s->x = x = gv_xcalloc(c.p.n, c.p.m * sizeof(*x));
	rc = policy->solve(&c.p, opt, s, e);
	if (rc == 0)
		check_gap(policy, s);
	s->x = gv_xcalloc(p->n, p->m * sizeof(*x));
	gv_classes_disaggregate(&c, p->n, x, s->x);
	if (s->late != NULL) {
		bool *late = gv_xcalloc(p->n, sizeof(*late));

		for (i = 0; i < p->n; i++)
			late[i] = s->late[c.of[i]];
		free(s->late);
		s->late = late;
	}
	free(s->pair); /* of classes; not asked for */
	s->pair = NULL;
	s->n_pairs = 0;
	free(x);
	gv_classes_free(&c);
	return rc;
}

/* The shares where there must be an answer; x is to be freed. */
static inline struct gv_solution
shares(const struct gv_policy *policy, const struct gv_problem *p,
    const struct gv_policy_options *opt, bool merge)
{
	struct gv_error e = {0};
	struct gv_solution s;

	if (answer(&s, policy, p, opt, merge, &e) != 0)
		gv_die_error(&e);
	free(s.late);
	s.late = NULL;
	return s;
}

/* The answer to the rows of p as they are, with multipliers; for solution_free. */
static inline struct gv_solution
solve_rows(
    const struct gv_policy *policy, const struct gv_problem *p, enum gv_solver solver)
{
	const struct gv_policy_options opt = {.solve.solver = solver};
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	struct gv_error e = {0};

	gv_multipliers_alloc(&s.multipliers, p->n, p->m);
	if (policy->solve(p, &opt, &s, &e) != 0)
		gv_die_error(&e);
	check_gap(policy, &s);
	return s;
}

static inline void
solution_free(struct gv_solution *s)
{
	free(s->x);
	free(s->late);
	gv_multipliers_free(&s->multipliers);
}

/* Tests each policy that is a program and has multipliers, where there are prices by them, too. */
static inline void
for_programs(void (*test)(const struct gv_policy *policy, enum gv_solver solver))
{
	test(&gv_policy_max_min, GV_SOLVER_AUTO);
	test(&gv_policy_max_min, GV_SOLVER_PRICE);
	test(&gv_policy_makespan, GV_SOLVER_AUTO);
	test(&gv_policy_finish_time, GV_SOLVER_AUTO);
	test(&gv_policy_max_sum, GV_SOLVER_AUTO);
	test(&gv_policy_max_sum, GV_SOLVER_PRICE);
	test(&gv_policy_min_cost, GV_SOLVER_AUTO);
	test(&gv_policy_per_dollar, GV_SOLVER_AUTO);
	test(&gv_policy_fifo, GV_SOLVER_AUTO);
}

#endif
