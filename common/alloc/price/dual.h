/*
 * The prices at which the Lagrange dual of a program of many jobs is least.
 *
 * With prices p_j >= 0 on the types' GPUs the program falls apart into jobs, and an
 * oracle (oracle.h) says what each demands at given prices.  Together they demand
 * used_j(p) GPUs, which gives the value of the dual there,
 *
 *	gains:  D(p) = sum_i best gain after cost + sum_j p_j N_j
 *	levels: the root t of  sum_j p_j N_j = sum_i least cost of t, by Newton's method
 *
 * and N - used(p) as its subgradient: a plane that D is nowhere below.
 *
 *  - kelley.c: cutting planes (Kelley 1960).  The dual of the program over the planes is
 *    the restricted master of Dantzig and Wolfe (1960), master.h: it mixes the demands
 *    seen so far so that no type is over capacity, and its duals are the next prices.
 *    D bounds every solution, the mixture is one, and both meet.
 *  - boxstep.c: the prices are kept in a box around those expected (Marsten, Hogan and
 *    Blankenship 1975); where the end is at its border a larger one follows.  Where jobs
 *    are many, every eighth of them, by themselves, have nearly the same prices.
 *  - fixing.c: most jobs demand the same in the whole box, which bounds of their reduced
 *    costs prove.  They are fixed: added up once and left aside, and the rest goes on
 *    with the others in smaller and smaller boxes.
 *  - dual.c: the way to the end shows in the last digits of what is found.  So the last
 *    part of it is gone again from a point of a grid near the end, which is the same
 *    point wherever it began.
 */
#ifndef GV_ALLOC_DUAL_H
#define GV_ALLOC_DUAL_H

#include "oracle.h"

/* Which dual: of the best level (gains false), or of the best gains at a level. */
struct gv_dual_problem {
	const double *capacity; /* [m] N_j */
	/*
	 * [m] the last type is money, which no job runs on and a GPU of each other type
	 * costs so much of; NULL = there is none.  Jobs then look at p_j + dollars_j p_m.
	 */
	const double *dollars;
	bool gains;
	double level;       /* gains: that each reaches; else what time allows, at most */
	const double *face; /* [m] gains: see struct gv_dual_point; NULL */
	double gap;         /* to end at, a part of the bound ... */
	double gap_floor;   /* ... or of this where that is larger (gains) */
	/*
	 * A solution that is known (gains): its GPUs [m] and what it gains; NULL = none.
	 * It is a column of the master, which is so never without a solution.
	 */
	const double *incumbent_used;
	double incumbent_gain;
	/* operations that it may still take, counted down; NULL = any number */
	double *effort;
};

/* The price that type j of m has of its own, without what it costs of money. */
double gv_dual_own_price(
    const struct gv_dual_problem *problem, const double *price, size_t m, size_t j);

/* Prices of a type's whole capacity, q_j = p_j N_j [m], and a level that were right for nearly the same jobs. */
struct gv_dual_start {
	const double *capacity_price;
	double level;
	double part; /* how far they may be off, about; 0 = not known */
};

/* A cutting plane, and column of the master: the demand at these prices and level. */
struct gv_cut {
	double *price; /* [m] p_j of a GPU, with what it costs of money */
	double level;
	double weight; /* mu_k, in the mixture */
};

/*
 * The shares of a free job are the sum of what it demands at the cuts, times their
 * weights; of any other (fixed) job what it demands at the best prices and level, times
 * weight.
 */
struct gv_dual {
	size_t m;
	struct gv_cut *cut;
	size_t n_cuts, cap_cuts;
	struct gv_oracle_jobs free_jobs; /* .n = 0: none */
	bool all_free;                   /* every job; free_jobs is empty then */
	double *price;                   /* [m] of a GPU: of the least bound */
	double level, bound; /* reached (of gains: the sum), and not to be passed */
	/* the cut of the least bound was at this level; 0: none, time bounds */
	double price_level;
	double weight;
	/* this depends on the jobs alone, not on where the search began */
	bool canonical;
	int n_evaluations; /* of the dual */
};

/*
 * Minimises.  start NULL: nothing is known.  Else the same comes out, sooner; where that
 * is not sure the search begins anew without it.  0; 1 it came no nearer than d->bound -
 * d->level, or took more than problem->effort.  *d is to be freed in both cases.
 */
int gv_dual_minimise(struct gv_dual *d, const struct gv_oracle_jobs *jobs,
    const struct gv_dual_problem *problem, const struct gv_dual_start *start);
void gv_dual_free(struct gv_dual *d);

#endif
