/*
 * What one worker does, in order, for as many micro-batches as are trained on: the
 * steps of a short run of a schedule, of which a stretch is repeated.
 *
 * A schedule whose passes all read the first weights is that of one batch, and the
 * whole of it is repeated, each time with the next micro-batches and weights.  In any
 * other (1f1b, 2bw) a stretch is looked for that is behind itself again, so many
 * micro-batches and versions on, and has an update; how it begins and how it ends
 * stay as they are.
 */
#ifndef GV_PLAN_COURSE_H
#define GV_PLAN_COURSE_H

#include "base/err.h"
#include "plan/timetable.h"

struct gv_course_step {
	enum gv_step_op op;
	uint32_t stage;
	uint64_t micro_batch; /* AR, U: the last whose gradient this worker has put in */
	uint64_t version;     /* of the weights: F, B, W read it, AR, U make it */
};

/* = {0} is an empty one. */
struct gv_course {
	size_t n;
	struct gv_step *step;             /* [n] of the short run */
	size_t first, period;             /* step[first] up to step[first + period) */
	uint64_t times;                   /* happen so often; 0: the short run is all */
	uint32_t micro_batches, versions; /* further each time */
};

/*
 * Fills *c from the n steps of a worker in a run of some micro-batches, for a run of
 * all of them.  all is at least some; a multiple, where the whole is repeated.  0, or
 * -1 with *e set: no stretch repeats, or not so that it comes to all.  Cost: n^2 at most.
 */
int gv_course_make(struct gv_course *c, const struct gv_step *step, size_t n,
    uint64_t some, uint64_t all, struct gv_error *e);
void gv_course_free(struct gv_course *c);

/* Steps of the whole run; the k-th of them. */
uint64_t gv_course_length(const struct gv_course *c);
struct gv_course_step gv_course_at(const struct gv_course *c, uint64_t k);

/* Behind which step k all steps may be of micro-batches from the given one on: a lower bound. */
uint64_t gv_course_begin(const struct gv_course *c, uint64_t micro_batch);

/*
 * Whether the weights' gradients of the backward pass that is step k are a pass of their
 * own, before its stage's next update.  Looks at the steps up to there.
 */
bool gv_course_puts_off(const struct gv_course *c, uint64_t k);

/* What a stage of the worker needs. */
struct gv_course_needs {
	size_t slots;    /* micro-batches in flight, at most */
	size_t versions; /* from the newest back to the oldest that is read, at most */
};
struct gv_course_needs gv_course_needs(const struct gv_course *c, uint32_t stage);

/*
 * The fewest micro-batches of a run from which a course of all of them can be made, of
 * a schedule made from p: p->micro_batches is not looked at.
 */
uint64_t gv_course_some(const struct gv_pipe *p, uint64_t all);

#endif
