/*
 * The interior-point method on programs of many columns, of which few count in the end.
 * Half-way those are left out whose reduced costs are large.  Where there are more than it
 * should hold at once it begins with few: prices that every few-th job, by itself, has on as
 * large a part of the GPUs are nearly those of all, so only columns are looked at whose
 * reduced costs are near to 0 there.  Then those are taken in that come out below 0, until
 * none does (sifting, Bixby et al. 1992).
 */
#ifndef GV_ALLOC_INTERIOR_SIFT_H
#define GV_ALLOC_INTERIOR_SIFT_H

#include "interior.h"

/* As gv_interior_solve(), which it is where columns are at most GV_INTERIOR_FEW. */
void gv_interior_sift(const struct gv_interior_program *p, struct gv_interior_point *to);

#ifndef GV_INTERIOR_FEW
#define GV_INTERIOR_FEW 20000
#endif
#ifndef GV_INTERIOR_MANY
#define GV_INTERIOR_MANY 400000
#endif

#endif
