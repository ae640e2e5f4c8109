/* Carries a plan out. */
#ifndef GV_PROFILE_RUN_PLAN_H
#define GV_PROFILE_RUN_PLAN_H

#include "measure.h"
#include "plan.h"
#include "site.h"

struct run_options {
	struct measure_options measure; /* all but by and scratch */
	bool quiet;                     /* no warnings, no progress */
	int verbose;                    /* a message per measurement */
};

/*
 * Whether all that is to be measured can be tried: a command, and enough GPUs of the
 * type.  0, or an exit status with *e set.
 */
int run_check(const struct plan *p, const struct gv_rates *jobs, const struct site *s,
    const struct gpus *g, struct gv_error *e);

/*
 * Measures what is to be measured, as much at once as the GPUs allow, and puts the rates
 * into the plan, rounded to 6 digits: first what is alone, then pairs of what runs.  What does
 * not run has rate 0 and is told of, and a pair of which one does not 0 and 0.  In an
 * allocation of Slurm a launch that cannot be made, or whose node is lost, is tried again;
 * what comes to nothing is UNMEASURED, and told of.  0, 1 when interrupted, -1 with *e
 * set; in each case nothing is left running.
 */
int run_plan(struct plan *p, const struct gv_rates *jobs, const struct site *s,
    struct gpus *g, const struct run_options *o, struct gv_error *e);

#endif
