/*
 * Needs: what each job must have, so that it is done by its deadline or has its
 * minimum, and whether all can have it.
 */
#ifndef GV_ALLOC_DEADLINE_H
#define GV_ALLOC_DEADLINE_H

#include "solve.h"

/*
 * need[i] = the steps/s that job i must make at least, for its deadline and its
 * minimum; 0 none.  All needs together are a program of levels (level.h), thr_i /
 * need_i >= t; t >= 1 is possible or it is not.
 *
 * When it is not, or a deadline is over: s->late[i] (allocated here) says whose
 * need stands in the way, s->relaxation by what all needs must be divided, 1 / t (by
 * how much the time left must be longer), deadlines that are over not counted.  With
 * relax the needs are those divided so, and deadlines that are over count no more; else
 * need[] is of no use.
 *
 * s->x holds shares that meet the needs; those of jobs without any stay.
 *
 * 0 the needs can be met, 1 they cannot, -1 with *e set.  Without needs it
 * costs nothing.
 */
int gv_deadline_needs(const struct gv_problem *p, const struct gv_solver_options *opt,
    bool relax, const char *name, double *need, struct gv_solution *s,
    struct gv_error *e);

#endif
