/*
 * --placeable: the programs of levels and of sums over the shares that rounds can
 * really give, the mixtures of placements (hull.h).  Same arguments, same results
 * as level_solve() and linear_solve(), but that there are no prices of GPUs; bounds
 * are sure to 2e-9.
 */
#ifndef GV_ALLOC_PLACEABLE_H
#define GV_ALLOC_PLACEABLE_H

#include "level.h"
#include "linear.h"

/* l->limit is set: sum lambda_i sum_j a_ij x_ij is at most that. */
int placeable_level(const struct problem *p, const double *a,
    const struct solve_options *opt, const char *name, struct level *l,
    struct gv_error *e);

int placeable_linear(struct linear *l, const struct solve_options *opt, const char *name,
    struct gv_error *e);

#endif
