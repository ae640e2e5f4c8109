/*
 * The placements of a hull (hull.h), and those that would be worth more: by steps from those
 * that there are, by branch and price, or by branch and cut.
 */
#ifndef GV_ALLOC_HULL_PRICING_H
#define GV_ALLOC_HULL_PRICING_H

#include "hull.h"

/* sum_ij of point [n][m] times weight [n][m] */
double gv_hull_value(const struct gv_hull *h, const double *point, const double *weight);

/*
 * Placements of a value above enough, added to the others: from the largest gains, and
 * from those of the mixture (h->weight), which all have the value of the convexity dual, so
 * that any step up is one.  Whether there is one.
 */
bool gv_hull_price_by_steps(
    struct gv_hull *h, const double *lagrangian_gain, double enough);

/*
 * The pricing problem: a placement n whose sum_ij g_ij n_ij for the Lagrangian gains g of the
 * master's duals is above enough, added to the others, if there is one: the best that was found.
 * Returns what no placement is worth more than; INFINITY: not known.  work: what branch and price
 * (patterns.h) may take, or branch and cut, nodes times rows and columns; INFINITY: all that it needs.
 */
double gv_hull_price(
    struct gv_hull *h, const double *lagrangian_gain, double enough, double work);

#endif
