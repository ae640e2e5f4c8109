/* The programs of level.h and linear.h where two jobs may have the same GPUs. */
#ifndef GV_ALLOC_SHARED_LEVEL_H
#define GV_ALLOC_SHARED_LEVEL_H

#include "gv-alloc/solve/level.h"
#include "gv-alloc/solve/linear.h"
#include "shared.h"

/* As level_solve; a_ij is T_ij times a number of the job's. */
int shared_level(const struct problem *p, const double *a,
    const struct solve_options *opt, const char *name, struct level *l,
    struct gv_error *e);
/* As level_program. */
void shared_level_program(const struct problem *p, const double *a, struct gv_lp *lp,
    struct gv_lp_names *names);

/* As linear_program. */
void shared_linear_program(const struct problem *p, const struct shared_gain *gain,
    const double *need, struct gv_lp *lp, struct gv_lp_names *names);

/* As linear_solve; l->shared and, where there is a second, l->shared_second say the gains. */
int shared_linear(struct linear *l, const struct solve_options *opt, const char *name,
    struct gv_error *e);

#endif
