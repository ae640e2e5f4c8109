/*
 * Can every job have so much?  The largest factor by which given throughputs of
 * all jobs can be multiplied,
 *
 *	max f   subject to   sum_j a_ij x_ij >= f want_i     each job i
 *	                     sum_j x_ij <= 1                 each job i
 *	                     sum_i n_i s_i x_ij <= N_j       each type j
 *
 * and, from its duals, an inequality that every allocation keeps:
 *
 *	sum_i lambda_i sum_j a_ij x_ij <= limit
 *
 * which the shares found fill.  With pairs of jobs on the same GPUs as in
 * shared.h; each level is then that of all the job's shares.
 */
#ifndef GV_ALLOC_REACH_H
#define GV_ALLOC_REACH_H

#include "alloc/problem/problem.h"

struct gv_shared_warm;

struct gv_reach {
	double *x;            /* [n][m] shares that give f want, with ... */
	struct gv_pair *pair; /* [n_pairs] ... those of pairs, where jobs share GPUs */
	size_t n_pairs;
	double *lambda; /* [n] >= 0; by prices, a small one means 0 */
	double *price;  /* [m] of a GPU: what the inequality holds down; 0 = there are
                     enough */
	double limit;   /* but for rounding, see gv_reach_rounding() */
	bool exact;     /* asked for, and proved in rational arithmetic */
	/* where jobs share GPUs, see shared.h; NULL = cold */
	struct gv_shared_warm *warm;
};

/* = room for the problem; a reach may be solved again and again. */
void gv_reach_alloc(struct gv_reach *r, const struct gv_problem *p);
void gv_reach_free(struct gv_reach *r); /* also of a zeroed one */

/* What rounding may have taken from a limit, relative. */
double gv_reach_rounding(const struct gv_problem *p);

/*
 * Lifts the inequality to jobs that want nothing: lambda_i = min_j p_j n_i s_i / a_ij, which
 * their GPUs' prices pay for, leaves the limit as it is; 0 where no GPU is left to a job.
 */
void gv_reach_lift(
    struct gv_reach *r, const struct gv_problem *p, const double *a, const double *want);

#endif
