/* Rounds without the jobs that are of no interest; private to common/sched. */
#ifndef GV_SCHED_ROUNDS_VIEW_H
#define GV_SCHED_ROUNDS_VIEW_H

#include "sched/rounds/rounds.h"

/*
 * The active jobs and pairs of rounds, and whoever holds GPUs, as rounds of their own:
 * a plan costs what these cost, however many have been or are to come.  Active ones are
 * in the order of their numbers, so ties go the same way; behind them come holders that
 * are not active, who are never placed.
 */
struct gv_round_view {
	struct gv_rounds r; /* pools are those of the whole; no pair can be looked up */
	/* [r.n_jobs] in the whole, the first n_sorted of them ascending */
	size_t *number;
	size_t n_sorted;
	bool all; /* those are all of gv_rounds.live */
};

/* owner as in gv_rounds_plan.  Cost: O(active jobs x types + GPUs). */
void gv_round_view_init(
    struct gv_round_view *v, struct gv_rounds *r, const ptrdiff_t *owner);
/* Of these alone, ascending, and no pair without its members; takes number over. */
void gv_round_view_some(
    struct gv_round_view *v, const struct gv_rounds *r, size_t *number, size_t n);
void gv_round_view_free(struct gv_round_view *v);

/* The number in the view, which was made of r, of an owner; those below 0 are what they are. */
ptrdiff_t gv_round_view_find(
    const struct gv_round_view *v, const struct gv_rounds *r, ptrdiff_t owner);

/* Counts claims c [n_types] of a job, or a copy of them, until now. */
void gv_rounds_count_claims(
    const struct gv_rounds *r, const struct gv_round_job *job, struct gv_round_claim *c);
/* One of them, as it is now. */
struct gv_round_claim gv_rounds_counted(
    const struct gv_rounds *r, size_t job, size_t type);
/* Counts those of a job, in which something is about to change. */
void gv_rounds_touch(struct gv_rounds *r, size_t m);

#endif
