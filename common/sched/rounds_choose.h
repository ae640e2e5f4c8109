/* Who runs on which type in the next round; private to common/sched. */
#ifndef GV_SCHED_ROUNDS_CHOOSE_H
#define GV_SCHED_ROUNDS_CHOOSE_H

#include "sched/rounds.h"

struct gv_round_choice {
	size_t *room;    /* [n_types] GPUs not given yet */
	ptrdiff_t *type; /* [n_jobs] where it shall run, -1 = nowhere */
	ptrdiff_t *as;   /* [n_jobs] itself or its pair that shall run, -1 = none */
};

/* Nobody runs, no GPU is there. */
void gv_round_choice_init(struct gv_round_choice *c, const struct gv_rounds *r);
void gv_round_choice_free(struct gv_round_choice *c);

/* Whether m may run, is not placed, nor a member of it, and fits on a type. */
bool gv_round_fits(
    const struct gv_rounds *r, const struct gv_round_choice *c, size_t m, size_t type);

/* m runs on a type; gv_round_take also takes its GPUs from room. */
void gv_round_run(
    const struct gv_rounds *r, struct gv_round_choice *c, size_t m, size_t type);
void gv_round_take(
    const struct gv_rounds *r, struct gv_round_choice *c, size_t m, size_t type);

/* Chooses among those that are not placed, by r->order, until no GPU idles in vain. */
void gv_round_choose(const struct gv_rounds *r, struct gv_round_choice *c);

/* ---- rounds_search.c ---- */

/* A job on a type, and what it is worth there. */
struct gv_round_wish {
	double weight; /* > 0 */
	size_t job;
	size_t type;
};

/*
 * Takes, of wishes that fit, a set with a large sum of weights: each job, and each
 * member of a pair, once, within the room of the types.  That is a knapsack for each
 * type with jobs that fit into several of them (multiple-choice multiple knapsack, NP-hard);
 * it is searched from three sides: greedily by weight / gang^p with p = 0, 1/2 and 1,
 * each improved by putting one more job in place of those it costs least to leave out.
 *
 *   wish   [n] ordered by job, then type; those that do not fit are passed over
 *
 * With gangs of one GPU only, and a single type, the sum is the largest there is.
 * Deterministic: ties go to the larger share, then to the order of wish.
 * Cost: O(n log n), and for each improvement O(gang sizes + GPUs freed).
 */
void gv_round_search(const struct gv_rounds *r, struct gv_round_choice *c,
    const struct gv_round_wish *wish, size_t n);

#endif
