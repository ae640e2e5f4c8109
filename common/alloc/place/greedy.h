/*
 * Placements (hull.h) made without an integer program: fast, and not always the best.
 * Points are [n][m] numbers of jobs of a class on a type.
 */
#ifndef GV_ALLOC_GREEDY_H
#define GV_ALLOC_GREEDY_H

#include <stdbool.h>

#include "alloc/problem/problem.h"

/*
 * So many rounds of deficit round-robin (Shreedhar and Varghese 1995) towards shares x [n][m]
 * of the jobs, into point [rounds][n][m], zeroed: the largest deficits are placed first, as many gangs as
 * fit, and then whoever still fits; each that is placed is owed a round less.  Larger gangs,
 * which fit less often, count more.
 */
void gv_greedy_rounds(
    const struct gv_problem *p, const double *x, size_t rounds, double *point);

/* By the largest gains [n][m] of a GPU, as many gangs as fit, into point, zeroed. */
void gv_greedy_by_gain(const struct gv_problem *p, const double *gain, double *point);

/*
 * Raises the sum of the gains: type after type has the jobs that are worth the most there,
 * those that run elsewhere less what they are worth there, a knapsack that is solved by
 * dynamic programming, until none helps.  Returns by how much.  Types whose knapsacks are large (most_cells)
 * stay as they are.  Time: jobs and n m for each type and pass.
 */
double gv_greedy_improve(const struct gv_problem *p, const double *gain, double *point);

#endif
