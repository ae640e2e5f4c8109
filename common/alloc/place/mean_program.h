/*
 * A program over points n_ij, how many jobs of class i run on type j, in the mean:
 *
 *	max  level t + gain(n)
 *	     rise_i(n) - ask_i t >= least_i      each class i with ask or least
 *	     keep(n) >= at_least                 where there is a keep
 *	     cost(n) <= budget                   where there is a cost
 *	     t >= 0, n a point
 *
 * with gain(n) = sum_ij gain_ij n_ij and so on, rise_i(n) over j alone.  Points are those
 * that GPUs and time allow (gv_mean_program_solve()), or the mixtures of placements
 * (hull.h).  Numbers are best of about 1.
 */
#ifndef GV_ALLOC_PROGRAM_H
#define GV_ALLOC_PROGRAM_H

#include "base/err.h"
#include "alloc/problem/problem.h"

struct gv_mean_program {
	const struct gv_problem *p;
	bool level;
	const double *gain;  /* [n][m] of a job there; NULL = 0 */
	const double *rise;  /* [n][m] the same */
	const double *ask;   /* [n] NULL = 0 */
	const double *least; /* [n] NULL = 0 */
	const double *keep;  /* [n][m] NULL = none */
	double at_least;
	const double *cost; /* [n][m] NULL = none */
	double budget;
	double close; /* how near to the best is enough, where it is searched for */
	/* or this value, known to be the best; INFINITY = nothing is known */
	double enough;
	/* out */
	double value;
	/*
	 * At the multipliers no point is worth more, rounding allowed for: the best value is
	 * at most most + cost_dual budget - sum dual_i least_i, or that divided by sum dual_i ask_i
	 * for a level; INFINITY = enough was reached.
	 */
	double most;
	double *dual;     /* [n] multipliers of the classes' rows, >= 0 */
	double cost_dual; /* of the cost, >= 0 */
	double *price;    /* [m] of GPUs; 0 of mixtures */
	double *mean;     /* [n][m] the point */
};

/* Room for what comes out; close 1e-9, the rest as 0. */
void gv_mean_program_init(struct gv_mean_program *g, const struct gv_problem *p);
void gv_mean_program_free(struct gv_mean_program *g);

/* Over all points that GPUs and time allow: 0; 1 there is none; -1 with *e set. */
int gv_mean_program_solve(
    struct gv_mean_program *g, const char *name, struct gv_error *e);

#endif
