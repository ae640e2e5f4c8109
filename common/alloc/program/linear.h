/*
 * Sums: what all jobs together gain, as much as possible, while each keeps what it
 * needs.
 *
 *	max sum_i sum_j g_ij x_ij   subject to   thr_i(x) >= q_i           each job i
 *	                                         sum_j x_ij <= 1           each job i
 *	                                         sum_i s_i x_ij <= N_j     each type j
 *
 * Often many allocations reach the best sum.  So a second program stays on the
 * face of the best ones (every price and every reduced cost that is not 0 keeps
 * its constraint tight) and maximises another sum.  What is then still free is
 * settled by the simplex method on rows sorted by their values.
 */
#ifndef GV_ALLOC_LINEAR_H
#define GV_ALLOC_LINEAR_H

#include "alloc/problem/problem.h"

/*
 * Where jobs share GPUs: a step/s of job i on type j gains job_i type_j, and a GPU of the
 * type costs cost_j, whoever shares it; the gain of a share is the sum over its jobs
 * less s cost_j.
 */
struct gv_shared_gain {
	const double *job;  /* [n] >= 0, of each job of the row */
	const double *type; /* [m] > 0; NULL = 1 */
	const double *cost; /* [m] >= 0; NULL = 0 */
};

struct gv_linear {
	const struct gv_problem *p;
	const double *gain; /* [n][m] of a share of 1 of one job; may be < 0 */
	/* [n][m] gains are differences of such; NULL = they are not */
	const double *size;
	const double *second; /* [n][m] gains of the second program; NULL = none */
	const double *need;   /* [n] q_i, NULL = 0 */
	/* Where jobs share GPUs (shared.h): what the gains and the second are made of. */
	const struct gv_shared_gain *shared, *shared_second;
	double cost_margin; /* out: as struct gv_shared's */
	/* in: x that keeps the needs; out: the best, its sum, bound and gap */
	struct gv_solution *s;
	double *mu;    /* [n] out: multipliers of the needs and ... */
	double *price; /* [m] ... prices of GPUs that prove the bound */
	double *time;  /* [n] out: of a job's time, where jobs share GPUs; else NULL */
	/* out: and of the budget, per US dollar an hour; 0 = there is none */
	double budget;
};

void gv_linear_init(
    struct gv_linear *l, const struct gv_problem *p, struct gv_solution *s);
void gv_linear_free(struct gv_linear *l);

/* sum_i s_i T_ij / P_i, the second objective of several policies.  [n][m], the caller's. */
double *gv_linear_normalised(const struct gv_problem *p);

/* Ones, and s_i / P_i, as struct gv_shared_gain's job: those of throughputs, and of the sum above.  [n] */
double *gv_linear_ones(const struct gv_problem *p);
double *gv_linear_normal(const struct gv_problem *p);

/* The sum that x [n][m] gains. */
double gv_linear_sum(const struct gv_problem *p, const double *gain, const double *x);

/*
 * Bound and gap of l->s from the multipliers.  The bound is Lagrange's: the sum is at
 * most
 *
 *	sum_j p_j N_j - sum_i mu_i q_i + sum_i max(0, max_j (g_ij + mu_i T_ij - p_j s_i))
 *
 * and with a price of the budget as of gv_level_bound().
 */
void gv_linear_prove(struct gv_linear *l);

#endif
