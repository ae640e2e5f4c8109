/* Where workers can be started: GPUs and nodes that go and come back while a run goes on. */
#ifndef PLACES_H
#define PLACES_H

#include "gv-run/core/jobs.h"
#include "gv-run/core/settings.h"
#include "launch/launch.h"
#include "watch.h"

struct places {
	const struct settings *o;
	const struct gv_launcher *by;
	struct jobs *jobs;
	const struct watch *watch;
	int64_t round;           /* at the last look */
	unsigned turns, watched; /* of what is known of them, and of the cluster table */
	bool over; /* the run must end: there is nothing to run on, or soon will be */
};

/*
 * Looks, without waiting: GPUs that cannot be used are taken away from the jobs' life,
 * or are given back to it; over is set when the allocation ends.
 */
void places_look(struct places *p);

/*
 * The cluster may be another one than before the run was begun again: says which unfinished
 * jobs it has no room for; these wait.  0, or -1 with *e set: a local run whose table nobody
 * watches could do nothing at all.
 */
int places_check_room(const struct places *p, struct gv_error *e);

#endif
