/* What a history comes to in all. */
#ifndef GV_REPORT_SUMMARY_H
#define GV_REPORT_SUMMARY_H

#include "history.h"
#include "spread.h"

struct entity {
	const char *name; /* "" = the jobs without one */
	size_t name_len;
	size_t jobs, finished;
	double gpu_s;
	double completion_s,
	    queueing_s; /* means over the jobs that have one; NAN of none */
	double promised_share, received_share; /* means over its jobs that were active */
};

/*
 * Shares are of a job's active time: received = running / active, promised =
 * the time average of what was allocated.  The ratios behind jain and
 * least_ratio are received / promised of the jobs that were promised something.
 */
struct summary {
	size_t jobs, in_state[JOB_STATES];
	double elapsed_s;  /* of the last event */
	double makespan_s; /* first arrival to last finish; NAN while a job is active */
	struct spread completion, queueing;
	double gpus, available_gpu_s, busy_gpu_s;
	size_t launches, preemptions, failures, checkpoints;
	double steps_lost;
	double jain;        /* (sum r)^2 / (n sum r^2); NAN of none */
	double least_ratio; /* NAN of none */
	size_t least_job;   /* whose it is, the first of equals */
	/* largest |received - promised| of a job on a type; NAN of none */
	double worst_difference;
	size_t worst_job, worst_type;
	/* in order of first appearance; all of it "" when no job has one */
	size_t n_entities;
	struct entity *entity;
	struct gv_hash entities;
};

/* history_close was called; h must outlive s. */
void summary_of(struct summary *s, const struct history *h);
void summary_free(struct summary *s);

/* Of a job, in [0,1]; NAN when it was active for no time. */
double job_promised(const struct history *h, const struct job *j);
double job_received(const struct history *h, const struct job *j);
double use_promised(const struct history *h, const struct job *j, const struct use *u);
double use_received(const struct history *h, const struct job *j, const struct use *u);
/* Finish - arrival and first start - arrival; NAN when it has none. */
double job_completion_s(const struct job *j);
double job_queueing_s(const struct job *j);

#endif
