/* Sums (program/linear.h) in the space of prices. */
#ifndef GV_ALLOC_LINEAR_PRICES_H
#define GV_ALLOC_LINEAR_PRICES_H

#include "alloc/program/linear.h"
#include "price.h"

/*
 * By prices, and a program of the few jobs that they do not fix.  memory NULL: none.
 * effort: operations left, counted down; NULL = any number.  0: proved to
 * GV_TOL_SUM_PROVED; 1: not (other methods may); -1 with *e set, where name is who asks.
 */
int gv_linear_by_prices(struct gv_linear *l, double *effort,
    struct gv_price_memory *memory, const char *name, struct gv_error *e);

/* The same from prices that the interior-point method finds (interior/interior.h). */
int gv_linear_by_interior(struct gv_linear *l, const char *name, struct gv_error *e);

#endif
