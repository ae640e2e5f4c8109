#include "answer.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "table.h"

struct asked {
	const size_t *job; /* [n] */
	size_t n;
	struct gv_hash ids;
};

/* The job of a row, which the policy was asked about: its index; else -1 with *e set. */
static ptrdiff_t
asked_job(const struct asked *asked, const struct gv_rates *answer,
    const struct gv_rate *rate, bool with, struct gv_error *e)
{
	struct gv_cell id = answer->job[with ? (size_t)rate->with : rate->job].id;
	ptrdiff_t k = gv_hash_find(&asked->ids, id.s, id.len);
	char q[GV_QUOTE_LEN];

	if (k >= 0)
		return (ptrdiff_t)asked->job[k];
	return gv_frame_error(&answer->frame, rate->row,
	    gv_frame_find(&answer->frame, with ? "with_job_id" : "job_id"), e,
	    "the policy was not asked about job %s", gv_quote(q, id.s, id.len));
}

/* That it is about jobs that were asked about.  0 or -1. */
static int
check_jobs(const struct asked *asked, const struct gv_rates *answer, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < answer->n_rates; i++) {
		const struct gv_rate *rate = &answer->rate[i];

		if (asked_job(asked, answer, rate, false, e) < 0 ||
		    (rate->with >= 0 && asked_job(asked, answer, rate, true, e) < 0))
			return -1;
	}
	return 0;
}

/* The pair of a row of the answer; the policy may know pairs that the table does not. */
static size_t
answered_pair(struct gv_rounds *r, const struct gv_rate *rate, size_t job, size_t with)
{
	size_t m = gv_rounds_pair(r, job, with);
	struct gv_round_claim *c;

	if (rate->type < 0)
		return m;
	c = gv_rounds_claim(r, m, (size_t)rate->type);
	if (c->rate == 0 && c->with_rate == 0) {
		bool first = r->job[m].member[0] == job;

		c->rate = first ? rate->steps_per_s : rate->with_steps_per_s;
		c->with_rate = first ? rate->with_steps_per_s : rate->steps_per_s;
	}
	return m;
}

/* Job or pair of each row of the answer, [n_rates]; the caller's. */
static size_t *
numbers(struct gv_rounds *r, const struct asked *asked, const struct gv_rates *answer)
{
	size_t *number = gv_xcalloc(answer->n_rates + 1, sizeof(*number));
	size_t i;

	for (i = 0; i < answer->n_rates; i++) {
		const struct gv_rate *rate = &answer->rate[i];

		number[i] = (size_t)asked_job(asked, answer, rate, false, NULL);
		if (rate->with >= 0)
			number[i] = answered_pair(r, rate, number[i],
			    (size_t)asked_job(asked, answer, rate, true, NULL));
	}
	return number;
}

/*
 * Sets the shares of the jobs that were asked about, and of the pairs of two of them:
 * those of the answer, and 0 of what it does not name.
 */
static void
take_shares(struct gv_life *l, const struct asked *asked, const struct gv_rates *answer)
{
	size_t *number = numbers(&l->rounds, asked, answer);
	size_t n = l->rounds.n_types;
	double *share = gv_xcalloc(l->rounds.n_jobs * n + 1, sizeof(*share));
	bool *is_asked = gv_xcalloc(l->rounds.n_jobs + 1, sizeof(*is_asked));
	size_t i;

	for (i = 0; i < asked->n; i++)
		is_asked[asked->job[i]] = true;
	for (i = 0; i < answer->n_rates; i++)
		if (answer->rate[i].type >= 0)
			share[number[i] * n + (size_t)answer->rate[i].type] =
			    answer->rate[i].share;
	for (i = 0; i < l->rounds.n_jobs * n; i++) {
		const size_t *member = l->rounds.job[i / n].member;

		if (is_asked[member[0]] && is_asked[member[1]])
			gv_life_set_share(l, i / n, i % n, share[i]);
	}
	free(number);
	free(share);
	free(is_asked);
}

int
answer_take(struct jobs *jobs, struct gv_frame *f, const size_t *asked, size_t n_asked,
    struct gv_error *e)
{
	struct asked a = {.job = asked, .n = n_asked};
	struct gv_rates answer = {0};
	size_t i;
	int rc = gv_rates_from(&answer, f, &jobs->cluster, e);

	for (i = 0; i < n_asked; i++) {
		struct gv_cell id = jobs->table.job[asked[i]].id;

		gv_hash_add(&a.ids, id.s, id.len);
	}
	if (rc == 0)
		gv_rates_spread(&answer, &jobs->cluster);
	if (rc == 0 && !answer.has_share)
		rc = gv_error_at(
		    e, answer.frame.file, 1, NULL, "missing column \"share\"");
	if (rc == 0)
		rc = table_check_sums(&answer, e);
	if (rc == 0)
		rc = check_jobs(&a, &answer, e);
	if (rc == 0)
		take_shares(&jobs->life, &a, &answer);
	gv_hash_free(&a.ids);
	gv_rates_free(&answer);
	return rc;
}
