/*
 * The events table: what happened to jobs and when.  gv-run and gv-sim write
 * it, gv-report reads it.
 *
 * Columns, in this order: time_s, event, job_id, gpu_type, node, gpus, steps,
 * round, share, reason; and with_job_id where jobs may share GPUs.
 *
 *   time_s   seconds since the run began, never falling
 *   event    one of the names below
 *   node     where they are; of several nodes that of each, "n1;n1;n2"
 *   gpus     ids of the GPUs concerned, "0;1"; of a pool event its number of GPUs' ids
 *   steps    steps the job has done in all, as far as known; of an arrive event those to
 *            do, of a checkpoint event those that are safe
 *   round    number of the round, from 0, at most GV_EVENT_LAST_ROUND
 *   share    of an allocate event: the share promised from now on, [0,1]
 *   reason   why, in words; of a fail event also the status
 *   with_job_id  of an allocate event: the share is promised to both jobs, together on
 *            the same GPUs; of a start or resume event: the job that is there
 *            already, on the same GPUs
 */
#ifndef GV_SCHED_EVENTS_H
#define GV_SCHED_EVENTS_H

#include <math.h> /* NAN */
#include <stdint.h>

#include "base/err.h"
#include "table/tab.h"

enum gv_event_kind {
	GV_EVENT_POOL, /* at the start, one per pool: gpu_type, node, gpus */
	GV_EVENT_ARRIVE, /* the job is known; reason = its entity, if any; steps = steps to do */
	GV_EVENT_ALLOCATE, /* job_id, gpu_type, share: promised from now on, to the job alone
	                        or to the two; replaces the earlier of the same */
	GV_EVENT_START,    /* its workers were launched for the first time */
	GV_EVENT_RESUME,     /* launched again */
	GV_EVENT_CHECKPOINT, /* it said that it has saved itself */
	GV_EVENT_FIRST_STEP, /* since it was launched it has done a step */
	GV_EVENT_HOLD,       /* it shall not run until it is released; reason = why */
	GV_EVENT_RELEASE,    /* it may run again */
	GV_EVENT_PREEMPT, /* its workers have left, unfinished, because they were told to */
	GV_EVENT_FINISH, /* done */
	GV_EVENT_FAIL,   /* its workers have left on their own; it may be resumed */
	GV_EVENT_DROP,   /* failed too often, or can never run: given up */
	GV_EVENT_SUBMIT, /* jobs were added to the run; reason = the submission's id */
	GV_EVENT_RESTART, /* gv-run itself began again on its state; runs that were open ended
	                        at or before this time */
	GV_EVENT_END,     /* the run is over */
	GV_EVENT_KINDS
};

const char *gv_event_name(enum gv_event_kind kind);
/* The kind of that name, or -1. */
int gv_event_kind(struct gv_cell name);

/* So that a round can always follow, and be a number of a table. */
#define GV_EVENT_LAST_ROUND ((int64_t)1 << 53)

/*
 * Texts that do not apply have len 0; where gpus are on several nodes, node is the list of
 * each one's, "n1;n1;n2", as long as gpus; numbers that do
 * not apply are NAN or -1.
 */
struct gv_event {
	double time_s;
	enum gv_event_kind kind;
	struct gv_cell job_id;
	struct gv_cell gpu_type;
	struct gv_cell node;
	struct gv_cell gpus;
	double steps;  /* NAN = does not apply */
	int64_t round; /* -1 = does not apply */
	double share;  /* NAN = does not apply */
	struct gv_cell reason;
	struct gv_cell with_job_id;
};

#define GV_EVENT_NONE                                   \
	{                                               \
		.steps = NAN, .round = -1, .share = NAN \
	}

/* The node of the i-th of its GPUs. */
struct gv_cell gv_event_node(const struct gv_event *ev, size_t i);

void gv_events_write_header(struct gv_tabw *w);
void gv_events_write(struct gv_tabw *w, const struct gv_event *ev);
/* Header and rows with the column with_job_id. */
void gv_events_write_header_with(struct gv_tabw *w);
void gv_events_write_with(struct gv_tabw *w, const struct gv_event *ev);

/*
 * Events row by row, in constant memory.  = {0} is a closed one.
 *
 * Required columns: time_s, event; the rest may be missing.  An error in a row:
 * an unknown event, a time that falls or is negative, a job event without
 * job_id, an allocate event without share, a job with itself, a number that is
 * none.
 */
enum { GV_EVENT_COLUMNS = 11 };
struct gv_events_in {
	struct gv_tab *tab;
	ptrdiff_t column[GV_EVENT_COLUMNS]; /* -1 = not there */
	double last_s;                      /* time of the last good row */
};

/* Reads the header of tab's present table; tab is taken over (also on error).  0, or -1 with *e set. */
int gv_events_on(struct gv_events_in *in, struct gv_tab *tab, struct gv_error *e);
/*
 * The next event: 1, with texts valid until the next call; 0 the table has
 * ended; -1 error, after which the next call goes on with the row behind it.
 */
int gv_events_next(struct gv_events_in *in, struct gv_event *ev, struct gv_error *e);
void gv_events_close(struct gv_events_in *in);

/* All events of a table, texts owned by the frame. */
struct gv_events {
	struct gv_frame frame;
	size_t n;
	struct gv_event *event; /* in row order */
};

/*
 * Takes a frame over (also on error) and reads its events, by the same rules.
 * 0, or -1 with *e set, every bad row located.
 */
int gv_events_from(struct gv_events *ev, struct gv_frame *frame, struct gv_error *e);
void gv_events_free(struct gv_events *ev);

#endif
