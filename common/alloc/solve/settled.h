/*
 * Jobs with one type left, in the program of program/reach.h: their shares are what they
 * want, so that the others' program is all there is to solve, with what is left of the
 * GPUs.  Where many have come to a stop those are most jobs; and the program without them
 * has room, where with them it has none.
 */
#ifndef GV_ALLOC_SETTLED_H
#define GV_ALLOC_SETTLED_H

#include "alloc/program/reach.h"

struct gv_settled {
	struct gv_problem q; /* of the others; its types have what is left */
	double *a, *want;    /* theirs */
	bool *keep;          /* [n] of all: it is one of them */
	double *x;           /* [n] shares of those that are settled */
};

/*
 * False: nobody is settled, and *s is not to be freed.  A type is the others' only where
 * more is left of it than rounding.
 */
bool gv_settled_make(struct gv_settled *s, const struct gv_problem *p, const double *a,
    const double *want);
void gv_settled_free(struct gv_settled *s);

/* What was found for the others, NULL = there are none, becomes what holds for all of p. */
void gv_settled_join(const struct gv_settled *s, const struct gv_reach *others,
    struct gv_reach *r, const struct gv_problem *p, const double *a, const double *want);

#endif
