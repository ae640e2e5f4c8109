/* gv_reach_solve() where jobs share GPUs; private to it. */
#ifndef GV_ALLOC_REACH_PAIRS_H
#define GV_ALLOC_REACH_PAIRS_H

#include "alloc/solve/reach.h"

int gv_reach_by_pairs(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, const struct gv_solve_options *opt, struct gv_error *e);

#endif
