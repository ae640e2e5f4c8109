/* Linear programs of whole units. */
#ifndef TREE_WHOLE_H
#define TREE_WHOLE_H

#include <stdint.h>

#include "base/err.h"
#include "lp/lp.h"

/*
 * As many units as fit: max sum of x for the rows' upper bounds, x whole.  lp has columns of
 * cost 1, not said to be whole, whose entries stand beside each other and are not below 0.
 * units [n_cols] are the best there are by branch and cut; where these are many, rounded down from
 * parts of units and filled up, if that is within a thousandth of what parts could be; and so as
 * well where branch and cut has not ended after so many seconds, if it had no better ones by then.
 * 0, or -1 with *e: GLPK gave up.
 */
int whole_units(struct gv_lp *lp, double seconds, int64_t *units, struct gv_error *e);

#endif
