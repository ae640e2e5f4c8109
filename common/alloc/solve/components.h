/* The programs of levels and of sums where jobs fall apart (problem/components.h). */
#ifndef GV_ALLOC_SOLVE_COMPONENTS_H
#define GV_ALLOC_SOLVE_COMPONENTS_H

#include "solve.h"

/*
 * Take the same arguments as gv_level_plain() and gv_linear_plain().  True: solved
 * component by component, with the same results.  False: they are not apart, a solver was asked
 * for by name, or one of them failed; l and l->s->x are as they were.  O(n m) beside the
 * components' solvers.
 */
bool gv_level_components(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l);
bool gv_linear_components(
    struct gv_linear *l, const struct gv_solver_options *opt, const char *name);

#endif
