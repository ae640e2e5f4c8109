/*
 * The shares of a policy that answers with those that have changed: kept from answer to
 * answer, so that each makes a whole reply (sched/asking/reply.h).
 */
#ifndef GV_SCHED_FOLLOW_H
#define GV_SCHED_FOLLOW_H

#include "sched/asking/reply.h"

/* = {0} knows none. */
struct gv_follow {
	size_t n_types;
	size_t n_jobs, cap; /* of the table */
	double *share;      /* [n_jobs][n_types], of those that were asked about */
};

/* The reply to a whole table: what changes from now on.  n_jobs: of the table. */
void gv_follow_begin(struct gv_follow *f, const struct gv_reply *whole,
    const struct gv_asked *asked, size_t n_jobs, size_t n_types);

/* A job of the table is asked about that was not before; it has no shares yet. */
void gv_follow_new(struct gv_follow *f, size_t job);

/*
 * Reads an answer of changes (job_id, gpu_type, share), which is freed, and makes the
 * whole reply of it.  Checked as gv_reply_from() does.  0, or -1 with *e set.
 */
int gv_follow_reply(struct gv_follow *f, struct gv_reply *r, struct gv_frame *answer,
    const struct gv_cluster *c, const struct gv_asked *asked, struct gv_error *e);

void gv_follow_free(struct gv_follow *f); /* also of a zeroed one */

#endif
