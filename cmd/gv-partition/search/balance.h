/*
 * The same stages, cut so that their loads are the lowest: of all pipelines of as
 * many stages, with the replicas and places that a plan gives them, the one whose
 * loads, sorted from the largest, are the lower in the order of a dictionary.
 */
#ifndef GV_PARTITION_BALANCE_H
#define GV_PARTITION_BALANCE_H

#include "plan.h"

/*
 * The load of the plan's j-th stage from prefix i to k, with activations
 * recomputed where *recompute says so on return; INFINITY when it does not fit.
 */
typedef double balance_load(const void *ctx, const struct gv_plan *p, size_t j, size_t i,
    size_t k, bool *recompute);

/*
 * p->stage[].within[0] holds the prefix that each stage ends at.  No load may be above
 * slowest_s, and there is such a pipeline.  Cost: stages times pairs of prefixes.
 */
void balance(const struct ideals *s, struct gv_plan *p, double slowest_s,
    balance_load *load, const void *ctx);

#endif
