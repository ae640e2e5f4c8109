/* What the policy is asked: the jobs that are there, as rates. */
#ifndef QUESTION_H
#define QUESTION_H

#include "base/fileio.h"
#include "gv-sim/core/sim.h"
#include "sched/isolated.h"

struct question {
	/* of the table: its rows by job, row[at[m]] to row[at[m + 1]] */
	size_t *at;       /* [n_jobs + 1] */
	size_t *row;      /* [n_rates] */
	ptrdiff_t *place; /* [n_jobs] in the question, -1 = it is not there */
	struct gv_isolated isolated;

	/* the cluster: the GPUs that are there now, at what they cost */
	struct gv_cluster cluster;
	bool has_prices, has_away; /* prices are known; GPUs may be away */

	/* the present one; rates.frame is the table's */
	struct gv_rates rates;
	size_t *job; /* [rates.n_jobs] numbers in the table, ascending */
	size_t cap_jobs, cap_asked, cap_rates;
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

#endif
