/* reach_solve() where jobs share GPUs; private to it. */
#ifndef GV_ALLOC_REACH_PAIRS_H
#define GV_ALLOC_REACH_PAIRS_H

#include "gv-alloc/solve/reach.h"

int reach_by_pairs(struct reach *r, const struct problem *p, const double *a,
    const double *want, const struct solve_options *opt, struct gv_error *e);

#endif
