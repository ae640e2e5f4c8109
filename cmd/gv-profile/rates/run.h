/* Private to the files run_*.c: measurements that go on, and those that wait. */
#ifndef GV_PROFILE_RUN_H
#define GV_PROFILE_RUN_H

#include "run_plan.h"

/* A measurement that waits for GPUs. */
struct waiting {
	size_t cell;
	size_t n;       /* GPUs that it needs */
	unsigned tries; /* that came to nothing */
	double from_s;  /* not to be tried before */
	size_t passed;  /* smaller ones that have had GPUs meanwhile */
};

/* One that goes on: a job, or two on the same GPUs. */
struct running {
	struct waiting w;
	size_t n_jobs;
	struct measuring *measuring[2];
	bool done[2];
	struct measurement m[2]; /* of those that are done */
	size_t *gpu;             /* [w.n] */
	double began_s;
};

struct drive {
	struct plan *p;
	const struct gv_rates *jobs;
	const struct site *site;
	struct gpus *g;
	struct run_options o;
	struct waiting *waiting;
	size_t n_waiting;
	struct running *running;
	size_t n_running;
	size_t total, done;
	double took_s; /* all that came to an end, */
	size_t n_took; /* so many */
	double look_s; /* when it is tried next to begin some; 0 = at once */
	double said_s;
	double stuck_s; /* since when nothing runs and nothing can begin; 0 = not so */
	unsigned turns; /* of the launcher's places */
};

/* 1, or 2 of a pair. */
size_t run_jobs(const struct drive *d, size_t cell);
/* The job that is run, of a pair the second with which = 1. */
const struct gv_job *run_job(const struct drive *d, size_t cell, size_t which);
const struct gv_gpu_type *run_type(const struct drive *d, size_t cell);
/* 'jobs.csv:2: job "a" on v100', or 'job "a" beside "b" on v100', into label->text[0]. */
void run_name(struct gv_error *label, const struct drive *d, size_t cell, size_t which);

/* The line of progress, with an estimate of the time left; not more often than it is worth. */
void run_say(struct drive *d);

#endif
