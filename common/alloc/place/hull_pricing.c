#include "hull_pricing.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "branching.h"
#include "greedy.h"
#include "lp/tolerance.h"

enum { MOST_STEPS = 16 }; /* placements at once */

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
	i = gv_lp_add_row(lp, 0, INFINITY);
	h->first_entry = lp->n_entries;
	for (j = 0; j < lp->n_cols; j++)
		gv_lp_set(lp, i, j, 1);
}

void
gv_hull_free(struct gv_hull *h)
{
	free(h->point);
	free(h->weight);
	free(h->col);
	gv_lp_free(&h->placement);
	*h = (struct gv_hull){0};
}

double
gv_hull_value(const struct gv_hull *h, const double *point, const double *weight)
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

/* Gains, and the value that is asked for, in units of the largest gain.  False: none is above 0. */
static bool
set_pricing(struct gv_hull *h, const double *lagrangian_gain, double enough)
{
	struct gv_lp *lp = &h->placement;
	double largest = 0;
	size_t i, col;

	for (i = 0; i < h->p->n * h->p->m; i++)
		if (h->col[i] != SIZE_MAX)
			largest = fmax(largest, lagrangian_gain[i]);
	if (!(largest > 0))
		return false;
	for (i = 0; i < h->p->n * h->p->m; i++) {
		col = h->col[i];
		if (col == SIZE_MAX)
			continue;
		lp->cost[col] = lagrangian_gain[i] / largest;
		lp->entry[h->first_entry + col].value = lp->cost[col];
	}
	lp->row_lo[lp->n_rows - 1] = enough / largest;
	return true;
}

/*
 * The pricing problem by branch and cut, where there are too many GPUs for knapsacks: a placement of a
 * value above enough into point, if there is one, found by that work.  As gv_hull_price().
 */
static double
branch_and_cut(struct gv_hull *h, const double *lagrangian_gain, double enough,
    double work, double *point)
{
	double each = (double)(h->placement.n_cols + h->placement.n_rows);
	const struct gv_lp_options opt = {
	    .max_nodes = isinf(work) ? 0 : 1 + (long)(work / each), .first = true};
	struct gv_lp_solution sol = {0};
	struct gv_error e = {0};
	double most = INFINITY;
	size_t i;

	enough += GV_TOL_CUTOFF * fmax(1, enough);
	if (!set_pricing(h, lagrangian_gain, enough))
		return 0;
	if (gv_lp_solve(&h->placement, &opt, NULL, &sol, &e) == 0) {
		if (sol.status == GV_LP_INFEASIBLE)
			most = enough + GV_TOL_PLACEMENT * fmax(1, enough);
		for (i = 0; i < h->p->n * h->p->m; i++)
			if (h->col[i] != SIZE_MAX &&
			    (sol.status == GV_LP_OPTIMAL || sol.status == GV_LP_LIMIT))
				point[i] = sol.x[h->col[i]];
	}
	gv_error_clear(&e);
	gv_lp_solution_free(&sol);
	return most;
}

/*
 * Whether the last placement is one of the others: a master that has it is at its end but for
 * rounding, whatever the duals say.
 */
static bool
is_repeated(const struct gv_hull *h)
{
	size_t cells = h->p->n * h->p->m, last = h->n_placements - 1, k;

	for (k = 0; k < last; k++)
		if (memcmp(&h->point[k * cells], &h->point[last * cells],
			cells * sizeof(*h->point)) == 0)
			return true;
	return false;
}

double
gv_hull_price(
    struct gv_hull *h, const double *lagrangian_gain, double enough, double work)
{
	double *point = new_point(h);
	double most;

	if (!gv_placement_best(h->p, lagrangian_gain, enough, work, point, &most))
		most = branch_and_cut(h, lagrangian_gain, enough, work, point);
	if (!(gv_hull_value(h, point, lagrangian_gain) > enough) || is_repeated(h))
		h->n_placements--;
	return most;
}

/* The gain of those who have their placement: below 1, also of all the time on the only type. */
static double
no_more(double share, size_t cells)
{
	return fmin(.5, share / (double)cells);
}

/*
 * Placements of jobs that have a share on a type and none there yet, since it is smaller
 * than a round: without them the first duals would be of them alone.
 */
static void
add_missing(struct gv_hull *h, const double *x)
{
	size_t cells = h->p->n * h->p->m, missing = 1, k, i;
	double *gain = gv_xcalloc(cells, sizeof(*gain));

	for (i = 0; i < cells; i++)
		gain[i] = x[i] > 0 && h->col[i] != SIZE_MAX ? 1 + x[i] : 0;
	for (k = 0; k < h->n_placements; k++)
		for (i = 0; i < cells; i++)
			if (h->point[k * cells + i] > 0)
				gain[i] = fmin(gain[i], no_more(x[i], cells));
	while (missing > 0) {
		double *point = new_point(h);

		gv_greedy_by_gain(h->p, gain, point);
		for (missing = i = 0; i < cells; i++)
			if (point[i] > 0 && gain[i] >= 1) {
				gain[i] = no_more(x[i], cells);
				missing++;
			}
	}
	h->n_placements--; /* nobody was missing */
	free(gain);
}

void
gv_hull_add_rounds(struct gv_hull *h, const double *x, size_t rounds)
{
	size_t cells = h->p->n * h->p->m;

	h->point = gv_xgrow(
	    h->point, &h->cap, (h->n_placements + rounds) * cells, sizeof(*h->point));
	memset(&h->point[h->n_placements * cells], 0, rounds * cells * sizeof(*h->point));
	gv_greedy_rounds(h->p, x, rounds, &h->point[h->n_placements * cells]);
	h->n_placements += rounds;
	add_missing(h, x);
}

/* The last placement, made as good as may be; it goes where it is not worth enough. */
static void
improve_last(struct gv_hull *h, const double *lagrangian_gain, double enough)
{
	double *point = &h->point[(h->n_placements - 1) * h->p->n * h->p->m];

	gv_greedy_improve(h->p, lagrangian_gain, point);
	if (!(gv_hull_value(h, point, lagrangian_gain) > enough) || is_repeated(h))
		h->n_placements--;
}

bool
gv_hull_price_by_steps(struct gv_hull *h, const double *lagrangian_gain, double enough)
{
	size_t cells = h->p->n * h->p->m, first = h->n_placements, k;

	gv_greedy_by_gain(h->p, lagrangian_gain, new_point(h));
	improve_last(h, lagrangian_gain, enough);
	for (k = 0; k < first && h->n_placements < first + MOST_STEPS; k++) {
		double *point;

		if (!(h->weight[k] > 0))
			continue;
		point = new_point(h); /* which may move them all */
		memcpy(point, &h->point[k * cells], cells * sizeof(*point));
		improve_last(h, lagrangian_gain, enough);
	}
	return h->n_placements > first;
}
