/* The prices of least D for jobs of which some are folded; see market.h. */
#ifndef GV_ALLOC_MARKET_SEARCH_H
#define GV_ALLOC_MARKET_SEARCH_H

#include <stdbool.h>

#include "market_job.h"

/*
 * n jobs one by one, the others in fold, whose slopes have the capacities, too.
 * They choose by l and time: D is the least of
 *
 *	fold(p) + sum_i n_i (time_i - log l_i - 1)   subject to
 *	    slack_ij = s_i p_j + time_i - l_i a_ij >= 0   for all i, j with a_ij > 0
 *
 * over p, l and time >= 0.  mu times a logarithm of each slack keeps it above 0;
 * then x_ij = mu / slack_ij are shares, and what mu / time_i is, is left.
 */
struct gv_market_search {
	size_t n, m;
	const double **a;      /* [n] rows of rates [m] */
	double *scale, *count; /* [n] */
	struct gv_fold fold;
	bool *open; /* [m] the type has GPUs */

	double *price;      /* [m] */
	double *low, *high; /* [m] what they stay between; high INFINITY = nothing */
	double *l, *time, *slack; /* [n], [n], [n][m] */
	double mu;                /* the gap is that times the jobs' terms */
	double *d_price, *d_l, *d_time, *d_slack, *schur; /* the step */
	double *bend; /* [m] mu / slack^2 of the job at hand */
};

void gv_market_search_alloc(struct gv_market_search *s, size_t n, size_t m);
void gv_market_search_free(struct gv_market_search *s);

/*
 * Prices, from price on, down to mu.  The fold must hold at price.  Where many are as
 * good, those in the middle.  A step costs n m^3; there are about 4 for each tenth of mu.
 */
void gv_market_search_run(struct gv_market_search *s, double mu);

#endif
