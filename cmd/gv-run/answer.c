/* What the policy has answered: checked, then taken as a whole or not at all. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "run.h"

/* The job of a row, which the policy was asked about: its index; else -1 with *e set. */
static ptrdiff_t
asked_job(const struct run *r, const struct gv_rates *answer, const struct gv_rate *rate,
    const struct gv_hash *ids, bool with, struct gv_error *e)
{
	struct gv_cell id = answer->job[with ? (size_t)rate->with : rate->job].id;
	ptrdiff_t k = gv_hash_find(ids, id.s, id.len);
	char q[GV_QUOTE_LEN];

	if (k >= 0)
		return (ptrdiff_t)r->policy.asked[k];
	return gv_frame_error(&answer->frame, rate->row,
	    gv_frame_find(&answer->frame, with ? "with_job_id" : "job_id"), e,
	    "the policy was not asked about job %s", gv_quote(q, id.s, id.len));
}

/* That it is about jobs that were asked about.  0 or -1. */
static int
check_jobs(const struct run *r, const struct gv_rates *answer, const struct gv_hash *ids,
    struct gv_error *e)
{
	size_t i;

	for (i = 0; i < answer->n_rates; i++) {
		const struct gv_rate *rate = &answer->rate[i];

		if (asked_job(r, answer, rate, ids, false, e) < 0 ||
		    (rate->with >= 0 && asked_job(r, answer, rate, ids, true, e) < 0))
			return -1;
	}
	return 0;
}

/* The pair of a row of the answer; the policy may know pairs that the table does not. */
static size_t
answered_pair(struct run *r, const struct gv_rate *rate, size_t job, size_t with)
{
	size_t m = gv_rounds_pair(&r->rounds, job, with);
	struct gv_round_claim *c;

	if (rate->type < 0)
		return m;
	c = gv_rounds_claim(&r->rounds, m, (size_t)rate->type);
	if (c->rate == 0 && c->with_rate == 0) {
		bool first = r->rounds.job[m].member[0] == job;

		c->rate = first ? rate->steps_per_s : rate->with_steps_per_s;
		c->with_rate = first ? rate->with_steps_per_s : rate->steps_per_s;
	}
	return m;
}

/* No shares of the jobs that were asked about, and of the pairs of two of them. */
static void
forget_shares(struct run *r)
{
	size_t n = r->rounds.n_types;
	bool *asked = gv_xcalloc(r->n_jobs + 1, sizeof(*asked));
	size_t m;
	size_t j;

	for (m = 0; m < r->policy.n_asked; m++)
		asked[r->policy.asked[m]] = true;
	for (m = 0; m < r->rounds.n_jobs; m++) {
		const size_t *member = r->rounds.job[m].member;

		for (j = 0; j < n && asked[member[0]] && asked[member[1]]; j++)
			gv_rounds_claim(&r->rounds, m, j)->share = 0;
	}
	free(asked);
}

static void
take_shares(struct run *r, const struct gv_rates *answer, const struct gv_hash *ids)
{
	size_t n = r->rounds.n_types;
	size_t before = r->rounds.n_jobs;
	size_t i;

	forget_shares(r);
	for (i = 0; i < answer->n_rates; i++) {
		const struct gv_rate *rate = &answer->rate[i];
		size_t m = (size_t)asked_job(r, answer, rate, ids, false, NULL);

		if (rate->with >= 0)
			m = answered_pair(r, rate, m,
			    (size_t)asked_job(r, answer, rate, ids, true, NULL));
		if (rate->type >= 0)
			gv_rounds_claim(&r->rounds, m, (size_t)rate->type)->share =
			    rate->share;
	}
	r->told = gv_xrealloc(r->told, r->rounds.n_jobs * n + 1, sizeof(*r->told));
	for (i = before * n; i < r->rounds.n_jobs * n; i++)
		r->told[i] = 0;
}

/* Reads the answer and takes its shares, if it is good.  0 or -1. */
static int
read_answer(struct run *r, struct gv_error *e)
{
	char *path = state_path(r, "policy.out.csv");
	struct gv_rates answer = {0};
	struct gv_hash ids = {0};
	struct gv_frame f = {0};
	size_t i;
	int rc = gv_frame_load(&f, path, e);

	for (i = 0; i < r->policy.n_asked; i++) {
		struct gv_cell id = r->job[r->policy.asked[i]].spec->id;

		gv_hash_add(&ids, id.s, id.len);
	}
	if (rc == 0)
		rc = gv_rates_from(&answer, &f, &r->cluster, e);
	if (rc == 0)
		gv_rates_spread(&answer, &r->cluster);
	if (rc == 0 && !answer.has_share)
		rc = gv_error_at(e, path, 1, NULL, "missing column \"share\"");
	if (rc == 0)
		rc = table_check_sums(&answer, e);
	if (rc == 0)
		rc = check_jobs(r, &answer, &ids, e);
	if (rc == 0)
		take_shares(r, &answer, &ids);
	gv_hash_free(&ids);
	gv_rates_free(&answer);
	free(path);
	return rc;
}

void
policy_take_answer(struct run *r)
{
	char *path = state_path(r, "jobs.csv");
	struct gv_error e = {0};

	if (read_answer(r, &e) != 0) {
		gv_warn(
		    "warning: the policy's answer is not good, shares stay as they are:");
		gv_warn_error(&e);
	} else {
		policy_announce(r);
		if (table_write(r, path, &e) != 0) {
			gv_warn_error(&e);
			r->broken = true;
		}
	}
	free(path);
}
