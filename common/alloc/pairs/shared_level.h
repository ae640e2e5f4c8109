/* The programs of level.h and linear.h where two jobs may have the same GPUs. */
#ifndef GV_ALLOC_SHARED_LEVEL_H
#define GV_ALLOC_SHARED_LEVEL_H

#include "alloc/program/level.h"
#include "alloc/program/linear.h"
#include "shared.h"

/*
 * The level that a [n][m] asks for; a_ij is T_ij times a number of the job's.  all and
 * exact as in struct gv_shared.  0, or -1 with *e set, where name is who asks.
 */
int gv_shared_level(const struct gv_problem *p, const double *a, bool all, bool exact,
    const char *name, struct gv_level *l, struct gv_error *e);
/* The sum of l->shared and, where there is a second, l->shared_second. */
int gv_shared_linear(
    struct gv_linear *l, bool all, bool exact, const char *name, struct gv_error *e);

/* The programs with all their pairs, in the units of the problem, for --dump-lp. */
void gv_shared_level_program(const struct gv_problem *p, const double *a,
    struct gv_lp *lp, struct gv_lp_names *names);
void gv_shared_linear_program(const struct gv_problem *p,
    const struct gv_shared_gain *gain, const double *need, struct gv_lp *lp,
    struct gv_lp_names *names);

#endif
