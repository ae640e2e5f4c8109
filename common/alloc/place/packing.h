/* The best placement (hull.h) of all by dynamic programming, where types and GPUs are few. */
#ifndef GV_ALLOC_PACKING_H
#define GV_ALLOC_PACKING_H

#include <stdbool.h>

#include "alloc/problem/problem.h"

/*
 * The placement of the largest sum of gains [n][m] into point [n][m], zeroed, found over all
 * numbers of GPUs that may be left of each type, job after job.  False: they are too many;
 * point is as it was.  Time: jobs x types x the product of GPUs + 1, at most some tens of
 * milliseconds; memory a byte for each of those but for types.
 */
bool gv_packing_best(const struct gv_problem *p, const double *gain, double *point);

#endif
