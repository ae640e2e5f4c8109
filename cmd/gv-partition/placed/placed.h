/*
 * One pipeline over all GPUs of a machine with levels, each stage where it is.
 *
 * The machine's GPUs are numbered so that those of a component stand together.  A
 * pipeline's stages take consecutive GPUs, the last stage the last ones; GPUs that
 * are not used are the first.  Unlike the pipelines inside pipelines of plan.h
 * this has 15 replicas on 4 times 4 GPUs and one more stage on the last.
 *
 * Costs are those of cost.h on one level, at the bandwidth of the slowest link that
 * is crossed: that of the levels up to the innermost component that holds all
 *
 *   replicas of the stage, for its weights: they are summed around one ring of
 *           them all, which enters each component once, and is as fast as its
 *           slowest link;
 *   replicas of both stages, for what one hands to the next; the first stage's
 *           load has no transfers, as elsewhere.
 *
 * Differs from PipeDream, which has nothing like it.
 */
#ifndef GV_PARTITION_PLACED_H
#define GV_PARTITION_PLACED_H

#include "gv-partition/search/plan.h"

/*
 * The plan of one level whose slowest stage takes the least time; ties, memory, idle
 * GPUs and straight are as in plan_search.
 *
 * Exact: no such plan between these prefixes is faster.
 *
 * How: plans at the slowest and at the fastest link's bandwidth bound the time, and
 * plans among few of the prefixes; halving to 1 % narrows the bounds, dynamic
 * programming over loads finds the rest.  Both look only at stages that can
 * be in a plan within the limit (see plan_search), and know of a pipeline from a prefix on
 * so many GPUs how far its first stage reaches out.
 * Cost: about 10 times those stages times the square of the GPUs.
 */
enum search_result placed_search(struct gv_plan *p, const struct ideals *s,
    size_t n_layers, const struct gv_machine *m, const struct search_options *o);

/* As plan_evaluate: one level of all GPUs, at the bandwidths of the links crossed. */
int placed_evaluate(struct plan_report *r, const struct gv_plan *p,
    const struct gv_graph *g, const struct gv_machine *m, const struct cost_rules *rules,
    enum ideals_kind cut, struct gv_error *e);

#endif
