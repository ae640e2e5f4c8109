#include "answer.h"

#include <stdlib.h>

#include "base/mem.h"

void
answer_add(struct answer *a, const struct answer_share *share)
{
	struct answer_share x = *share;

	if (x.with >= 0 && (size_t)x.with < x.job) {
		x.job = (size_t)share->with;
		x.with = (ptrdiff_t)share->job;
		x.rate = share->with_rate;
		x.with_rate = share->rate;
	}
	a->share = gv_xgrow(a->share, &a->cap, a->n + 1, sizeof(*a->share));
	a->share[a->n++] = x;
}

/* Whoever answers: pairs that are new get the same numbers. */
static int
by_jobs(const void *a, const void *b)
{
	const struct answer_share *x = a;
	const struct answer_share *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	if (x->with != y->with)
		return x->with < y->with ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

void
answer_free(struct answer *a)
{
	free(a->share);
	*a = (struct answer){0};
}

/* The job or pair of a share; a pair that is new is added. */
static size_t
owner_of(struct gv_rounds *r, const struct question *q, const struct answer_share *x)
{
	size_t job = q->job[x->job];
	struct gv_round_claim *c;
	size_t m;

	if (x->with < 0)
		return job;
	m = gv_rounds_pair(r, job, q->job[x->with]);
	c = gv_rounds_claim(r, m, x->type);
	if (c->rate == 0 && c->with_rate == 0) {
		bool first = r->job[m].member[0] == job;

		c->rate = first ? x->rate : x->with_rate;
		c->with_rate = first ? x->with_rate : x->rate;
	}
	return m;
}

void
answer_take(struct sim *s, const struct question *q, struct answer *a)
{
	struct gv_rounds *r = &s->life.rounds;
	size_t *owner = gv_xcalloc(a->n + 1, sizeof(*owner));
	double *share;
	size_t i;
	size_t j;

	qsort(a->share, a->n, sizeof(*a->share), by_jobs);
	for (i = 0; i < a->n; i++)
		owner[i] = owner_of(r, q, &a->share[i]);
	share = gv_xcalloc(r->n_live * r->n_types + 1, sizeof(*share));
	for (i = 0; i < a->n; i++)
		share[r->job[owner[i]].place * r->n_types + a->share[i].type] =
		    a->share[i].share;
	for (i = 0; i < r->n_live; i++)
		for (j = 0; j < r->n_types; j++)
			gv_life_set_share(
			    &s->life, r->live[i], j, share[i * r->n_types + j]);
	free(owner);
	free(share);
}
