/*
 * Jobs that have steps to do.  Policies of finish times see only those: a job
 * that is done needs no GPU, and gets none.
 */
#ifndef GV_ALLOC_UNFINISHED_H
#define GV_ALLOC_UNFINISHED_H

#include "problem.h"

struct gv_unfinished {
	struct gv_problem p; /* those with steps; p.n may be 0 */
	size_t *of;          /* [p.n] their rows */
	bool all;            /* every job: p is the problem itself */
};

void gv_unfinished_find(struct gv_unfinished *w, const struct gv_problem *p);
/* Those of w's jobs of what all [n][width] have; the caller's. */
double *gv_unfinished_take(
    const struct gv_unfinished *w, const double *all, size_t width);
/* Puts the shares of w's jobs, x [w->p.n][m], into those of all; the others stay. */
void gv_unfinished_scatter(const struct gv_unfinished *w, const double *x, double *all);
/* Hands the pairs of s, whose rows are w's, over to all. */
void gv_unfinished_scatter_pairs(
    const struct gv_unfinished *w, struct gv_solution *s, struct gv_solution *all);
void gv_unfinished_free(struct gv_unfinished *w);

#endif
