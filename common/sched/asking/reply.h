/*
 * What a policy has answered when it was asked about jobs: shares of time of each of
 * them, and of two of them on the same GPUs.  Whoever asks takes it as a whole or not
 * at all.
 */
#ifndef GV_SCHED_REPLY_H
#define GV_SCHED_REPLY_H

#include <stddef.h>

#include "base/err.h"
#include "sched/life/life.h"
#include "sched/rates.h"

/* The jobs that it was asked about, by their numbers in a table and in a life of it. */
struct gv_asked {
	size_t n;
	const size_t *job;        /* [n] */
	const struct gv_job *all; /* the table's jobs */
};

/* A share; jobs are numbers among those asked about. */
struct gv_reply_share {
	size_t job;
	ptrdiff_t with; /* of two on the same GPUs: the other one; -1 = alone */
	size_t type;
	double share;
	double rate, with_rate; /* of two: how fast they are, where nobody knew that */
};

struct gv_reply {
	size_t n;
	size_t cap;
	struct gv_reply_share *share;
};

void gv_reply_add(struct gv_reply *r, const struct gv_reply_share *share);
void gv_reply_free(struct gv_reply *r); /* also of a zeroed one */

/*
 * Reads an allocation, which is freed, and checks it: shares of jobs that were asked
 * about and of nobody else, which add up to at most 1 each.  0, or -1 with *e set.
 */
int gv_reply_from(struct gv_reply *r, struct gv_frame *f, const struct gv_cluster *c,
    const struct gv_asked *asked, struct gv_error *e);

/*
 * Those asked about have these shares and no others, alone and in pairs; pairs that are
 * new are added.  Sorts r.  O(shares log shares + active jobs and pairs x types).
 */
void gv_reply_take(struct gv_life *l, struct gv_reply *r, const struct gv_asked *asked);

#endif
