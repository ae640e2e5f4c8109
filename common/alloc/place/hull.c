#include "hull.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hull_pricing.h"

enum { MAX_ITERATIONS = 20000 };

/* Of the search for one placement, seconds; and where more of it may follow. */
static const double most_work = 5e7, little_work = 5e5;

struct restricted_master {
	struct gv_lp lp;
	struct gv_lp_basis basis;
	size_t *row;         /* [n] of a class, SIZE_MAX = none; row 0 is convexity */
	size_t *cell;        /* [n][m] of a class on a type, SIZE_MAX = none */
	size_t first, cost;  /* rows */
	double effort;       /* so far */
	size_t exact;        /* best placements, so far, where they are few */
	size_t n_placements; /* that have columns; theirs are first_col + k */
	size_t first_col;
};

static void
master_init(struct restricted_master *w, const struct gv_hull *h,
    const struct gv_placement_program *g)
{
	size_t i;

	*w = (struct restricted_master){.lp.maximise = true};
	w->row = gv_xcalloc(h->p->n, sizeof(*w->row));
	w->cell = gv_xcalloc(h->p->n, h->p->m * sizeof(*w->cell));
	gv_lp_add_row(&w->lp, -INFINITY, 1);
	if (g->level)
		gv_lp_add_col(&w->lp, 0, INFINITY, 1);
	w->first_col = w->lp.n_cols;
	for (i = 0; i < h->p->n; i++) {
		double demand = g->level && g->demand != NULL ? g->demand[i] : 0;
		double lower = g->lower != NULL ? g->lower[i] : 0;

		w->row[i] = SIZE_MAX;
		if (demand == 0 && lower == 0)
			continue;
		w->row[i] = gv_lp_add_row(&w->lp, lower, INFINITY);
		if (demand != 0)
			gv_lp_set(&w->lp, w->row[i], 0, -demand);
	}
	for (i = 0; i < h->p->n * h->p->m; i++) {
		w->cell[i] = SIZE_MAX;
		if (g->each == NULL || g->each[i] == 0)
			continue;
		w->cell[i] = gv_lp_add_row(&w->lp, 0, INFINITY);
		gv_lp_set(&w->lp, w->cell[i], 0, -g->each[i]);
	}
	if (g->first != NULL)
		w->first = gv_lp_add_row(&w->lp, g->first_value, INFINITY);
	if (g->cost != NULL)
		w->cost = gv_lp_add_row(&w->lp, -INFINITY, g->budget);
}

static void
master_free(struct restricted_master *w)
{
	gv_lp_free(&w->lp);
	gv_lp_basis_free(&w->basis);
	free(w->row);
	free(w->cell);
}

/* Columns of the placements that have none. */
static void
master_add_columns(struct restricted_master *w, const struct gv_hull *h,
    const struct gv_placement_program *g)
{
	const struct gv_problem *p = h->p;
	size_t i, j;

	for (; w->n_placements < h->n_placements; w->n_placements++) {
		const double *point = &h->point[w->n_placements * p->n * p->m];
		size_t col = gv_lp_add_col(&w->lp, 0, INFINITY,
		    g->gain != NULL ? gv_hull_value(h, point, g->gain) : 0);

		gv_lp_set(&w->lp, 0, col, 1);
		for (i = 0; i < p->n; i++) {
			double throughput = 0;

			for (j = 0; j < p->m && w->row[i] != SIZE_MAX; j++)
				throughput +=
				    point[i * p->m + j] * g->throughput[i * p->m + j];
			if (w->row[i] != SIZE_MAX && throughput != 0)
				gv_lp_set(&w->lp, w->row[i], col, throughput);
		}
		for (i = 0; i < p->n * p->m; i++)
			if (w->cell[i] != SIZE_MAX)
				gv_lp_set(&w->lp, w->cell[i], col, point[i]);
		if (g->first != NULL)
			gv_lp_set(
			    &w->lp, w->first, col, gv_hull_value(h, point, g->first));
		if (g->cost != NULL)
			gv_lp_set(&w->lp, w->cost, col, gv_hull_value(h, point, g->cost));
	}
}

/*
 * g_ij = gain_ij + lambda_i thr_ij + mu first_ij - b cost_ij: what a job of class i on type j
 * adds to the Lagrangian at the master's duals; lambda into g->dual, b into g->budget_dual.
 */
static void
set_lagrangian_gains(const struct restricted_master *w, const struct gv_hull *h,
    struct gv_placement_program *g, const double *row_dual, double *lagrangian_gain)
{
	const struct gv_problem *p = h->p;
	double first_dual = g->first != NULL ? fmax(0, -row_dual[w->first]) : 0;
	size_t i, j;

	g->budget_dual = g->cost != NULL ? fmax(0, row_dual[w->cost]) : 0;
	for (i = 0; i < p->n; i++) {
		g->dual[i] = w->row[i] == SIZE_MAX ? 0 : fmax(0, -row_dual[w->row[i]]);
		for (j = 0; j < p->m; j++) {
			size_t at = i * p->m + j;

			lagrangian_gain[at] =
			    g->dual[i] > 0 ? g->dual[i] * g->throughput[at] : 0;
			if (w->cell[at] != SIZE_MAX)
				lagrangian_gain[at] += fmax(0, -row_dual[w->cell[at]]);
			if (g->gain != NULL)
				lagrangian_gain[at] += g->gain[at];
			if (g->first != NULL)
				lagrangian_gain[at] += first_dual * g->first[at];
			if (g->cost != NULL)
				lagrangian_gain[at] -= g->budget_dual * g->cost[at];
		}
	}
}

static void
mix_placements(
    const struct restricted_master *w, struct gv_hull *h, const double *y, double *mean)
{
	size_t cells = h->p->n * h->p->m;
	size_t i, k;

	memset(mean, 0, cells * sizeof(*mean));
	h->weight =
	    gv_xgrow(h->weight, &h->cap_weights, h->n_placements + 1, sizeof(double));
	memset(h->weight, 0, (h->n_placements + 1) * sizeof(double));
	memcpy(h->weight, &y[w->first_col], w->n_placements * sizeof(double));
	for (k = 0; k < w->n_placements; k++)
		for (i = 0; i < cells && y[w->first_col + k] > 0; i++)
			mean[i] += y[w->first_col + k] * h->point[k * cells + i];
}

/*
 * Adds placements of a value above enough, the best one where none is found faster, and
 * that so many times if it is limited.  Whether there are any; g->lagrangian_max is set.
 */
static bool
price(struct restricted_master *w, struct gv_hull *h, struct gv_placement_program *g,
    const double *lagrangian_gain, double enough)
{
	size_t before = h->n_placements;

	if (gv_hull_price_by_steps(h, lagrangian_gain, enough))
		return true;
	if (g->exact > 0 && w->exact++ == g->exact)
		return false;
	g->lagrangian_max = gv_hull_price(h, lagrangian_gain, enough,
	    g->sure        ? INFINITY
	    : g->exact > 0 ? little_work
			   : most_work);
	return h->n_placements > before;
}

/*
 * Solves the master and prices placements once.  A placement improves the mixture where its
 * value is above the dual of the convexity row, sum_k y_k <= 1; where the best one is not,
 * the mixture is optimal.  0 to go on, 1 at the end.
 */
static int
iterate(struct restricted_master *w, struct gv_hull *h, struct gv_placement_program *g,
    double *lagrangian_gain, enum gv_lp_status *status, struct gv_error *e)
{
	/*
	 * Any duals prove what pricing finds at them; and where there is a mixture, a next one
	 * that takes long is of cycles.
	 */
	const struct gv_lp_options opt = {.gap = INFINITY,
	    .max_iterations = w->effort > 0 ? 2000 + 10 * (long)w->lp.n_rows : 0};
	struct gv_lp_solution sol = {0};
	double convexity_dual = 0;
	int rc;

	master_add_columns(w, h, g);
	rc = gv_lp_solve(&w->lp, &opt, &w->basis, &sol, e);
	*status = sol.status;
	if (rc == 0 && sol.status == GV_LP_OPTIMAL) {
		g->value = sol.check.objective;
		convexity_dual = fmax(0, sol.row_dual[0]);
		set_lagrangian_gains(w, h, g, sol.row_dual, lagrangian_gain);
		mix_placements(w, h, sol.x, g->mean);
		g->lagrangian_max = INFINITY;
		w->effort +=
		    (double)w->lp.n_rows * (double)w->lp.n_rows * (double)w->lp.n_cols;
		if (g->progress != NULL)
			g->progress(g->value / g->target);
		if (g->value >= g->target || (g->effort > 0 && w->effort > g->effort))
			rc = 1;
		else
			rc = !price(w, h, g, lagrangian_gain,
			    convexity_dual + g->tolerance * fmax(1, convexity_dual));
	}
	gv_lp_solution_free(&sol);
	return rc;
}

int
gv_hull_solve(struct gv_hull *h, struct gv_placement_program *g, const char *name,
    struct gv_error *e)
{
	double *lagrangian_gain = gv_xcalloc(h->p->n, h->p->m * sizeof(*lagrangian_gain));
	enum gv_lp_status status = GV_LP_OPTIMAL;
	struct restricted_master w;
	int k, rc = 0;

	master_init(&w, h, g);
	for (k = 0; k < MAX_ITERATIONS && rc == 0 && status == GV_LP_OPTIMAL; k++)
		rc = iterate(&w, h, g, lagrangian_gain, &status, e);
	master_free(&w);
	free(lagrangian_gain);
	if (rc < 0)
		return -1;
	if (rc == 1 ||
	    (k > 1 && status != GV_LP_INFEASIBLE)) /* g is of the last mixture */
		return 0;
	if (status == GV_LP_INFEASIBLE || g->exact > 0)
		return 1;
	return gv_error_set(e, "the linear program of %s: %s", name,
	    gv_lp_status_name(status == GV_LP_OPTIMAL ? GV_LP_LIMIT : status));
}
