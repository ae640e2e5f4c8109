/* An answer as tables and programs that people read. */
#ifndef GV_ALLOC_ANSWER_WRITE_H
#define GV_ALLOC_ANSWER_WRITE_H

#include "alloc/answer/answer.h"
#include "alloc/answer/one_more.h"
#include "alloc/prove/explain.h"

/*
 * The table with its columns share and policy set, appended where they are missing.
 * sharing: also with rows for the pairs that have a share and no row, and the columns
 * of pairs.  What columns say in every row is in row; NULL = there is no such column,
 * policy is always there.
 */
struct answer_columns {
	const char *policy, *relaxation, *reads;
};

void answer_write(const struct gv_answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const struct answer_columns *every, bool sharing,
    struct gv_tabw *w);

/* --dump-lp: the policy's program over all jobs, unmerged. */
void answer_write_lp(const struct gv_answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const struct gv_policy *policy, struct gv_out *out);

/*
 * The table of gv-tables(5), "Explanation": the policy, each type, each entity, each job.
 * more [cluster types].
 */
void explain_write(const struct gv_explanation *x, const struct gv_answer *a,
    const struct gv_rates *r, const struct gv_cluster *c, const char *policy,
    const struct gv_one_more *more, const struct gv_entity_levels *l, struct gv_tabw *w);

#endif
