/*
 * Levels and sums of small problems in many digits (lp/precise.h): for numbers so far apart
 * that no solver in double precision tells the small ones from rounding.  With the
 * constraints all at once: needs or floors, and the budget.  Not of jobs that share GPUs,
 * nor of placements.
 */
#ifndef GV_ALLOC_PRECISE_H
#define GV_ALLOC_PRECISE_H

#include "alloc/program/level.h"
#include "alloc/program/linear.h"

/* Whether that takes some hundred ms at most. */
bool gv_precise_is_quick(const struct gv_problem *p);

/*
 * The best level by a [n][m] that l asks for, with its floors, and where l->lexicographic the
 * second sum.  True: l and l->s are set as by gv_level_solve(), bound and gap without regard
 * to floors.  False: it is not small (some hundred ms at most), or there is none; l is as it
 * was.
 */
bool gv_level_precisely(const struct gv_problem *p, const double *a, struct gv_level *l);

/*
 * The best sum that l asks for, and its second one; not of differences of gains (l->size).
 * As above.
 */
bool gv_linear_precisely(struct gv_linear *l);

/*
 * The most steps per second of all jobs that cost [n][m] of a share buys, with l's needs, and
 * of such shares those that do most: l->s->x, and the multipliers of l of the sum whose gains
 * are rates less that ratio times cost.  Without objective, bound and gap.
 */
bool gv_ratio_precisely(struct gv_linear *l, const double *cost);

#endif
