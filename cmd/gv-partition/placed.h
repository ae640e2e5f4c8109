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

#include "plan.h"

/*
 * The plan of one level whose slowest stage takes the least time; among those one
 * on the fewest GPUs (with USE_ALL on all), and there the one that cuts earlier, then
 * with fewer replicas; with these replicas given, the loads are the lowest in the
 * order of a dictionary.  Memory, idle GPUs and straight are as in plan_search.
 *
 * Exact: no such plan between these prefixes is faster (but for rounding, 1e-12).
 *
 * How: a plan at the slowest link's bandwidth bounds the time from above, one at
 * the fastest link's from below, halving finds it.  For a time under trial: from
 * which prefix on which numbers of GPUs can have a pipeline, and how far its first
 * stage reaches out; only of stages that can be in one (see plan_search).
 * Cost: about 40 times those stages times the square of the GPUs.
 */
enum search_result placed_search(struct plan *p, const struct ideals *s, size_t n_layers,
    const struct machine *m, const struct search_options *o);

/* As plan_evaluate: one level of all GPUs, at the bandwidths of the links crossed. */
int placed_evaluate(struct plan_report *r, const struct plan *p, const struct graph *g,
    const struct machine *m, const struct cost_rules *rules, enum ideals_kind cut,
    struct gv_error *e);

#endif
