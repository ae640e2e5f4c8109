/*
 * --pop: the jobs split at random into parts, each solved for itself on its part of
 * every type (POP: Narayanan et al., SOSP 2021).  A comparison: where classes and
 * prices solve the whole in less time, nothing is won by it.
 */
#ifndef GV_ALLOC_POP_H
#define GV_ALLOC_POP_H

#include "answer.h"

/* Whether what a policy counts can be put together from parts. */
bool gv_pop_possible(const struct gv_policy *policy);

/*
 * The shares of a->p in opt->pop parts; a job's part depends on opt->seed and the
 * names of the jobs alone.  Gangs stay whole, pairs are of one part.  There is a
 * bound only with opt->pop_bound, that of the whole, which is solved for it.  0, or -1
 * with *e set.
 */
int gv_pop_solve(struct gv_answer *a, const struct gv_rates *r,
    const struct gv_policy *policy, const struct gv_answer_options *opt,
    struct gv_error *e);

#endif
