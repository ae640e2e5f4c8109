/*
 * sched/asking/reply.h: an answer in any order is the same answer, and gives whoever it was
 * asked about the shares that stand in it, and nobody else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
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

/* ---- as a table ---- */

/* What an answer about jobs y and x says, as shares or as its error. */
static void
reads(const char *answer, const char *want, const char *name)
{
	static struct gv_gpu_type type[] = {{.name = "a", .gpus = 2}};
	static struct gv_pool pool[] = {{.type = 0, .gpus = 2, .node = ""}};
	static const struct gv_cluster c = {
	    .n_types = 1, .type = type, .n_pools = 1, .pool = pool};
	static const struct gv_job all[] = {
	    {.id = {"none", 4}}, {.id = {"x", 1}}, {.id = {"y", 1}}};
	static const size_t job[] = {2, 1};
	struct gv_asked asked = {.n = 2, .job = job, .all = all};
	struct gv_strbuf got = {0};
	struct gv_error e = {0};
	struct gv_reply r;
	struct gv_frame f;
	size_t i;
	int rc;

	gv_frame_parse(&f, "answer", answer, strlen(answer), &e);
	rc = gv_reply_from(&r, &f, &c, &asked, &e);
	gv_strbuf_str(&got, "");
	for (i = 0; i < r.n; i++)
		gv_strbuf_fmt(&got, "%zu%+d:%g@%g+%g ", r.share[i].job,
		    (int)r.share[i].with, r.share[i].share, r.share[i].rate,
		    r.share[i].with_rate);
	for (i = 0; i < e.count; i++)
		gv_strbuf_str(&got, e.text[i]);
	is_str(got.s, want, "%s", name);
	ok((rc == 0) == (e.count == 0), "and that is %s", rc == 0 ? "good" : "an error");
	gv_strbuf_free(&got);
	gv_reply_free(&r);
}

static void
test_tables(void)
{
	reads("job_id,gpu_type,steps_per_s,share\nx,a,2,.5\ny,a,3,.25\n",
	    "1-1:0.5@2+0 0-1:0.25@3+0 ", "shares of two jobs");
	reads("job_id,with_job_id,gpu_type,steps_per_s,with_steps_per_s,share\n"
	      "y,,a,5,,0\nx,,a,4,,.25\nx,y,a,3,2,.5\n",
	    "0-1:0@5+0 1-1:0.25@4+0 0+1:0.5@2+3 ", "of both and of their pair");
	reads("job_id,with_job_id,gpu_type,steps_per_s,with_steps_per_s,share\n"
	      "y,,a,5,,0\nnone,,a,4,,.25\n",
	    "answer:3: job_id: the policy was not asked about job \"none\"",
	    "of one it was not asked about");
	reads("job_id,with_job_id,gpu_type,steps_per_s,with_steps_per_s,share\n"
	      "y,none,a,2,3,.5\ny,,a,5,,0\nnone,,a,4,,.25\n",
	    "answer:2: with_job_id: the policy was not asked about job \"none\"",
	    "or beside one");
	reads("job_id,gpu_type,steps_per_s\nx,a,2\n",
	    "answer:1: missing column \"share\"", "no shares");
	reads("job_id,gpu_type,steps_per_s,share\nx,a,2,1.5\n",
	    "answer:2: share: expected a number from 0 to 1, got \"1.5\"",
	    "more than all");
	reads("job_id,with_job_id,gpu_type,steps_per_s,with_steps_per_s,share\n"
	      "y,,a,5,,0\nx,,a,4,,.5\nx,y,a,2,3,.75\n",
	    "answer:3: share: expected shares of job \"x\" that add up to at most 1, got "
	    "1.25",
	    "more than all of the time of a job");
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
	test_tables();
	return done_testing();
}
