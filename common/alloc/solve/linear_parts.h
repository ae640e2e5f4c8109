/* What the two ways to solve a linear.h share; private to them. */
#ifndef GV_ALLOC_LINEAR_PARTS_H
#define GV_ALLOC_LINEAR_PARTS_H

#include "linear.h"

/* The sum that x [n][m] gains. */
double gv_linear_sum(const struct gv_problem *p, const double *gain, const double *x);

/* Bound and gap of l->s from the multipliers. */
void gv_linear_prove(struct gv_linear *l);

/* One program of all, by the simplex method.  0, or -1 with *e set. */
int gv_linear_by_program(struct gv_linear *l, const struct gv_solve_options *opt,
    const char *name, struct gv_error *e);

/*
 * By prices, and a program of the few jobs that they leave a choice.  0 and it is
 * proved to 1e-10; 1 it is not (other methods may); -1 with *e set.
 */
int gv_linear_by_prices(struct gv_linear *l, const struct gv_solve_options *opt,
    const char *name, struct gv_error *e);

#endif
