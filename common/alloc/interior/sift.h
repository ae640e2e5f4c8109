/*
 * The interior-point method on programs of many more columns than it should hold at once:
 * prices that every few-th job, by itself, has on as large a part of the GPUs are nearly
 * those of all; so only columns are looked at whose reduced costs are near to 0 there, then
 * also those that come out below 0, until none does (sifting, Bixby et al. 1992).
 */
#ifndef GV_ALLOC_INTERIOR_SIFT_H
#define GV_ALLOC_INTERIOR_SIFT_H

#include "interior.h"

/* As gv_interior_solve(), which it is where columns are at most GV_INTERIOR_MANY. */
void gv_interior_sift(const struct gv_interior_program *p, struct gv_interior_point *to);

#ifndef GV_INTERIOR_MANY
#define GV_INTERIOR_MANY 400000
#endif

#endif
