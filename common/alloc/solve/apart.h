/*
 * Shares that rounds can give, found without placements: each size of gangs has GPUs of
 * its own, whole gangs of each type.  Then the sizes have nothing to do with each other,
 * and the shares of one are a flow within whole limits, the mean of placements
 * (place/turns.h).  Where GPUs are not what keeps the level down, little is lost by it.
 */
#ifndef GV_ALLOC_APART_H
#define GV_ALLOC_APART_H

#include "solve.h"

/*
 * Looks for shares of all jobs that reach level by a [n][m], but for 1e-11 of it, and
 * then the largest sum of s_i thr_i / P_i; relaxed [n][m] says about how many GPUs each
 * size has.  True: they are in x [n][m].  False: none were found, x is as it was.
 * Some times what the program without placements takes.
 */
bool gv_level_apart(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, double level, const double *relaxed, double *x);

#endif
