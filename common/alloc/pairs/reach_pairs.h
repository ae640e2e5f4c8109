/* Reaches (program/reach.h) where jobs share GPUs. */
#ifndef GV_ALLOC_REACH_PAIRS_H
#define GV_ALLOC_REACH_PAIRS_H

#include "alloc/program/reach.h"
#include "shared.h"

/* all and exact as in struct gv_shared.  0, or -1 with *e set. */
int gv_reach_by_pairs(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool all, bool exact, struct gv_error *e);

/*
 * The inequality of h's multipliers, of levels f_i thr_i; jobs that want nothing have the
 * largest lambda found that leaves the limit as it is.
 */
void gv_reach_from_pairs(
    struct gv_reach *r, const struct gv_shared *h, const double *a, const double *want);

#endif
