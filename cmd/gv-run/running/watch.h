/*
 * The cluster table, read again while a run goes on: GPUs come and go.
 *
 * GPUs that are not in the new table are given to nobody any more; who has them leaves
 * at the end of the round.  When all of them are free the new table is the run's: it is kept in the
 * state, the events tell of its pools, and the policy is asked.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <sys/stat.h>

#include "allocation.h"
#include "gv-run/core/jobs.h"
#include "gv-run/core/node.h"
#include "gv-run/core/settings.h"
#include "gv-run/state/journal.h"
#include "gv-run/state/state.h"
#include "policy.h"
#include "work.h"

struct watch {
	const struct settings *o;
	const struct state *state;
	struct jobs *jobs;
	struct journal *journal;
	struct policy *policy;
	struct work *work;
	const struct allocation *allocation;
	struct stat seen; /* the file when it was read last */
	bool pending;     /* next is to become the run's */
	unsigned turns;   /* what watch_leaves says has changed */
	bool broken;      /* the state cannot be written */
	struct gv_cluster next;
	struct gv_frame frame; /* its table */
};

/* Remembers the file as it is; the cluster that was read from it is the run's. */
void watch_open(struct watch *w);
/*
 * Looks whether it has changed, or again says so; goes on with what has.  The life of the jobs has
 * handed out everything (loop_carry_out).
 */
void watch_turn(struct watch *w, bool again);
/* Whether a GPU is not in a table that is to become the run's. */
bool watch_leaves(const struct watch *w, size_t gpu);
void watch_close(struct watch *w); /* also of a zeroed one */

#endif
