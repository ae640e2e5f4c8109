/* The loop of a run: what wakes it, and how its parts work together. */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>

#include "gv-run/core/jobs.h"
#include "gv-run/core/settings.h"
#include "gv-run/live/control.h"
#include "gv-run/state/journal.h"
#include "gv-run/state/output.h"
#include "gv-run/state/state.h"
#include "intake.h"
#include "places.h"
#include "policy.h"
#include "watch.h"
#include "work.h"

struct loop {
	const struct settings *o;
	const struct state *state;
	struct jobs *jobs;
	struct journal *journal;
	struct output *output;
	struct policy *policy;
	struct work *work;
	struct control *control;
	struct intake *intake;
	struct watch *watch;
	struct places *places;
	double zero_s; /* of gv_clock_s at time 0 */
	double read_s; /* progress files were read */
	int signal;    /* that ends the run, 0 = none; SIGPIPE: nobody reads the events */
};

/* Does, writes and says what the life of the jobs wants, until there is nothing more. */
void loop_carry_out(struct loop *l);
/* Until every job is done, or the run is ended. */
void loop_run(struct loop *l);
/* The state or the output cannot be written. */
bool loop_is_broken(const struct loop *l);

#endif
