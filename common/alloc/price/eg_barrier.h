/* The prices of least D for jobs of which most are fixed; see eisenberg_gale.h. */
#ifndef GV_ALLOC_EG_BARRIER_H
#define GV_ALLOC_EG_BARRIER_H

#include <stdbool.h>

#include "eg_demand.h"

/* Of some types of a job, sums along the order of its rates. */
struct gv_eg_sums {
	double y;       /* sum of bends */
	double apart;   /* their mean rate's distance from that of the next type */
	double squares; /* sum of bends times squares of distances from the mean */
	double own;     /* sum of other terms */
};

/*
 * n jobs one by one, the others in fixed, whose slopes have the capacities, too.
 * They choose by l and time: D is the least of
 *
 *	fixed(p) + sum_i n_i (time_i - log l_i - 1)   subject to
 *	    slack_ij = s_i p_j + time_i - l_i a_ij >= 0   for all i, j with a_ij > 0
 *
 * over p, l and time >= 0.  mu times a logarithm of each slack keeps it above 0;
 * then x_ij = mu / slack_ij are shares, and what mu / time_i is, is left.
 */
struct gv_eg_barrier {
	size_t n, m;
	const double **a;      /* [n] rows of rates [m] */
	double *scale, *count; /* [n] */
	struct gv_eg_fixed fixed;
	bool *has_gpus; /* [m] the type has GPUs */

	double *price;      /* [m] */
	double *low, *high; /* [m] what they stay between; high INFINITY = nothing */
	double *l, *time, *slack; /* [n], [n], [n][m] */
	double mu;                /* the gap is that times the jobs' terms */
	double bend_mu;           /* by which barriers bend: mu, or the last one */
	double *d_price, *d_l, *d_time, *d_slack, *schur; /* the step */
	double *bend;              /* [m] mu / slack^2 of the job at hand */
	struct gv_eg_sums *slower; /* [m] of those before each in its order of rates */
	double *without; /* [m] determinants of the job's, less the type's part */
	double *before;  /* [m] sums along the order of its rates */
	size_t **order;  /* [n] the types it has, the slower first */
	size_t *n_types; /* [n] how many */
	size_t *ordered; /* [n][m] memory of those */
};

void gv_eg_barrier_alloc(struct gv_eg_barrier *s, size_t n, size_t m);
void gv_eg_barrier_free(struct gv_eg_barrier *s);

/*
 * Prices, from price on, from first_mu down to mu: the nearer price is to where they end, the
 * smaller may first_mu be.  The vertices of fixed jobs must be best at price.  Where many
 * are as good, those in the middle.  A step costs n m^2; there are about 5 for a tenth of mu
 * at first, 2 at last.  False: low or high holds them back, which ends it before.
 */
bool gv_eg_barrier_minimise(struct gv_eg_barrier *s, double first_mu, double mu);

/*
 * After a true minimise: low and high a thousand times as far away, which bend shares by mu
 * over their distance.  Not nowhere: what nobody's share depends on has a price by them.
 */
void gv_eg_barrier_widen(struct gv_eg_barrier *s);

/*
 * Newton's method on the barrier, which divided by mu is self-concordant: the step into
 * d_price and so on.  Returns how fast the barrier falls along it, the square of Newton's
 * decrement.
 */
double gv_eg_newton(struct gv_eg_barrier *s);
/* How fast fixed jobs and the borders make the barrier fall with price p of type j. */
double gv_eg_price_fall(const struct gv_eg_barrier *s, size_t j, double p);

#endif
