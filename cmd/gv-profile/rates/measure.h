/* Measures jobs on GPU types by running them for a while, several at once. */
#ifndef GV_PROFILE_MEASURE_H
#define GV_PROFILE_MEASURE_H

#include <signal.h>

#include "gpu/nvml_use.h"
#include "launch/launch.h"
#include "rate_fit.h"
#include "sched/rates.h"

struct measure_options {
	struct fit_rule rule;
	double timeout_s; /* of one run, from when it is up */
	double grace_s;   /* between SIGTERM and SIGKILL */
	bool clean_env;
	bool usage; /* look at how busy the GPUs are, where they are here */
	const struct gv_launcher *by;
	const char *scratch; /* an existing private directory, absolute */
	const volatile sig_atomic_t *interrupt; /* not 0: all are to be stopped */
};

/* The GPUs of one measurement, one for each worker of the job. */
struct measure_place {
	const struct gv_gpu_type *type;
	const int *id;
	const char *const *node; /* of each, as the launcher knows it; NULL = all here */
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
	bool cut;     /* the one beside it had left, or never reported */
	char last_line[256];   /* of what it wrote; "" = nothing */
	struct gv_gpu_use use; /* while it was measured */
};

struct measuring; /* a measurement that goes on */

enum measure_state {
	MEASURE_GOES_ON,
	MEASURE_DONE,  /* what came of it is known */
	MEASURE_ENDED, /* it was interrupted, or its workers were lost or never started */
	MEASURE_BROKEN /* this program cannot go on */
};

/*
 * Starts the job on the GPUs of a place, in a directory of its own below scratch: it finds
 * no checkpoint and leaves none.  What the place says is copied.  *state is GOES_ON, or
 * ENDED with *e saying why it could not be started, or BROKEN with *e set; then NULL.
 */
struct measuring *measure_begin(const struct gv_job *job,
    const struct measure_place *place, const struct measure_options *o,
    enum measure_state *state, struct gv_error *e);
/*
 * Two that have the same GPUs: of each counts only what it reports from when both have
 * reported, and both end when enough is known of both, or one does.  Before the first turn.
 */
void measure_beside(struct measuring *a, struct measuring *b);
/*
 * Looks at it, without waiting: call it often, for the error in the times of reports is
 * the time between calls.  DONE fills *m; ENDED says why in *e unless it was interrupted,
 * BROKEN does so.
 */
enum measure_state measure_turn(
    struct measuring *r, struct measurement *m, struct gv_error *e);
/*
 * Forgets one that has ended, or ends it; nothing of it is left running, and its directory
 * is removed.  0, or -1 with *e set: some of it cannot be removed.
 */
int measure_end(struct measuring *r, struct gv_error *e);

/* Stops all that go on: for a program that dies in their middle. */
void measure_abort(void);

#endif
