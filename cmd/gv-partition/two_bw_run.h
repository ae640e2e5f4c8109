/* gv-partition --planner=2bw: from the options to a plan or a table. */
#ifndef GV_PARTITION_TWO_BW_RUN_H
#define GV_PARTITION_TWO_BW_RUN_H

#include "gv-partition/search/plan.h"
#include "plan/layers.h"
#include "options.h"
#include "gv-partition/graph/prefixes.h"

/*
 * The best configuration as a plan of one level, for which machine, schedule and
 * micro-batches are set in *o; the prefixes go to *x.  Ends the program with status 1,
 * and a message, when nothing fits.
 */
void two_bw_plan(
    struct gv_plan *p, struct options *o, const struct gv_layers *l, struct prefixes *x);

/* Reads layers, writes a table of configurations; the exit status, before gv_finish. */
int two_bw_list(const struct options *o);

#endif
