/* Plans by the time that they take when they are run, not by their slowest stage. */
#ifndef GV_PARTITION_RANK_H
#define GV_PARTITION_RANK_H

#include "gv-partition/search/plan.h"

struct ranked {
	struct gv_plan plan;
	struct gv_machine machine; /* that the plan is for: as given, or flat */
	bool placed;               /* flat, of a machine with levels: see placed.h */
	struct plan_report report;
	double step_s; /* for one micro-batch; see struct gv_simulation */
	double bubble;
	size_t in_flight;
	double bytes; /* of the fullest GPU */
};

/* = {0} is empty. */
struct ranking {
	size_t n, cap;
	struct ranked *row; /* [n] the fastest first */
	size_t tried;       /* plans run, those among them that were not kept */
};

struct rank_task {
	const struct ideals *s;
	const struct gv_graph *g;
	const struct gv_machine *m;
	const struct gv_fleet *fleet; /* types of its GPUs; NULL: all are alike */
	bool flat;                    /* only plans of one level */
	const struct search_options *o;
	enum ideals_kind cut;
	/* is told how many plans were tried, of how many at most; or NULL */
	void (*progress)(size_t tried, size_t most);
};

/*
 * Runs plans of many kinds under o->rules.schedule and ranks them by step_s, those as fast
 * by fewer GPUs, then by fewer bytes on the fullest.  No two differ only in
 * layers that cost nothing, and all fit.  Of *m, of some of its components, and of the flat machine of as many GPUs:
 *
 *   the plan whose slowest stage is fastest, under both cost models;
 *   without replicas, for each number of stages;
 *   those with equal replicas of all stages on the remaining GPUs;
 *   interleaved: for each number of places.
 *
 * Of GPUs of several types: of none, half and all of each, the plan whose slowest stage is
 * fastest, under both cost models.
 *
 * and what vary makes of the five fastest, and the fastest of some numbers of stages.
 *
 * Of more than 24 GPUs not every number is looked at.  o->use and o->straight hold; with more
 * than 600 prefixes only the first of these plans is cut anywhere, the others
 * at 400.
 */
void ranking_make(struct ranking *k, const struct rank_task *task);
void ranking_free(struct ranking *k);

#endif
