/*
 * sched/asking/reply.h: an answer in any order is the same answer, and gives whoever it was
 * asked about the shares that stand in it, and nobody else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draws.h"
#include "sched/asking/reply.h"
#include "tap.h"

enum { JOBS = 14, MOST_TYPES = 3, TRIALS = 1500 };

/* A life of jobs on two GPUs of each type. */
struct trial {
	struct gv_cluster c;
	struct gv_pool pool[MOST_TYPES];
	struct gv_gpu_type type[MOST_TYPES];
	size_t n, n_types;
	struct gv_life life;
	size_t number[JOBS]; /* asked[i] is this job */
	struct gv_asked asked;
	double before[(JOBS + 1) * JOBS / 2 * MOST_TYPES]; /* shares of jobs and pairs */
};

static void
trial_begin(struct trial *w, size_t n, size_t n_types)
{
	size_t i, j;

	memset(w, 0, sizeof(*w));
	w->n = n;
	w->n_types = n_types;
	for (j = 0; j < n_types; j++) {
		w->type[j] = (struct gv_gpu_type){.name = &"abc"[j], .gpus = 2};
		w->pool[j] = (struct gv_pool){.type = j, .gpus = 2, .node = ""};
	}
	w->c = (struct gv_cluster){
	    .n_types = n_types, .type = w->type, .n_pools = n_types, .pool = w->pool};
	gv_life_init(&w->life, &w->c, 1, 5);
	for (i = 0; i < n; i++) {
		struct gv_life_spec spec = {.gang = 1, .total_steps = NAN};

		gv_life_add(&w->life, &spec);
		for (j = 0; j < n_types; j++)
			gv_rounds_claim(&w->life.rounds, i, j)->rate = 1;
	}
	gv_life_time(&w->life, 0);
}

/* From now on it is not asked about the first few; what all have now is kept. */
static void
leave_out(struct trial *w, size_t few)
{
	const struct gv_rounds *r = &w->life.rounds;
	size_t i;

	w->asked = (struct gv_asked){.job = w->number};
	for (i = few; i < w->n; i++)
		w->number[w->asked.n++] = i;
	for (i = 0; i < r->n_jobs * w->n_types; i++)
		w->before[i] = gv_rounds_claim(r, i / w->n_types, i % w->n_types)->share;
}

static void
copy(struct gv_reply *to, const struct gv_reply *from)
{
	size_t i;

	for (i = 0; i < from->n; i++)
		gv_reply_add(to, &from->share[i]);
}

/* Shares in the order of jobs, of who they are with, and of types. */
static void
answer(struct gv_reply *r, const struct trial *w, double part)
{
	size_t i, k, j;

	for (i = 0; i < w->asked.n; i++)
		for (k = i; k < w->asked.n; k++)
			for (j = 0; j < w->n_types; j++) {
				struct gv_reply_share x = {i, k > i ? (ptrdiff_t)k : -1,
				    j, uniform() / 8, 1 + uniform(), 2 + uniform()};

				if (uniform() < part)
					gv_reply_add(r, &x);
			}
}

/* So many of them change places with others. */
static void
shuffle(struct gv_reply *r, size_t swaps)
{
	for (; swaps > 0 && r->n > 1; swaps--) {
		size_t a = below(r->n), b = below(r->n);
		struct gv_reply_share x = r->share[a];

		r->share[a] = r->share[b];
		r->share[b] = x;
	}
}

static const struct gv_reply_share *
said(const struct gv_reply *r, size_t job, ptrdiff_t with, size_t type)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->share[i].job == job && r->share[i].with == with &&
		    r->share[i].type == type)
			return &r->share[i];
	return NULL;
}

/*
 * Claims that are not what the answer says, and of those left out what has changed.  What
 * pairs do a second is of the first answer that says it.
 */
static int
wrong(const struct trial *w, const struct gv_reply *r, bool is_first)
{
	const struct gv_rounds *rounds = &w->life.rounds;
	size_t first = w->n - w->asked.n, m, j;
	int n = 0;

	for (m = 0; m < rounds->n_jobs; m++)
		for (j = 0; j < w->n_types; j++) {
			const size_t *member = rounds->job[m].member;
			const struct gv_round_claim *c = gv_rounds_claim(rounds, m, j);
			const struct gv_reply_share *x = NULL;

			if (member[0] < first || member[1] < first) {
				n += c->share != w->before[m * w->n_types + j];
				continue;
			}
			x = said(r, member[0] - first,
			    m < w->n ? -1 : (ptrdiff_t)(member[1] - first), j);
			n += c->share != (x != NULL ? x->share : 0);
			if (is_first && m >= w->n && x != NULL)
				n += c->rate != x->rate || c->with_rate != x->with_rate;
		}
	return n;
}

static int
differ(const struct trial *a, const struct trial *b)
{
	const struct gv_rounds *x = &a->life.rounds, *y = &b->life.rounds;
	size_t m, j;
	int n = x->n_jobs != y->n_jobs;

	for (m = 0; n == 0 && m < x->n_jobs; m++) {
		n += memcmp(x->job[m].member, y->job[m].member,
			 sizeof(x->job[m].member)) != 0;
		for (j = 0; j < a->n_types; j++)
			n += gv_rounds_claim(x, m, j)->share !=
			     gv_rounds_claim(y, m, j)->share;
	}
	return n;
}

int
main(void)
{
	int other = 0, bad = 0, pairs = 0;
	uint64_t k;

	for (k = 0; k < TRIALS; k++) {
		struct trial plain, mixed;
		struct gv_reply r = {0}, s = {0};
		size_t n, n_types, left_out;

		draws_begin(k, 3, 1);
		n = 1 + below(JOBS);
		n_types = 1 + below(MOST_TYPES);
		left_out = below(n);
		trial_begin(&plain, n, n_types);
		trial_begin(&mixed, n, n_types);
		leave_out(&plain, 0);
		leave_out(&mixed, 0);
		answer(&r, &plain, uniform() * uniform());
		copy(&s, &r);
		gv_reply_take(&plain.life, &r, &plain.asked);
		gv_reply_take(&mixed.life, &s, &mixed.asked);
		bad += wrong(&plain, &r, true);
		r.n = s.n = 0;
		leave_out(&plain, left_out);
		leave_out(&mixed, left_out);
		answer(&r, &plain, uniform() * uniform());
		copy(&s, &r);
		shuffle(&s, below(3) == 0 ? 1 : below(3 * s.n + 1));
		gv_reply_take(&plain.life, &r, &plain.asked);
		gv_reply_take(&mixed.life, &s, &mixed.asked);
		pairs += (int)(plain.life.rounds.n_jobs - n);
		bad += wrong(&plain, &r, false);
		other += differ(&plain, &mixed);
		/* and an empty one takes all back */
		s.n = 0;
		gv_reply_take(&mixed.life, &s, &mixed.asked);
		bad += wrong(&mixed, &s, false);
		gv_reply_free(&r);
		gv_reply_free(&s);
		gv_life_free(&plain.life);
		gv_life_free(&mixed.life);
	}
	is_int(bad, 0, "who was asked about has the shares of the answer, nobody else");
	is_int(other, 0, "in whatever order they come, pairs have the same numbers");
	ok(pairs > TRIALS, "%d pairs", pairs);
	return done_testing();
}
