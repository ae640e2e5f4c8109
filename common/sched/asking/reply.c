#include "sched/asking/reply.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

/* ---- a reply ---- */

void
gv_reply_add(struct gv_reply *r, const struct gv_reply_share *share)
{
	struct gv_reply_share x = *share;

	if (x.with >= 0 && (size_t)x.with < x.job) {
		x.job = (size_t)share->with;
		x.with = (ptrdiff_t)share->job;
		x.rate = share->with_rate;
		x.with_rate = share->rate;
	}
	r->share = gv_xgrow(r->share, &r->cap, r->n + 1, sizeof(*r->share));
	r->share[r->n++] = x;
}

void
gv_reply_free(struct gv_reply *r)
{
	free(r->share);
	*r = (struct gv_reply){0};
}

/* ---- as a table ---- */

/* The number among those asked about of a job of the answer; -1 with *e set: it is not there. */
static ptrdiff_t
asked_job(const struct gv_hash *ids, const struct gv_rates *t, const struct gv_rate *rate,
    bool with, struct gv_error *e)
{
	struct gv_cell id = t->job[with ? (size_t)rate->with : rate->job].id;
	ptrdiff_t i = gv_hash_find(ids, id.s, id.len);
	char q[GV_QUOTE_LEN];

	if (i < 0)
		gv_frame_error(&t->frame, rate->row,
		    gv_frame_find(&t->frame, with ? "with_job_id" : "job_id"), e,
		    "the policy was not asked about job %s", gv_quote(q, id.s, id.len));
	return i;
}

static int
take_rows(struct gv_reply *r, const struct gv_asked *asked, const struct gv_rates *t,
    struct gv_error *e)
{
	struct gv_hash ids = {0};
	size_t i;
	int rc = 0;

	for (i = 0; i < asked->n; i++) {
		struct gv_cell id = asked->all[asked->job[i]].id;

		gv_hash_add(&ids, id.s, id.len);
	}
	for (i = 0; i < t->n_rates && rc == 0; i++) {
		const struct gv_rate *rate = &t->rate[i];
		ptrdiff_t job = asked_job(&ids, t, rate, false, e);
		ptrdiff_t with = rate->with >= 0 ? asked_job(&ids, t, rate, true, e) : -1;

		rc = job < 0 || (rate->with >= 0 && with < 0) ? -1 : 0;
		if (rc == 0 && rate->type >= 0)
			gv_reply_add(r, &(struct gv_reply_share){.job = (size_t)job,
					    .with = with,
					    .type = (size_t)rate->type,
					    .share = rate->share,
					    .rate = rate->steps_per_s,
					    .with_rate = rate->with_steps_per_s});
	}
	gv_hash_free(&ids);
	return rc;
}

int
gv_reply_from(struct gv_reply *r, struct gv_frame *f, const struct gv_cluster *c,
    const struct gv_asked *asked, struct gv_error *e)
{
	struct gv_rates t = {0};
	int rc = gv_rates_from(&t, f, c, e);

	*r = (struct gv_reply){0};
	if (rc == 0)
		gv_rates_spread(&t, c);
	if (rc == 0 && !t.has_share)
		rc = gv_error_at(e, t.frame.file, 1, NULL, "missing column \"share\"");
	if (rc == 0)
		rc = gv_rates_check_shares(&t, e);
	if (rc == 0)
		rc = take_rows(r, asked, &t, e);
	gv_rates_free(&t);
	if (rc != 0)
		gv_reply_free(r);
	return rc;
}

/* ---- into a life ---- */

/* Whoever answers, in whatever order: pairs that are new get the same numbers. */
static int
by_jobs(const void *a, const void *b)
{
	const struct gv_reply_share *x = a;
	const struct gv_reply_share *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	if (x->with != y->with)
		return x->with < y->with ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

/* Sorts; answers within a process are in order but for the types of each job. */
static void
sort(struct gv_reply *r)
{
	size_t left = 8 * r->n; /* moves, before it is no such answer */
	size_t i;
	size_t k;

	for (i = 1; i < r->n && left > 0; i++) {
		struct gv_reply_share x = r->share[i];

		for (k = i; k > 0 && left > 0 && by_jobs(&r->share[k - 1], &x) > 0; k--) {
			r->share[k] = r->share[k - 1];
			left--;
		}
		r->share[k] = x;
	}
	if (left == 0 && r->n > 1)
		qsort(r->share, r->n, sizeof(*r->share), by_jobs);
}

/* The job or pair of a share; a pair that is new is added. */
static size_t
owner_of(
    struct gv_rounds *r, const struct gv_asked *asked, const struct gv_reply_share *x)
{
	size_t job = asked->job[x->job];
	struct gv_round_claim *c;
	size_t m;

	if (x->with < 0)
		return job;
	m = gv_rounds_pair(r, job, asked->job[x->with]);
	c = gv_rounds_claim(r, m, x->type);
	if (c->rate == 0 && c->with_rate == 0) {
		bool first = r->job[m].member[0] == job;

		c->rate = first ? x->rate : x->with_rate;
		c->with_rate = first ? x->with_rate : x->rate;
	}
	return m;
}

void
gv_reply_take(struct gv_life *l, struct gv_reply *r, const struct gv_asked *asked)
{
	struct gv_rounds *rounds = &l->rounds;
	size_t *owner = gv_xcalloc(r->n + 1, sizeof(*owner));
	bool *is_asked = gv_xcalloc(l->n_jobs + 1, sizeof(*is_asked));
	double *share;
	size_t i;
	size_t j;

	sort(r);
	for (i = 0; i < asked->n; i++)
		is_asked[asked->job[i]] = true;
	for (i = 0; i < r->n; i++)
		owner[i] = owner_of(rounds, asked, &r->share[i]);
	share = gv_xcalloc(rounds->n_live * rounds->n_types + 1, sizeof(*share));
	for (i = 0; i < r->n; i++)
		if (gv_rounds_is_active(rounds, owner[i]))
			share[gv_rounds_place(rounds, owner[i]) * rounds->n_types +
			      r->share[i].type] = r->share[i].share;
	for (i = 0; i < rounds->n_live; i++) {
		size_t m = rounds->live[i];
		const size_t *member = rounds->job[m].member;

		if (!is_asked[member[0]] || !is_asked[member[1]])
			continue;
		for (j = 0; j < rounds->n_types; j++)
			gv_life_set_share(l, m, j, share[i * rounds->n_types + j]);
	}
	free(owner);
	free(is_asked);
	free(share);
}
