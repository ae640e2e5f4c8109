/*
 * common/sched/asking: what policies answer in drawn tables, whole ones and changes of them,
 * what a life makes of it, and how long jobs would have taken on shares of their own.
 */
#include "sched_draws.h"

#include "sched/asking/follow.h"
#include "sched/asking/isolated.h"
#include "sched/asking/reply.h"
#include "table_draws.h"

enum { WORLDS = 2500, PER_ANSWER = 25, MOST_JOBS = 16 };

struct world {
	struct drawn d;
	struct gv_life l;
	char id[MOST_JOBS][24];
	struct gv_job job[MOST_JOBS];
	size_t number[MOST_JOBS]; /* of those asked about */
	struct gv_asked asked;
	struct gv_follow follow;
	struct gv_isolated isolated;
};

static long taken, followed;

static void
world_init(struct world *w)
{
	size_t n = 1 + below(MOST_JOBS), m, j;

	memset(w, 0, sizeof *w);
	draw_cluster(&w->d);
	gv_life_init(&w->l, &w->d.c, 10, 3);
	w->asked = (struct gv_asked){.job = w->number, .all = w->job};
	for (m = 0; m < n; m++) {
		struct gv_life_spec spec = {.gang = 1, .total_steps = 100};

		if (one_in(4))
			spec.gang = 2;
		if (one_in(5))
			spec.arrival_s = HUGE_VAL;
		gv_life_add(&w->l, &spec);
		snprintf(w->id[m], sizeof w->id[m], "j%zu", m);
		w->job[m] = (struct gv_job){.id = {w->id[m], strlen(w->id[m])},
		    .scale_factor = (int64_t)spec.gang};
		for (j = 0; j < w->d.c.n_types; j++)
			gv_rounds_claim(&w->l.rounds, m, j)->rate = draw_rate(&w->d);
		if (!one_in(6))
			w->number[w->asked.n++] = m;
	}
	gv_life_time(&w->l, 0);
	gv_isolated_init(&w->isolated, &w->l.rounds, n);
}

static void
world_free(struct world *w)
{
	gv_life_free(&w->l);
	gv_follow_free(&w->follow);
	gv_isolated_free(&w->isolated);
}

/* ---- tables ---- */

/* Ids of jobs, mostly of those asked about. */
static size_t
draw_job(const struct world *w)
{
	return w->asked.n > 0 && !one_in(60) ? w->number[below(w->asked.n)]
					     : below(w->l.n_jobs + 1);
}

static void
add_row(struct world *w, struct gv_strbuf *text, size_t m, size_t with, size_t j)
{
	static const char *const shares[] = {
	    "0", "0.25", "0.125", "0.5", "0.0625", "1", "0.3", "1.5", "x"};
	const char *share = shares[below(one_in(25) ? 9 : 5)];
	const char *suffix = one_in(12) ? "_unconsolidated" : "";
	bool unknown = one_in(40);
	unsigned rate = (unsigned)below(4);

	gv_strbuf_fmt(text, "j%zu,%zu,%s%s,%u,", m,
	    m < w->l.n_jobs ? w->l.job[m].spec.gang : 1,
	    unknown ? "z" : w->d.type[j].name, suffix, rate);
	if (with < SIZE_MAX)
		gv_strbuf_fmt(text, "j%zu,%u", with, (unsigned)below(4));
	else
		gv_strbuf_str(text, ",");
	gv_strbuf_fmt(text, ",%s\n", share);
}

static int
draw_answer(struct world *w, struct gv_frame *f, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	size_t i, j, n = below(3);
	int rc;

	gv_strbuf_fmt(&text,
	    "job_id,scale_factor,gpu_type,steps_per_s,with_job_id,with_steps_per_s,%s\n",
	    one_in(20) ? "shares" : "share");
	for (i = 0; i < w->asked.n; i++)
		for (j = 0; j < w->d.c.n_types; j++)
			if (!one_in(4))
				add_row(w, &text, w->number[i], SIZE_MAX, j);
	for (i = 0; i < n * w->asked.n; i++) {
		size_t a = draw_job(w), b = draw_job(w);

		if (a != b && a < w->l.n_jobs && b < w->l.n_jobs &&
		    w->l.job[a].spec.gang == w->l.job[b].spec.gang)
			add_row(w, &text, a, b, below(w->d.c.n_types));
	}
	rc = gv_frame_parse(f, "answer", text.s, text.len, e);
	gv_strbuf_free(&text);
	return rc;
}

static int
draw_changes(struct world *w, struct gv_frame *f, struct gv_error *e)
{
	static const char *const shares[] = {
	    "0", "0.25", "0.125", "0.3", "0", "1", "1.25", "-0.5", "x", ""};
	struct gv_strbuf text = {0};
	size_t n = below(8);
	int rc;

	gv_strbuf_str(
	    &text, one_in(20) ? "job,gpu_type,share\n" : "job_id,gpu_type,share\n");
	while (n-- > 0) {
		size_t m = draw_job(w), j = below(w->d.c.n_types);

		gv_strbuf_fmt(&text, "j%zu,%s,", m, one_in(50) ? "z" : w->d.type[j].name);
		gv_strbuf_fmt(&text, "%s\n", shares[below(one_in(30) ? 10 : 6)]);
	}
	rc = gv_frame_parse(f, "changes", text.s, text.len, e);
	gv_strbuf_free(&text);
	return rc;
}

/* ---- what is made of them ---- */

static void
recorded_reply(struct recorded *rec, const struct gv_reply *reply)
{
	size_t i;

	recorded_whole(rec, (long long)reply->n);
	for (i = 0; i < reply->n; i++) {
		const struct gv_reply_share *x = &reply->share[i];

		recorded_whole(rec, (long long)x->job);
		recorded_whole(rec, x->with);
		recorded_whole(rec, (long long)x->type);
		recorded_double(rec, x->share);
		recorded_double(rec, x->rate);
		recorded_double(rec, x->with_rate);
	}
}

static void
take(struct world *w, struct recorded *rec, struct gv_reply *reply)
{
	struct gv_life_out out;

	recorded_reply(rec, reply);
	gv_reply_take(&w->l, reply, &w->asked);
	recorded_reply(rec, reply);
	gv_reply_free(reply);
	gv_life_announce(&w->l);
	while (gv_life_next(&w->l, &out)) {
		recorded_whole(rec, out.row.job);
		recorded_whole(rec, out.row.with);
		recorded_whole(rec, out.row.type);
		recorded_double(rec, out.row.share);
	}
	recorded_claims(rec, &w->l.rounds);
	taken++;
}

/* Changes of the answer, and jobs that are new to whoever gives them. */
static void
follow(struct world *w, struct recorded *rec)
{
	size_t k;

	for (k = 0; k < 4; k++) {
		struct gv_error e = {0};
		struct gv_reply reply;
		struct gv_frame f;

		if (one_in(4))
			gv_follow_new(&w->follow, w->number[below(w->asked.n)]);
		if (draw_changes(w, &f, &e) == 0 &&
		    gv_follow_reply(&w->follow, &reply, &f, &w->d.c, &w->asked, &e) ==
			0) {
			followed++;
			take(w, rec, &reply);
		}
		recorded_error(rec, &e);
	}
}

static void
ask(struct world *w, struct recorded *rec)
{
	struct gv_error e = {0};
	struct gv_reply reply, whole = {0};
	struct gv_frame f;
	size_t i;

	if (draw_answer(w, &f, &e) == 0 &&
	    gv_reply_from(&reply, &f, &w->d.c, &w->asked, &e) == 0) {
		for (i = 0; i < reply.n; i++)
			if (reply.share[i].with < 0)
				gv_reply_add(&whole, &reply.share[i]);
		take(w, rec, &reply);
		if (w->asked.n > 0) {
			const struct gv_reply none = {0};

			if (w->follow.share == NULL) /* of a cluster of one type before */
				gv_follow_begin(
				    &w->follow, &none, &w->asked, w->l.n_jobs, 1);
			gv_follow_begin(&w->follow, &whole, &w->asked,
			    w->l.n_jobs -
				below(2) * (w->number[w->asked.n - 1] + 1 < w->l.n_jobs),
			    w->d.c.n_types);
			follow(w, rec);
		}
		gv_reply_free(&whole);
	}
	recorded_error(rec, &e);
}

/* Answers of many shares, in an order that is far from sorted, or nearly. */
static void
take_many(struct world *w, struct recorded *rec)
{
	struct gv_reply reply = {0};
	bool seen[MOST_JOBS][MOST_JOBS + 1][DRAWN_TYPES] = {0};
	size_t i, n = w->asked.n > 0 ? below(120) : 0, first, with;

	for (i = 0; i < n; i++) {
		struct gv_reply_share x = {.with = -1};

		x.job = one_in(2) ? below(w->asked.n) : i * w->asked.n / n;
		if (one_in(3))
			x.with = (ptrdiff_t)below(w->asked.n);
		if (x.with == (ptrdiff_t)x.job ||
		    (x.with >= 0 && w->l.job[w->number[x.with]].spec.gang !=
					w->l.job[w->number[x.job]].spec.gang))
			x.with = -1;
		x.type = below(w->d.c.n_types);
		x.share = draw_share(&w->d);
		x.rate = draw_rate(&w->d);
		x.with_rate = draw_rate(&w->d);
		first = x.with >= 0 && (size_t)x.with < x.job ? (size_t)x.with : x.job;
		with = x.with >= 0 ? x.job + (size_t)x.with - first + 1 : 0;
		if (!seen[first][with][x.type])
			gv_reply_add(&reply, &x);
		seen[first][with][x.type] = true;
	}
	take(w, rec, &reply);
}

static void
count_isolated(struct world *w, struct recorded *rec)
{
	double steps[MOST_JOBS] = {0};
	size_t k, i;

	for (k = 0; k < 4; k++)
		for (i = 0; i < w->asked.n; i++) {
			size_t m = w->number[i];

			steps[m] += one_in(4) ? -1 : 20 * uniform();
			gv_isolated_count(
			    &w->isolated, &w->l.rounds, m, w->asked.n, steps[m]);
			recorded_double(rec, w->isolated.elapsed_s[m]);
			recorded_double(rec, w->isolated.steps[m]);
			recorded_double(rec, w->isolated.rate[m]);
		}
}

int
main(void)
{
	struct recorded rec;
	size_t i, k;

	recorded_open(&rec);
	for (i = 0; i < WORLDS; i++) {
		struct world w;

		draws_begin(i, 71, 0);
		world_init(&w);
		for (k = 0; k < 3; k++)
			ask(&w, &rec);
		take_many(&w, &rec);
		count_isolated(&w, &rec);
		world_free(&w);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(&rec, "questions to %zu", i);
	}
	ok(taken > 3000 && followed > 3000, "%ld answers taken, %ld of them changes",
	    taken, followed);
	recorded_close(&rec);
	return done_testing();
}
