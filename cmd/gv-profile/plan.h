/* What is to be measured for a table of jobs, and what is known.  No I/O. */
#ifndef GV_PROFILE_PLAN_H
#define GV_PROFILE_PLAN_H

#include "gpu/nvml_use.h"
#include "sched/rates.h"

enum source {
	TO_MEASURE,
	KNOWN,     /* given by the user: text is copied as it is */
	TOO_BIG,   /* the gang is larger than all GPUs of the type: 0 */
	UNMEASURED /* it could not be tried: no row */
};

/* A class of jobs on a GPU type. */
struct cell {
	enum source source;
	struct gv_cell text;   /* KNOWN */
	double steps_per_s;    /* the result */
	struct gv_gpu_use use; /* beside it, of one that was measured */
};

/*
 * Jobs of the same job_type and scale_factor are one class, which is measured
 * once, with the command of its first job; a job without job_type is a class of
 * its own.
 */
struct plan {
	size_t n_classes;
	size_t n_types;
	size_t *class_of;      /* [n_jobs] */
	size_t *job;           /* [n_classes] the first of the class */
	struct cell *cell;     /* [n_classes][n_types] */
	struct gv_rates known; /* owns the texts */
};

/*
 * known may be NULL: a throughputs table (job_type, scale_factor, gpu_type,
 * steps_per_s).  0, or -1 with *e set.
 */
int plan_make(struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, const struct gv_frame *known, struct gv_error *e);
void plan_free(struct plan *p);

struct cell *plan_cell(const struct plan *p, size_t class, size_t type);
size_t plan_count(const struct plan *p, enum source source);

#endif
