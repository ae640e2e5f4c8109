/*
 * What an events table says about each job and each GPU type: times, steps,
 * shares promised and received.
 *
 * Events go in one by one, in their order; memory grows with the jobs, the
 * types and (where asked for) the runs, not with the events.
 *
 * A run is the time from a start or resume event to the event that ends it
 * (preempt, finish, fail, drop), on the GPUs that the first of them names.  A
 * restart event ends every open run at the time of the event before it, when
 * gv-run was last seen alive.  A job is active from its arrival until it
 * finishes or is dropped.
 *
 * Two jobs may share GPUs.  Each runs for all of the time and has all of the
 * GPU-seconds; the type was busy once.  What is promised to the two together is
 * promised to each, while both are active.
 *
 * Absent numbers are NAN.
 */
#ifndef GV_REPORT_HISTORY_H
#define GV_REPORT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/mem.h"
#include "over_time.h"
#include "sched/events.h"

enum job_state {
	JOB_WAITING, /* never started */
	JOB_RUNNING,
	JOB_PREEMPTED, /* between two runs */
	JOB_FAILED,    /* the last run failed; it may be tried again */
	JOB_FINISHED,
	JOB_DROPPED,
	JOB_STATES
};

const char *job_state_name(enum job_state state);

/* A job on a GPU type. */
struct use {
	struct use *next; /* of the same job, by rising type */
	size_t type;
	double running_s;  /* wall time of its runs there */
	double gpu_s;      /* the same, times the GPUs of each run */
	double promised_s; /* integral of the share promised while the job was active */
	double steps;      /* done there, as far as reported */
	double steps_s;    /* the running time in which those were done */
	double share;      /* promised now, alone */
	double share_since_s;
};

/* A share that two jobs are promised together, on the type of their uses. */
struct joint {
	size_t second; /* the job that came later */
	struct use *use[2];
	size_t next[2]; /* of the same job, + 1; 0 = none */
	double share;   /* now */
	double since_s;
};

struct job {
	const char *id;     /* id[id_len] is NUL */
	const char *entity; /* "" = none */
	size_t id_len, entity_len;
	size_t entity_no; /* by first appearance; 0 = none */
	enum job_state state;
	double arrival_s;
	double start_s; /* of its first run */
	double left_s;  /* finished or dropped */
	double steps;   /* done in all, as last reported */
	double total_steps;
	double steps_lost; /* done, but again from an older checkpoint */
	double running_s;
	double gpu_s;
	size_t gpus; /* of its largest run */
	size_t launches, preemptions, failures, checkpoints;
	struct use *use; /* every type that it ran on or was promised */
	size_t joint;    /* its first, + 1 */

	/* the open run */
	struct use *on; /* NULL = none */
	double since_s;
	double mark_s; /* when steps were last reported, or since_s */
	size_t run_gpus;
	size_t *lane; /* [n_lanes] its GPUs; 0 when they were not told */
	size_t n_lanes, cap_lanes;
	size_t run; /* in history.run, when runs are kept */
};

struct gpu_type {
	const char *name;
	size_t name_len;
	size_t gpus;            /* now, by the pool events; 0 = none told */
	double available_gpu_s; /* GPUs times the time they were there */
	double since_s;
	double busy_gpu_s;
	size_t runs;
};

struct pool {
	size_t type;
	size_t gpus;
};

/* One launch on one GPU, for drawing. */
struct launch {
	size_t job;
	size_t lane;
	double start_s;
	double end_s;
	/* + 1, of the same launch; 0 = none, so one run of each launch has it */
	size_t next;
	bool failed;
};

/* A GPU: its type, and what it is called. */
struct lane {
	size_t type;
	const char *node;
	const char *gpu;
	size_t users; /* open runs */
	double busy_since_s;
};

struct history {
	/* set these before the first event */
	bool keep_runs;
	struct over_time *over; /* is filled, if any; the caller's */
	size_t n_jobs, n_types, n_pools, n_lanes,
	    n_runs; /* in order of first appearance */
	struct job *job;
	struct gpu_type *type;
	struct pool *pool;
	struct lane *lane;
	struct launch *run;
	double last_s; /* of the last event; 0 before the first */
	size_t events;
	size_t restarts;
	bool ended; /* the last event is an end */

	size_t cap_jobs, cap_types, cap_pools, cap_lanes, cap_runs;
	struct gv_hash jobs, types, pools, lanes, entities;
	struct gv_hash joints;
	struct joint *joint; /* [joints.n] */
	size_t cap_joints;
	struct gv_arena arena;
};

/*
 * Takes the next event.  file and line are for messages.  0, or -1 with *e set:
 * an event that contradicts what was told before (a job that starts while it
 * runs, or after it has finished).
 */
int history_event(struct history *h, const struct gv_event *ev, const char *file,
    long line, struct gv_error *e);

/* After the last event: credits what is still open up to its time. */
void history_close(struct history *h);
void history_free(struct history *h);

/* How long the job was active: from its arrival until it left, or the last event. */
double job_active_s(const struct history *h, const struct job *j);

#endif
