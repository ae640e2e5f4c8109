/*
 * Max-min fairness in the space of prices: one number per GPU type instead of one row
 * per job.
 *
 * Lagrange's relaxation of the capacities: at prices p of the types' GPUs and a level t
 * every job by itself demands the cheapest shares that lift it to t.  What all demand
 * together says in which direction the prices are wrong, and gives a bound that no level
 * can pass; mixing the shares demanded at several prices so that no type is over
 * capacity gives a level that is reached.  Both values meet (dual.h).
 */
#ifndef GV_ALLOC_PRICE_H
#define GV_ALLOC_PRICE_H

#include <stdbool.h>
#include <stddef.h>

#include "oracle.h"

struct gv_price_problem {
	size_t n, m;
	const double *a;   /* [n][m] level of job i per share of type j; 0 = cannot run */
	const double *use; /* [n] GPUs of a type that a share of 1 takes, > 0 */
	const double *gain;     /* [n][m] second objective, per share */
	const double *capacity; /* [m] */
};

struct gv_price_solution {
	/* [n][m] shares: first the level, then the sum of gains, at their best */
	double *x;
	double *lambda;    /* [n] multipliers of the jobs that prove the level, ... */
	double *price;     /* [m] ... and prices of the types, see level_bound() */
	double level;      /* what x reaches, and ... */
	double bound;      /* ... cannot be passed, both but for rounding */
	bool second_done;  /* the sum of gains is at its best, to GV_TOL_SUM_PROVED */
	int n_evaluations; /* of the dual */
	/* [m] as struct gv_dual_problem's; NULL = the last type is no money */
	const double *dollars;
	/* operations left, counted down; near its end a search takes a quarter more; NULL = any */
	double *effort;
	double second_effort; /* besides, for the second objective if it is needed */
	/* Fills the gains of the jobs, should they be needed; NULL = they are there. */
	void (*fill)(void *ctx, const struct gv_oracle_jobs *c);
	void *ctx;
};

/*
 * *s has room for its arrays.  0: solved, bound - level is within GV_TOL_LEVEL_PROVED of the
 * level, usually GV_TOL_DUAL_GAP; 1: it did not come that close (other methods may), or
 * s->effort does not suffice.
 */
int gv_price_solve(const struct gv_price_problem *p, struct gv_price_solution *s);

/*
 * What was found, for the next time that nearly the same jobs are asked for: that
 * makes it sooner, never another.  = {0} knows nothing.
 */
struct gv_price_memory {
	size_t m;
	/* [m] prices q_j = p_j N_j of a type's whole capacity, of both objectives; NULL = not known */
	double *capacity_price, *gain_capacity_price;
	double level; /* about */
	/*
	 * The caller's: by which part the jobs have changed since, so that prices are looked
	 * for nearby; 0 = not known.
	 */
	double change;
	/* The caller's: more programs like this one follow, which its prices make quicker. */
	bool first_of_many;
};

/*
 * Solves for jobs in columns; the second objective only where s->second_done says so.
 * memory (NULL: none) is read and written.
 */
int gv_price_level(const struct gv_oracle_jobs *c, const double *capacity,
    struct gv_price_solution *s, struct gv_price_memory *memory);
void gv_price_forget(struct gv_price_memory *memory);

/*
 * Prices at which what the jobs demand by themselves gains nearly the largest sum
 * of gains that there is, while each keeps the level: the second stage alone.
 * Gains in numbers whose best sum is about 1.
 *
 *	used   [m] GPUs of shares that reach the level within the capacities, which gain
 *	       together; NULL = none do
 *	level  a job with a_ij INFINITY asks for nothing
 *	dollars as struct gv_dual_problem's; price has what a GPU costs of money then
 *	price  [m]
 *	effort operations left, counted down; NULL = any number
 *
 * memory as in gv_price_level.  0 found; 1 it came to no end.
 */
int gv_price_sum(const struct gv_oracle_jobs *c, const double *capacity,
    const double *used, double gain, double level, const double *dollars, double *price,
    double *effort, struct gv_price_memory *memory);

#endif
