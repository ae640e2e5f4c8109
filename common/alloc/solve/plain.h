/*
 * The programs of levels and of sums without pairs of jobs and without further
 * constraints: by the solver that choice.h names first, and if it fails by the other.
 */
#ifndef GV_ALLOC_PLAIN_H
#define GV_ALLOC_PLAIN_H

#include "solve.h"

/* Take the same arguments as gv_level_solve() and gv_linear_solve(), with the same results. */
int gv_level_plain(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e);
int gv_linear_plain(struct gv_linear *l, const struct gv_solver_options *opt,
    const char *name, struct gv_error *e);

#endif
