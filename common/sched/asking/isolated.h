/*
 * How long jobs would have taken so far on shares of their own: with M jobs there, each
 * has N_j/(M s_m) of every type (X^isolated of Gavel, OSDI 2020, section 4.2; Themis'
 * finish-time fairness compares with it).  Counted from question to question to the
 * policy: steps done since the last one, over the isolated rate of then.
 */
#ifndef GV_SCHED_ISOLATED_H
#define GV_SCHED_ISOLATED_H

#include "sched/rounds/rounds.h"

struct gv_isolated {
	double *elapsed_s; /* of each job: so far */
	double *steps;     /* that is good for these steps */
	double *rate;      /* steps/s of its isolated share, 0 = not known yet */
	double *gpus;      /* [n_types] of each type */
};

/* n jobs that have done nothing yet, on the GPUs of r. */
void gv_isolated_init(struct gv_isolated *v, const struct gv_rounds *r, size_t n);
void gv_isolated_free(struct gv_isolated *v); /* also of a zeroed one */

/* Job m is asked about, one of n_asked, and has done so many steps.  Cost: O(types). */
void gv_isolated_count(struct gv_isolated *v, const struct gv_rounds *r, size_t m,
    size_t n_asked, double steps);

#endif
