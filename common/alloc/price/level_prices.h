/* Levels (program/level.h) in the space of prices. */
#ifndef GV_ALLOC_LEVEL_PRICES_H
#define GV_ALLOC_LEVEL_PRICES_H

#include "alloc/program/level.h"
#include "price.h"

/*
 * l as of gv_level_solve(), its multipliers in units of gv_level_unit(); *second_done: the
 * second program was solved as well.  effort: operations left, counted down; NULL = any
 * number.  0 the bound is within GV_TOL_LEVEL_PROVED of the level, 1 it is not (other methods may).
 */
int gv_level_by_prices(const struct gv_problem *p, const double *a, double unit,
    struct gv_level *l, double *effort, struct gv_price_memory *memory,
    bool *second_done);

#endif
