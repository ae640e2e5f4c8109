/*
 * Programs of shares in which two jobs may have the same GPUs (space sharing).
 *
 *	max t                       (level)
 *	max sum of gains            (sum; t is 1)
 *
 *	subject to  f_i thr_i - be_i t >= 0        each job i with be_i > 0
 *	            the time of i and of its pairs <= 1          each job i
 *	            the GPUs of all, those of a pair once, <= N_j   each type j
 *
 * By column generation (Gilmore and Gomory 1961): a linear program, GLPK's, of the
 * jobs alone and of a few pairs; its multipliers price all pairs (pricing.h), those
 * that would help come in, until none does.  So n^2 columns are never made, and
 * at the end the multipliers prove a bound over all pairs, made or not.  Equal jobs
 * are one row.  n rows with all pairs different take some 10 rounds and less than
 * 10 n columns.
 *
 * What else is as good at the best level or sum is settled by a second sum of gains, and
 * then by the simplex method.
 *
 * Gains are as of struct gv_shared_gain (program/linear.h).
 */
#ifndef GV_ALLOC_SHARED_H
#define GV_ALLOC_SHARED_H

#include "alloc/program/linear.h"
#include "lp/lp.h"

/*
 * Where a program of levels ended, for the next one of the same jobs to start from:
 * other factors and demands.  = {0} is none yet.
 */
struct gv_shared_warm {
	struct gv_lp_basis basis;
	size_t n;
	struct gv_pair *pair; /* [n] those made, in their order */
};

void gv_shared_warm_free(struct gv_shared_warm *w);

struct gv_shared {
	const struct gv_problem *p; /* .together is not NULL */
	const double *factor;       /* [n] f_i > 0; NULL = 1 */
	const double *demand;       /* [n] be_i >= 0, 0: no such row; NULL = all 0 */
	const struct gv_shared_gain *gain;   /* NULL: t is what is looked for */
	const struct gv_shared_gain *second; /* NULL: none */
	/* where to start, and where it ended; NULL: nowhere */
	struct gv_shared_warm *warm;
	/* t turns (climb.h): demand is the unit of f_i thr_i, and jobs come in when they want */
	bool turns;
	bool all;   /* all pairs are made beforehand; so also for exact */
	bool exact; /* the program of GLPK is also proved in rational arithmetic */

	/* ---- found ---- */
	struct gv_solution *s; /* x, pair, n_pairs and exact */
	double value;          /* t, or the sum, that s has */
	double bound;          /* proved: none is larger */
	/*
	 * The proof: for all allocations, with lambda_i >= 0 and prices p_j >= 0 of
	 * GPUs (of s_i a gang),
	 *
	 *	sum_i lambda_i f_i thr_i <= limit                (level)
	 *	the sum of gains + sum_i lambda_i f_i thr_i <= limit   (sum)
	 *
	 * thr_i of one job of row i.  limit allows for rounding.
	 */
	double *lambda; /* [n] */
	double *price;  /* [m] */

	double *time;
	double limit;
	/*
	 * Of a sum with costs: no allocation that meets the demands gains more than 1 + cost_margin
	 * times what it costs, costs not counted as gains.
	 */
	double cost_margin;
	size_t n_columns; /* pairs that were made */
	int rounds;
};

/* Makes room for the multipliers; the rest of the program is set after it. */
void gv_shared_init(
    struct gv_shared *h, const struct gv_problem *p, struct gv_solution *s);
void gv_shared_free(struct gv_shared *h);

/*
 * h->s->x has room, zeroed; h->s->pair is allocated here.  Pairs that are there, of
 * a similar program, are where to start; they are freed.
 * The demands of a sum must be feasible, to GV_TOL_FEASIBLE.
 * name: the policy, for messages.  0, or -1 with *e set: GLPK came to no solution, or
 * there are more than 10^6 pairs to make beforehand.
 */
int gv_shared_solve(struct gv_shared *h, const char *name, struct gv_error *e);

/*
 * The program with all its pairs, in the units of the problem, for --dump-lp; see
 * struct gv_policy.  In names x(i,j) is job i on type j, y(i,k,j) a pair; t is 1 where
 * the sum is looked for.
 */
void gv_shared_program(
    const struct gv_shared *h, struct gv_lp *lp, struct gv_lp_names *names);
/*
 * The program of the largest sum over cost, cost [m] of a GPU: columns are shares times
 * t, and t is 1 over the cost (Charnes and Cooper 1962).
 */
void gv_shared_ratio_program(const struct gv_shared *h, const double *cost,
    struct gv_lp *lp, struct gv_lp_names *names);

#endif
