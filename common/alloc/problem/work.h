/*
 * Jobs that have steps to do.  Policies of finish times see only those: a job
 * that is done needs no GPU, and gets none.
 */
#ifndef GV_ALLOC_WORK_H
#define GV_ALLOC_WORK_H

#include "problem.h"

struct gv_work {
	struct gv_problem p; /* those with steps; p.n may be 0 */
	size_t *of;          /* [p.n] their rows */
	bool all;            /* every job: p is the problem itself */
};

void gv_work_find(struct gv_work *w, const struct gv_problem *p);
/* Puts the shares of w's jobs, x [w->p.n][m], into those of all; the others stay. */
void gv_work_deal(const struct gv_work *w, const double *x, double *all);
/* The same of pairs: s->pair becomes all's. */
void gv_work_deal_pairs(
    const struct gv_work *w, struct gv_solution *s, struct gv_solution *all);
void gv_work_free(struct gv_work *w);

#endif
