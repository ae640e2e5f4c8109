/* Plans near a plan. */
#ifndef GV_PARTITION_RANK_VARY_H
#define GV_PARTITION_RANK_VARY_H

#include "gv-partition/search/plan.h"

struct vary {
	const struct ideals *s; /* where it can be cut; the plan's cuts are among them */
	const struct gv_graph *g;
	const struct search_options *o;
	size_t gpus;                  /* that there are */
	const struct gv_fleet *fleet; /* and their types; NULL: they are all alike */
	bool levels;  /* the plan is on levels, or interleaved: only its cuts move */
	size_t tries; /* plans tried, at most */
	/* The time of a plan, INFINITY when it cannot run or does not fit. */
	double (*step_s)(void *ctx, const struct gv_plan *p);
	void *ctx;
};

/*
 * Goes from *p, which takes step_s, to plans that are faster, or as fast on fewer GPUs:
 * one move of a cut or a replica, or of two stages into one or one into two, at a
 * time, until none is.  *p becomes the last of them; its time.  Deterministic.  A local
 * optimum.
 */
double vary(struct gv_plan *p, double step_s, const struct vary *v);

#endif
