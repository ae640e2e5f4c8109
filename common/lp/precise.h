/*
 * Linear programs in many digits: the simplex method in numbers of 448 bits (libgmp), for
 * small programs whose numbers are so far apart that double precision loses some of them.
 *
 * With coefficients of 53 bits, 18 orders of magnitude apart, and some hundred pivots, what
 * is lost is far below the last place of a double; nothing is a tolerance of a user's.
 */
#ifndef GV_LP_PRECISE_H
#define GV_LP_PRECISE_H

#include "lp/lp.h"

/* About the seconds that it takes: rows times columns times pivots. */
double gv_lp_precise_effort(size_t n_rows, size_t n_cols);

/*
 * Solves a program whose columns are all >= 0, without other bounds, and not of whole
 * numbers.  second [n_cols], may be NULL: of the best solutions, one with the largest
 * (lp->maximise; else least) sum of these; the first one may be lower by roundings of its terms,
 * for coefficients are often products, and ties of them differ in their last places.
 *
 * s->status: GV_LP_OPTIMAL with x and row_dual, of lp->cost, rounded to double precision;
 * GV_LP_INFEASIBLE, GV_LP_UNBOUNDED; GV_LP_FAILED: a number is not finite; GV_LP_LIMIT after
 * more pivots than any such program is known to need.  s->check is that of gv_lp_check().
 * *s must be freed in each case.
 *
 * Two phases, the largest reduced cost in units of the column, a perturbed right side where the
 * objective stands still (Dantzig 1963; Charnes 1952).  Time: rows times columns for each pivot,
 * some 60 ns each; memory 80 bytes each.
 */
void gv_lp_precisely(
    const struct gv_lp *lp, const double *second, struct gv_lp_solution *s);

#endif
