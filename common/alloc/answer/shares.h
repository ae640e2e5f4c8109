/* The two halves of an answer, for those who ask about another problem than the table's. */
#ifndef GV_ALLOC_SHARES_H
#define GV_ALLOC_SHARES_H

#include "answer.h"

/* The problem alone, without what options make of its rates.  0, or -1 with *e set. */
int gv_answer_problem(struct gv_answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const struct gv_policy *policy,
    const struct gv_answer_options *opt, struct gv_error *e);

/* Rates as a scheduler takes them that knows no GPU types, of jobs and of pairs (--agnostic). */
void gv_answer_agnostic(struct gv_answer *a);

/* The shares of a->p, a->p.n > 0.  0, or -1 with *e set. */
int gv_answer_solve(struct gv_answer *a, const struct gv_policy *policy,
    const struct gv_answer_options *opt, struct gv_error *e);

#endif
