/* Whether all jobs can have so much, by one linear program of all. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "simplex.h"

static const double least_unit = 1. / 128;

/*
 * In numbers of about 1: x_ij = unit_i z_ij, where unit_i is the share that
 * gives the job what it wants on its best type, but not less than a part of all
 * time, so that what is next to nothing does not get numbers next to infinity.
 */
struct scaled {
	struct gv_lp lp;
	size_t f;         /* column of f */
	size_t *col;      /* [n][m] column of z_ij, SIZE_MAX = none */
	size_t *row;      /* [n] row of what the job wants */
	double *unit;     /* [n] */
	double *gpu_unit; /* [m]; the types' rows are the first */
};

static void
scaled_free(struct scaled *g)
{
	gv_lp_free(&g->lp);
	free(g->col);
	free(g->row);
	free(g->unit);
	free(g->gpu_unit);
}

static void
add_job(
    struct scaled *g, const struct gv_problem *p, const double *a, double want, size_t i)
{
	double best = gv_row_max(&a[i * p->m], p->m);
	size_t time, j;

	g->unit[i] = fmax(want / best, least_unit);
	g->row[i] = gv_lp_add_row(&g->lp, 0, INFINITY);
	time = gv_lp_add_row(&g->lp, -INFINITY, 1 / g->unit[i]);
	gv_lp_set(&g->lp, g->row[i], g->f, -(want / best) / g->unit[i]);
	for (j = 0; j < p->m; j++) {
		size_t col;

		if (a[i * p->m + j] == 0)
			continue;
		col = g->col[i * p->m + j] = gv_lp_add_col(&g->lp, 0, INFINITY, 0);
		gv_lp_set(&g->lp, g->row[i], col, a[i * p->m + j] / best);
		gv_lp_set(&g->lp, time, col, 1);
		gv_lp_set(&g->lp, j, col,
		    p->count[i] * p->scale[i] * g->unit[i] / g->gpu_unit[j]);
	}
}

static void
program_make(
    struct scaled *g, const struct gv_problem *p, const double *a, const double *want)
{
	size_t i, j;

	*g = (struct scaled){0};
	g->col = gv_xcalloc(p->n, p->m * sizeof(*g->col));
	g->row = gv_xcalloc(p->n, sizeof(*g->row));
	g->unit = gv_xcalloc(p->n, sizeof(*g->unit));
	g->gpu_unit = gv_xcalloc(p->m, sizeof(*g->gpu_unit));
	g->lp.maximise = true;
	g->f = gv_lp_add_col(&g->lp, 0, INFINITY, 1);
	for (j = 0; j < p->m; j++) {
		g->gpu_unit[j] = fmax(1, p->capacity[j]);
		gv_lp_add_row(&g->lp, -INFINITY, p->capacity[j] / g->gpu_unit[j]);
	}
	for (i = 0; i < p->n * p->m; i++)
		g->col[i] = SIZE_MAX;
	for (i = 0; i < p->n; i++)
		if (want[i] > 0)
			add_job(g, p, a, want[i], i);
}

/*
 * What sum_i lambda_i sum_j a_ij x_ij is at most, by prices p_j >= 0 of the types' GPUs and as
 * sum_j x_ij <= 1:
 *
 *	sum_j p_j N_j + sum_i max(0, max_j (lambda_i a_ij - p_j n_i s_i))
 */
static double
lagrangian_bound(const struct gv_problem *p, const double *a, const double *lambda,
    const double *price)
{
	double sum = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		double most = 0;

		for (j = 0; j < p->m; j++) {
			double gain = lambda[i] * a[i * p->m + j];
			double cost = price[j] * p->count[i] * p->scale[i];

			if (gain > 0)
				most = fmax(most, gain - cost);
		}
		sum += most;
	}
	return sum;
}

static void
set_reach(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, const struct scaled *g, const struct gv_lp_solution *sol)
{
	size_t i, j;

	for (j = 0; j < p->m; j++)
		r->price[j] = fmax(0, sol->row_dual[j]) / g->gpu_unit[j];
	for (i = 0; i < p->n; i++) {
		r->lambda[i] = 0;
		if (want[i] > 0)
			r->lambda[i] = fmax(0, -sol->row_dual[g->row[i]]) /
				       (gv_row_max(&a[i * p->m], p->m) * g->unit[i]);
		for (j = 0; j < p->m; j++) {
			size_t col = g->col[i * p->m + j];

			r->x[i * p->m + j] =
			    col == SIZE_MAX ? 0 : sol->x[col] * g->unit[i];
		}
	}
	gv_problem_clean(p, r->x);
	r->limit = lagrangian_bound(p, a, r->lambda, r->price);
	gv_reach_lift(r, p, a, want);
	r->exact = sol->exact;
}

int
gv_reach_by_program(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool exact, struct gv_error *e)
{
	const struct gv_lp_options lp_opt = {.exact = exact};
	struct gv_lp_solution sol = {0};
	struct scaled g;
	int rc;

	program_make(&g, p, a, want);
	rc = gv_lp_solve(&g.lp, &lp_opt, NULL, &sol, e);
	if (rc == 0 && sol.status != GV_LP_OPTIMAL)
		rc = gv_error_set(e, "the linear program of water-filling: %s",
		    gv_lp_status_name(sol.status));
	if (rc == 0)
		set_reach(r, p, a, want, &g, &sol);
	gv_lp_solution_free(&sol);
	scaled_free(&g);
	return rc;
}
