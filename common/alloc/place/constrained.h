/*
 * The programs of levels and of sums under further constraints: over the shares
 * that rounds can really give (--placeable, hull.h), and with a budget for what the
 * GPUs in use cost in an hour,
 *
 *	sum_i sum_j n_i s_i c_j x_ij <= B
 *
 * Same arguments, same results as gv_level_solve() and gv_linear_solve().  Where their
 * shares keep these constraints too, they are the answer.  Bounds with placements are
 * sure to some 1e-9, and have no prices of GPUs.
 */
#ifndef GV_ALLOC_CONSTRAINED_H
#define GV_ALLOC_CONSTRAINED_H

#include "alloc/solve/level.h"
#include "alloc/solve/linear.h"

/* Whether these constraints are there. */
bool gv_constrained(const struct gv_problem *p, const struct gv_solve_options *opt);

/* l->limit is set where they bind: sum lambda_i sum_j a_ij x_ij is at most that. */
int gv_constrained_level(const struct gv_problem *p, const double *a,
    const struct gv_solve_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e);

int gv_constrained_linear(struct gv_linear *l, const struct gv_solve_options *opt,
    const char *name, struct gv_error *e);

/*
 * --dump-lp: adds the budget, where there is one, to a policy's program, whose columns
 * are called x(i,j), or u and y(i,j) = u x(i,j), by its names.
 */
void gv_constrained_add_budget(
    const struct gv_problem *p, struct gv_lp *lp, const struct gv_lp_names *names);

#endif
