/* What is to be measured for a table of jobs, and what is known.  No I/O. */
#ifndef GV_PROFILE_PLAN_H
#define GV_PROFILE_PLAN_H

#include "gpu/nvml_use.h"
#include "sched/rates.h"

enum source {
	TO_MEASURE,
	KNOWN,     /* given by the user: text is copied as it is */
	RUNS_NOT,  /* it cannot run there, the gang is larger than the type, say: 0 */
	UNMEASURED /* it could not be tried: no row */
};

/* A class of jobs, or two of them on the same GPUs, on a GPU type. */
struct cell {
	enum source source;
	struct gv_cell text; /* KNOWN */
	double steps_per_s;  /* the result, of two the first one's */
	/* the other one's; 0 with the first: they cannot share */
	double second_steps_per_s;
	struct gv_gpu_use use; /* meanwhile, of what was measured */
};

/* Two classes of one scale factor, or a job type and itself. */
struct pair {
	size_t class[2];
	size_t job[2]; /* whose commands are run */
};

/*
 * Jobs of the same job_type and scale_factor are one class, which is measured
 * once, with the command of its first job; a job without job_type is a class of
 * its own.  Its rows are the classes, and behind them the pairs of classes.
 */
struct plan {
	size_t n_classes;
	size_t n_pairs; /* 0 = each is measured alone */
	size_t n_types;
	size_t *class_of;      /* [n_jobs] */
	size_t *job;           /* [n_classes] the first of the class */
	struct pair *pair;     /* [n_pairs] */
	struct cell *cell;     /* [n_classes + n_pairs][n_types] */
	struct gv_rates known; /* owns the texts */
};

/*
 * known may be NULL: a throughputs table (job_type, scale_factor, gpu_type,
 * steps_per_s).  0, or -1 with *e set.
 */
int plan_make(struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, const struct gv_frame *known, struct gv_error *e);
void plan_free(struct plan *p);

/*
 * Adds all pairs of classes of one scale factor, in the order of the jobs, a class that has a
 * job type also with itself; those of which one is known not to run on a type are RUNS_NOT
 * there.
 */
void plan_add_pairs(struct plan *p, const struct gv_rates *jobs);
/* Once rates alone are measured: pairs of what does not run, or was not measured, are the same. */
void plan_spare_pairs(struct plan *p);

/* The job of a row whose command is run; of a pair the second one with which = 1. */
size_t plan_job(const struct plan *p, size_t row, size_t which);

/* row: a class, or n_classes + a pair. */
struct cell *plan_cell(const struct plan *p, size_t row, size_t type);
size_t plan_count(const struct plan *p, enum source source);

#endif
