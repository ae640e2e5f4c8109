/* Levels (program/level.h) by the interior-point method. */
#ifndef GV_ALLOC_LEVEL_INTERIOR_H
#define GV_ALLOC_LEVEL_INTERIOR_H

#include "alloc/program/level.h"

/*
 * l as of gv_level_solve(), its multipliers in units of gv_level_unit(); *second_done: the
 * second program was solved, is the same wherever the level is kept, or nobody asked for
 * it.  sharp: the multipliers are those of a vertex, if there is one, for those of the method
 * itself are never 0.  0 the bound is within GV_TOL_LEVEL_PROVED of the level; 1 it is not
 * (other methods may); -1 with *e set.
 */
int gv_level_by_interior(const struct gv_problem *p, const double *a, double unit,
    bool sharp, struct gv_level *l, bool *second_done, struct gv_error *e);

#endif
