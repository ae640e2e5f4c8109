/* What the policy is asked: the jobs that are there, as rates. */
#ifndef QUESTION_H
#define QUESTION_H

#include "base/fileio.h"
#include "gv-sim/core/sim.h"
#include "policy/told.h"
#include "sched/asking/isolated.h"

struct question {
	const struct gv_rates *table;
	/* its rows by job, row[at[m]] to row[at[m + 1]] */
	size_t *at;       /* [n_jobs + 1] */
	size_t *row;      /* [n_rates] */
	ptrdiff_t *place; /* [n_jobs] in the question, -1 = it is not there */
	struct gv_isolated isolated;

	/* the cluster: the GPUs that are there now, at what they cost */
	struct gv_cluster cluster;
	bool has_prices, has_away; /* prices are known; GPUs may be away */

	/* the present one; rates.frame is the table's */
	struct gv_rates rates;
	size_t *job;   /* [rates.n_jobs] numbers in the table, ascending */
	size_t *first; /* [rates.n_jobs + 1] of its rates */
	size_t cap_jobs, cap_asked, cap_rates, cap_first;
	bool pairs;              /* the table has rows of two jobs */
	struct gv_told_job *now; /* [rates.n_jobs] the same, as it is told */
	size_t cap_now;
	bool moved; /* prices, or GPUs that are there, are others than in the last one */
};

void question_init(struct question *q, const struct sim *s);
void question_free(struct question *q); /* also of a zeroed one */

/* Fills q->rates and q->job with those that are active now. */
void question_make(struct question *q, const struct sim *s);

/*
 * Writes it as a table: the columns of the table but shares and what is computed,
 * and steps_remaining, elapsed_s, isolated_elapsed_s, with prices usd_per_h, where GPUs may be away gpus_available.
 */
void question_write(const struct question *q, struct gv_out *out);

/* Whether it can be told by what has changed, to whom the last one was told. */
bool question_follows(const struct question *q, const struct gv_told *told);
/* Writes what has changed since the last one, change[0..n) of gv_told_compare(). */
void question_write_changes(const struct question *q, const struct gv_told *told,
    const struct gv_told_change *change, size_t n, struct gv_out *out);

#endif
