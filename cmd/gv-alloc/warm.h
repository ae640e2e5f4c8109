/* --warm: the memory of prices (price.h) in a file, a row per GPU type. */
#ifndef GV_ALLOC_WARM_H
#define GV_ALLOC_WARM_H

#include "base/err.h"
#include "alloc/price/price.h"
#include "sched/cluster.h"

/*
 * Reads it, if there is one: columns gpu_type, price, gain_price (of
 * all GPUs of the type, may be empty), level, policy.  One of another policy, or of other types than
 * the cluster's, says nothing.  0, or -1 with *e set: it is malformed.
 */
int warm_read(struct gv_price_memory *memory, const char *path,
    const struct gv_cluster *c, const char *policy, struct gv_error *e);

/* Writes it, whole or not at all.  0, or -1 with *e set. */
int warm_write(const struct gv_price_memory *memory, const char *path,
    const struct gv_cluster *c, const char *policy, struct gv_error *e);

#endif
