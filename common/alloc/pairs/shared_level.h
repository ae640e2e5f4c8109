/* The programs of level.h and linear.h where two jobs may have the same GPUs. */
#ifndef GV_ALLOC_SHARED_LEVEL_H
#define GV_ALLOC_SHARED_LEVEL_H

#include "alloc/solve/level.h"
#include "alloc/solve/linear.h"
#include "shared.h"

/* As gv_level_solve; a_ij is T_ij times a number of the job's. */
int gv_shared_level(const struct gv_problem *p, const double *a,
    const struct gv_solve_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e);
/* As gv_level_program. */
void gv_shared_level_program(const struct gv_problem *p, const double *a,
    struct gv_lp *lp, struct gv_lp_names *names);

/* As gv_linear_program. */
void gv_shared_linear_program(const struct gv_problem *p,
    const struct gv_shared_gain *gain, const double *need, struct gv_lp *lp,
    struct gv_lp_names *names);

/* As gv_linear_solve; l->shared and, where there is a second, l->shared_second say the gains. */
int gv_shared_linear(struct gv_linear *l, const struct gv_solve_options *opt,
    const char *name, struct gv_error *e);

#endif
