/*
 * The programs of program/ as one linear program of everything, a column per job and
 * type, by GLPK's simplex method (lp/lp.h) and in numbers of about 1.
 */
#ifndef GV_ALLOC_SIMPLEX_H
#define GV_ALLOC_SIMPLEX_H

#include "alloc/program/level.h"
#include "alloc/program/linear.h"
#include "alloc/program/reach.h"
#include "lp/lp.h"

/*
 * About the operations of a level's or a sum's program of n rows of jobs on m types: fit
 * to what gv-alloc.choice measures, an operation a nanosecond, as are those of prices.
 */
double gv_simplex_level_effort(size_t n, size_t m);
double gv_simplex_sum_effort(size_t n, size_t m);

/*
 * A level: l as of gv_level_solve(), its multipliers in units of gv_level_unit().
 * exact: the basis is also proved in rational arithmetic.  limited: others follow, so it ends
 * where it takes many more steps than such programs do.  *second_done: the second program
 * was solved, or nobody asked for it.  0; 1 with *status saying what kept the simplex
 * method from the optimum; -1 with *e set.
 */
int gv_level_by_program(const struct gv_problem *p, const double *a, double unit,
    bool exact, bool limited, struct gv_level *l, enum gv_lp_status *status,
    bool *second_done, struct gv_error *e);

/*
 * A sum; limited: as above, of the first program.  0, or -1 with *e set, where name is who
 * asks.
 */
int gv_linear_by_program(
    struct gv_linear *l, bool exact, bool limited, const char *name, struct gv_error *e);

/* Far more steps than the simplex method takes for a program of so many rows. */
long gv_simplex_most_steps(size_t rows);

/* A reach.  0, or -1 with *e set. */
int gv_reach_by_program(struct gv_reach *r, const struct gv_problem *p, const double *a,
    const double *want, bool exact, struct gv_error *e);

/*
 * The programs of levels and of sums in the units of the problem, for --dump-lp; the
 * caller frees *lp and names->ctx.  a_ij INFINITY: the job asks for nothing.
 */
void gv_level_lp(const struct gv_problem *p, const double *a, struct gv_lp *lp,
    struct gv_lp_names *names);
void gv_linear_lp(const struct gv_problem *p, const double *gain, const double *need,
    struct gv_lp *lp, struct gv_lp_names *names);

#endif
