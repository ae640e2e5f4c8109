/* Which GPUs of its type a job has; private to common/sched. */
#ifndef GV_SCHED_ROUNDS_SEAT_H
#define GV_SCHED_ROUNDS_SEAT_H

#include "sched/rounds/choose.h"
#include "sched/rounds/view.h"

struct gv_round_seats {
	const struct gv_round_view *view;
	size_t *idle;    /* [n_pools] GPUs that can be given; at first none */
	ptrdiff_t *next; /* [n_gpus] numbers of the whole; GV_GPU_IDLE is free */
	size_t *from;    /* [n_pools] no GPU of the pool before this one idles */
	size_t *given;   /* [n_given] in the order in which they were given */
	size_t n_given, cap_given;
};

/* next is the caller's. */
void gv_round_seats_init(
    struct gv_round_seats *s, const struct gv_round_view *v, ptrdiff_t *next);
void gv_round_seats_free(struct gv_round_seats *s);

/*
 * Gives GPUs to those of the view that were chosen and are not placed: the largest gang
 * first, the fullest pool where it fits whole, else the emptiest pools.
 */
void gv_round_seat(
    struct gv_round_seats *s, const struct gv_round_choice *c, const bool *placed);

#endif
