#include "asker.h"

#include <stdlib.h>

#include "answer.h"
#include "base/mem.h"
#include "base/strbuf.h"

static const double sum_tolerance = 1e-6; /* as gv-run has it */

int
asker_open(struct asker *k, const char *command, const char *cluster_file,
    double timeout_s, struct gv_error *e)
{
	int known;

	*k = (struct asker){.command = command, .timeout_s = timeout_s};
	if (command == NULL)
		return 0;
	known = alloc_open(&k->alloc, command, cluster_file, e);
	if (known < 0)
		return -1;
	k->within = known == 1;
	return 0;
}

void
asker_close(struct asker *k)
{
	gv_policy_free(k->client);
	alloc_close(&k->alloc);
	*k = (struct asker){0};
}

void
asker_begin(struct asker *k, const struct sim *s)
{
	question_init(&k->question, s);
}

void
asker_end(struct asker *k)
{
	question_free(&k->question);
	alloc_forget(&k->alloc);
}

/* ---- over pipes ---- */

/* The number in the question of a job of the answer; -1 with *e set: it is not there. */
static ptrdiff_t
asked_job(const struct gv_hash *ids, const struct gv_rates *r, const struct gv_rate *rate,
    bool with, struct gv_error *e)
{
	struct gv_cell id = r->job[with ? (size_t)rate->with : rate->job].id;
	ptrdiff_t i = gv_hash_find(ids, id.s, id.len);
	char q[GV_QUOTE_LEN];

	if (i < 0)
		gv_frame_error(&r->frame, rate->row,
		    gv_frame_find(&r->frame, with ? "with_job_id" : "job_id"), e,
		    "the policy was not asked about job %s", gv_quote(q, id.s, id.len));
	return i;
}

/* Shares of a job add up to 1 at most. */
static int
check_sums(const struct gv_rates *r, struct gv_error *e)
{
	double *sum = gv_xcalloc(r->n_jobs + 1, sizeof(*sum));
	char q[GV_QUOTE_LEN];
	size_t i;
	int rc = 0;

	for (i = 0; i < r->n_rates; i++) {
		sum[r->rate[i].job] += r->rate[i].share;
		if (r->rate[i].with >= 0)
			sum[r->rate[i].with] += r->rate[i].share;
	}
	for (i = 0; i < r->n_jobs; i++)
		if (sum[i] > 1 + sum_tolerance)
			rc = gv_frame_error(&r->frame, r->job[i].row,
			    gv_frame_find(&r->frame, "share"), e,
			    "the shares of job %s add up to %.9g, more than 1",
			    gv_quote(q, r->job[i].id.s, r->job[i].id.len), sum[i]);
	free(sum);
	return rc;
}

static int
take_rows(struct answer *a, const struct question *q, const struct gv_rates *r,
    struct gv_error *e)
{
	struct gv_hash ids = {0};
	size_t i;
	int rc = 0;

	for (i = 0; i < q->rates.n_jobs; i++)
		gv_hash_add(&ids, q->rates.job[i].id.s, q->rates.job[i].id.len);
	for (i = 0; i < r->n_rates && rc == 0; i++) {
		const struct gv_rate *rate = &r->rate[i];
		ptrdiff_t job = asked_job(&ids, r, rate, false, e);
		ptrdiff_t with = rate->with >= 0 ? asked_job(&ids, r, rate, true, e) : -1;

		rc = job < 0 || (rate->with >= 0 && with < 0) ? -1 : 0;
		if (rc == 0 && rate->type >= 0)
			answer_add(a, &(struct answer_share){.job = (size_t)job,
					  .with = with,
					  .type = (size_t)rate->type,
					  .share = rate->share,
					  .rate = rate->steps_per_s,
					  .with_rate = rate->with_steps_per_s});
	}
	gv_hash_free(&ids);
	return rc;
}

/* Reads the answer of the pipe. */
static int
read_answer(struct asker *k, const struct sim *s, struct answer *a, struct gv_error *e)
{
	struct gv_frame f = {0};
	struct gv_rates r = {0};
	int rc;

	if (gv_policy_table(k->client, "the policy's answer", &f, e) != 0 ||
	    gv_rates_from(&r, &f, s->cluster, e) != 0)
		return -1;
	gv_rates_spread(&r, s->cluster);
	rc = r.has_share
		 ? check_sums(&r, e)
		 : gv_error_at(e, r.frame.file, 1, NULL, "missing column \"share\"");
	if (rc == 0)
		rc = take_rows(a, &k->question, &r, e);
	gv_rates_free(&r);
	return rc;
}

static int
ask_pipe(struct asker *k, struct sim *s, struct answer *a, struct gv_error *e)
{
	const struct gv_policy_spec spec = {
	    .command = k->command, .timeout_s = k->timeout_s};
	struct gv_strbuf table = {0};
	struct gv_out *out = gv_out_memory(&table);
	int rc;

	if (k->client == NULL)
		k->client = gv_policy_new(&spec);
	question_write(&k->question, out);
	rc = gv_out_close(out, e);
	if (rc == 0)
		rc = gv_policy_ask(k->client, &table, e);
	if (rc == 0)
		rc = gv_policy_wait(k->client, e);
	gv_strbuf_free(&table);
	return rc == 0 ? read_answer(k, s, a, e) : -1;
}

int
asker_ask(struct asker *k, struct sim *s, struct gv_error *e)
{
	struct answer a = {0};
	int rc;

	if (k->command == NULL)
		return 0;
	question_make(&k->question, s);
	rc = k->within ? alloc_ask(&k->alloc, s, &k->question, &a, e)
		       : ask_pipe(k, s, &a, e);
	if (rc == 0)
		answer_take(s, &k->question, &a);
	answer_free(&a);
	return rc;
}
