/* The multipliers that policies hand out beside their shares: room, and how levels and sums set them. */
#ifndef GV_ALLOC_MULTIPLIERS_H
#define GV_ALLOC_MULTIPLIERS_H

#include "gv-alloc/solve/level.h"
#include "gv-alloc/solve/linear.h"

/* Room for n rows and m types, zeroed, not known. */
void multipliers_alloc(struct multipliers *to, size_t n, size_t m);
void multipliers_free(struct multipliers *mu); /* also of a zeroed one */

/*
 * What proves a level (level.h), where the job's level is a_ij per share and so
 * a_ij / T_ij per step a second; a [n][m].  of[i]: the row of the policy's problem
 * that row i of p is, NULL = itself.  Nothing where nobody asked.
 */
void multipliers_of_level(struct multipliers *to, const struct problem *p,
    const size_t *of, const double *a, const struct level *l);

/* What proves a sum (linear.h): the multipliers of the needs, and the prices. */
void multipliers_of_linear(struct multipliers *to, const struct linear *l);

#endif
