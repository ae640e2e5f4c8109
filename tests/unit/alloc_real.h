/*
 * The search for prices and the interior-point method compiled in, by names of their own (real_...):
 * who has this defines those of the library, which then stand before it.
 */
#ifndef ALLOC_REAL_H
#define ALLOC_REAL_H

#define gv_level_by_prices real_level_by_prices
#include "../../common/alloc/price/level_prices.c"
#undef gv_level_by_prices
#define gv_linear_by_prices   real_linear_by_prices
#define gv_linear_by_interior real_linear_by_interior
#include "../../common/alloc/price/linear_prices.c"
#undef gv_linear_by_prices
#undef gv_linear_by_interior
#define gv_level_by_interior real_level_by_interior
#include "../../common/alloc/interior/level_interior.c"
#undef gv_level_by_interior

int gv_level_by_prices(const struct gv_problem *p, const double *a, double unit,
    struct gv_level *l, double *effort, struct gv_price_memory *memory,
    bool *second_done);
int gv_linear_by_prices(struct gv_linear *l, double *effort,
    struct gv_price_memory *memory, const char *name, struct gv_error *e);
int gv_linear_by_interior(struct gv_linear *l, const char *name, struct gv_error *e);
int gv_level_by_interior(const struct gv_problem *p, const double *a, double unit,
    bool sharp, struct gv_level *l, bool *second_done, struct gv_error *e);

#endif
