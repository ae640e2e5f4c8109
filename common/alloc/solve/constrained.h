/*
 * The programs of levels and of sums under further constraints: shares that rounds can
 * really give (--placeable), and a budget for what the GPUs in use cost in an hour.
 * First without one of them; where those shares keep it too, they are the answer, else
 * place/placed.h has the rest.
 */
#ifndef GV_ALLOC_CONSTRAINED_H
#define GV_ALLOC_CONSTRAINED_H

#include "solve.h"

/* Whether these constraints are there. */
bool gv_constrained(const struct gv_problem *p, const struct gv_solver_options *opt);

/*
 * Take the same arguments as gv_level_solve() and gv_linear_solve(), and give the same
 * results; first of the program without one constraint.  l->limit is set
 * where the constraints bind: sum lambda_i sum_j a_ij x_ij is at most that.
 */
int gv_constrained_level(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e);
int gv_constrained_linear(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e);

#endif
