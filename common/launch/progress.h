/*
 * The progress channel.  A worker (rank 0 of a gang) appends lines to the file
 * named by GV_PROGRESS, each written by one write(2):
 *
 *   step N          N steps of the job are done, counted from its very beginning
 *   checkpoint N    the state after N steps is safe on disk
 *
 * The last complete line of a kind counts; other lines are ignored.  A file that
 * has become shorter is read again from its start.
 */
#ifndef GV_LAUNCH_PROGRESS_H
#define GV_LAUNCH_PROGRESS_H

#include <stdint.h>

#include "base/err.h"

/* What the job has reported, -1 = nothing yet. */
struct gv_progress_report {
	double steps;      /* of the last "step" line */
	double checkpoint; /* of the last "checkpoint" line */
	int64_t offset;    /* where the next read of the file goes on; starts at 0 */
};

/*
 * Reads what is new in a progress file; a missing file is an empty one.  Only
 * whole lines are taken.  0, or -1 with *e set.  Start with GV_PROGRESS_NONE.
 */
#define GV_PROGRESS_NONE                                   \
	{                                                  \
		.steps = -1, .checkpoint = -1, .offset = 0 \
	}

int gv_progress_read(const char *path, struct gv_progress_report *p, struct gv_error *e);

/*
 * The worker's side: appends "KIND N" to the file that GV_PROGRESS names;
 * nothing happens when it names none.  0, or -1 with *e set.
 */
int gv_progress_write(const char *kind, int64_t steps, struct gv_error *e);

#endif
