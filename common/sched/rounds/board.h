/*
 * A placement that is being searched: wishes (a job on a type, and what it is worth
 * there) that are put on the types' GPUs and dropped again; private to common/sched.
 */
#ifndef GV_SCHED_ROUNDS_BOARD_H
#define GV_SCHED_ROUNDS_BOARD_H

#include <stdint.h>

#include "sched/rounds/rounds.h"

/* A job on a type, and what it is worth there. */
struct gv_round_wish {
	double weight; /* > 0 */
	size_t job;
	size_t type;
};

/*
 * The wishes of one gang size for one type: all of them in falling order of weight, with
 * a bit for each whose job has no place; and those that are placed, the smallest first.
 */
struct gv_round_bucket {
	size_t *all; /* [n_all] */
	size_t n_all;
	uint64_t *free; /* [n_all] bits */
	size_t *wish;   /* [n], room for n_all */
	size_t n;
};

/* What was done: a wish was put, or was dropped. */
struct gv_round_step {
	size_t wish;
	bool put;
};

struct gv_round_board {
	const struct gv_rounds *r;
	const struct gv_round_wish *wish; /* [n], the caller's */
	size_t n;
	size_t *first; /* [n_jobs + 1] wishes of a job: first[m] to first[m + 1] */
	size_t n_gangs;
	size_t *gang;    /* [n_gangs] sizes, the smallest first */
	size_t *gang_of; /* [n] of each wish, its number among them */
	double *factor;  /* [n_gangs] gang^p: wishes are compared by weight / factor */
	size_t *order;   /* [n] by falling weight / factor */

	size_t *room;  /* [n_types] GPUs that are idle */
	ptrdiff_t *of; /* [n_jobs] by which wish it runs, alone or in a pair; -1 = none */
	struct gv_round_bucket *bucket; /* [n_types][n_gangs] */
	struct gv_round_step *step;     /* [n_steps] since the caller set that to 0 */
	size_t n_steps;

	size_t *at;     /* [n] of each wish, its place in all of its bucket */
	size_t *lists;  /* [2 n] of the buckets */
	uint64_t *bits; /* of the buckets */
	size_t cap_steps;
};

/* Wishes as for gv_round_search; nothing is placed, the order is by weight. */
void gv_round_board_init(struct gv_round_board *b, const struct gv_rounds *r,
    const struct gv_round_wish *wish, size_t n);
void gv_round_board_free(struct gv_round_board *b);

/* Sets factor and order for a power p. */
void gv_round_board_rank(struct gv_round_board *b, double p);

/* Nothing is placed, and there is so much room [n_types]. */
void gv_round_board_clear(struct gv_round_board *b, const size_t *room);

static inline size_t
gv_round_gang(const struct gv_round_board *b, size_t wish)
{
	return b->gang[b->gang_of[wish]];
}

static inline struct gv_round_bucket *
gv_round_bucket(const struct gv_round_board *b, size_t type, size_t g)
{
	return &b->bucket[type * b->n_gangs + g];
}

static inline bool
gv_round_is_put(const struct gv_round_board *b, size_t wish)
{
	return b->of[b->r->job[b->wish[wish].job].member[0]] == (ptrdiff_t)wish;
}

/* Whether it has room, and its job, or both members, no place. */
bool gv_round_can_put(const struct gv_round_board *b, size_t wish);

/* Cost: O(log n), and to move those behind it in a bucket. */
void gv_round_put(struct gv_round_board *b, size_t wish);
void gv_round_drop(struct gv_round_board *b, size_t wish);

/* What the steps have gained in weight; takes them back. */
double gv_round_gained(const struct gv_round_board *b);
void gv_round_undo(struct gv_round_board *b);

/*
 * The best wish of a bucket whose job has no place; now: that can be put at once
 * (a pair cannot while one of the two runs).  n = none was found.
 */
size_t gv_round_best_free(
    const struct gv_round_board *b, const struct gv_round_bucket *of, bool now);

/* Gives the GPUs that are idle on a type to wishes without a place, the best first. */
void gv_round_refill(struct gv_round_board *b, size_t type);

#endif
