/*
 * The run's side of submissions: jobs that others have entered into the state become
 * jobs of the run.
 *
 * Which submission is taken stands in the journal before anything is done; then the
 * table in the state has its jobs, then the run; then it is removed.  So a kill at any
 * moment leaves it to be taken, or to be gone on with, never twice.
 */
#ifndef INTAKE_H
#define INTAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "gv-run/core/jobs.h"
#include "gv-run/core/settings.h"
#include "gv-run/state/journal.h"
#include "gv-run/state/state.h"
#include "policy.h"
#include "work.h"

struct intake {
	const struct settings *o;
	const struct state *state;
	struct jobs *jobs;
	struct journal *journal;
	struct policy *policy;
	struct work *work;
	bool broken; /* the table cannot be written */
	size_t n_done;
	size_t cap_done;
	char **done; /* [n_done] done with, but still there: cannot be removed */
};

/* Takes what waits.  The life of the jobs has handed out everything (loop_carry_out). */
void intake_turn(struct intake *in);
void intake_close(struct intake *in); /* also of a zeroed one */

#endif
