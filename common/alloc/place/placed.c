#include "placed.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hull.h"
#include "lp/tolerance.h"

enum { MOST_ROUNDS = 1000 }; /* to start with */

/* What keeps the best may be too thin a set: then a hair less will do, relative. */
static const double hair[] = {0, GV_TOL_LESS_2};

/* The points that a program is over. */
struct points {
	const struct gv_problem *p;
	struct gv_hull *hull; /* NULL = all that GPUs and time allow */
	struct gv_hull room;
	double *cost; /* [n][m] of a job, in units of dollars; NULL = none */
	double unit;  /* a power of two about as large as the budget */
};

static void
points_init(struct points *w, const struct gv_problem *p, bool placeable)
{
	size_t i, j;

	*w = (struct points){.p = p, .unit = 1};
	if (placeable) {
		w->hull = &w->room;
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
points_free(struct points *w)
{
	if (w->hull != NULL)
		gv_hull_free(w->hull);
	free(w->cost);
}

static int
solve(struct points *w, struct gv_mean_program *g, const char *name, struct gv_error *e)
{
	g->cost = w->cost;
	g->budget = w->p->budget / w->unit;
	return w->hull != NULL ? gv_hull_solve(w->hull, g, name, e)
			       : gv_mean_program_solve(g, name, e);
}

/* A good start: rounds that follow shares x, two for each row of the programs. */
static void
follow(struct points *w, const double *x)
{
	size_t cells = w->p->n * w->p->m;

	if (w->hull != NULL)
		gv_hull_follow(
		    w->hull, x, 2 * cells < MOST_ROUNDS ? 2 * cells : MOST_ROUNDS);
}

/* The jobs of a class take turns. */
static void
take_shares(const struct gv_problem *p, const double *mean, double *x)
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

/* Rows of rise and ask in numbers of about 1; returns the level that t = 1 is. */
static double
scale(const struct gv_problem *p, const double *a, double *rise, double *ask)
{
	double unit = INFINITY;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double most = largest(&a[i * p->m], p->m);

		unit = fmin(unit, most);
		ask[i] = 1 / most;
		for (j = 0; j < p->m; j++)
			rise[i * p->m + j] = a[i * p->m + j] / most / p->count[i];
	}
	for (i = 0; i < p->n; i++)
		ask[i] *= unit;
	return unit;
}

/* Keeps the level found, and raises the sum of s_i thr_i / P_i. */
static int
raise_level(struct points *w, const double *a, const struct gv_mean_program *first,
    const char *name, struct gv_solution *s, struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	size_t cells = p->n * p->m;
	double *normal = gv_linear_normalised(p);
	double *second = scaled(normal, cells, largest(normal, cells));
	double *least = gv_xcalloc(p->n, sizeof(*least));
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	struct gv_mean_program g;
	size_t i, k;
	int rc = 1;

	gv_mean_program_init(&g, p);
	g.close = GV_TOL_HULL_SECOND; /* what it proves is not said */
	g.gain = second;
	g.rise = first->rise;
	g.least = least;
	for (k = 0; k < 2 && rc == 1; k++) {
		for (i = 0; i < p->n; i++)
			least[i] = first->ask[i] * first->value * (1 - hair[k]);
		rc = solve(w, &g, name, e);
	}
	if (rc == 0) {
		take_shares(p, g.mean, x);
		if (gv_level_reached(p, a, x) >= s->objective * (1 - 2 * hair[1])) {
			memcpy(s->x, x, cells * sizeof(*x));
			s->objective = gv_level_reached(p, a, x);
		}
	}
	gv_mean_program_free(&g);
	free(normal);
	free(second);
	free(least);
	free(x);
	return rc < 0 ? -1 : 0;
}

/* The shares found, and the better one of both proofs. */
static void
take_level(struct gv_level *l, const struct points *w, const double *a,
    const struct gv_mean_program *g, double unit, const struct gv_level *relaxed)
{
	const struct gv_problem *p = w->p;
	struct gv_solution *s = l->s;
	double sum = 0, all = 0;
	size_t i;

	take_shares(p, g->mean, s->x);
	s->objective = gv_level_reached(p, a, s->x);
	for (i = 0; i < p->n; i++) {
		sum += g->dual[i] * g->ask[i];
		all += relaxed->lambda[i];
		l->lambda[i] = g->dual[i] * g->ask[i] / unit;
	}
	l->limit = g->most + g->cost_dual * g->budget;
	l->budget = g->cost_dual / w->unit;
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
solve_level(struct points *w, const double *a, const char *name,
    const struct gv_level *relaxed, struct gv_level *l, struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	double *rise = gv_xcalloc(p->n, p->m * sizeof(*rise));
	double *ask = gv_xcalloc(p->n, sizeof(*ask));
	double unit = scale(p, a, rise, ask);
	struct gv_solution *s = l->s;
	struct gv_mean_program g;
	int rc;

	gv_mean_program_init(&g, p);
	g.level = true;
	g.rise = rise;
	g.ask = ask;
	g.enough = relaxed->s->objective / unit * (1 - GV_TOL_RELAXED);
	rc = solve(w, &g, name, e);
	if (rc == 0) {
		take_level(l, w, a, &g, unit, relaxed);
		if (l->raise)
			rc = raise_level(w, a, &g, name, s, e);
		s->gap = (s->bound - s->objective) / s->bound;
	}
	gv_mean_program_free(&g);
	free(rise);
	free(ask);
	return rc;
}

int
gv_placed_level(const struct gv_problem *p, const double *a, bool placeable,
    const struct gv_level *relaxed, const char *name, struct gv_level *l,
    struct gv_error *e)
{
	struct points w;
	int rc;

	points_init(&w, p, placeable);
	follow(&w, relaxed->s->x);
	rc = solve_level(&w, a, name, relaxed, l, e);
	points_free(&w);
	return rc;
}

/* ---- sums ---- */

/* Into rise and least: the needs, in numbers of about 1. */
static void
scale_needs(const struct gv_linear *l, double *rise, double *least)
{
	const struct gv_problem *p = l->p;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		if (l->need == NULL || !(l->need[i] > 0))
			continue;
		least[i] = 1 - hair[1];
		for (j = 0; j < p->m; j++)
			rise[i * p->m + j] =
			    gv_problem_rate(p, i, j) / l->need[i] / p->count[i];
	}
}

/* Placements that a mixture of which meets all needs. */
static int
meet_needs(struct points *w, const double *rise, const double *least, const char *name,
    struct gv_error *e)
{
	struct gv_mean_program g;
	int rc;

	if (w->hull == NULL || largest(least, w->p->n) == 0)
		return 0;
	gv_mean_program_init(&g, w->p);
	g.level = true;
	g.rise = rise;
	g.ask = least;
	rc = solve(w, &g, name, e);
	gv_mean_program_free(&g);
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

/* The second sum among those of the best first, into l->s. */
static int
raise_sum(struct points *w, const struct gv_linear *l,
    const struct gv_mean_program *first, const char *name, struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	size_t cells = p->n * p->m;
	/* sums of differences are about 0, and only as sure as what they are made of */
	double room = fmax(l->size != NULL, fabs(first->value));
	double *second, *x;
	struct gv_mean_program g;
	size_t k;
	int rc = 1;

	if (l->second == NULL)
		return 0;
	second = scaled(l->second, cells, largest(l->second, cells));
	x = gv_xcalloc(p->n, p->m * sizeof(*x));
	gv_mean_program_init(&g, p);
	g.close = GV_TOL_HULL_SECOND; /* what it proves is not said */
	g.gain = second;
	g.rise = first->rise;
	g.least = first->least;
	g.keep = first->gain;
	for (k = 0; k < 2 && rc == 1; k++) {
		g.at_least = first->value - hair[k] * room;
		rc = solve(w, &g, name, e);
	}
	if (rc == 0) {
		take_shares(p, g.mean, x);
		if (sum_of(p, first->gain, x) >= first->value - GV_TOL_LESS_3 * room)
			memcpy(l->s->x, x, cells * sizeof(*x));
	}
	gv_mean_program_free(&g);
	free(second);
	free(x);
	return rc < 0 ? -1 : 0;
}

/* The shares of g, whose gains are l's divided by unit; the bound is the better one of both. */
static void
take_sum(struct gv_linear *l, const struct points *w, const struct gv_mean_program *g,
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
		needs += g->dual[i] * g->least[i];
	}
	for (j = 0; j < p->m; j++)
		l->price[j] = unit * g->price[j];
	l->budget = unit * g->cost_dual / w->unit;
	take_shares(p, g->mean, s->x);
	s->bound =
	    fmin(unit * (g->most + g->cost_dual * g->budget - needs), relaxed->bound);
	s->has_bound = true;
}

static int
solve_linear(struct points *w, struct gv_linear *l, const struct gv_solution *relaxed,
    const char *name, struct gv_error *e)
{
	const struct gv_problem *p = w->p;
	size_t cells = p->n * p->m;
	double most = largest(l->size != NULL ? l->size : l->gain, cells);
	double unit = most > 0 ? most : 1;
	double *gain = scaled(l->gain, cells, unit);
	double *rise = gv_xcalloc(p->n, p->m * sizeof(*rise));
	double *least = gv_xcalloc(p->n, sizeof(*least));
	struct gv_solution *s = l->s;
	struct gv_mean_program g;
	int rc;

	scale_needs(l, rise, least);
	gv_mean_program_init(&g, p);
	g.gain = gain;
	g.rise = rise;
	g.least = least;
	g.enough = relaxed->objective / unit;
	g.enough -= GV_TOL_RELAXED * fmax(1, fabs(g.enough));
	rc = meet_needs(w, rise, least, name, e);
	if (rc == 0)
		rc = solve(w, &g, name, e);
	if (rc == 1)
		rc = gv_error_set(e, "the linear program of %s: %s", name,
		    gv_lp_status_name(GV_LP_INFEASIBLE));
	if (rc == 0) {
		take_sum(l, w, &g, unit, relaxed);
		rc = raise_sum(w, l, &g, name, e);
		s->objective = sum_of(p, l->gain, s->x);
		s->gap = (s->bound - s->objective) / fmax(fabs(s->bound), DBL_MIN);
	}
	gv_mean_program_free(&g);
	free(gain);
	free(rise);
	free(least);
	return rc;
}

int
gv_placed_linear(struct gv_linear *l, bool placeable, const struct gv_solution *relaxed,
    const char *name, struct gv_error *e)
{
	struct points w;
	int rc;

	points_init(&w, l->p, placeable);
	follow(&w, relaxed->x);
	rc = solve_linear(&w, l, relaxed, name, e);
	points_free(&w);
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
