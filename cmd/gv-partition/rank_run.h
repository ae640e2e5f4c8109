/* --top and --rank: plans ranked by running them, from options to a table or a plan. */
#ifndef GV_PARTITION_RANK_RUN_H
#define GV_PARTITION_RANK_RUN_H

#include "gv-partition/search/plan.h"
#include "plan/layers.h"
#include "options.h"
#include "gv-partition/graph/prefixes.h"

/*
 * fleet: types of GPUs, NULL where they are all alike.
 *
 * The plan of rank o->rank into *p; o->machine becomes the one that it is for.  Ends the
 * program with status 1 when there are not so many.
 */
void rank_plan(struct gv_plan *p, struct options *o, const struct gv_layers *l,
    struct prefixes *x, const struct gv_fleet *fleet);

/* Writes the table of the first o->top plans. */
void rank_list(
    const struct options *o, const struct gv_layers *l, const struct gv_fleet *fleet);

#endif
