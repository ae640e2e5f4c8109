/* A throughputs table (gv-tables(5)) to look things up in. */
#ifndef TRACE_WORKLOAD_SPEEDS_H
#define TRACE_WORKLOAD_SPEEDS_H

#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "table/tab.h"

struct speeds {
	struct gv_frame frame;    /* owns the names */
	struct gv_hash job_types; /* in order of first appearance, as are the next */
	struct gv_hash gpu_types;
	struct gv_hash rows;   /* of (job type, scale factor, GPU type): its number */
	double *steps_per_s;   /* [rows.n] */
	int64_t max_scale;     /* the largest of the table, 0 without rows */
	struct gv_arena arena; /* owns the keys of rows */
};

/* 0, or -1 with *e set: a missing column, a bad cell, a repeated row. */
int speeds_load(struct speeds *s, const char *path, struct gv_error *e);
void speeds_free(struct speeds *s); /* also of a zeroed one */

/*
 * Steps/s of a gang on a GPU type, each type by its number in the hash, 0 = cannot run
 * there; NAN where the table has no such row, or a number is -1.
 */
double speeds_find(
    const struct speeds *s, ptrdiff_t job_type, int64_t scale_factor, ptrdiff_t gpu_type);

/*
 * The number of a GPU type by its name, or of the first one for NULL; an error
 * that names the types there are when it is not there.  -1 with *e set.
 */
ptrdiff_t speeds_gpu_type(const struct speeds *s, const char *name, struct gv_error *e);

#endif
