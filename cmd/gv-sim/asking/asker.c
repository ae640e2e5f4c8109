#include "asker.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "sched/asking/reply.h"

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
	gv_told_free(&k->told);
	gv_follow_free(&k->follow);
	alloc_close(&k->alloc);
	journal_close(&k->journal);
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
	gv_told_forget(&k->told);
	alloc_forget(&k->alloc);
}

/* ---- over pipes ---- */

/* Those who are asked about. */
static struct gv_asked
asked_of(const struct asker *k, const struct sim *s)
{
	return (struct gv_asked){
	    k->question.rates.n_jobs, k->question.job, s->table->job};
}

static struct gv_policy *
start(const struct asker *k)
{
	bool streams = false;
	char *command = gv_policy_command(k->command, &streams);
	const struct gv_policy_spec spec = {
	    .command = command, .streams = streams, .timeout_s = k->timeout_s};
	struct gv_policy *client = gv_policy_new(&spec);

	free(command);
	return client;
}

/* Asks by what has changed.  0, 1: that cannot be; or -1. */
static int
ask_changes(struct asker *k, struct gv_error *e)
{
	const struct question *q = &k->question;
	struct gv_told_change *change;
	struct gv_strbuf table = {0};
	struct gv_out *out;
	size_t n, i;
	int rc;

	if (!question_follows(q, &k->told))
		return 1;
	n = gv_told_compare(&k->told, q->now, q->rates.n_jobs, &change);
	out = gv_out_memory(&table);
	question_write_changes(q, &k->told, change, n, out);
	rc = gv_out_close(out, e);
	if (rc == 0)
		rc = gv_policy_ask_changes(k->client, &table);
	for (i = 0; rc == 0 && i < n; i++)
		if (change[i].kind == GV_TOLD_NEW)
			gv_follow_new(&k->follow, q->job[change[i].at]);
	gv_strbuf_free(&table);
	free(change);
	return rc;
}

static int
ask_whole(struct asker *k, struct gv_error *e)
{
	struct gv_strbuf table = {0};
	struct gv_out *out = gv_out_memory(&table);
	int rc;

	gv_told_forget(&k->told);
	question_write(&k->question, out);
	rc = gv_out_close(out, e);
	if (rc == 0)
		rc = gv_policy_ask(k->client, &table, e);
	gv_strbuf_free(&table);
	return rc;
}

/* Reads the answer of the pipe, to a whole table or to changes. */
static int
read_answer(struct asker *k, const struct sim *s, bool changes, struct gv_reply *reply,
    struct gv_error *e)
{
	const struct gv_asked asked = asked_of(k, s);
	struct gv_frame f = {0};
	int rc;

	if (gv_policy_table(k->client, "the policy's answer", &f, e) != 0)
		return -1;
	if (changes)
		return gv_follow_reply(&k->follow, reply, &f, s->cluster, &asked, e);
	gv_told_hear(&k->told, &f);
	rc = gv_reply_from(reply, &f, s->cluster, &asked, e);
	if (rc == 0 && k->told.follows)
		gv_follow_begin(
		    &k->follow, reply, &asked, s->table->n_jobs, s->cluster->n_types);
	return rc;
}

static int
ask_pipe(struct asker *k, struct sim *s, struct gv_reply *reply, struct gv_error *e)
{
	bool changes;
	int rc;

	if (k->client == NULL)
		k->client = start(k);
	rc = ask_changes(k, e);
	changes = rc == 0;
	if (rc == 1)
		rc = ask_whole(k, e);
	if (rc == 0)
		rc = gv_policy_wait(k->client, e);
	if (rc == 0)
		rc = read_answer(k, s, changes, reply, e);
	gv_told_set(&k->told, k->question.now, k->question.rates.n_jobs);
	return rc;
}

/* The answer: of before, or a new one. */
static int
get_reply(struct asker *k, struct sim *s, struct gv_reply *reply, struct gv_error *e)
{
	int rc = journal_next(&k->journal, s->life.now_s, k->question.rates.n_jobs,
	    s->cluster->n_types, reply, e);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	rc = k->within ? alloc_ask(&k->alloc, s, &k->question, reply, e)
		       : ask_pipe(k, s, reply, e);
	return rc == 0 ? journal_add(&k->journal, s->life.now_s, reply, e) : -1;
}

int
asker_ask(struct asker *k, struct sim *s, struct gv_error *e)
{
	struct gv_reply reply = {0};
	struct gv_asked asked;
	int rc;

	question_make(&k->question, s);
	rc = get_reply(k, s, &reply, e);
	asked = asked_of(k, s);
	if (rc == 0)
		gv_reply_take(&s->life, &reply, &asked);
	gv_reply_free(&reply);
	return rc;
}
