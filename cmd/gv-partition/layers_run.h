/* gv-partition --planner=pipedream: from the options to a plan, and what it costs. */
#ifndef GV_PARTITION_LAYERS_RUN_H
#define GV_PARTITION_LAYERS_RUN_H

#include "gv-partition/graph/prefixes.h"
#include "gv-partition/search/plan.h"
#include "options.h"
#include "plan/layers.h"

/*
 * The best plan; the prefixes that it was looked for with go to *x.  fleet: types of
 * GPUs, NULL where they are all alike.  Where not all prefixes were looked at, those near
 * the plan are, as long as that makes it faster.  Ends the program with status 1, and a
 * message, when there is none.
 */
void layers_run(struct gv_plan *p, const struct options *o, const struct gv_layers *l,
    struct prefixes *x, const struct gv_fleet *fleet);

/* What a plan costs on the machine of the options.  0, or -1 with *e set. */
int layers_cost(struct plan_report *r, const struct options *o, const struct gv_layers *l,
    const struct gv_plan *p, struct gv_error *e);

#endif
