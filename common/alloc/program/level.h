/*
 * Levels: what each job is given of what it asks for, the lowest as high as
 * possible.
 *
 *	max t   subject to   sum_j a_ij x_ij >= t      each job i
 *	                     sum_j x_ij <= 1           each job i
 *	                     sum_i s_i x_ij <= N_j     each type j
 *
 * with a_ij > 0 where the job can run and 0 elsewhere.  Max-min fairness and the
 * makespan are this program, finish-time fairness a few of it.
 *
 * When some job saturates (it has all the time there is), many allocations reach
 * the best t and most of them waste GPUs.  So the objective is lexicographic: a second
 * program keeps t and maximises the sum of s_i thr_i(x) / P_i.  What is then still free is settled
 * by the simplex method on rows sorted by their values: equal input, in any
 * order, has equal output.
 */
#ifndef GV_ALLOC_LEVEL_H
#define GV_ALLOC_LEVEL_H

#include "alloc/problem/problem.h"

struct gv_shared_warm;

/* What it finds. */
struct gv_level {
	struct gv_solution *s; /* x, and the level as objective, with its bound and gap */
	double *lambda;        /* [n] of the jobs and ... */
	double *price; /* [m] ... of the types' GPUs: the multipliers of the bound */
	double *time;  /* [n] of a job's time, where jobs share GPUs; else NULL */
	/* and of the budget, per US dollar an hour; 0 = there is none */
	double budget;
	bool lexicographic; /* the second program follows */
	/* in: operations that a search for prices may take besides, should it be needed */
	double second_effort;
	/* in: [n] what sum_j a_ij x_ij must be at least, whatever t is; NULL = 0 */
	const double *floor;
	/* out, where there are no prices: sum lambda_i sum_j a_ij x_ij is at most that; else 0 */
	double limit;
	/* where jobs share GPUs, see shared.h; NULL = cold */
	struct gv_shared_warm *warm;
};

/* Makes room for the multipliers. */
void gv_level_init(struct gv_level *l, const struct gv_problem *p, struct gv_solution *s,
    bool lexicographic);
void gv_level_free(struct gv_level *l);

/* The lowest level that shares x reach, min_i sum_j a_ij x_ij.  a [n][m], x [n][m] */
double gv_level_reached(const struct gv_problem *p, const double *a, const double *x);

/*
 * The level that equal shares reach, about the size of the best one: what the solvers
 * count levels in, so that their numbers are of about 1.
 */
double gv_level_unit(const struct gv_problem *p, const double *a);

/*
 * What no level is above, whatever the multipliers: with lambda_i >= 0 of the jobs,
 * of a_ij / unit, and prices p_j >= 0 of the types' GPUs,
 *
 *	t sum lambda <= sum_j p_j N_j + sum_i max(0, max_j (lambda_i a_ij - p_j n_i s_i))
 *
 * because every x of the program keeps sum_j x_ij <= 1; with a price of the budget B of p,
 * budget B is added and a GPU costs p_j + budget c_j.  From the problem's numbers; of
 * a solver only the multipliers are taken.  Rounding is allowed for.
 */
double gv_level_bound(const struct gv_problem *p, const double *a, double unit,
    const double *lambda, const double *price, double budget);

/*
 * What a step/s of job i adds to its level: a_ij / T_ij of its fastest type; it is the
 * same on all.
 */
double gv_level_per_step(const struct gv_problem *p, const double *a, size_t i);

/* What rounding may do to sums over all jobs of numbers >= 0, relative. */
double gv_level_rounding(const struct gv_problem *p);

/*
 * What sum_i lambda_i sum_j a_ij x_ij cannot pass by the multipliers of l, of a: from the
 * prices as above, or l->limit where there are none.  Rounding is allowed for.
 */
double gv_level_limit(
    const struct gv_problem *p, const double *a, const struct gv_level *l);

/* How far the best level may be above this one, a part of the bound. */
double gv_level_gap(const struct gv_problem *p, double bound, double level);

#endif
