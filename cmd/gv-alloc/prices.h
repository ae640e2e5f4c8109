/* Prices of GPU types at a time, from a table of offers (gpu_type, usd_per_h, time_s, source). */
#ifndef GV_ALLOC_PRICES_H
#define GV_ALLOC_PRICES_H

#include "base/err.h"
#include "sched/cluster.h"

/*
 * Replaces usd_per_h of the cluster's types that the table has at at_s (INFINITY =
 * at its end): the lowest over the sources of each one's last price until then, as
 * in Gavel's cost experiments.  Other types keep theirs, types that the cluster
 * lacks do not matter.  0, or -1 with *e set, every bad cell located.
 */
int prices_read(struct gv_cluster *c, const char *path, double at_s, struct gv_error *e);

#endif
