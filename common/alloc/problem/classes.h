/*
 * Equal jobs become one class, in an order that depends on their values alone.
 *
 * Jobs with the same rates, also in pairs, gang, weight and numbers asked for are
 * exchanged by permutations under which the constraints and every policy's objective
 * stay the same.  The feasible set is convex, so the average of an optimal allocation over those permutations
 * is optimal too, and gives equal jobs equal shares: nothing is lost by asking
 * for one share per class, with the class's size in the constraints.
 *
 * The classes are sorted by their values.  So the rows of the table, in whatever
 * order, make the same problem, and its answer is the same allocation.
 */
#ifndef GV_ALLOC_CLASSES_H
#define GV_ALLOC_CLASSES_H

#include "problem.h"

struct gv_classes {
	struct gv_problem p; /* one row per class, .count = its jobs */
	size_t *of;          /* [jobs] the class of each job */
};

/*
 * merge false only sorts: every job is a class, equal jobs in their order.
 * Linear in the jobs, n log n in the classes.
 */
void gv_classes_make(struct gv_classes *c, const struct gv_problem *jobs, bool merge);
/* Gives each job its class's shares.  class_x [classes][m], x [jobs][m] */
void gv_classes_disaggregate(
    const struct gv_classes *c, size_t n_jobs, const double *class_x, double *x);
void gv_classes_free(struct gv_classes *c);

#endif
