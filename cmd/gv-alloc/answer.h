/* One table in, one allocation out: from rates to the shares of their rows. */
#ifndef GV_ALLOC_ANSWER_H
#define GV_ALLOC_ANSWER_H

#include "alloc/pairs/pairs.h"
#include "alloc/policy/policy.h"

struct answer {
	struct gv_problem p;         /* the jobs that can run */
	struct gv_together together; /* their pairs, where they have any */
	size_t *type;                /* [cluster types] column in p */
	size_t *row;                 /* [jobs] row in p, SIZE_MAX = can never run */

	size_t *rank;
	size_t n_classes;     /* what the policy saw */
	struct gv_solution s; /* of p; x and late are empty when no job can run */
	/* deadlines cannot be met, s.late says whose; there are no shares */
	bool impossible;
};

/*
 * Solves for the shares.  merge: equal jobs become one class before the policy
 * sees them (the same optimum; equal jobs get equal shares).  0, or -1 with *e
 * set: the solver failed, or its answer breaks a constraint.
 */
int answer_make(struct answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_solve_options *opt, bool merge,
    struct gv_error *e);
/*
 * Its two halves, for those who ask about another problem than the table's: the
 * problem alone, without what options make of its rates; and the shares of a->p.
 */
int answer_problem(struct answer *a, const struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_policy *policy, const struct gv_solve_options *opt,
    struct gv_error *e);
int answer_solve(struct answer *a, const struct gv_policy *policy,
    const struct gv_solve_options *opt, bool merge, struct gv_error *e);
/* The needs of a->p's jobs as they were met: of longer times where those were asked for.  The caller's. */
double *answer_needs(const struct answer *a);
void answer_free(struct answer *a);

/* The share of a row of the table of one job. */
double answer_share(const struct answer *a, const struct gv_rate *rate);

/*
 * The table with its columns share and policy set, appended where they are missing.
 * sharing: also with rows for the pairs that have a share and no row, and the columns
 * of pairs.
 */
void answer_write(const struct answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const char *policy, bool sharing, struct gv_tabw *w);

/* --dump-lp: the policy's program over all jobs, unmerged. */
void answer_write_lp(const struct answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const struct gv_policy *policy, struct gv_out *out);

#endif
