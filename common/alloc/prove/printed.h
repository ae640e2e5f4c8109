/*
 * Shares as decimals.  A share is a double, and the shortest decimals that read back as
 * it (gv_format_double) may be above it by half a unit in the last place: shares that
 * keep every constraint as doubles may break one as they are printed, by 1e-17.
 */
#ifndef GV_ALLOC_PRINTED_H
#define GV_ALLOC_PRINTED_H

#include "alloc/problem/problem.h"

/*
 * Takes a unit in the last place from the shares of every job and type whose sum, as
 * printed, is over its limit; under a budget from all of them.  Their decimals are then
 * below what the doubles were, so both keep every constraint that s did (as
 * gv_solution_trim() makes it).  True: the decimals of all
 * shares are just what the doubles are.
 */
bool gv_printed_trim(const struct gv_problem *p, struct gv_solution *s);

#endif
