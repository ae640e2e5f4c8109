/*
 * The programs of program/, solved: which of the solvers below is the fastest that
 * serves, and what follows where one does not come to an end.
 */
#ifndef GV_ALLOC_SOLVE_H
#define GV_ALLOC_SOLVE_H

#include "alloc/program/level.h"
#include "alloc/program/linear.h"
#include "alloc/program/reach.h"
#include "lp/lp.h"

enum gv_solver {
	GV_SOLVER_AUTO,    /* the fastest for the problem's size */
	GV_SOLVER_GLPK,    /* a linear program of everything */
	GV_SOLVER_PRICE,   /* prices of types, price/price.h */
	GV_SOLVER_INTERIOR /* the interior-point method, interior/interior.h */
};

struct gv_price_memory;

struct gv_solver_options {
	enum gv_solver solver;
	bool certify;   /* prove optimality in rational arithmetic as well */
	bool placeable; /* only shares that rounds can give (place/hull.h) */
	/*
	 * Each multiplier is looked at, whether it is 0: not those of the interior-point
	 * method, which by itself has none that is.
	 */
	bool sharp;
	bool digits; /* levels in many digits, where that is quick (simplex/precise.h) */
	/* of those: one that is not quite proved will do, for all else has failed */
	bool any;
	bool wide; /* of reach: with all jobs and types, for without some it failed */
	/*
	 * Called now and then by programs that may take seconds: the first one's objective so
	 * far, a part of what it may be at most; NULL = nobody
	 */
	void (*progress)(double part);
	/* of the last solution (price/price.h); NULL = none */
	struct gv_price_memory *memory;
};

/*
 * The level that a [n][m] asks for.  name: the policy, for messages.  The solver of
 * choice.h, where opt->solver does not say otherwise, and if it fails the other one; with
 * pairs of jobs by column generation.  0, or -1 with *e set.  l->s->bound is that of
 * gv_level_bound().
 */
int gv_level_solve(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e);

/*
 * The sum that l asks for: by the solver of choice.h where opt->solver does not say
 * otherwise, and if it fails by the other one.  The needs must be possible, and l->s->x keep them (deadline.h).
 * name: the policy, for messages.  0, or -1 with *e set.
 */
int gv_linear_solve(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e);

/*
 * Whether all can have want [n] >= 0, one of them above 0, at a [n][m] >= 0.  corner:
 * the shares are wanted at a corner, where few jobs use several types.  Without opt->wide
 * the part that all have of it, and how far the inequality is filled, are those of the jobs
 * that are not settled (settled.h).  0, or -1 with *e set: no solver came to a solution.
 */
int gv_reach_solve(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool corner, const struct gv_solver_options *opt,
    struct gv_error *e);

/*
 * Whether that is solved without jobs that have one type left (settled.h), so that it pays to
 * leave types out; solvers that are asked for by name, and proofs, have all there is.
 */
bool gv_reach_is_narrow(const struct gv_problem *p, const struct gv_solver_options *opt);

/*
 * The programs in the units of the problem, for --dump-lp; the caller frees *lp and
 * names->ctx.  a_ij INFINITY: the job asks for nothing; need [n] in
 * steps/s, NULL = none.  Of a sum l->p, gain, shared and need count.
 */
void gv_level_program(const struct gv_problem *p, const double *a, const double *need,
    struct gv_lp *lp, struct gv_lp_names *names);
void gv_linear_program(
    const struct gv_linear *l, struct gv_lp *lp, struct gv_lp_names *names);

#endif
