#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "policy/child.h"
#include "table/end.h"

enum {
	READ_BYTES = 64 * 1024,
	LEAST_LIMIT = 64 << 20, /* of an answer, beside 16 times the question */
	MISSES = 2              /* answers in a row that took the end of the input */
};

/* A streaming policy has ten times its slowest answer, and this, before its input is ended. */
static const double least_patience_s = .5;

/* How long a process that waits for questions may take to leave. */
static const double leave_s = .25;

struct gv_policy {
	char *command;
	char *directory;
	double timeout_s;
	size_t limit_bytes;

	bool streams; /* its input stays open */
	int misses;   /* in a row; MISSES = it streams no more */
	double slowest_s;
	long starts;

	struct gv_child child;
	enum gv_policy_state state;
	bool input_ended; /* the present question was its last */
	bool again;       /* the question was put to a second process */
	bool changes;     /* which would not understand it */
	int status;       /* waitpid's, once it has exited */
	double asked_s;
	double ended_s; /* its output did, 0 = not yet */
	struct gv_strbuf question;
	size_t given;   /* of the question */
	size_t longest; /* question so far; of changes the answer may be of all */
	struct gv_strbuf answer;
	size_t table_len; /* bytes of it that are the table, its empty line included */
	struct gv_table_end end;
};

struct gv_policy *
gv_policy_new(const struct gv_policy_spec *spec)
{
	struct gv_policy *p = gv_xcalloc(1, sizeof(*p));

	p->command = gv_xstrdup(spec->command);
	p->directory = spec->directory != NULL ? gv_xstrdup(spec->directory) : NULL;
	p->timeout_s = spec->timeout_s;
	p->limit_bytes = spec->limit_bytes;
	p->streams = spec->streams;
	p->child = GV_CHILD_NONE;
	return p;
}

void
gv_policy_free(struct gv_policy *p)
{
	if (p == NULL)
		return;
	gv_policy_stop(p);
	gv_strbuf_free(&p->question);
	gv_strbuf_free(&p->answer);
	free(p->command);
	free(p->directory);
	free(p);
}

/* ---- asking ---- */

static void
forget_answer(struct gv_policy *p)
{
	gv_strbuf_clear(&p->answer);
	p->table_len = 0;
	p->end = (struct gv_table_end){0};
}

/* A process for the question, from its first byte on.  0 or -1. */
static int
start(struct gv_policy *p, struct gv_error *e)
{
	p->given = 0;
	p->input_ended = false;
	p->ended_s = 0;
	forget_answer(p);
	p->starts++;
	return gv_child_start(&p->child, p->command, p->directory, e);
}

/* Whether the process waits for a question: it is there and has written nothing since the last. */
static bool
is_ready(struct gv_policy *p)
{
	char byte;
	ssize_t n;

	if (p->child.pid == 0 || p->child.in < 0 || !p->streams)
		return false;
	while ((n = gv_child_read(&p->child, &byte, 1)) == 1)
		if (byte != '\n' && byte != '\r') /* empty lines mean nothing */
			return false;
	return n == 0;
}

static void
take_question(struct gv_policy *p, struct gv_strbuf *table, bool changes)
{
	gv_strbuf_free(&p->question);
	p->question = *table;
	*table = (struct gv_strbuf){0};
	p->given = 0;
	p->again = false;
	p->changes = changes;
	if (p->question.len > p->longest)
		p->longest = p->question.len;
	forget_answer(p);
}

static void
begin_giving(struct gv_policy *p)
{
	if (p->streams)
		gv_strbuf_char(&p->question, '\n');
	p->asked_s = gv_clock_s();
	p->state = GV_POLICY_ASKED;
}

int
gv_policy_ask(struct gv_policy *p, struct gv_strbuf *table, struct gv_error *e)
{
	take_question(p, table, false);
	if (!is_ready(p)) {
		gv_child_kill(&p->child);
		if (start(p, e) != 0) {
			p->state = GV_POLICY_FAILED;
			return -1;
		}
	}
	begin_giving(p);
	return 0;
}

int
gv_policy_ask_changes(struct gv_policy *p, struct gv_strbuf *table)
{
	if (p->state != GV_POLICY_ANSWERED || !is_ready(p))
		return 1;
	take_question(p, table, true);
	begin_giving(p);
	return 0;
}

/* ---- giving and taking ---- */

static bool
is_given(const struct gv_policy *p)
{
	return p->given == p->question.len;
}

static double
patience_s(const struct gv_policy *p)
{
	return fmax(least_patience_s, 10 * p->slowest_s);
}

static void
give(struct gv_policy *p, double now_s)
{
	p->given += gv_child_write(
	    &p->child, p->question.s + p->given, p->question.len - p->given);
	if (!is_given(p) || p->input_ended)
		return;
	if (p->streams && now_s < p->asked_s + patience_s(p))
		return;
	p->input_ended = true;
	gv_child_end_input(&p->child);
}

static size_t
limit(const struct gv_policy *p)
{
	return p->limit_bytes > 0 ? p->limit_bytes : LEAST_LIMIT + 16 * p->longest;
}

/* Takes what is there.  Whether the answer is still within its limit. */
static bool
take(struct gv_policy *p)
{
	char buf[READ_BYTES];
	ssize_t n;

	while ((n = gv_child_read(&p->child, buf, sizeof(buf))) > 0) {
		gv_strbuf_add(&p->answer, buf, (size_t)n);
		p->table_len += gv_table_end(&p->end, buf, (size_t)n);
		if (p->answer.len > limit(p))
			return false;
	}
	return true;
}

/* ---- what comes of it ---- */

static enum gv_policy_state
fail(struct gv_policy *p)
{
	gv_child_kill(&p->child);
	return p->state = GV_POLICY_FAILED;
}

/* Whether anything but empty lines stands behind the table. */
static bool
has_more(const struct gv_policy *p)
{
	size_t i;

	for (i = p->table_len; i < p->answer.len; i++)
		if (p->answer.s[i] != '\n' && p->answer.s[i] != '\r')
			return true;
	return false;
}

static enum gv_policy_state
answered(struct gv_policy *p, double now_s, struct gv_error *e)
{
	bool missed = p->streams && p->input_ended; /* it waited for that */

	if (p->end.found && has_more(p)) {
		gv_error_set(
		    e, "the policy has written more than a table and an empty line");
		return fail(p);
	}
	if (missed)
		p->misses++;
	else if (p->misses < MISSES)
		p->misses = 0;
	if (!missed)
		p->slowest_s = fmax(p->slowest_s, now_s - p->asked_s);
	p->streams = p->end.found && p->misses < MISSES;
	return p->state = GV_POLICY_ANSWERED;
}

/* The process has exited. */
static enum gv_policy_state
exited(struct gv_policy *p, double now_s, struct gv_error *e)
{
	gv_child_kill(&p->child); /* closes what is open */
	if (!WIFEXITED(p->status) || WEXITSTATUS(p->status) != 0) {
		if (WIFEXITED(p->status))
			gv_error_set(e, "the policy has failed with status %d",
			    WEXITSTATUS(p->status));
		else
			gv_error_set(
			    e, "the policy was killed by signal %d", WTERMSIG(p->status));
		return fail(p);
	}
	if (p->streams && p->changes && p->answer.len == 0) {
		gv_error_set(e, "the policy has left without an answer");
		return fail(p);
	}
	if (p->streams && !p->input_ended && p->answer.len == 0 && !p->again) {
		p->again = true;
		if (start(p, e) != 0)
			return fail(p);
		return p->state;
	}
	return answered(p, now_s, e);
}

enum gv_policy_state
gv_policy_turn(struct gv_policy *p, struct gv_error *e)
{
	double now_s = gv_clock_s();
	bool gone;

	if (p->state != GV_POLICY_ASKED)
		return p->state;
	give(p, now_s);
	/* first: when it has gone, what it has written is there.  What it has left behind
	   may hold its output open, and nobody waits for that. */
	gone = gv_child_exited(&p->child, &p->status);
	if (!take(p)) {
		gv_error_set(e, "the policy has answered more than %zu bytes", limit(p));
		return fail(p);
	}
	if (p->child.out < 0 && p->ended_s == 0)
		p->ended_s = now_s;
	if (p->streams && p->end.found && is_given(p))
		return answered(p, now_s, e);
	if (gone)
		return exited(p, now_s, e);
	if (now_s >= p->asked_s + p->timeout_s) {
		gv_error_set(e, "the policy did not answer within %g s", p->timeout_s);
		return fail(p);
	}
	return p->state;
}

/* ---- waiting ---- */

size_t
gv_policy_fds(const struct gv_policy *p, struct pollfd fd[2])
{
	size_t n = 0;

	if (p->state != GV_POLICY_ASKED)
		return 0;
	if (p->child.in >= 0 && !is_given(p))
		fd[n++] = (struct pollfd){.fd = p->child.in, .events = POLLOUT};
	if (p->child.out >= 0)
		fd[n++] = (struct pollfd){.fd = p->child.out, .events = POLLIN};
	return n;
}

double
gv_policy_wait_s(const struct gv_policy *p)
{
	double now_s = gv_clock_s();
	double until_s = p->asked_s + p->timeout_s;

	if (p->state != GV_POLICY_ASKED)
		return HUGE_VAL;
	if (p->ended_s > 0) /* it exits at once, or is busy with something else */
		until_s = fmin(until_s, now_s + (now_s < p->ended_s + .02 ? .001 : .02));
	else if (p->streams && !p->input_ended)
		until_s = fmin(until_s, p->asked_s + patience_s(p));
	else
		until_s = fmin(until_s, now_s + .25); /* it may leave its output open */
	return fmax(until_s - now_s, 0);
}

int
gv_policy_wait(struct gv_policy *p, struct gv_error *e)
{
	while (gv_policy_turn(p, e) == GV_POLICY_ASKED) {
		struct pollfd fd[2];
		size_t n = gv_policy_fds(p, fd);
		double wait_s = gv_policy_wait_s(p);

		poll(fd, (nfds_t)n, (int)ceil(fmin(wait_s, 3600) * 1000));
	}
	return p->state == GV_POLICY_ANSWERED ? 0 : -1;
}

/* ---- the answer ---- */

const char *
gv_policy_answer(const struct gv_policy *p, size_t *len)
{
	*len = 0;
	if (p->state != GV_POLICY_ANSWERED)
		return NULL;
	*len = p->table_len;
	if (!p->end.found)
		return p->answer.s != NULL ? p->answer.s : "";
	*len -= 1; /* the empty line, which is CR LF if the one before it is */
	if (*len > 0 && p->answer.s[*len - 1] == '\r')
		*len -= 1;
	return p->answer.s;
}

int
gv_policy_table(
    const struct gv_policy *p, const char *name, struct gv_frame *f, struct gv_error *e)
{
	size_t len;
	const char *s = gv_policy_answer(p, &len);

	*f = (struct gv_frame){0};
	if (s == NULL)
		return gv_error_set(e, "the policy has not answered");
	return gv_frame_parse(f, name, s, len, e);
}

long
gv_policy_starts(const struct gv_policy *p)
{
	return p->starts;
}

void
gv_policy_stop(struct gv_policy *p)
{
	if (p->state == GV_POLICY_ASKED)
		gv_child_kill(&p->child);
	else
		gv_child_dismiss(&p->child, leave_s);
	p->state = GV_POLICY_IDLE;
	forget_answer(p);
}
