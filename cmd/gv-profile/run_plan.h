/* Carries a plan out on this machine. */
#ifndef GV_PROFILE_RUN_PLAN_H
#define GV_PROFILE_RUN_PLAN_H

#include "measure.h"
#include "plan.h"

struct run_options {
	struct measure_options measure; /* all but scratch */
	const char *node; /* this machine in the cluster table; NULL = its host name */
	bool quiet;       /* no warnings, no progress */
	int verbose;      /* a message per measurement */
};

/*
 * Whether all that is to be measured can be tried here: a command, and enough
 * GPUs of the type on this machine.  0, or an exit status with *e set.
 */
int run_check(const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, const struct run_options *o, struct gv_error *e);

/*
 * Measures what is to be measured, one after another, and puts the rates into
 * the plan, rounded to 6 digits.  What does not run has rate 0 and is told of.
 * 0, 1 when interrupted, -1 with *e set.
 */
int run_plan(const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, const struct run_options *o, struct gv_error *e);

#endif
