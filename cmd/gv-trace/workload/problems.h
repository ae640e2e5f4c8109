/* Why jobs of a trace cannot run: what gv-trace check finds. */
#ifndef TRACE_WORKLOAD_PROBLEMS_H
#define TRACE_WORKLOAD_PROBLEMS_H

#include "sched/cluster.h"
#include "sched/rates.h"
#include "speeds.h"

enum problem {
	PROBLEM_NONE,
	PROBLEM_NO_JOB_TYPE,  /* the cell is empty */
	PROBLEM_UNKNOWN_TYPE, /* no throughput of the type at all */
	PROBLEM_NOT_MEASURED, /* none with that scale factor on a GPU type there is */
	PROBLEM_RUNS_NOWHERE, /* all of those are 0 */
	PROBLEM_TOO_LARGE,    /* more GPUs than the largest pool that it runs on */
	PROBLEM_NO_STEPS,     /* total_steps is empty or 0 */
	PROBLEM_LATE,         /* its deadline is not behind its arrival */
	N_PROBLEMS
};

const char *problem_name(enum problem p); /* "not-measured"; of PROBLEM_NONE "" */

/* What is asked, and what was found so far of (job type, scale factor). */
struct problems {
	const struct speeds *speeds;
	const struct gv_cluster *cluster; /* NULL: any number of GPUs of all types */
	struct gv_hash seen;
	enum problem *found; /* [seen.n] */
	struct gv_arena arena;
	size_t cap;
};

/* The first of the problems above that the job has. */
enum problem problems_find(struct problems *p, const struct gv_job *job);
void problems_free(struct problems *p);

/*
 * The largest scale factor up to the job's own with which it runs; 0 = none.  For
 * jobs that run with none of that size: not measured, nowhere, too large.
 */
int64_t problems_clip(struct problems *p, const struct gv_job *job);

#endif
