/*
 * When everything of a timetable happens.
 *
 * A GPU does one pass at a time, in its order, each as soon as what it needs is
 * there.  What a stage sends to the next takes receive_s over a link, and what
 * comes back as long; each GPU of the smaller of the two stages has one link,
 * which carries one transfer at a time, the one that was ready first (of
 * equals the lower micro-batch, then the forward one).  At any moment all that ends
 * ends first, then GPUs begin, then links.
 *
 * An all-reduce begins when all replicas of the stage have got there, and the one
 * before it has ended; overlap: when they have begun the backward pass before it,
 * and then it stops no GPU until the update, and does not end before the pass does, nor
 * ready_s behind its beginning (it is shown as late as that allows); that pass takes beside_s
 * longer.  An update takes update_s.
 */
#ifndef GV_PLAN_SIMULATE_H
#define GV_PLAN_SIMULATE_H

#include "base/err.h"
#include "plan/timetable.h"

/*
 * Fills start_s and end_s of all steps of t, made from p.  The end of the last; or
 * NAN when it cannot go on: no timetable that gv_timetable_make makes does that.
 * Deterministic.  Cost: steps * log(GPUs).
 */
double gv_simulate(struct gv_timetable *t, const struct gv_pipe *p);

/* What came of it on one place. */
struct gv_place_report {
	double busy_s; /* passes, on the average of its GPUs */
	double bubble; /* share of the time in which its GPUs compute nothing, [0,1] */
	struct gv_holding holding; /* the largest among its GPUs */
};

struct gv_simulation {
	double end_s; /* of all that was run */
	/* for one micro-batch: end_s over their number; 1f1b, 2bw: in steady state */
	double step_s;
	double bubble; /* of all GPUs, likewise */
	size_t n;
	struct gv_place_report *place; /* [n] */
};

/*
 * Makes the timetable of p into *t, and runs it.  The steady state of 1f1b and 2bw is
 * measured on a longer run.  0, or -1 with *e set: see gv_timetable_check.
 */
int gv_simulation_run(struct gv_simulation *s, struct gv_timetable *t,
    const struct gv_pipe *p, struct gv_error *e);
void gv_simulation_free(struct gv_simulation *s);

#endif
