/* The placement of largest weight; private to common/sched. */
#ifndef GV_SCHED_ROUNDS_SEARCH_H
#define GV_SCHED_ROUNDS_SEARCH_H

#include "sched/rounds/board.h"

/*
 * Finds, of wishes, a set with a large sum of weights: each job, and each
 * member of a pair, once, within the room of the types.  That is a knapsack for each
 * type with jobs that fit into several of them (multiple-choice multiple knapsack, NP-hard);
 * it is searched from three sides: greedily by weight / gang^p with p = 0, 1/2 and 1,
 * each improved by putting one more job in place of those it costs least to leave out.
 *
 *   wish   [n] ordered by job, then type
 *   room   [n_types] GPUs
 *   taken  [n] out: whether it is in the set
 *
 * With gangs of one GPU only, and a single type, the sum is the largest there is.
 * Deterministic: ties go to the larger share, then to the order of wish.
 * Cost: O(n log n), and for each improvement O(gang sizes + GPUs freed).
 */
void gv_round_search(const struct gv_rounds *r, const size_t *room,
    const struct gv_round_wish *wish, size_t n, bool *taken);

#endif
