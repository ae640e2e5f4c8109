/*
 * Which jobs of a table may share GPUs, and how fast they are then: the table of
 * --space-sharing, and rows of two jobs among the rates.
 */
#ifndef GV_ALLOC_PAIRS_H
#define GV_ALLOC_PAIRS_H

#include "base/hash.h"
#include "problem.h"

/* The table: job_a, job_b, scale_factor, gpu_type, steps_per_s_a, steps_per_s_b. */
struct gv_pairs_row {
	size_t a, b; /* numbers of the names */
	int64_t scale;
	struct gv_cell type;
	double rate_a, rate_b;
};

struct gv_pairs {
	struct gv_frame frame;
	struct gv_hash names;     /* of jobs and of types of jobs */
	struct gv_pairs_row *row; /* [frame.n_rows] */
};

/*
 * Takes the frame over.  0, or -1 with *e set (a number below 0, two names twice on a
 * type, in whichever order); *t is freed then.
 */
int gv_pairs_from(struct gv_pairs *t, struct gv_frame *frame, struct gv_error *e);
void gv_pairs_free(struct gv_pairs *t); /* also of a zeroed one */

/*
 * Sets p->kind, and *with, which p->together becomes; both stay as they were where
 * nobody can share.  A row of two jobs of r counts first.  A name of t is that of
 * a job, if there is one, else of a type of jobs; a row of two jobs counts before
 * one of a job and a type, that before one of two types.  Only jobs of the row's
 * scale_factor are meant.  t may be NULL.  type[] and row[] as of
 * gv_problem_from_rates().
 *
 * Kinds are numbered in the order of names, so that the order of rows does not
 * matter.  Jobs that only a type speaks of are of one kind.
 */
void gv_pairs_find(struct gv_problem *p, struct gv_together *with,
    const struct gv_pairs *t, const struct gv_rates *r, const struct gv_cluster *c,
    const size_t *type, const size_t *row);

#endif
