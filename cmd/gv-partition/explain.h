/* A plan as a table of its stages. */
#ifndef GV_PARTITION_EXPLAIN_H
#define GV_PARTITION_EXPLAIN_H

#include "gv-partition/search/plan.h"
#include "plan/layers.h"

/* The stages level by level, innermost first, with what they cost and what limits them. */
void explain_write(const struct plan_report *r, const struct gv_plan *p,
    const struct gv_layers *l, const struct cost_rules *rules, struct gv_out *out,
    bool tsv);

/* Which of a stage's terms is its load: compute, sync or transfer. */
const char *explain_limit(const struct stage_terms *t, enum cost_model model);

#endif
