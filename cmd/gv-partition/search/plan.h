/* The search for the best plan, and what a plan costs. */
#ifndef GV_PARTITION_PLAN_H
#define GV_PARTITION_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cost.h"
#include "gv-partition/graph/ideals.h"
#include "plan/plan.h"

enum use {
	USE_UP_TO,  /* the GPUs there are, or fewer */
	USE_FEWEST, /* no more GPUs than the best time needs */
	USE_ALL
};

struct search_options {
	struct cost_rules rules;
	enum use use;
	bool straight; /* no stage has replicas */
	/* told of prefixes done in the present pass over them; NULL: nobody listens */
	void (*progress)(size_t done, size_t of);
};

enum search_result {
	SEARCH_FOUND,
	SEARCH_NONE /* no plan at all: too little memory, or too few cuts to use all GPUs */
};

/*
 * The plan whose slowest stage takes the least time; among those the one whose
 * loads, sorted from the largest, are the lower in the order of a dictionary
 * (stages that are not there count as 0); then the one on fewer GPUs; then the
 * one that cuts earlier.  Loads count as equal when they differ by less than
 * about 1e-12 of the slowest.  Where the machine has levels this holds for the
 * outermost stages; inside each the same is done again.
 *
 * Every stage has a layer.  With a memory limit each stage fits, where
 * components are always used whole, but on the outermost level: this makes the
 * number of minibatches in flight known.
 *
 * Exact: no plan between these prefixes is faster.
 *
 * How: dynamic programming over pairs of prefixes from the last layer to the
 * first, as in PipeDream, section 3.1, within a limit: the time of the best plan
 * among few of the prefixes, found the same way.  A stage counts only when its load
 * is within the limit and the fewest GPUs that the layers in front of it and
 * those behind it need for theirs leave enough for it; in real models few do.
 * What is inside components is found for those alone.  Differs: prefixes i, j are
 * only combined when i is a subset of j, which PipeDream's program omits and so
 * finds plans that do not exist.
 */
enum search_result plan_search(struct gv_plan *p, const struct ideals *s, size_t n_layers,
    const struct gv_machine *m, const struct search_options *o);

/*
 * When there is no plan: of all pipelines over the GPUs, levels apart, the one
 * whose fullest GPU has the least to hold, and its fullest stage.  (Pipelines
 * inside components are some of these.)
 */
struct least_memory {
	double bytes;
	size_t first, end; /* prefixes between which the stage is */
	size_t replicas;
	size_t in_flight;
};

struct least_memory plan_least_memory(
    const struct ideals *s, const struct gv_machine *m, const struct search_options *o);

/* ---- what a plan costs ---- */

struct stage_report {
	size_t level;       /* from 0 */
	size_t stage;       /* of this level */
	size_t within;      /* its stage of the next level; 0 on the outermost */
	size_t first, last; /* innermost stages that make it */
	size_t replicas;
	size_t gpus; /* in all: with the replicas of outer levels */
	struct stage_size size;
	double activation; /* bytes of all its layers */
	struct stage_terms terms;
	bool recompute;
	size_t in_flight; /* innermost level: minibatches */
	double memory;    /* innermost level: bytes */
};

struct plan_report {
	size_t n;
	struct stage_report *row; /* level by level, innermost first */
	double bottleneck_s;
	size_t slowest; /* the row that makes it */
	size_t gpus;
	double single_s;        /* one GPU, all layers */
	double data_parallel_s; /* all GPUs, all layers */
	double idle_s;          /* single_s over all GPUs: nothing is faster */
};

/*
 * Costs any plan in which no layer feeds an earlier stage.  0, or -1 with *e set:
 * a layer that does, a stage without layers, more GPUs than the machine has.
 */
int plan_evaluate(struct plan_report *r, const struct gv_plan *p,
    const struct gv_graph *g, const struct gv_machine *m, const struct cost_rules *rules,
    enum ideals_kind cut, struct gv_error *e);
void plan_report_free(struct plan_report *r);

/*
 * The first of the plan's stages on a machine of so many levels that has more than most
 * replicas, and how many; p->n: none has.
 */
size_t plan_too_wide(
    const struct gv_plan *p, size_t n_levels, size_t most, size_t *replicas);

#endif
