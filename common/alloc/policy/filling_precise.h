/*
 * Filling of few jobs in many digits, step by step (lp/rise.h): for weights so far apart that
 * what light jobs have is less than any solver's tolerance of what heavy ones have.
 */
#ifndef GV_ALLOC_FILLING_PRECISE_H
#define GV_ALLOC_FILLING_PRECISE_H

#include "filling_stages.h"

/*
 * Whether it takes a second at most, and weights are so far apart that nothing else tells light
 * jobs' levels.  Not of jobs that share GPUs.
 */
bool gv_filling_is_few(const struct gv_filling *f);
bool gv_filling_is_far(const struct gv_filling *f);

/* Fills f, as it was made, and finds the shares, s->x.  0, or -1 with *e set. */
int gv_filling_precisely(struct gv_filling *f, struct gv_solution *s,
    struct gv_filling_quality *q, struct gv_error *e);

#endif
