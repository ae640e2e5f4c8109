/*
 * The placement of the largest gain (hull.h), by branch and price.
 */
#ifndef GV_ALLOC_BRANCHING_H
#define GV_ALLOC_BRANCHING_H

#include <stdbool.h>

#include "alloc/problem/problem.h"

/*
 * A placement whose sum_ij gain_ij n_ij is above enough into point [n][m], zeroed, or a proof that
 * there is none.  *most: no placement is worth more, INFINITY where one was found, or where neither
 * was within that work.  False, and nothing is done: a type has too many GPUs and jobs for
 * its knapsack.
 *
 * A type's pattern is what may run on it at once.  A linear program mixes patterns so
 * that no class runs more often than it has jobs; at its duals a knapsack of each type finds the
 * patterns that it lacks, and what the knapsacks are worth bounds every placement, tighter than
 * the program of n_ij without "whole" does.  Where the mixture has parts of jobs, n_ij is branched on.
 * Source: Savelsbergh, A branch-and-price algorithm for the generalized assignment problem, Operations
 * Research 45 (1997); the bound is that of Lagrangian relaxation (Fisher, Jaikumar and Van Wassenhove 1986).
 *
 * work counts jobs times GPUs of knapsacks, and of programs rows times columns.
 */
bool gv_placement_best(const struct gv_problem *p, const double *gain, double enough,
    double work, double *point, double *most);

#endif
