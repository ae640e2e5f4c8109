/*
 * Jobs into the queues of GPUs, so that they are done soonest on average.
 *
 * A job that is the k-th last of its queue delays k jobs, itself included, by the time
 * it takes there, so the sum of all times to completion is that of an assignment of
 * jobs to length (type j, k) with the costs k t_ij.  GPUs of a type are equal, so a
 * position is there as often as the type has GPUs.  In a best assignment every position
 * before the last of its type is full: further ones need not be looked at.
 *
 * Solved by shortest augmenting paths (Jonker and Volgenant 1987), exact, with its
 * proof; of equal jobs the earlier ones come first.  n jobs take at most n^2 steps of
 * as many operations as there are length, some n / GPUs for each type.
 */
#ifndef GV_ALLOC_QUEUES_H
#define GV_ALLOC_QUEUES_H

#include <stddef.h>

struct gv_queues {
	size_t n, m;
	const double *time_s; /* [n][m] t_ij, INFINITY = cannot run there */
	const size_t *gpus;   /* [m] */
	/* ---- found ---- */
	size_t *type;   /* [n] */
	size_t *last;   /* [n] the job is the k-th last of its queue: k, from 1 */
	size_t *length; /* [m] the most in a queue of the type */
	double sum_s;   /* of all times to completion, */
	double least_s; /* and what none is below */
};

/* Each job can run on some type that has GPUs.  Makes room for what it finds. */
void gv_queues_fill(struct gv_queues *q);
void gv_queues_free(struct gv_queues *q);

#endif
