/*
 * GPUs that are there now: of a table of rates, the column gpus_available.  Who asks a
 * policy while nodes are away says so there, since the cluster table tells of all.
 */
#ifndef GV_SCHED_AVAILABLE_H
#define GV_SCHED_AVAILABLE_H

#include "sched/rates.h"

/*
 * *now = c with the GPUs that rows of r say are there; what is missing of c's is away.
 * Types that no row tells of stay as they are.  now->type is for free(), the rest is
 * c's, which must outlive it.  0, or -1 with *e set: no whole number from 0, rows of one
 * type that differ.  Cost: rows.
 */
int gv_rates_available(const struct gv_rates *r, const struct gv_cluster *c,
    struct gv_cluster *now, struct gv_error *e);

#endif
