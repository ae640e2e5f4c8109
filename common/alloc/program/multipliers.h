/* The multipliers that policies hand out beside their shares: room, and how levels and sums set them. */
#ifndef GV_ALLOC_MULTIPLIERS_H
#define GV_ALLOC_MULTIPLIERS_H

#include "level.h"
#include "linear.h"

/* Room for n rows and m types, zeroed, not known. */
void gv_multipliers_alloc(struct gv_multipliers *to, size_t n, size_t m);
void gv_multipliers_free(struct gv_multipliers *mu); /* also of a zeroed one */

/*
 * What proves a level (level.h), where the job's level is a_ij per share and so
 * a_ij / T_ij per step a second; a [n][m].  of[i]: the row of the policy's problem
 * that row i of p is, NULL = itself.  Nothing where nobody asked.
 */
void gv_multipliers_of_level(struct gv_multipliers *to, const struct gv_problem *p,
    const size_t *of, const double *a, const struct gv_level *l);

/* What proves a sum (linear.h): the multipliers of the needs, and the prices. */
void gv_multipliers_of_linear(struct gv_multipliers *to, const struct gv_linear *l);

#endif
