/*
 * An answer that stays close to the last one.
 *
 * The policy's answer x* says how fast each job shall be.  Of all shares that keep that,
 * less a part f that may be given up,
 *
 *	min  1/2 sum_i c_i s_i sum_j |x_ij - y_ij|
 *	     subject to   thr_i(x) >= (1 - f) thr_i(x*), and its need    each job i
 *	                  sum_j x_ij <= 1                   each job i
 *	                  sum_i s_i x_ij <= N_j             each type j
 *
 * with y the last shares and c_i what it costs to move a GPU of job i: a GPU that passes
 * from one job to another counts as one.  Jobs that were not there move for nothing.
 * Where policies count money, the cost of all GPUs is at most that of x*, and what
 * a sum of steps per dollar was is kept, too, less f.  So an objective that grows with
 * the throughputs is at least 1 - f of the best, one that is a time at most the best /
 * (1 - f).  With f > 0 a second program takes, of the shares that move least, those
 * with the largest sum of s_i thr_i / P_i, so that nothing idles that costs no move.
 *
 * One linear program by GLPK over the jobs that differ, in their last shares, too, with
 * two columns for each share.  On 3 types: 0.1 s for 2,000 of them, 0.5 s for 5,000 and
 * 2.4 s for 10,000 with f = 0.02; about five times as long with f = 0, where the set of
 * such shares is thin: floors are then lower by GV_TOL_LESS_1.
 */
#ifndef GV_ALLOC_STAY_H
#define GV_ALLOC_STAY_H

#include "answer.h"

/*
 * Replaces a->s.x by shares that are closer to opt->previous, and sets a->s.objective,
 * its gap, and a->stayed.  Where GLPK comes to no solution the shares stay as they are and
 * a->stayed.failed says so.  a has no pairs, the policy a measure.  0, or -1 with *e set.
 */
int gv_stay_solve(struct gv_answer *a, const struct gv_rates *r,
    const struct gv_policy *policy, const struct gv_answer_options *opt,
    struct gv_error *e);

/* Into *v what a says, for the next. */
void gv_stay_remember(
    struct gv_previous *v, const struct gv_answer *a, const struct gv_rates *r);

#endif
