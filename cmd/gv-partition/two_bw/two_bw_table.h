/* Tables of 2BW's planner. */
#ifndef GV_PARTITION_TWO_BW_TABLE_H
#define GV_PARTITION_TWO_BW_TABLE_H

#include "base/err.h"
#include "table/tab.h"
#include "two_bw.h"

/* Reads micro_batch and speed, gv-tables(5), in any order.  0, or -1 with *e set. */
int two_bw_speeds_read(struct two_bw_speeds *v, const char *path, struct gv_error *e);

/* The best top configurations, 0 for all. */
void two_bw_write(const struct two_bw_rows *r, size_t top, struct gv_out *out, bool tsv);

#endif
