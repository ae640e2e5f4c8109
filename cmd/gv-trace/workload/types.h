/* Job types to draw from: those of a table of job types, or all that have throughputs. */
#ifndef TRACE_WORKLOAD_TYPES_H
#define TRACE_WORKLOAD_TYPES_H

#include "base/err.h"
#include "random.h"
#include "speeds.h"
#include "table/tab.h"

struct job_types {
	/* the table; empty: the types are those of the throughputs */
	struct gv_frame frame;
	size_t n;
	struct gv_cell *name; /* [n] */
	ptrdiff_t *number;    /* [n] in speeds->job_types, -1 = has no throughputs */
	double *upto;         /* [n] sums of the column weight; NULL = all are equal */
};

/*
 * Reads a table of job types (job_type, weight, columns of the user's own), one a row;
 * without a path takes the types of the throughputs in their order.  0, or -1 with *e
 * set: a bad cell, a repeated type, no type at all.
 */
int types_load(
    struct job_types *t, const char *path, const struct speeds *s, struct gv_error *e);
void types_free(struct job_types *t); /* also of a zeroed one */

/*
 * Draws one as random.choice() does, with weights as random.choices(); again and
 * again until it runs with that scale factor on the GPU type.  Its index; -1, with
 * nothing drawn behind the first one, where none does.  One so rare that a million
 * draws do not meet it is taken then.
 */
ptrdiff_t types_draw(const struct job_types *t, const struct speeds *s, struct random *r,
    int64_t scale_factor, ptrdiff_t gpu_type);

/* Whether type i runs with some scale factor above 1 on the GPU type. */
bool types_runs_wide(
    const struct job_types *t, size_t i, const struct speeds *s, ptrdiff_t gpu_type);

#endif
