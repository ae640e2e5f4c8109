#include "link_times.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/mesh.h"

enum { DEPTH = 4 }; /* messages on their way at once */

#define SILENCE_S 60

enum what { ALONE, BOTH, CONCURRENT, LATENCY, WHATS };

/* A measurement: who sends to whom at once. */
struct trial {
	enum what what;
	int *to; /* [n], -1 = sends nothing */
};

struct plan {
	struct trial *trial;
	size_t n, cap;
};

/* What a member says to the parent, whole in one write. */
struct report {
	bool failed, done; /* done: a trial has ended */
	enum what what;
	int from, to;
	double value, scatter;
	char text[GV_ERROR_LEN];
};

/* ---- what is measured ---- */

static struct trial *
add_trial(struct plan *p, enum what what, int n)
{
	struct trial *t;
	int i;

	p->trial = gv_xgrow(p->trial, &p->cap, p->n + 1, sizeof(*p->trial));
	t = &p->trial[p->n++];
	*t = (struct trial){what, gv_xcalloc((size_t)n, sizeof(*t->to))};
	for (i = 0; i < n; i++)
		t->to[i] = -1;
	return t;
}

/* All pairs, in n - 1 or n rounds in which each process is in one pair (the circle method). */
static void
add_rounds(struct plan *p, int n)
{
	int m = n + n % 2, round, i;

	for (round = 0; round < m - 1; round++) {
		struct trial *there = add_trial(p, CONCURRENT, n), *back;

		for (i = 0; i < m / 2; i++) {
			int a = i == 0 ? m - 1 : (round + i) % (m - 1),
			    b = (round + m - 1 - i) % (m - 1);

			if (a < n && b < n)
				there->to[a] = b;
		}
		back = add_trial(p, CONCURRENT, n);
		there = &p->trial[p->n - 2];
		for (i = 0; i < n; i++)
			if (there->to[i] >= 0)
				back->to[there->to[i]] = i;
	}
}

static void
make_plan(struct plan *p, int n)
{
	int a, b;

	*p = (struct plan){0};
	for (a = 0; a < n; a++)
		for (b = 0; b < n; b++) {
			struct trial *t;

			if (a == b)
				continue;
			add_trial(p, ALONE, n)->to[a] = b;
			if (a > b)
				continue;
			t = add_trial(p, BOTH, n);
			t->to[a] = b;
			t->to[b] = a;
			add_trial(p, LATENCY, n)->to[a] = b;
		}
	add_rounds(p, n);
}

static void
plan_free(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		free(p->trial[i].to);
	free(p->trial);
}

/* ---- a member ---- */

struct stream {
	struct gv_message message[DEPTH];
	size_t posted, done;
};

struct member {
	struct gv_gang *g;
	int rank;
	const struct link_rule *rule;
	unsigned char *out, *in; /* [DEPTH][bytes] */
	uint32_t slot;
	double *value; /* [repeats] */
};

/* The sum of x over all members, who wait for each other. */
static int
agree(struct member *m, double *x, struct gv_error *e)
{
	float sum = (float)*x;
	unsigned flags = 0;

	if (gv_gang_sum(m->g, &sum, 1, &flags, e) != 0)
		return -1;
	*x = (double)sum;
	return 0;
}

static void
post(struct member *m, struct stream *s, int peer, bool sends, size_t n)
{
	struct gv_tag tag = {m->slot, 0};

	while (s->posted < n && s->posted - s->done < DEPTH) {
		size_t i = s->posted++ % DEPTH, at = i * m->rule->bytes;

		if (sends)
			gv_gang_send(
			    m->g, &s->message[i], peer, tag, m->out + at, m->rule->bytes);
		else
			gv_gang_recv(
			    m->g, &s->message[i], peer, tag, m->in + at, m->rule->bytes);
	}
}

static void
note_done(struct stream *s)
{
	while (s->done < s->posted && s->message[s->done % DEPTH].done)
		s->done++;
}

/* Sends n messages to one and takes n from another (-1 = nobody); seconds until all came. */
static int
stream(struct member *m, int to, int from, size_t n, double *took_s, struct gv_error *e)
{
	struct stream out = {0}, in = {0};
	double start = gv_clock_s();

	*took_s = 0;
	while ((to >= 0 && out.done < n) || (from >= 0 && in.done < n)) {
		struct gv_message *wait[2];
		size_t waits = 0;

		if (to >= 0)
			post(m, &out, to, true, n);
		if (from >= 0)
			post(m, &in, from, false, n);
		if (gv_gang_poll(m->g, e) != 0)
			return -1;
		note_done(&out);
		note_done(&in);
		if (in.done == n && *took_s == 0)
			*took_s = gv_clock_s() - start;
		if (out.done < out.posted && out.posted - out.done == DEPTH)
			wait[waits++] = &out.message[out.done % DEPTH];
		if (in.done < in.posted && in.posted - in.done == DEPTH)
			wait[waits++] = &in.message[in.done % DEPTH];
		if (waits > 0 &&
		    gv_gang_wait_some(m->g, wait, waits, gv_clock_s(), INFINITY, e) != 0)
			return -1;
	}
	return 0;
}

/* There and back n times, 8 bytes each; seconds of it. */
static int
ping(
    struct member *m, int peer, bool begins, size_t n, double *took_s, struct gv_error *e)
{
	struct gv_tag tag = {m->slot, 1};
	double start = gv_clock_s();
	size_t i;
	int turn;

	for (i = 0; i < n; i++)
		for (turn = 0; turn < 2; turn++) {
			struct gv_message x = {0};

			if ((turn == 0) == begins)
				gv_gang_send(m->g, &x, peer, tag, m->out, 8);
			else
				gv_gang_recv(m->g, &x, peer, tag, m->in, 8);
			if (gv_gang_wait(m->g, &x, e) != 0)
				return -1;
		}
	*took_s = gv_clock_s() - start;
	return 0;
}

static int
peer_of(const struct trial *t, int n, int rank)
{
	int i;

	for (i = 0; i < n; i++)
		if (t->to[i] == rank)
			return i;
	return -1;
}

/* One run of n messages, all at the same time; what this member measured, 0 = nothing. */
static int
run_once(
    struct member *m, const struct trial *t, size_t n, double *took_s, struct gv_error *e)
{
	int to = t->to[m->rank], from = peer_of(t, m->rule->n, m->rank);
	double start = 0;

	*took_s = 0;
	m->slot++;
	if (agree(m, &start, e) != 0)
		return -1;
	if (t->what == LATENCY)
		return to >= 0 || from >= 0
			   ? ping(m, to >= 0 ? to : from, to >= 0, n, took_s, e)
			   : 0;
	return stream(m, to, from, n, took_s, e);
}

static int
rising(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* So many messages that the window is filled, as all have agreed; then the median of runs. */
static int
run_trial(struct member *m, const struct trial *t, struct report *r, struct gv_error *e)
{
	size_t n = 1, i;
	double took_s, mean_s, measures, window_s = m->rule->window_s;

	for (;;) {
		if (run_once(m, t, n, &took_s, e) != 0)
			return -1;
		mean_s = took_s;
		measures = took_s > 0;
		if (agree(m, &mean_s, e) != 0 || agree(m, &measures, e) != 0)
			return -1;
		mean_s /= measures > 0 ? measures : 1;
		if (mean_s >= window_s / 2 || n > (size_t)1 << 40)
			break;
		n = mean_s * 16 < window_s ? n * 16
					   : (size_t)((double)n * window_s / mean_s) + 1;
	}
	for (i = 0; i < m->rule->repeats; i++) {
		if (run_once(m, t, n, &took_s, e) != 0)
			return -1;
		m->value[i] = t->what == LATENCY ? took_s / (double)n / 2
			      : took_s > 0
				  ? (double)n * (double)m->rule->bytes / took_s / 1e9
				  : 0;
	}
	qsort(m->value, m->rule->repeats, sizeof(*m->value), rising);
	r->value = m->value[m->rule->repeats / 2];
	r->scatter = m->value[0] > 0 ? m->value[m->rule->repeats - 1] / m->value[0] : 1;
	return 0;
}

static int
tell(int pipe, const struct report *r)
{
	ssize_t n;

	do
		n = write(pipe, r, sizeof(*r));
	while (n == -1 && errno == EINTR);
	return n == (ssize_t)sizeof(*r) ? 0 : -1;
}

static int
run_plan(struct member *m, const struct plan *p, int pipe, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		const struct trial *t = &p->trial[i];
		struct report r = {.what = t->what,
		    .to = m->rank,
		    .from = peer_of(t, m->rule->n, m->rank),
		    .done = m->rank == 0};

		if (run_trial(m, t, &r, e) != 0)
			return -1;
		if ((r.from >= 0 || r.done) && tell(pipe, &r) != 0)
			_exit(1); /* nobody is there to be told */
	}
	return 0;
}

static GV_NORETURN void
be_member(const struct link_rule *rule, const struct plan *p, struct gv_local *links,
    int rank, int pipe)
{
	struct gv_link **link = gv_xcalloc((size_t)rule->n, sizeof(struct gv_link *));
	struct member m = {.rank = rank, .rule = rule};
	struct gv_error e = {0};
	int r, rc;

	gv_local_take(links, rank, link);
	m.g = gv_mesh_new(rank, rule->n, link, SILENCE_S);
	for (r = 0; r < rule->n; r++)
		snprintf(m.g->peer[r].host, sizeof(m.g->peer[r].host), "this machine");
	free(link);
	m.out = gv_xcalloc(DEPTH, rule->bytes);
	m.in = gv_xcalloc(DEPTH, rule->bytes);
	memset(m.out, 1, DEPTH * rule->bytes); /* pages that are there */
	memset(m.in, 1, DEPTH * rule->bytes);
	m.value = gv_xcalloc(rule->repeats, sizeof(*m.value));
	rc = run_plan(&m, p, pipe, &e);
	gv_gang_leave(m.g);
	if (rc != 0) {
		struct report said = {.failed = true};

		memcpy(said.text, e.text[0], sizeof(said.text));
		tell(pipe, &said);
	}
	_exit(rc == 0 ? 0 : 1);
}

/* ---- the parent ---- */

static void
take(struct link_time *t, int n, const struct report *r)
{
	struct link_time *x = &t[r->from * n + r->to];

	x->scatter = r->scatter > x->scatter ? r->scatter : x->scatter;
	if (r->what == ALONE)
		x->alone = r->value;
	else if (r->what == BOTH)
		x->both = r->value;
	else if (r->what == CONCURRENT)
		x->concurrent = r->value;
	else
		x->latency_s = t[r->to * n + r->from].latency_s = r->value;
}

/* Hears the members until none is left. */
static int
listen_to(struct link_time *t, const struct link_rule *rule, size_t trials, int pipe,
    struct gv_error *e)
{
	struct report said;
	size_t done = 0;
	ssize_t n;
	int rc = 0;

	for (;;) {
		n = read(pipe, &said, sizeof(said));
		if (n == -1 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(said))
			break;
		if (said.failed && rc == 0)
			rc = gv_error_set(e, "%s", said.text);
		if (said.failed)
			continue;
		if (said.from >= 0)
			take(t, rule->n, &said);
		done += said.done;
		if (said.done && rule->tell != NULL)
			rule->tell(done, trials);
	}
	return rc;
}

static bool
all_joined(const void *ctx, int a, int b)
{
	(void)ctx;
	(void)a;
	(void)b;
	return true;
}

/* Forks all; those that could not be are missed by the others, who end. */
static int
start(const struct link_rule *rule, const struct plan *p, struct gv_local *links,
    const int ends[2], pid_t *pid, struct gv_error *e)
{
	int r;

	for (r = 0; r < rule->n; r++) {
		pid[r] = fork();
		if (pid[r] == -1)
			return gv_error_sys(e, "cannot start a process");
		if (pid[r] == 0) {
			close(ends[0]);
			be_member(rule, p, links, r, ends[1]);
		}
	}
	return 0;
}

int
link_times(struct link_time *t, const struct link_rule *rule, struct gv_error *e)
{
	struct gv_local *links = NULL;
	struct plan p;
	int ends[2], r, rc, heard, status;
	pid_t *pid;

	if (pipe(ends) != 0)
		return gv_error_sys(e, "no pipe");
	if (gv_local_open(&links, rule->n, rule->kind, all_joined, NULL, e) != 0) {
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	make_plan(&p, rule->n);
	pid = gv_xcalloc((size_t)rule->n, sizeof(*pid));
	rc = start(rule, &p, links, ends, pid, e);
	gv_local_close(links);
	close(ends[1]);
	heard = listen_to(t, rule, p.n, ends[0], e);
	close(ends[0]);
	for (r = 0; r < rule->n; r++)
		if (pid[r] > 0 && waitpid(pid[r], &status, 0) == pid[r] &&
		    WIFSIGNALED(status) && rc == 0 && heard == 0)
			rc = gv_error_set(
			    e, "a process was killed by signal %d", WTERMSIG(status));
	plan_free(&p);
	free(pid);
	return rc != 0 ? rc : heard;
}
