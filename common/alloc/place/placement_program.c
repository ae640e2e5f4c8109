#include "placement_program.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/lp.h"
#include "lp/tolerance.h"

void
gv_placement_program_init(struct gv_placement_program *g, const struct gv_problem *p)
{
	*g = (struct gv_placement_program){
	    .p = p, .tolerance = GV_TOL_HULL, .target = INFINITY};
	g->dual = gv_xcalloc(p->n, sizeof(*g->dual));
	g->price = gv_xcalloc(p->m, sizeof(*g->price));
	g->mean = gv_xcalloc(p->n, p->m * sizeof(*g->mean));
}

void
gv_placement_program_free(struct gv_placement_program *g)
{
	free(g->dual);
	free(g->price);
	free(g->mean);
	*g = (struct gv_placement_program){0};
}

/* The program over fractional placements, n_ij = unit_i z_ij; the types' rows are the first. */
struct fractional {
	struct gv_lp lp;
	size_t *col;        /* [n][m] of z_ij, SIZE_MAX where the job cannot run */
	size_t *row;        /* [n] of a class, SIZE_MAX = none */
	double *unit;       /* [n] */
	double *gpu_unit;   /* [m] of the type's GPUs */
	size_t first, cost; /* rows */
};

static void
add_columns(struct fractional *w, const struct gv_placement_program *g, size_t i)
{
	const struct gv_problem *p = g->p;
	size_t time = gv_lp_add_row(&w->lp, -INFINITY, p->count[i] / w->unit[i]);
	size_t j;

	for (j = 0; j < p->m; j++) {
		size_t at = i * p->m + j;
		double unit = w->unit[i];
		size_t col;

		w->col[at] = SIZE_MAX;
		if (gv_problem_rate(p, i, j) == 0)
			continue;
		col = w->col[at] = gv_lp_add_col(
		    &w->lp, 0, INFINITY, g->gain != NULL ? unit * g->gain[at] : 0);
		gv_lp_set(&w->lp, j, col, unit * p->scale[i] / w->gpu_unit[j]);
		gv_lp_set(&w->lp, time, col, 1);
		if (w->row[i] != SIZE_MAX)
			gv_lp_set(&w->lp, w->row[i], col, unit * g->throughput[at]);
		if (g->first != NULL)
			gv_lp_set(&w->lp, w->first, col, unit * g->first[at]);
		if (g->cost != NULL)
			gv_lp_set(&w->lp, w->cost, col, unit * g->cost[at]);
	}
}

static void
fractional_init(struct fractional *w, const struct gv_placement_program *g)
{
	const struct gv_problem *p = g->p;
	double largest = 0;
	size_t i, j;

	*w = (struct fractional){.lp.maximise = true};
	w->col = gv_xcalloc(p->n, p->m * sizeof(*w->col));
	w->row = gv_xcalloc(p->n, sizeof(*w->row));
	w->unit = gv_xcalloc(p->n, sizeof(*w->unit));
	w->gpu_unit = gv_xcalloc(p->m, sizeof(*w->gpu_unit));
	for (j = 0; j < p->m; j++) {
		w->gpu_unit[j] = fmax(1, p->capacity[j]);
		largest = fmax(largest, w->gpu_unit[j]);
		gv_lp_add_row(&w->lp, -INFINITY, p->capacity[j] / w->gpu_unit[j]);
	}
	if (g->first != NULL)
		w->first = gv_lp_add_row(&w->lp, g->first_value, INFINITY);
	if (g->cost != NULL)
		w->cost = gv_lp_add_row(&w->lp, -INFINITY, g->budget);
	if (g->level)
		gv_lp_add_col(&w->lp, 0, INFINITY, 1);
	for (i = 0; i < p->n; i++) {
		double demand = g->level && g->demand != NULL ? g->demand[i] : 0;
		double lower = g->lower != NULL ? g->lower[i] : 0;

		w->unit[i] = fmin(p->count[i], largest / p->scale[i]);
		w->row[i] = SIZE_MAX;
		if (demand != 0 || lower != 0)
			w->row[i] = gv_lp_add_row(&w->lp, lower, INFINITY);
		if (demand != 0)
			gv_lp_set(&w->lp, w->row[i], 0, -demand);
		add_columns(w, g, i);
	}
}

static void
fractional_free(struct fractional *w)
{
	gv_lp_free(&w->lp);
	free(w->col);
	free(w->row);
	free(w->unit);
	free(w->gpu_unit);
}

/* g_ij = gain_ij + lambda_i thr_ij + mu first_ij - b cost_ij */
static double
lagrangian_gain(const struct gv_placement_program *g, double first_dual, size_t at)
{
	double sum = g->dual[at / g->p->m] * g->throughput[at];

	if (g->gain != NULL)
		sum += g->gain[at];
	if (g->first != NULL)
		sum += first_dual * g->first[at];
	if (g->cost != NULL)
		sum -= g->budget_dual * g->cost[at];
	return sum;
}

/*
 * The multipliers, and the Lagrangian bound L = sum_j p_j N_j + sum_i n_i max(0, max_j (g_ij
 * - p_j s_i)), by weak duality in P; terms that could be positive but for rounding count in
 * its allowance.
 */
static void
set_duals(
    struct gv_placement_program *g, const struct fractional *w, const double *row_dual)
{
	const struct gv_problem *p = g->p;
	double first_dual = g->first != NULL ? fmax(0, -row_dual[w->first]) : 0;
	double size = 0;
	size_t i, j;

	g->budget_dual = g->cost != NULL ? fmax(0, row_dual[w->cost]) : 0;
	g->lagrangian_max = 0;
	for (j = 0; j < p->m; j++) {
		g->price[j] = fmax(0, row_dual[j]) / w->gpu_unit[j];
		g->lagrangian_max += g->price[j] * p->capacity[j];
	}
	size = g->lagrangian_max + g->budget_dual * g->budget;
	for (i = 0; i < p->n; i++) {
		double most = 0, large = 0;

		g->dual[i] = w->row[i] == SIZE_MAX ? 0 : fmax(0, -row_dual[w->row[i]]);
		for (j = 0; j < p->m; j++) {
			size_t at = i * p->m + j;
			double plus = lagrangian_gain(g, first_dual, at);
			double minus = g->price[j] * p->scale[i];

			if (w->col[at] == SIZE_MAX)
				continue;
			most = fmax(most, plus - minus);
			if (plus > minus * (1 - GV_TOL_NEAR))
				large = fmax(large, plus + minus);
		}
		g->lagrangian_max += p->count[i] * most;
		size += p->count[i] * large;
	}
	g->lagrangian_max += GV_TOL_TERMS * size;
}

int
gv_placement_program_solve(
    struct gv_placement_program *g, const char *name, struct gv_error *e)
{
	const struct gv_problem *p = g->p;
	struct gv_lp_solution sol = {0};
	struct fractional w;
	size_t i;
	int rc;

	fractional_init(&w, g);
	rc = gv_lp_solve(&w.lp, NULL, NULL, &sol, e);
	if (rc == 0 && sol.status == GV_LP_INFEASIBLE)
		rc = 1;
	else if (rc == 0 && sol.status != GV_LP_OPTIMAL)
		rc = gv_error_set(e, "the linear program of %s: %s", name,
		    gv_lp_status_name(sol.status));
	if (rc == 0) {
		g->value = sol.check.objective;
		for (i = 0; i < p->n * p->m; i++)
			g->mean[i] =
			    w.col[i] == SIZE_MAX ? 0 : sol.x[w.col[i]] * w.unit[i / p->m];
		set_duals(g, &w, sol.row_dual);
	}
	gv_lp_solution_free(&sol);
	fractional_free(&w);
	return rc;
}
