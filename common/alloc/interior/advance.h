/* Mehrotra's steps of the method of interior.h; private to its files. */
#ifndef GV_ALLOC_INTERIOR_ADVANCE_H
#define GV_ALLOC_INTERIOR_ADVANCE_H

#include "newton.h"

/* One step; the length of its shorter part, 0: none can be made. */
double gv_interior_advance(struct gv_interior_state *s);

/* What is left of each constraint, into rest; not of the products of pairs. */
void gv_interior_residuals(struct gv_interior_state *s);

/* Mean of the products of pairs, whose number goes to *pairs. */
double gv_interior_mean_product(const struct gv_interior_state *s, double *pairs);

/* The bound that the multipliers prove, with the objective. */
double gv_interior_bound(const struct gv_interior_state *s, double *objective);

#endif
