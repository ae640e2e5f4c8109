#include "placed.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "domain.h"
#include "lp/tolerance.h"

/* Into throughput and lower: the needs, in numbers of about 1. */
static void
scale_needs(const struct gv_linear *l, double *throughput, double *lower)
{
	const struct gv_problem *p = l->p;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		if (l->need == NULL || !(l->need[i] > 0))
			continue;
		lower[i] = 1 - gv_domain_slack[1];
		for (j = 0; j < p->m; j++)
			throughput[i * p->m + j] =
			    gv_problem_rate(p, i, j) / l->need[i] / p->count[i];
	}
}

/*
 * Phase one: columns until some mixture meets all needs, as a program of levels whose t = 1
 * is all of them.
 */
static int
phase_one(struct gv_domain *w, const double *throughput, const double *lower,
    const char *name, struct gv_error *e)
{
	struct gv_placement_program g;
	int rc;

	if (w->hull == NULL || gv_domain_largest(lower, w->p->n) == 0)
		return 0;
	gv_placement_program_init(&g, w->p);
	g.level = true;
	g.sure = true; /* what cannot be is not for lack of effort */
	g.throughput = throughput;
	g.demand = lower;
	rc = gv_domain_solve(w, &g, name, e);
	gv_placement_program_free(&g);
	return rc;
}

static double
sum_of(const struct gv_problem *p, const double *gain, const double *x)
{
	double sum = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			sum += p->count[i] * (gain[i * p->m + j] * x[i * p->m + j]);
	return sum;
}

/* The second stage: the largest second sum at the best first one, into l->s. */
static int
second_stage_sum(struct gv_domain *w, const struct gv_linear *l,
    const struct gv_placement_program *first, const char *name, struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	size_t cells = p->n * p->m;
	/* sums of differences are about 0, and only as sure as what they are made of */
	double size = fmax(l->size != NULL, fabs(first->value));
	double *second, *x;
	struct gv_placement_program g;
	size_t k;
	int rc = 1;

	if (l->second == NULL)
		return 0;
	second = gv_domain_scaled(l->second, cells, gv_domain_largest(l->second, cells));
	x = gv_xcalloc(p->n, p->m * sizeof(*x));
	gv_placement_program_init(&g, p);
	g.tolerance = GV_TOL_HULL_SECOND; /* what it proves is not said */
	GV_HOLDS(cells > 0);              /* a program has jobs and types */
	g.exact = 2 + GV_MOST_EXACT / cells;
	g.effort = GV_SECOND_EFFORT;
	g.gain = second;
	g.throughput = first->throughput;
	g.lower = first->lower;
	g.first = first->gain;
	for (k = 0; k < 2 && rc == 1; k++) {
		g.first_value = first->value - gv_domain_slack[k] * size;
		rc = gv_domain_solve(w, &g, name, e);
	}
	if (rc == 0) {
		gv_domain_shares(p, g.mean, x);
		if (sum_of(p, first->gain, x) >= first->value - GV_TOL_LESS_3 * size)
			memcpy(l->s->x, x, cells * sizeof(*x));
	}
	gv_placement_program_free(&g);
	free(second);
	free(x);
	return rc < 0 ? -1 : 0;
}

/* The shares of g, whose gains are l's divided by unit; the bound is the better one of both. */
static void
set_sum(struct gv_linear *l, const struct gv_domain *w,
    const struct gv_placement_program *g, double unit, const struct gv_solution *relaxed)
{
	const struct gv_problem *p = l->p;
	struct gv_solution *s = l->s;
	double needs = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		l->mu[i] = l->need != NULL && l->need[i] > 0
			       ? unit * g->dual[i] / (l->need[i] * p->count[i])
			       : 0;
		needs += g->dual[i] * g->lower[i];
	}
	for (j = 0; j < p->m; j++)
		l->price[j] = unit * g->price[j];
	l->budget = unit * g->budget_dual / w->unit;
	gv_domain_shares(p, g->mean, s->x);
	s->bound = fmin(unit * (g->lagrangian_max + g->budget_dual * g->budget - needs),
	    relaxed->bound);
	s->has_bound = true;
}

static int
solve_linear(struct gv_domain *w, struct gv_linear *l, const struct gv_solution *relaxed,
    const char *name, struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	size_t cells = p->n * p->m;
	double most = gv_domain_largest(l->size != NULL ? l->size : l->gain, cells);
	double unit = most > 0 ? most : 1;
	double *gain = gv_domain_scaled(l->gain, cells, unit);
	double *throughput = gv_xcalloc(p->n, p->m * sizeof(*throughput));
	double *lower = gv_xcalloc(p->n, sizeof(*lower));
	struct gv_solution *s = l->s;
	struct gv_placement_program g;
	int rc;

	scale_needs(l, throughput, lower);
	gv_placement_program_init(&g, p);
	g.gain = gain;
	g.throughput = throughput;
	g.lower = lower;
	g.target = relaxed->objective / unit;
	g.target -= GV_TOL_RELAXED * fmax(1, fabs(g.target));
	g.effort = GV_FIRST_EFFORT;
	g.progress = w->progress;
	rc = phase_one(w, throughput, lower, name, e);
	if (rc == 0)
		rc = gv_domain_solve(w, &g, name, e);
	if (rc == 1)
		rc = gv_error_set(e, "the linear program of %s: %s", name,
		    gv_lp_status_name(GV_LP_INFEASIBLE));
	if (rc == 0) {
		set_sum(l, w, &g, unit, relaxed);
		rc = second_stage_sum(w, l, &g, name, e);
		s->objective = sum_of(p, l->gain, s->x);
		s->gap = (s->bound - s->objective) / fmax(fabs(s->bound), DBL_MIN);
	}
	gv_placement_program_free(&g);
	free(gain);
	free(throughput);
	free(lower);
	return rc;
}

int
gv_placed_linear(struct gv_linear *l, bool placeable, void (*progress)(double part),
    const struct gv_solution *relaxed, const char *name, struct gv_error *e)
{
	struct gv_domain w;
	int rc;

	gv_domain_init(&w, l->p, placeable);
	w.progress = progress;
	gv_domain_seed(&w, relaxed->x);
	rc = solve_linear(&w, l, relaxed, name, e);
	gv_domain_free(&w);
	return rc;
}
