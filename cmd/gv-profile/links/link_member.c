#include "link_member.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "link_compute.h"

enum { DEPTH = 4 }; /* messages on their way at once, from one to one */

struct stream {
	int peer;
	bool sends;
	struct gv_message message[DEPTH];
	size_t posted, done;
};

struct work {
	const struct link_member *m;
	int n;
	unsigned char *out,
	    *in; /* [DEPTH][bytes], of all streams: who reads what came? */
	uint32_t slot;
	double *value, *cpu;        /* [repeats] */
	struct stream *stream;      /* [2 n] */
	struct gv_message **waited; /* [2 n] */
	struct link_compute compute;
	size_t streams;
	bool reduces; /* as replicas do that sum gradients */
	bool sums;    /* and with the work that these are */
};

/* What a run has measured; took_s 0: nothing. */
struct lap {
	double took_s, cpu_s;
};

/* Of all threads, the system's part too. */
static double
cpu_s(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The sum of x over all members, who wait for each other. */
static int
agree(struct work *w, double *x, struct gv_error *e)
{
	float sum = (float)*x;
	unsigned flags = 0;

	if (gv_gang_sum(w->m->gang, &sum, 1, &flags, e) != 0)
		return -1;
	*x = (double)sum;
	return 0;
}

/* ---- streams ---- */

/*
 * Whether a message to all others can be made: the first half are pieces of gradients, and each of
 * the second half the sum of a piece, from all.
 */
static bool
is_made(const struct work *w, size_t i, size_t n)
{
	size_t k;

	for (k = 0; k < w->streams && i >= n / 2 && n / 2 > 0; k++)
		if (!w->stream[k].sends && w->stream[k].done <= i - n / 2)
			return false;
	return true;
}

static void
post(struct work *w, struct stream *s, size_t n)
{
	struct gv_gang *g = w->m->gang;
	struct gv_tag tag = {w->slot, 0};
	size_t bytes = w->m->rule->bytes;

	while (s->posted < n && s->posted - s->done < DEPTH &&
	       (!w->reduces || !s->sends || is_made(w, s->posted, n))) {
		size_t i = s->posted++ % DEPTH, at = i * bytes;

		if (s->sends && w->sums)
			link_compute_give(&w->compute, bytes);
		if (s->sends)
			gv_gang_send(g, &s->message[i], s->peer, tag, w->out + at, bytes);
		else
			gv_gang_recv(g, &s->message[i], s->peer, tag, w->in + at, bytes);
	}
}

/* Whether some are done that were not. */
static bool
note_done(struct work *w, struct stream *s)
{
	size_t before = s->done;

	for (; s->done < s->posted && s->message[s->done % DEPTH].done; s->done++)
		if (w->sums && !s->sends)
			link_compute_take(&w->compute, w->m->rule->bytes);
	return s->done > before;
}

/* The streams of this member in a measurement. */
static size_t
open_streams(struct work *w, const struct link_trial *t)
{
	int own = w->m->rank, from = link_trial_peer(t, w->n, own), i;
	size_t k = 0;

	for (i = 0; i < w->n; i++)
		if (link_trial_all(t) ? i != own : i == t->to[own])
			w->stream[k++] = (struct stream){.peer = i, .sends = true};
	for (i = 0; i < w->n; i++)
		if (link_trial_all(t) ? i != own : i == from)
			w->stream[k++] = (struct stream){.peer = i};
	w->streams = k;
	w->reduces = link_trial_all(t);
	return k;
}

/* Whether all that comes has come; *all: what goes has gone, too. */
static bool
have_come(const struct work *w, size_t streams, size_t n, bool *all)
{
	bool came = true;
	size_t k;

	*all = true;
	for (k = 0; k < streams; k++) {
		bool done = w->stream[k].done == n;

		*all &= done;
		came &= done || w->stream[k].sends;
	}
	return came;
}

/* n messages in each stream; seconds until all came. */
static int
stream(struct work *w, size_t streams, size_t n, double *took_s, struct gv_error *e)
{
	double start = gv_clock_s();
	bool all = streams == 0, more;
	size_t k, waits;

	*took_s = 0;
	while (!all) {
		for (k = 0; k < streams; k++)
			post(w, &w->stream[k], n);
		if (gv_gang_poll(w->m->gang, e) != 0)
			return -1;
		for (more = false, waits = 0, k = 0; k < streams; k++) {
			struct stream *s = &w->stream[k];

			more |= note_done(w, s);
			if (s->done < s->posted &&
			    (s->posted - s->done == DEPTH || s->posted == n))
				w->waited[waits++] = &s->message[s->done % DEPTH];
		}
		if (have_come(w, streams, n, &all) && *took_s == 0)
			*took_s = gv_clock_s() - start;
		/* what has come may be what another stream's next message is made of */
		if (!more && waits > 0 &&
		    gv_gang_wait_some(
			w->m->gang, w->waited, waits, gv_clock_s(), INFINITY, e) != 0)
			return -1;
	}
	return 0;
}

/* n messages in each stream beside computing: seconds until all came, and those not computed. */
static int
stream_beside(
    struct work *w, size_t streams, size_t n, struct lap *lap, struct gv_error *e)
{
	struct link_compute *c = &w->compute;
	double start, none = 0, pieces = 0, took_s;
	bool all = streams == 0;
	size_t k;

	link_compute_alone(c, w->m->rule->window_s);
	if (agree(w, &none, e) != 0)
		return -1;
	w->sums = true;
	for (start = gv_clock_s(); !all; pieces++) {
		for (k = 0; k < streams; k++)
			post(w, &w->stream[k], n);
		link_compute_piece(c);
		if (gv_gang_poll(w->m->gang, e) != 0)
			return -1;
		for (k = 0; k < streams; k++)
			note_done(w, &w->stream[k]);
		if (have_come(w, streams, n, &all) && !(lap->took_s > 0))
			lap->took_s = gv_clock_s() - start;
	}
	took_s = gv_clock_s() - start;
	w->sums = false;
	lap->cpu_s = c->alone > 0 ? fmax(0, took_s - pieces / c->alone) : 0;
	return 0;
}

/* There and back n times, 8 bytes each; seconds of it. */
static int
ping(struct work *w, int peer, bool begins, size_t n, double *took_s, struct gv_error *e)
{
	struct gv_tag tag = {w->slot, 1};
	struct gv_gang *g = w->m->gang;
	double start = gv_clock_s();
	size_t i;
	int turn;

	for (i = 0; i < n; i++)
		for (turn = 0; turn < 2; turn++) {
			struct gv_message x = {0};

			if ((turn == 0) == begins)
				gv_gang_send(g, &x, peer, tag, w->out, 8);
			else
				gv_gang_recv(g, &x, peer, tag, w->in, 8);
			if (gv_gang_wait(g, &x, e) != 0)
				return -1;
		}
	*took_s = gv_clock_s() - start;
	return 0;
}

/* ---- measurements ---- */

/* One run of n messages, all at the same time. */
static int
run_once(struct work *w, const struct link_trial *t, size_t n, struct lap *lap,
    struct gv_error *e)
{
	size_t streams = open_streams(w, t);
	bool sends = streams > 0 && w->stream[0].sends;
	double start = 0, cpu;
	int status;

	*lap = (struct lap){0};
	w->slot++;
	if (agree(w, &start, e) != 0)
		return -1;
	if (t->what == LINK_LATENCY)
		return streams == 0
			   ? 0
			   : ping(w, w->stream[0].peer, sends, n, &lap->took_s, e);
	if (t->what == LINK_BESIDE)
		return stream_beside(w, streams, n, lap, e);
	cpu = cpu_s();
	status = stream(w, streams, n, &lap->took_s, e);
	lap->cpu_s = cpu_s() - cpu;
	return status;
}

static int
rising(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/*
 * Messages of each stream so that the window is filled, as all have agreed; 0: failed.  To all
 * others as much goes to each as elsewhere: how flows share what they have is settled slowly.
 */
static size_t
fill_window(struct work *w, const struct link_trial *t, struct gv_error *e)
{
	double mean_s, measures,
	    window_s = w->m->rule->window_s * (link_trial_all(t) ? w->n - 1 : 1);
	struct lap lap;
	size_t n = 1;

	for (;;) {
		if (run_once(w, t, n, &lap, e) != 0)
			return 0;
		mean_s = lap.took_s;
		measures = lap.took_s > 0;
		if (agree(w, &mean_s, e) != 0 || agree(w, &measures, e) != 0)
			return 0;
		mean_s /= measures > 0 ? measures : 1;
		if (mean_s >= window_s / 2 || n > (size_t)1 << 40)
			return n;
		n = mean_s * 16 < window_s ? n * 16
					   : (size_t)((double)n * window_s / mean_s) + 1;
	}
}

/* The median of runs. */
static int
run_trial(
    struct work *w, const struct link_trial *t, struct link_report *r, struct gv_error *e)
{
	const struct link_rule *rule = w->m->rule;
	size_t n = fill_window(w, t, e), i;
	double ways = link_trial_all(t) ? w->n - 1 : 1;
	double gbytes = (double)n * (double)rule->bytes * ways / 1e9;

	for (i = 0; n > 0 && i < rule->repeats; i++) {
		struct lap lap;

		if (run_once(w, t, n, &lap, e) != 0)
			return -1;
		w->value[i] = t->what == LINK_LATENCY ? lap.took_s / (double)n / 2
			      : lap.took_s > 0        ? gbytes / lap.took_s
						      : 0;
		w->cpu[i] = lap.cpu_s / gbytes / 2;
	}
	if (n == 0)
		return -1;
	qsort(w->value, rule->repeats, sizeof(*w->value), rising);
	qsort(w->cpu, rule->repeats, sizeof(*w->cpu), rising);
	r->value = w->value[rule->repeats / 2];
	r->cpu_s = w->cpu[rule->repeats / 2];
	r->scatter = w->value[0] > 0 ? w->value[rule->repeats - 1] / w->value[0] : 1;
	return 0;
}

static int
run_trials(struct work *w, const struct link_trials *p, struct gv_error *e)
{
	const struct link_member *m = w->m;
	size_t i;

	for (i = 0; i < p->n; i++) {
		const struct link_trial *t = &p->trial[i];
		struct link_report r = {.what = t->what,
		    .to = m->rank,
		    .from = link_trial_peer(t, w->n, m->rank)};

		/* who computes has a thread for messages, as workers have */
		if (t->what == LINK_BESIDE && gv_gang_thread(m->gang, e) != 0)
			return -1;
		if (run_trial(w, t, &r, e) != 0)
			return -1;
		if (r.from >= 0 || link_trial_all(t))
			m->tell(m->ctx, &r);
		m->tell(m->ctx, NULL);
	}
	return 0;
}

int
link_member_run(struct link_member *m, const struct link_trials *p, struct gv_error *e)
{
	const struct link_rule *rule = m->rule;
	size_t n = (size_t)rule->n;
	struct work w = {.m = m, .n = rule->n};
	int status;

	w.out = gv_xcalloc(DEPTH, rule->bytes);
	w.in = gv_xcalloc(DEPTH, rule->bytes);
	memset(w.out, 1, DEPTH * rule->bytes); /* pages that are there */
	memset(w.in, 1, DEPTH * rule->bytes);
	w.value = gv_xcalloc(rule->repeats, sizeof(*w.value));
	w.cpu = gv_xcalloc(rule->repeats, sizeof(*w.cpu));
	w.stream = gv_xcalloc(2 * n, sizeof(*w.stream));
	w.waited = gv_xcalloc(2 * n, sizeof(struct gv_message *));
	link_compute_make(&w.compute);
	status = run_trials(&w, p, e);
	link_compute_free(&w.compute);
	if (status != 0)
		return -1; /* what is on its way points there */
	free(w.out);
	free(w.in);
	free(w.value);
	free(w.cpu);
	free(w.stream);
	free(w.waited);
	return 0;
}
