/* Measures one job on one GPU type by running it for a while. */
#ifndef GV_PROFILE_MEASURE_H
#define GV_PROFILE_MEASURE_H

#include <signal.h>

#include "rate_fit.h"
#include "sched/rates.h"

struct measure_options {
	struct fit_rule rule;
	double timeout_s; /* of one run, from its launch */
	double grace_s;   /* between SIGTERM and SIGKILL */
	bool clean_env;
	const char *scratch; /* an existing private directory, absolute */
	const volatile sig_atomic_t *interrupt; /* not 0: stop and return */
};

enum verdict {
	MEASURED,
	SHORT,  /* fewer reports than asked for: it left, or time ran out */
	SILENT, /* no report: the rate is 0 */
	FAILED  /* it left with a status that is not 0: the rate is 0 */
};

struct measurement {
	enum verdict verdict;
	struct rate_fit fit;
	bool left;    /* on its own */
	int status;   /* then: its exit status */
	double ran_s; /* from launch to its leaving or the end of the measurement */
	char last_line[256]; /* of what it wrote; "" = nothing */
};

/*
 * Runs the job on the GPUs ids[scale_factor] of a type, in a directory of its
 * own below scratch, which is removed again: the job finds no checkpoint and
 * leaves none.  0, 1 when interrupted, -1 with *e set when it could not be run
 * at all.  In each case nothing of it is left running.
 */
int measure_job(struct measurement *m, const struct gv_job *job,
    const struct gv_gpu_type *type, const int *ids, const struct measure_options *o,
    struct gv_error *e);

/* Stops the run that goes on, if one does: for a program that dies in its middle. */
void measure_abort(void);

#endif
