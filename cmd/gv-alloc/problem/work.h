/*
 * Jobs that have steps to do.  Policies of finish times see only those: a job
 * that is done needs no GPU, and gets none.
 */
#ifndef GV_ALLOC_WORK_H
#define GV_ALLOC_WORK_H

#include "gv-alloc/policy/policy.h"

struct work {
	struct problem p; /* those with steps; p.n may be 0 */
	size_t *of;       /* [p.n] their rows */
	bool all;         /* every job: p is the problem itself */
};

void work_find(struct work *w, const struct problem *p);
/* Puts the shares of w's jobs, x [w->p.n][m], into those of all; the others stay. */
void work_deal(const struct work *w, const double *x, double *all);
/* The same of pairs: s->pair becomes all's. */
void work_deal_pairs(const struct work *w, struct solution *s, struct solution *all);
void work_free(struct work *w);

#endif
