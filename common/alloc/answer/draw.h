/* A random order of jobs, for policies that draw. */
#ifndef GV_ALLOC_DRAW_H
#define GV_ALLOC_DRAW_H

#include <stdint.h>

#include "alloc/problem/problem.h"

/*
 * GV_NUMBER_DRAW of p's jobs: their places, from 0, in a random order of the jobs.
 * What is drawn for a job depends on the seed and its name alone, so whether of two
 * jobs one comes first does not depend on the others.  row[] as of
 * gv_problem_from_rates().
 */
void gv_draw_order(
    struct gv_problem *p, uint64_t seed, const struct gv_rates *r, const size_t *row);

#endif
