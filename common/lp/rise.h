/*
 * One program that lives through many steps, in many digits (lp/precise.h): in each of them
 * something new rises as far as it can, and stays there.  So what was reached is kept without
 * any rounding, however many steps there are and however far apart they are.
 */
#ifndef GV_LP_RISE_H
#define GV_LP_RISE_H

#include "lp/lp.h"

struct gv_rise;

/*
 * lp: as of gv_lp_precisely(), without cost; the rows that rise have a lower bound and no
 * other.  steps: how many there may be.  NULL: it has no solution, or a number is not finite.
 * The caller frees it with gv_rise_free().
 */
struct gv_rise *gv_rise_make(const struct gv_lp *lp, size_t steps);
void gv_rise_free(struct gv_rise *w); /* NULL is fine */

/*
 * The largest t <= most by which the lower bounds of all rows can rise by t by [n_rows] >= 0,
 * one of them above 0, 0 where a row has none; they do.  most may be INFINITY.  *blocked: t is
 * less than most.  dual [n_rows] >= 0 are the multipliers that hold it down, where it is.
 * False: there were more steps than asked for, or nothing holds it down.
 */
bool gv_rise_by(struct gv_rise *w, const double *by, double most, double *t,
    bool *blocked, double *dual);

/* A solution after the last step.  x [n_cols] */
void gv_rise_solution(struct gv_rise *w, double *x);

#endif
