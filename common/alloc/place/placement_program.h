/*
 * A linear program over placements n_ij, the mean number of jobs of class i on type j:
 *
 *	max  level t + gain(n)
 *	     thr_i(n) - demand_i t >= lower_i    each class i with a demand or a lower bound
 *	     n_ij - each_ij t >= 0               each class and type with an each
 *	     first(n) >= first_value             where there is a first objective
 *	     cost(n) <= budget                   where there is a cost
 *	     t >= 0, n in P
 *
 * with gain(n) = sum_ij gain_ij n_ij and so on, thr_i(n) over j alone.  P is the polytope of
 * fractional placements, sum_j n_ij <= n_i and sum_i s_i n_ij <= N_j
 * (gv_placement_program_solve()), or the convex hull of the whole ones (hull.h).
 * Numbers are best of about 1.
 */
#ifndef GV_ALLOC_PLACEMENT_PROGRAM_H
#define GV_ALLOC_PLACEMENT_PROGRAM_H

#include "base/err.h"
#include "alloc/problem/problem.h"

struct gv_placement_program {
	const struct gv_problem *p;
	bool level;
	const double *gain;       /* [n][m] of a job of class i on type j; NULL = 0 */
	const double *throughput; /* [n][m] likewise */
	const double *demand;     /* [n] NULL = 0 */
	const double *lower;      /* [n] NULL = 0 */
	const double *each;       /* [n][m] NULL = 0; not of fractional placements */
	const double *first; /* [n][m] gains of an objective that is kept; NULL = none */
	double first_value;
	const double *cost; /* [n][m] NULL = none */
	double budget;
	double tolerance; /* relative gap at which column generation ends ... */
	double target; /* ... or at this value, known to be the best; INFINITY = none */
	double
	    effort; /* or after so many rows squared times columns of masters; 0 = any */
	/*
	 * Of mixtures, where what they prove is of no use: placements come by their gains, one after
	 * another, and the best ones only where that finds none, that often; 0 = always.
	 */
	size_t exact;
	/* Of mixtures, where target is known: value / target at every step; NULL = nobody */
	void (*progress)(double part);
	bool
	    sure; /* of mixtures: pricing goes on until it knows, however long that takes */
	/* out */
	double value;
	/*
	 * L = max over n in P of sum_ij g_ij n_ij, with the Lagrangian gains g_ij = gain_ij +
	 * dual_i thr_ij - budget_dual cost_ij, rounding allowed for: the best value is at most
	 * L + budget_dual budget - sum_i dual_i lower_i, a level at most that divided by
	 * sum_i dual_i demand_i.  INFINITY = target was reached, or no effort was left, here or in pricing.
	 */
	double lagrangian_max;
	double *dual;       /* [n] multipliers of the classes' rows, >= 0 */
	double budget_dual; /* of the budget, >= 0 */
	double *price;      /* [m] of GPUs; 0 of mixtures */
	double *mean;       /* [n][m] n */
};

/* Room for what comes out; tolerance GV_TOL_HULL, the rest as 0. */
void gv_placement_program_init(
    struct gv_placement_program *g, const struct gv_problem *p);
void gv_placement_program_free(struct gv_placement_program *g);

/* Over fractional placements: 0; 1 infeasible; -1 with *e set. */
int gv_placement_program_solve(
    struct gv_placement_program *g, const char *name, struct gv_error *e);

#endif
