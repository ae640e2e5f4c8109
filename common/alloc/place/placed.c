#include "placed.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hull.h"
#include "lp/tolerance.h"

enum { MAX_ROUNDS = 1000 }; /* to start with */

/*
 * What a second stage may take, about a second: best placements, times cells, and rows
 * squared times columns of masters.  Hundreds of placements bring the last thousandth.
 */
enum { MOST_EXACT = 2000 };

static const double most_second_effort = 1e9;

/* And a first stage, some seconds, after which what is missing is said. */
static const double most_first_effort = 5e9;

/* The best face may be too thin for the simplex method: then this part less will do. */
static const double slack[] = {0, GV_TOL_LESS_2};

/* The set P that a program is over (placement_program.h). */
struct domain {
	const struct gv_problem *p;
	struct gv_hull *hull; /* NULL = fractional placements */
	struct gv_hull own_hull;
	double *cost; /* [n][m] of a job, in units of dollars; NULL = none */
	void (*progress)(double part); /* of first stages */
	double unit;                   /* a power of two about as large as the budget */
};

static void
domain_init(struct domain *w, const struct gv_problem *p, bool placeable)
{
	size_t i, j;

	*w = (struct domain){.p = p, .unit = 1};
	if (placeable) {
		w->hull = &w->own_hull;
		gv_hull_init(w->hull, p);
	}
	if (p->budget == 0)
		return;
	w->unit = ldexp(1, ilogb(p->budget));
	w->cost = gv_xcalloc(p->n, p->m * sizeof(*w->cost));
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			w->cost[i * p->m + j] = p->scale[i] * p->price[j] / w->unit;
}

static void
domain_free(struct domain *w)
{
	if (w->hull != NULL)
		gv_hull_free(w->hull);
	free(w->cost);
}

static int
solve(struct domain *w, struct gv_placement_program *g, const char *name,
    struct gv_error *e)
{
	g->cost = w->cost;
	g->budget = w->p->budget / w->unit;
	return w->hull != NULL ? gv_hull_solve(w->hull, g, name, e)
			       : gv_placement_program_solve(g, name, e);
}

/* Initial columns: rounds towards shares x, two for each row of the programs. */
static void
seed_columns(struct domain *w, const double *x)
{
	size_t cells = w->p->n * w->p->m;

	if (w->hull != NULL)
		gv_hull_add_rounds(
		    w->hull, x, 2 * cells < MAX_ROUNDS ? 2 * cells : MAX_ROUNDS);
}

/* x_ij = n_ij / n_i: the jobs of a class take turns. */
static void
set_shares(const struct gv_problem *p, const double *mean, double *x)
{
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			x[i * p->m + j] = mean[i * p->m + j] / p->count[i];
	gv_problem_clean(p, x);
}

static double
largest(const double *v, size_t n)
{
	double most = 0;
	size_t i;

	for (i = 0; i < n; i++)
		most = fmax(most, fabs(v[i]));
	return most;
}

/* v / by: numbers of at most 1.  The caller's. */
static double *
scaled(const double *v, size_t n, double by)
{
	double *to = gv_xcalloc(n, sizeof(*to));
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = v[i] / by;
	return to;
}

/* ---- levels ---- */

/* Rows of throughput and demand in numbers of about 1; returns the level that t = 1 is. */
static double
scale_levels(
    const struct gv_problem *p, const double *a, double *throughput, double *demand)
{
	double unit = INFINITY;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double most = largest(&a[i * p->m], p->m);

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
second_stage_level(struct domain *w, const double *a,
    const struct gv_placement_program *first, const char *name, struct gv_solution *s,
    struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	size_t cells = p->n * p->m;
	double *normal = gv_linear_normalised(p);
	double *second = scaled(normal, cells, largest(normal, cells));
	double *lower = gv_xcalloc(p->n, sizeof(*lower));
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	struct gv_placement_program g;
	size_t i, k;
	int rc = 1;

	gv_placement_program_init(&g, p);
	g.tolerance = GV_TOL_HULL_SECOND; /* what it proves is not said */
	GV_HOLDS(cells > 0);              /* a program has jobs and types */
	g.exact = 2 + MOST_EXACT / cells;
	g.effort = most_second_effort;
	g.gain = second;
	g.throughput = first->throughput;
	g.lower = lower;
	for (k = 0; k < 2 && rc == 1; k++) {
		for (i = 0; i < p->n; i++)
			lower[i] = first->demand[i] * first->value * (1 - slack[k]);
		rc = solve(w, &g, name, e);
	}
	if (rc == 0) {
		set_shares(p, g.mean, x);
		if (gv_level_reached(p, a, x) >= s->objective * (1 - 2 * slack[1])) {
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
set_level(struct gv_level *l, const struct domain *w, const double *a,
    const struct gv_placement_program *g, double unit, const struct gv_level *relaxed)
{
	const struct gv_problem *p = w->p;
	struct gv_solution *s = l->s;
	double sum = 0, all = 0;
	size_t i;

	set_shares(p, g->mean, s->x);
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
solve_level(struct domain *w, const double *a, const char *name,
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
	g.effort = most_first_effort;
	g.progress = w->progress;
	rc = solve(w, &g, name, e);
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
	struct domain w;
	int rc;

	domain_init(&w, p, placeable);
	w.progress = progress;
	seed_columns(&w, relaxed->s->x);
	rc = solve_level(&w, a, name, relaxed, l, e);
	domain_free(&w);
	return rc;
}

/* ---- sums ---- */

/* Into throughput and lower: the needs, in numbers of about 1. */
static void
scale_needs(const struct gv_linear *l, double *throughput, double *lower)
{
	const struct gv_problem *p = l->p;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		if (l->need == NULL || !(l->need[i] > 0))
			continue;
		lower[i] = 1 - slack[1];
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
phase_one(struct domain *w, const double *throughput, const double *lower,
    const char *name, struct gv_error *e)
{
	struct gv_placement_program g;
	int rc;

	if (w->hull == NULL || largest(lower, w->p->n) == 0)
		return 0;
	gv_placement_program_init(&g, w->p);
	g.level = true;
	g.sure = true; /* what cannot be is not for lack of effort */
	g.throughput = throughput;
	g.demand = lower;
	rc = solve(w, &g, name, e);
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
second_stage_sum(struct domain *w, const struct gv_linear *l,
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
	second = scaled(l->second, cells, largest(l->second, cells));
	x = gv_xcalloc(p->n, p->m * sizeof(*x));
	gv_placement_program_init(&g, p);
	g.tolerance = GV_TOL_HULL_SECOND; /* what it proves is not said */
	GV_HOLDS(cells > 0);              /* a program has jobs and types */
	g.exact = 2 + MOST_EXACT / cells;
	g.effort = most_second_effort;
	g.gain = second;
	g.throughput = first->throughput;
	g.lower = first->lower;
	g.first = first->gain;
	for (k = 0; k < 2 && rc == 1; k++) {
		g.first_value = first->value - slack[k] * size;
		rc = solve(w, &g, name, e);
	}
	if (rc == 0) {
		set_shares(p, g.mean, x);
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
set_sum(struct gv_linear *l, const struct domain *w, const struct gv_placement_program *g,
    double unit, const struct gv_solution *relaxed)
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
	set_shares(p, g->mean, s->x);
	s->bound = fmin(unit * (g->lagrangian_max + g->budget_dual * g->budget - needs),
	    relaxed->bound);
	s->has_bound = true;
}

static int
solve_linear(struct domain *w, struct gv_linear *l, const struct gv_solution *relaxed,
    const char *name, struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	size_t cells = p->n * p->m;
	double most = largest(l->size != NULL ? l->size : l->gain, cells);
	double unit = most > 0 ? most : 1;
	double *gain = scaled(l->gain, cells, unit);
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
	g.effort = most_first_effort;
	g.progress = w->progress;
	rc = phase_one(w, throughput, lower, name, e);
	if (rc == 0)
		rc = solve(w, &g, name, e);
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
	struct domain w;
	int rc;

	domain_init(&w, l->p, placeable);
	w.progress = progress;
	seed_columns(&w, relaxed->x);
	rc = solve_linear(&w, l, relaxed, name, e);
	domain_free(&w);
	return rc;
}

/* ---- --dump-lp ---- */

void
gv_placed_add_budget(
    const struct gv_problem *p, struct gv_lp *lp, const struct gv_lp_names *names)
{
	size_t col, row;

	if (p->budget == 0)
		return;
	row = gv_lp_add_row(lp, -INFINITY, p->budget);
	for (col = 0; col < lp->n_cols; col++) {
		char name[GV_LP_NAME_LEN];
		char *end;
		size_t i, j;

		names->col(names->ctx, col, name);
		if (strcmp(name, "u") == 0) {
			gv_lp_set(lp, row, col, -p->budget);
			lp->row_hi[row] = 0;
		}
		if (name[0] == '\0' || name[1] != '(') /* no x(i,j) or y(i,j) */
			continue;
		i = strtoul(name + 2, &end, 10) - 1;
		j = strtoul(end + 1, NULL, 10) - 1;
		gv_lp_set(lp, row, col, p->count[i] * p->scale[i] * p->price[j]);
	}
}
