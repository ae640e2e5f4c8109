/* Programs of levels by whatever their constraints are, but for floors of levels. */
#ifndef GV_ALLOC_UNFLOORED_H
#define GV_ALLOC_UNFLOORED_H

#include "solve.h"

/* Takes the same arguments as gv_level_solve(), with the same results; l->floor does not count. */
int gv_level_unfloored(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e);

#endif
