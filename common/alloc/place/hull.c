#include "hull.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

enum { MOST_STEPS = 20000 };

void
gv_hull_init(struct gv_hull *h, const struct gv_problem *p)
{
	struct gv_lp *lp = &h->placement;
	size_t i, j;

	*h = (struct gv_hull){.p = p};
	h->col = gv_xcalloc(p->n, p->m * sizeof(*h->col));
	lp->maximise = true;
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++) {
		size_t jobs = gv_lp_add_row(lp, -INFINITY, p->count[i]);

		for (j = 0; j < p->m; j++) {
			size_t col;

			h->col[i * p->m + j] = SIZE_MAX;
			if (gv_problem_rate(p, i, j) == 0)
				continue;
			col = gv_lp_add_col(lp, 0,
			    fmin(p->count[i], floor(p->capacity[j] / p->scale[i])), 0);
			gv_lp_set_integer(lp, col);
			gv_lp_set(lp, j, col, p->scale[i]);
			gv_lp_set(lp, jobs, col, 1);
			h->col[i * p->m + j] = col;
		}
	}
}

void
gv_hull_free(struct gv_hull *h)
{
	free(h->point);
	free(h->col);
	gv_lp_free(&h->placement);
	*h = (struct gv_hull){0};
}

static double
weigh(const struct gv_hull *h, const double *point, const double *weight)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < h->p->n * h->p->m; i++)
		sum += point[i] * weight[i];
	return sum;
}

/* Room for a placement more, zeroed. */
static double *
new_point(struct gv_hull *h)
{
	size_t cells = h->p->n * h->p->m;
	double *point;

	h->point =
	    gv_xgrow(h->point, &h->cap, (h->n_placements + 1) * cells, sizeof(*point));
	point = &h->point[h->n_placements++ * cells];
	memset(point, 0, cells * sizeof(*point));
	return point;
}

/* The placement worth most, added to the others; *most what it is worth.  0 or -1. */
static int
find_place(struct gv_hull *h, const double *worth, double *most, const char *name,
    struct gv_error *e)
{
	size_t cells = h->p->n * h->p->m;
	struct gv_lp_solution sol = {0};
	double largest = 0;
	double *point;
	size_t i;
	int rc;

	for (i = 0; i < cells; i++)
		if (h->col[i] != SIZE_MAX)
			largest = fmax(largest, worth[i]);
	for (i = 0; i < cells; i++)
		if (h->col[i] != SIZE_MAX)
			h->placement.cost[h->col[i]] =
			    largest > 0 ? worth[i] / largest : 0;
	rc = gv_lp_solve(&h->placement, NULL, NULL, &sol, e);
	if (rc == 0 && sol.status != GV_LP_OPTIMAL)
		rc = gv_error_set(e, "the linear program of %s: %s", name,
		    gv_lp_status_name(sol.status));
	if (rc == 0) {
		point = new_point(h);
		for (i = 0; i < cells; i++)
			point[i] = h->col[i] != SIZE_MAX ? sol.x[h->col[i]] : 0;
		*most = weigh(h, point, worth);
	}
	gv_lp_solution_free(&sol);
	return rc;
}

/* Jobs of a class that are owed time on a type, in jobs and rounds. */
struct owed {
	size_t cell;
	double rounds;
};

static int
by_debt(const void *a, const void *b)
{
	const struct owed *x = a;
	const struct owed *y = b;

	if (x->rounds != y->rounds)
		return x->rounds > y->rounds ? -1 : 1;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

/* A round: those that are owed most are placed, as many as fit; they are owed one less then. */
static void
play(const struct gv_problem *p, struct owed *owed, size_t n, double *point, double *gpus,
    double *jobs)
{
	size_t k;

	memcpy(gpus, p->capacity, p->m * sizeof(*gpus));
	memcpy(jobs, p->count, p->n * sizeof(*jobs));
	qsort(owed, n, sizeof(*owed), by_debt);
	for (k = 0; k < n && owed[k].rounds > 0; k++) {
		size_t i = owed[k].cell / p->m, j = owed[k].cell % p->m;
		double fit = fmin(jobs[i], floor(gpus[j] / p->scale[i]));
		double now = fmin(fit, ceil(owed[k].rounds));

		point[owed[k].cell] = now;
		owed[k].rounds -= now;
		jobs[i] -= now;
		gpus[j] -= now * p->scale[i];
	}
}

void
gv_hull_follow(struct gv_hull *h, const double *x, size_t rounds)
{
	const struct gv_problem *p = h->p;
	struct owed *owed = gv_xcalloc(p->n, p->m * sizeof(*owed));
	double *gpus = gv_xcalloc(p->m, sizeof(*gpus));
	double *jobs = gv_xcalloc(p->n, sizeof(*jobs));
	size_t i, k, n = 0;

	for (i = 0; i < p->n * p->m; i++)
		if (x[i] > 0)
			owed[n++].cell = i;
	for (k = 0; k < rounds; k++) {
		for (i = 0; i < n; i++)
			owed[i].rounds += x[owed[i].cell] * p->count[owed[i].cell / p->m];
		play(p, owed, n, new_point(h), gpus, jobs);
	}
	free(owed);
	free(gpus);
	free(jobs);
}

/* ---- the program that mixes ---- */

struct restricted_master {
	struct gv_lp lp;
	struct gv_lp_basis basis;
	size_t *row;         /* [n] of a class, SIZE_MAX = none; row 0 is that of time */
	size_t keep, cost;   /* rows */
	size_t n_placements; /* that have columns; theirs are first + k */
	size_t first;
};

static void
master_make(
    struct restricted_master *w, const struct gv_hull *h, const struct gv_mean_program *g)
{
	size_t i;

	*w = (struct restricted_master){.lp.maximise = true};
	w->row = gv_xcalloc(h->p->n, sizeof(*w->row));
	gv_lp_add_row(&w->lp, -INFINITY, 1);
	if (g->level)
		gv_lp_add_col(&w->lp, 0, INFINITY, 1);
	w->first = w->lp.n_cols;
	for (i = 0; i < h->p->n; i++) {
		double ask = g->level && g->ask != NULL ? g->ask[i] : 0;
		double least = g->least != NULL ? g->least[i] : 0;

		w->row[i] = SIZE_MAX;
		if (ask == 0 && least == 0)
			continue;
		w->row[i] = gv_lp_add_row(&w->lp, least, INFINITY);
		if (ask != 0)
			gv_lp_set(&w->lp, w->row[i], 0, -ask);
	}
	if (g->keep != NULL)
		w->keep = gv_lp_add_row(&w->lp, g->at_least, INFINITY);
	if (g->cost != NULL)
		w->cost = gv_lp_add_row(&w->lp, -INFINITY, g->budget);
}

static void
gv_master_free(struct restricted_master *w)
{
	gv_lp_free(&w->lp);
	gv_lp_basis_free(&w->basis);
	free(w->row);
}

/* Columns of the placements that have none. */
static void
master_grow(
    struct restricted_master *w, const struct gv_hull *h, const struct gv_mean_program *g)
{
	const struct gv_problem *p = h->p;
	size_t i, j;

	for (; w->n_placements < h->n_placements; w->n_placements++) {
		const double *point = &h->point[w->n_placements * p->n * p->m];
		size_t col = gv_lp_add_col(
		    &w->lp, 0, INFINITY, g->gain != NULL ? weigh(h, point, g->gain) : 0);

		gv_lp_set(&w->lp, 0, col, 1);
		for (i = 0; i < p->n; i++) {
			double rise = 0;

			for (j = 0; j < p->m; j++)
				rise += point[i * p->m + j] * g->rise[i * p->m + j];
			if (w->row[i] != SIZE_MAX && rise != 0)
				gv_lp_set(&w->lp, w->row[i], col, rise);
		}
		if (g->keep != NULL)
			gv_lp_set(&w->lp, w->keep, col, weigh(h, point, g->keep));
		if (g->cost != NULL)
			gv_lp_set(&w->lp, w->cost, col, weigh(h, point, g->cost));
	}
}

/* What a job placed is worth at the duals of the program; also g->dual. */
static void
find_worth(const struct restricted_master *w, const struct gv_hull *h,
    struct gv_mean_program *g, const double *row_dual, double *worth)
{
	const struct gv_problem *p = h->p;
	double kept = g->keep != NULL ? fmax(0, -row_dual[w->keep]) : 0;
	size_t i, j;

	g->cost_dual = g->cost != NULL ? fmax(0, row_dual[w->cost]) : 0;
	for (i = 0; i < p->n; i++) {
		g->dual[i] = w->row[i] == SIZE_MAX ? 0 : fmax(0, -row_dual[w->row[i]]);
		for (j = 0; j < p->m; j++) {
			size_t at = i * p->m + j;

			worth[at] = g->dual[i] * g->rise[at];
			if (g->gain != NULL)
				worth[at] += g->gain[at];
			if (g->keep != NULL)
				worth[at] += kept * g->keep[at];
			if (g->cost != NULL)
				worth[at] -= g->cost_dual * g->cost[at];
		}
	}
}

static void
take_mean(const struct restricted_master *w, const struct gv_hull *h, const double *y,
    double *mean)
{
	size_t cells = h->p->n * h->p->m;
	size_t i, k;

	memset(mean, 0, cells * sizeof(*mean));
	for (k = 0; k < w->n_placements; k++)
		for (i = 0; i < cells && y[w->first + k] > 0; i++)
			mean[i] += y[w->first + k] * h->point[k * cells + i];
}

/* One solution of the master, and the placement that is worth most then.  0 to go on, 1 it is the best. */
static int
step(struct restricted_master *w, struct gv_hull *h, struct gv_mean_program *g,
    double *worth, enum gv_lp_status *status, const char *name, struct gv_error *e)
{
	struct gv_lp_solution sol = {0};
	double time = 0;
	int rc;

	master_grow(w, h, g);
	rc = gv_lp_solve(&w->lp, NULL, &w->basis, &sol, e);
	*status = sol.status;
	if (rc == 0 && sol.status == GV_LP_OPTIMAL) {
		g->value = sol.check.objective;
		time = fmax(0, sol.row_dual[0]);
		find_worth(w, h, g, sol.row_dual, worth);
		take_mean(w, h, sol.x, g->mean);
		g->most = INFINITY;
		rc = g->value >= g->enough ? 1 : find_place(h, worth, &g->most, name, e);
		if (rc == 0 && g->most <= time + g->close * fmax(1, time))
			rc = 1;
		g->most += GV_TOL_PLACEMENT * fmax(1, fabs(g->most));
	}
	gv_lp_solution_free(&sol);
	return rc;
}

int
gv_hull_solve(
    struct gv_hull *h, struct gv_mean_program *g, const char *name, struct gv_error *e)
{
	double *worth = gv_xcalloc(h->p->n, h->p->m * sizeof(*worth));
	enum gv_lp_status status = GV_LP_OPTIMAL;
	struct restricted_master w;
	int k, rc = 0;

	master_make(&w, h, g);
	for (k = 0; k < MOST_STEPS && rc == 0 && status == GV_LP_OPTIMAL; k++)
		rc = step(&w, h, g, worth, &status, name, e);
	gv_master_free(&w);
	free(worth);
	if (rc != 0)
		return rc == 1 ? 0 : -1;
	if (status == GV_LP_INFEASIBLE)
		return 1;
	return gv_error_set(e, "the linear program of %s: %s", name,
	    gv_lp_status_name(status == GV_LP_OPTIMAL ? GV_LP_LIMIT : status));
}
