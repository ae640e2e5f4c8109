/*
 * Levels of which some have a floor:
 *
 *	max t   subject to   sum_j a_ij x_ij >= max(t, floor_i)    each job i
 *
 * and the constraints of level.h.  For a given t the right sides are given, too, and
 * whether all can have them is a program of levels without floors, of a_ij / max(t,
 * floor_i).  Its multipliers lambda make
 *
 *	sum_i lambda_i max(t, floor_i) / (what it was at that t)  <=  limit
 *
 * a condition for every t that can be reached.  So the root of its two sides is an
 * upper bound, and the next t: Newton's method on a function that is convex and piecewise
 * linear (Dinkelbach 1967), which comes down to the best t in some five programs, by
 * whichever solver.  Where the best level without floors keeps them it is the answer.
 */
#ifndef GV_ALLOC_FLOORED_H
#define GV_ALLOC_FLOORED_H

#include "solve.h"

/*
 * Takes the same arguments as gv_level_solve(), with the same results.  The floors must
 * be possible, and l->s->x keep them (deadline.h).  The bound is that of the root above, and
 * so are the multipliers: l->lambda of a job that is at its floor says what the floor
 * costs.  The gap is relative to the bound, or to a thousandth of what is possible
 * without floors where those leave less.
 */
int gv_level_floored(const struct gv_problem *p, const double *a,
    const struct gv_solver_options *opt, const char *name, struct gv_level *l,
    struct gv_error *e);

/*
 * The floors of levels a that needs [n] in steps/s make; NULL where there are none.  The
 * caller's.
 */
double *gv_level_floors(const struct gv_problem *p, const double *a, const double *need);

#endif
