/* Reaches (program/reach.h) where jobs share GPUs. */
#ifndef GV_ALLOC_REACH_PAIRS_H
#define GV_ALLOC_REACH_PAIRS_H

#include "alloc/program/reach.h"

/* all and exact as in struct gv_shared.  0, or -1 with *e set. */
int gv_reach_by_pairs(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool all, bool exact, struct gv_error *e);

#endif
