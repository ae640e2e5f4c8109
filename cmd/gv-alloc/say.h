/* What gv-alloc says on standard error beside its table. */
#ifndef GV_ALLOC_SAY_H
#define GV_ALLOC_SAY_H

#include "alloc/answer/answer.h"
#include "base/num.h"
#include "options.h"

/* A line of progress: that part of the bound is reached. */
void say_progress(double part);

/* Jobs that have no throughput in the file, [n] numbers of jobs. */
void say_missing(
    const struct gv_rates *jobs, const size_t *missing, size_t n, const char *file);

/* Jobs that get nothing because no GPUs can run them. */
void say_never_running(
    const struct gv_rates *r, const struct gv_cluster *c, const struct gv_answer *a);

/* Jobs whose deadlines cannot be met, and what would help. */
void say_late(
    const struct options *o, const struct gv_rates *r, const struct gv_answer *a);

/*
 * By how much the time that is left was multiplied, with six digits, rounded up in the
 * last so that deadlines which are relaxed by it can be met, also as moments in time; at
 * least 1.
 */
void relaxation_text(
    char text[GV_NUM_LEN], const struct gv_rates *r, const struct gv_answer *a);

/* Some jobs have nothing, since others need all there is: so a makespan without an end. */
void say_never(const struct gv_answer *a);

/*
 * -v: the objective, its bound and the gap; together: what --nodes has to compare it
 * with, NAN = nothing.
 */
void say_objective(const struct options *o, const struct gv_rates *r,
    const struct gv_answer *a, double together);

#endif
