#include "placed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "domain.h"
#include "lp/tolerance.h"

/* Rows of throughput and demand in numbers of about 1; returns the level that t = 1 is. */
static double
scale_levels(
    const struct gv_problem *p, const double *a, double *throughput, double *demand)
{
	double unit = INFINITY;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double most = gv_domain_largest(&a[i * p->m], p->m);

		unit = fmin(unit, most);
		demand[i] = 1 / most;
		for (j = 0; j < p->m; j++)
			throughput[i * p->m + j] = a[i * p->m + j] / most / p->count[i];
	}
	for (i = 0; i < p->n; i++)
		demand[i] *= unit;
	return unit;
}

/* The second stage: the largest sum of s_i thr_i / P_i at the level found. */
static int
second_stage_level(struct gv_domain *w, const double *a,
    const struct gv_placement_program *first, const char *name, struct gv_solution *s,
    struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	size_t cells = p->n * p->m;
	double *normal = gv_linear_normalised(p);
	double *second =
	    gv_domain_scaled(normal, cells, gv_domain_largest(normal, cells));
	double *lower = gv_xcalloc(p->n, sizeof(*lower));
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	struct gv_placement_program g;
	size_t i, k;
	int rc = 1;

	gv_placement_program_init(&g, p);
	g.tolerance = GV_TOL_HULL_SECOND; /* what it proves is not said */
	GV_HOLDS(cells > 0);              /* a program has jobs and types */
	g.exact = 2 + GV_MOST_EXACT / cells;
	g.effort = GV_SECOND_EFFORT;
	g.gain = second;
	g.throughput = first->throughput;
	g.lower = lower;
	for (k = 0; k < 2 && rc == 1; k++) {
		for (i = 0; i < p->n; i++)
			lower[i] =
			    first->demand[i] * first->value * (1 - gv_domain_slack[k]);
		rc = gv_domain_solve(w, &g, name, e);
	}
	if (rc == 0) {
		gv_domain_shares(p, g.mean, x);
		if (gv_level_reached(p, a, x) >=
		    s->objective * (1 - 2 * gv_domain_slack[1])) {
			memcpy(s->x, x, cells * sizeof(*x));
			s->objective = gv_level_reached(p, a, x);
		}
	}
	gv_placement_program_free(&g);
	free(normal);
	free(second);
	free(lower);
	free(x);
	return rc < 0 ? -1 : 0;
}

/*
 * The shares found, and the better one of two bounds: t <= (L + b B) / sum_i dual_i demand_i
 * of the program here, and that of the relaxed one.
 */
static void
set_level(struct gv_level *l, const struct gv_domain *w, const double *a,
    const struct gv_placement_program *g, double unit, const struct gv_level *relaxed)
{
	const struct gv_problem *p = w->p;
	struct gv_solution *s = l->s;
	double sum = 0, all = 0;
	size_t i;

	gv_domain_shares(p, g->mean, s->x);
	s->objective = gv_level_reached(p, a, s->x);
	for (i = 0; i < p->n; i++) {
		sum += g->dual[i] * g->demand[i];
		all += relaxed->lambda[i];
		l->lambda[i] = g->dual[i] * g->demand[i] / unit;
	}
	l->limit = g->lagrangian_max + g->budget_dual * g->budget;
	l->budget = g->budget_dual / w->unit;
	s->bound = unit * (l->limit / sum);
	memcpy(l->price, g->price, p->m * sizeof(*l->price));
	if (!(s->bound < relaxed->s->bound)) {
		s->bound = relaxed->s->bound;
		l->limit = relaxed->s->bound * all;
		l->budget = relaxed->budget;
		memcpy(l->price, relaxed->price, p->m * sizeof(*l->price));
		memcpy(l->lambda, relaxed->lambda, p->n * sizeof(*l->lambda));
	}
	s->has_bound = true;
}

static int
solve_level(struct gv_domain *w, const double *a, const char *name,
    const struct gv_level *relaxed, struct gv_level *l, struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	double *throughput = gv_xcalloc(p->n, p->m * sizeof(*throughput));
	double *demand = gv_xcalloc(p->n, sizeof(*demand));
	double unit = scale_levels(p, a, throughput, demand);
	struct gv_solution *s = l->s;
	struct gv_placement_program g;
	int rc;

	gv_placement_program_init(&g, p);
	g.level = true;
	g.throughput = throughput;
	g.demand = demand;
	g.target = relaxed->s->objective / unit * (1 - GV_TOL_RELAXED);
	g.effort = GV_FIRST_EFFORT;
	g.progress = w->progress;
	rc = gv_domain_solve(w, &g, name, e);
	if (rc == 0) {
		set_level(l, w, a, &g, unit, relaxed);
		if (l->lexicographic)
			rc = second_stage_level(w, a, &g, name, s, e);
		s->gap = (s->bound - s->objective) / s->bound;
	}
	gv_placement_program_free(&g);
	free(throughput);
	free(demand);
	return rc;
}

int
gv_placed_level(const struct gv_problem *p, const double *a, bool placeable,
    void (*progress)(double part), const struct gv_level *relaxed, const char *name,
    struct gv_level *l, struct gv_error *e)
{
	struct gv_domain w;
	int rc;

	gv_domain_init(&w, p, placeable);
	w.progress = progress;
	gv_domain_seed(&w, relaxed->s->x);
	rc = solve_level(&w, a, name, relaxed, l, e);
	gv_domain_free(&w);
	return rc;
}
