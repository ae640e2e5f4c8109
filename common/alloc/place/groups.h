/*
 * Turns (turns.h) of jobs that are taken together: those of one size on the same type,
 * and those that have all their time on the same two types.  Of a group only how many of
 * its jobs run where is asked, so that mixtures of placements (hull.h) have a row for
 * each group and type instead of one for each job.
 *
 * The jobs of a group can take turns in such a mixture if and only if the sums of the
 * largest shares on a type are at most what it gives so many of them, as in turns.h; of
 * two types this holds for one if it does for the other.
 */
#ifndef GV_ALLOC_GROUPS_H
#define GV_ALLOC_GROUPS_H

#include <stdbool.h>

#include "alloc/problem/problem.h"

/*
 * As gv_turns_exist(), which tries it where nothing simpler does.  Ends after an effort of
 * some tenths of a second; false then, too.
 */
bool gv_groups_fit(const struct gv_problem *p, const double *x);

#endif
