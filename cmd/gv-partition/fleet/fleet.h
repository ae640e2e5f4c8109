/*
 * GPUs of several types: pipelines whose stages are each on GPUs of one type.
 *
 * All GPUs talk at the same bandwidth.  A layer takes as long as the type of its
 * stage's GPUs needs, and a stage has to fit into that type's memory.
 */
#ifndef GV_PARTITION_FLEET_H
#define GV_PARTITION_FLEET_H

#include "gv-partition/search/plan.h"

/* The machine of one level that has all these GPUs. */
struct gv_machine fleet_machine(const struct gv_fleet *f);

enum fleet_result {
	FLEET_FOUND,
	FLEET_NONE, /* no plan fits into the memory */
	FLEET_LARGE /* too many combinations of numbers of GPUs and prefixes: > 2^30 */
};

/*
 * The plan whose slowest stage takes the least time, o->rules.memory aside; among
 * those one on the fewest GPUs, and there the one that cuts earlier, then with
 * types in their order.  With these stages' types and replicas given, the loads are
 * the lowest in the order of a dictionary, as plan_search has them.  o->use is as
 * if USE_FEWEST.  plan.stage[].type is a number of f->type.
 *
 * Exact: no plan between these prefixes is faster (but for rounding, 1e-12).
 *
 * How: for a time under trial, the fewest GPUs of the last type that the layers behind
 * a prefix need, for each number of GPUs of the other types; halving finds the least
 * time for which there are enough in front of all layers, among the loads that
 * stages can have, or with limits of memory among all numbers.
 * Cost: about 20 times, with memory 40 times, pairs of prefixes times combinations of
 * numbers of GPUs of all types but that with the most.
 */
enum fleet_result fleet_search(struct gv_plan *p, const struct ideals *s, size_t n_layers,
    const struct gv_fleet *f, const struct search_options *o);

/*
 * As plan_evaluate, with the times of the types: single_s is all layers on one
 * GPU of the type that is best at it, data_parallel_s on all GPUs of the type that
 * is best at that; idle_s takes each layer on its best type.  An error as well:
 * more GPUs of a type than there are.
 */
int fleet_evaluate(struct plan_report *r, const struct gv_plan *p,
    const struct gv_graph *g, const struct gv_fleet *f, const struct cost_rules *rules,
    enum ideals_kind cut, struct gv_error *e);

#endif
