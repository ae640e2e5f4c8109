/* A machine's levels from a table. */
#ifndef GV_PARTITION_LEVELS_H
#define GV_PARTITION_LEVELS_H

#include "base/err.h"
#include "gv-partition/search/cost.h"

/*
 * Reads columns level (from 1, innermost), gpus (or components of the level below)
 * and gbytes_per_s.  Rows may be in any order.  0, or -1 with *e set.
 */
int levels_read(struct machine *m, const char *path, struct gv_error *e);

/*
 * Takes so many of its GPUs: whole components of a level, and none of the levels
 * above it.  0, or the GPUs of a component when they are no whole ones.  Not more than
 * there are.
 */
size_t levels_take(struct machine *m, size_t gpus);

#endif
