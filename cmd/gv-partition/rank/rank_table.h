/* Ranked plans as a table. */
#ifndef GV_PARTITION_RANK_TABLE_H
#define GV_PARTITION_RANK_TABLE_H

#include "gv-partition/search/plan.h"
#include "plan/layers.h"
#include "rank.h"

/* The first so many plans, a row each; top 0: all. */
void ranking_write(const struct ranking *k, size_t top, const struct gv_layers *l,
    struct gv_out *out, bool tsv);

#endif
