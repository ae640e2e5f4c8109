/*
 * The policy is spoken to by common/policy.  What was asked last and answered is also
 * in files of the state directory, for people to look at; nothing reads them.
 */
#include "policy.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "gv-run/core/table.h"
#include "gv-run/state/named.h"
#include "sched/asking/reply.h"

/* Decisions wait that long for an answer under way; then the shares at hand are good enough. */
static const double head_start_s = 1;

/* ---- which policy ---- */

/* The command of -p is kept for a later --resume; a table given without -p replaces it. */
static int
choose(struct policy *p, struct gv_error *e)
{
	const struct settings *o = p->o;
	char *path = state_path(p->state, "policy");
	const char *words;
	struct named named = {0};
	size_t len;
	int rc = 0;

	if (o->policy != NULL) {
		p->command = gv_xstrdup(o->policy);
		p->own = p->pairs = true;
		rc = gv_file_write(path, o->policy, strlen(o->policy), e);
	} else if (o->resume && access(path, F_OK) == 0) {
		rc = gv_file_read(path, &p->command, &len, 1 << 20, e);
		p->own = p->pairs = true;
	} else {
		unlink(path);
		rc = table_policy(&p->jobs->table, &words, e);
		if (rc == 0 && words != NULL)
			rc = named_command(&named, p->state, words, e);
		p->command = named.command;
		p->pairs = named.pairs;
	}
	free(path);
	return rc;
}

int
policy_open(struct policy *p, const struct settings *o, const struct state *state,
    struct jobs *jobs, struct gv_error *e)
{
	size_t n = jobs->table.n_jobs;

	*p = (struct policy){.o = o, .state = state, .jobs = jobs, .n_jobs = n};
	p->asked = gv_xcalloc(n + 1, sizeof(*p->asked));
	return choose(p, e);
}

void
policy_close(struct policy *p)
{
	gv_policy_free(p->client);
	gv_told_free(&p->told);
	gv_follow_free(&p->follow);
	free(p->command);
	free(p->asked);
	gv_isolated_free(&p->isolated);
	*p = (struct policy){0};
}

/* ---- asking ---- */

/* What the table says of each job; its GPUs are known now that there is a life. */
static void
begin_isolated(struct policy *p)
{
	const struct jobs *jobs = p->jobs;
	size_t m;

	gv_isolated_init(&p->isolated, &jobs->life.rounds, jobs->table.n_jobs);
	for (m = 0; m < jobs->table.n_jobs; m++) {
		const struct gv_job *job = &jobs->table.job[m];
		double done = job->total_steps - job->steps_remaining;

		p->isolated.elapsed_s[m] = job->isolated_elapsed_s;
		p->isolated.steps[m] = done > 0 ? done : 0;
	}
}

const double *
policy_isolated_s(struct policy *p)
{
	if (p->isolated.elapsed_s == NULL)
		begin_isolated(p);
	return p->isolated.elapsed_s;
}

void
policy_grow(struct policy *p)
{
	struct gv_isolated before = p->isolated;
	size_t n = p->n_jobs;

	p->n_jobs = p->jobs->table.n_jobs;
	p->asked = gv_xrealloc(p->asked, p->n_jobs + 1, sizeof(*p->asked));
	if (before.elapsed_s == NULL)
		return;
	gv_isolated_init(&p->isolated, &p->jobs->life.rounds, p->n_jobs);
	memcpy(p->isolated.elapsed_s, before.elapsed_s, n * sizeof(*before.elapsed_s));
	memcpy(p->isolated.steps, before.steps, n * sizeof(*before.steps));
	memcpy(p->isolated.rate, before.rate, n * sizeof(*before.rate));
	gv_isolated_free(&before);
}

void
policy_renew(struct policy *p)
{
	gv_policy_free(p->client);
	p->client = NULL;
	gv_told_forget(&p->told);
	p->asking = false;
	p->due = true;
}

static void
count_isolated(struct policy *p)
{
	const struct gv_life *l = &p->jobs->life;
	size_t i;

	(void)policy_isolated_s(p);
	for (i = 0; i < p->n_asked; i++) {
		size_t m = p->asked[i];

		gv_isolated_count(
		    &p->isolated, &l->rounds, m, p->n_asked, fmax(0, l->job[m].steps));
	}
}

/* Into a file of the state that people may look at; it is not missed where that fails. */
static void
show(const struct policy *p, const char *name, const char *s, size_t len)
{
	char *path = state_path(p->state, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	while (fd >= 0 && len > 0) {
		ssize_t n = write(fd, s, len);

		if (n <= 0)
			break;
		s += n;
		len -= (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	free(path);
}

static struct gv_policy *
start(const struct policy *p)
{
	struct gv_policy_spec spec = {.directory = p->state->directory,
	    .streams = !p->own, /* gv-alloc --changes */
	    .timeout_s = p->o->policy_timeout_s};
	char *command = gv_policy_command(p->command, &spec.streams);
	struct gv_policy *client;

	spec.command = command;
	client = gv_policy_new(&spec);
	free(command);
	return client;
}

/* By what has changed.  0; 1: that cannot be; or -1. */
static int
put_changes(struct policy *p, const struct gv_told_job *now, struct gv_error *e)
{
	struct gv_told_change *change;
	struct gv_strbuf table = {0};
	struct gv_out *out;
	size_t n, i;
	int rc;

	if (!p->told.follows || !p->could_change || !table_can_change(p->jobs))
		return 1;
	n = gv_told_compare(&p->told, now, p->n_asked, &change);
	out = gv_out_memory(&table);
	table_write_changes(
	    p->jobs, p->isolated.elapsed_s, &p->told, now, change, n, out);
	rc = gv_out_close(out, e);
	if (rc == 0) {
		struct gv_strbuf shown = {0};

		gv_strbuf_add(&shown, table.s, table.len);
		rc = gv_policy_ask_changes(p->client, &table);
		if (rc == 0)
			show(p, "policy.in.csv", shown.s, shown.len);
		gv_strbuf_free(&shown);
	}
	for (i = 0; rc == 0 && i < n; i++)
		if (change[i].kind == GV_TOLD_NEW)
			gv_follow_new(&p->follow, p->asked[change[i].at]);
	gv_strbuf_free(&table);
	free(change);
	return rc;
}

static int
put_whole(struct policy *p, struct gv_error *e)
{
	struct gv_strbuf table = {0};
	struct gv_out *out = gv_out_memory(&table);
	int rc;

	gv_told_forget(&p->told);
	table_write_rates(p->jobs, p->isolated.elapsed_s, out);
	rc = gv_out_close(out, e);
	if (rc == 0) {
		show(p, "policy.in.csv", table.s, table.len);
		rc = gv_policy_ask(p->client, &table, e);
	}
	gv_strbuf_free(&table);
	return rc;
}

static int
put_question(struct policy *p, struct gv_error *e)
{
	struct gv_told_job *now = gv_xcalloc(p->n_asked + 1, sizeof(*now));
	int rc;

	if (p->client == NULL)
		p->client = start(p);
	table_told(p->jobs, p->isolated.elapsed_s, p->asked, p->n_asked, now);
	rc = put_changes(p, now, e);
	p->changes = rc == 0;
	if (rc == 1)
		rc = put_whole(p, e);
	p->could_change = table_can_change(p->jobs);
	gv_told_set(&p->told, now, p->n_asked);
	free(now);
	return rc;
}

static void
ask(struct policy *p)
{
	const struct gv_life *l = &p->jobs->life;
	struct gv_error e = {0};

	p->due = false;
	for (p->n_asked = 0; p->n_asked < l->n_active; p->n_asked++)
		p->asked[p->n_asked] = l->active[p->n_asked];
	if (p->n_asked == 0)
		return;
	count_isolated(p);
	p->asked_s = l->now_s;
	p->asking = put_question(p, &e) == 0;
	if (p->asking)
		return;
	gv_warn("warning: the policy cannot be asked, shares stay as they are:");
	gv_warn_error(&e);
}

/* ---- its answer ---- */

/* 0, or -1 with *e set: it is not good. */
static int
take_shares(struct policy *p, struct gv_error *e)
{
	char *path = state_path(p->state, "policy.out.csv");
	const struct gv_asked asked = {p->n_asked, p->asked, p->jobs->table.job};
	struct gv_reply reply = {0};
	struct gv_frame f;
	size_t len;
	const char *s = gv_policy_answer(p->client, &len);
	int rc;

	show(p, "policy.out.csv", s, len);
	rc = gv_policy_table(p->client, path, &f, e);
	if (rc == 0 && p->changes) {
		rc =
		    gv_follow_reply(&p->follow, &reply, &f, &p->jobs->cluster, &asked, e);
	} else if (rc == 0) {
		gv_told_hear(&p->told, &f);
		rc = gv_reply_from(&reply, &f, &p->jobs->cluster, &asked, e);
		if (rc == 0 && p->told.follows)
			gv_follow_begin(&p->follow, &reply, &asked, p->jobs->table.n_jobs,
			    p->jobs->cluster.n_types);
	}
	if (rc != 0)
		gv_told_forget(&p->told); /* the next question is whole */
	if (rc == 0)
		gv_reply_take(&p->jobs->life, &reply, &asked);
	gv_reply_free(&reply);
	free(path);
	return rc;
}

static void
take_answer(struct policy *p)
{
	char *table = state_path(p->state, "jobs.csv");
	struct gv_error e = {0};

	if (take_shares(p, &e) != 0) {
		gv_warn(
		    "warning: the policy's answer is not good, shares stay as they are:");
		gv_warn_error(&e);
	} else {
		gv_life_announce(&p->jobs->life);
		if (table_write(p->jobs, p->isolated.elapsed_s, table, &e) != 0) {
			gv_warn_error(&e);
			p->broken = true;
		}
	}
	free(table);
}

static void
wait_for_answer(struct policy *p)
{
	struct gv_error e = {0};
	enum gv_policy_state state = gv_policy_turn(p->client, &e);

	if (state == GV_POLICY_ASKED)
		return;
	p->asking = false;
	if (state == GV_POLICY_ANSWERED)
		take_answer(p);
	else {
		gv_told_forget(&p->told);
		gv_warn("warning: %s, shares stay as they are", e.text[0]);
	}
}

void
policy_due(struct policy *p)
{
	p->due = true;
}

void
policy_turn(struct policy *p)
{
	if (p->answered && p->jobs->life.n_active == p->jobs->life.n_jobs)
		p->due = false;
	p->answered = false;
	if (p->asking)
		wait_for_answer(p);
	if (p->due && !p->asking) {
		if (p->command == NULL)
			p->due = false;
		else
			ask(p);
	}
	if (p->asking) /* a pipe takes most questions at once */
		wait_for_answer(p);
}

size_t
policy_fds(const struct policy *p, struct pollfd fd[2])
{
	return p->asking ? gv_policy_fds(p->client, fd) : 0;
}

bool
policy_holds(const struct policy *p)
{
	return p->asking && p->jobs->life.now_s < p->asked_s + head_start_s;
}

double
policy_wakes_s(const struct policy *p)
{
	double now_s = p->jobs->life.now_s;
	double hold_s = p->asked_s + head_start_s;
	double turn_s;

	if (!p->asking)
		return HUGE_VAL;
	turn_s = now_s + gv_policy_wait_s(p->client);
	return now_s < hold_s ? fmin(hold_s, turn_s) : turn_s;
}

void
policy_stop(struct policy *p)
{
	if (p->client != NULL)
		gv_policy_stop(p->client);
	p->asking = false;
}
