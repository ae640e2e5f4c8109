/* The placement of largest weight: greedy from three sides, then exchanges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/rounds/search.h"

enum { PASSES = 8 }; /* over all wishes; nearly always two or three find all there is */

/* Sums of weights that differ by less are equal; rounding is 1e-16 of them a job. */
static const double tiny = 1e-12;

struct search {
	struct gv_round_board b;

	/* a move: wishes that leave, the first n_own of them for their members */
	size_t *out; /* [n_out] */
	size_t n_out;
	size_t n_own;
	size_t *next; /* [n_gangs] */

	/* known of moves, until one is made */
	double *density; /* [n_types] largest weight per GPU of those without a place */
	double *failed;  /* [n_types][n_gangs] what found no way in, nor what is less */
};

static void
greedy(struct search *s)
{
	size_t i;

	for (i = 0; i < s->b.n; i++)
		if (gv_round_can_put(&s->b, s->b.order[i]))
			gv_round_put(&s->b, s->b.order[i]);
}

/* ---- exchanges ---- */

/* Whether wish k leaves anyway, since it runs a member of the one that is put. */
static bool
is_own(const struct search *s, size_t k)
{
	size_t i;

	for (i = 0; i < s->n_own; i++)
		if (s->out[i] == k)
			return true;
	return false;
}

/* The members of wish i leave where they are now: what that costs.  *need falls by their GPUs. */
static double
own_loss(struct search *s, size_t i, size_t *need)
{
	const size_t *member = s->b.r->job[s->b.wish[i].job].member;
	double loss = 0;
	size_t k;

	s->n_out = s->n_own = 0;
	for (k = 0; k < 2; k++) {
		ptrdiff_t w = s->b.of[member[k]];

		if (w < 0 || is_own(s, (size_t)w))
			continue;
		s->out[s->n_out++] = (size_t)w;
		s->n_own = s->n_out;
		loss += s->b.wish[w].weight;
		if (s->b.wish[w].type == s->b.wish[i].type)
			*need -= *need < gv_round_gang(&s->b, (size_t)w)
				     ? *need
				     : gv_round_gang(&s->b, (size_t)w);
	}
	return loss;
}

/* The wish of least weight on a type with at least so many GPUs; n = none. */
static size_t
cheapest(const struct search *s, size_t type, size_t need)
{
	size_t best = s->b.n;
	size_t g;

	for (g = 0; g < s->b.n_gangs; g++) {
		const struct gv_round_bucket *b = gv_round_bucket(&s->b, type, g);
		size_t k = 0;

		while (k < b->n && is_own(s, b->wish[k]))
			k++;
		if (s->b.gang[g] >= need && k < b->n &&
		    (best == s->b.n ||
			s->b.wish[b->wish[k]].weight < s->b.wish[best].weight))
			best = b->wish[k];
	}
	return best;
}

/* The next on a type in the order of weight / gang; n = there is no other. */
static size_t
next_lightest(const struct search *s, size_t type)
{
	size_t best = s->b.n;
	size_t best_g = 0;
	size_t g;

	for (g = 0; g < s->b.n_gangs; g++) {
		const struct gv_round_bucket *b = gv_round_bucket(&s->b, type, g);
		size_t k;

		while (s->next[g] < b->n && is_own(s, b->wish[s->next[g]]))
			s->next[g]++;
		if (s->next[g] == b->n)
			continue;
		k = b->wish[s->next[g]];
		if (best == s->b.n || s->b.wish[k].weight * (double)s->b.gang[best_g] <
					  s->b.wish[best].weight * (double)s->b.gang[g]) {
			best = k;
			best_g = g;
		}
	}
	if (best < s->b.n)
		s->next[best_g]++;
	return best;
}

/*
 * Adds to s->out who leaves a type so that need GPUs come free, and returns what that
 * costs: one job that is large enough, or several of the least weight for their GPUs,
 * whichever costs less.  HUGE_VAL = there are not so many.
 */
static double
others_loss(struct search *s, size_t type, size_t need)
{
	size_t one = cheapest(s, type, need);
	double one_loss = one < s->b.n ? s->b.wish[one].weight : HUGE_VAL;
	double loss = 0;
	size_t freed = 0;
	size_t i;

	memset(s->next, 0, s->b.n_gangs * sizeof(*s->next));
	while (freed < need) {
		size_t k = next_lightest(s, type);

		if (k == s->b.n)
			break;
		s->out[s->n_out++] = k;
		freed += gv_round_gang(&s->b, k);
		loss += s->b.wish[k].weight;
	}
	for (i = s->n_out; freed >= need && i-- > s->n_own;)
		if (freed - gv_round_gang(&s->b, s->out[i]) >= need) {
			freed -= gv_round_gang(&s->b, s->out[i]);
			loss -= s->b.wish[s->out[i]].weight;
			s->out[i] = s->out[--s->n_out];
		}
	if (freed >= need && loss <= one_loss)
		return loss;
	s->n_out = s->n_own;
	if (one < s->b.n)
		s->out[s->n_out++] = one;
	return one_loss;
}

/* The best wish of a job, or pair, for which there is room; n = none. */
static size_t
elsewhere(const struct search *s, size_t job)
{
	size_t best = s->b.n;
	size_t i;

	for (i = s->b.first[job]; i < s->b.first[job + 1]; i++)
		if (gv_round_gang(&s->b, i) <= s->b.room[s->b.wish[i].type] &&
		    (best == s->b.n || s->b.wish[i].weight > s->b.wish[best].weight))
			best = i;
	return best;
}

/* A job that has lost its place, alone: what it would be worth; now: puts it there. */
static double
settle(struct search *s, size_t job, bool now)
{
	size_t other = elsewhere(s, job);

	if (other == s->b.n || (now && !gv_round_can_put(&s->b, other)))
		return 0;
	if (now)
		gv_round_put(&s->b, other);
	return s->b.wish[other].weight;
}

/* Settles all in s->out, the two of a pair also each by itself. */
static double
settle_all(struct search *s, bool now)
{
	double sum = 0;
	size_t k;

	for (k = 0; k < s->n_out; k++) {
		size_t job = s->b.wish[s->out[k]].job;
		const size_t *member = s->b.r->job[job].member;

		if (k >= s->n_own)
			sum += settle(s, job, now);
		if (member[0] != member[1])
			sum += settle(s, member[0], now) + settle(s, member[1], now);
	}
	return sum;
}

/* Puts a wish in place of those in s->out; others follow to where GPUs have come free. */
static void
move(struct search *s, size_t i)
{
	size_t k;

	for (k = 0; k < s->n_out; k++)
		gv_round_drop(&s->b, s->out[k]);
	gv_round_put(&s->b, i);
	gv_round_refill(&s->b, s->b.wish[i].type);
	for (k = 0; k < s->n_own; k++)
		gv_round_refill(&s->b, s->b.wish[s->out[k]].type);
	settle_all(s, true);
}

/* What is known of moves, after one. */
static void
look_again(struct search *s)
{
	size_t j;
	size_t g;

	for (j = 0; j < s->b.r->n_types; j++) {
		s->density[j] = 0;
		for (g = 0; g < s->b.n_gangs; g++) {
			s->failed[j * s->b.n_gangs + g] = 0;
			size_t k = gv_round_best_free(
			    &s->b, gv_round_bucket(&s->b, j, g), false);

			if (k < s->b.n)
				s->density[j] = fmax(s->density[j],
				    s->b.wish[k].weight / (double)s->b.gang[g]);
		}
	}
}

/* What those may be worth that follow to where GPUs come free by a move. */
static double
hope(struct search *s, size_t i)
{
	size_t type = s->b.wish[i].type;
	double gpus = (double)s->b.room[type] - (double)gv_round_gang(&s->b, i);
	double hope = settle_all(s, false);
	size_t k;

	for (k = 0; k < s->n_out; k++) {
		size_t from = s->b.wish[s->out[k]].type;
		size_t gang = gv_round_gang(&s->b, s->out[k]);

		if (from == type)
			gpus += (double)gang;
		else
			hope += s->density[from] * (double)(gang + s->b.room[from]);
	}
	return hope + s->density[type] * gpus;
}

/* Puts a wish, should others have to leave for it, if the sum grows. */
static bool
exchange(struct search *s, size_t i)
{
	const struct gv_round_wish *w = &s->b.wish[i];
	double *failed = &s->failed[w->type * s->b.n_gangs + s->b.gang_of[i]];
	size_t need = gv_round_gang(&s->b, i);
	double loss = own_loss(s, i, &need);

	/* of jobs without a place, that need the same, the largest weight has most to give */
	if (s->n_own == 0 && w->weight <= *failed)
		return false;
	need -= need < s->b.room[w->type] ? need : s->b.room[w->type];
	if (need > 0)
		loss += others_loss(s, w->type, need);
	if (loss < w->weight + hope(s, i)) {
		s->b.n_steps = 0;
		move(s, i);
		if (gv_round_gained(&s->b) > tiny * w->weight) {
			look_again(s);
			return true;
		}
		gv_round_undo(&s->b);
	}
	if (s->n_own == 0)
		*failed = w->weight;
	return false;
}

static void
improve(struct search *s)
{
	bool moved = true;
	int pass;
	size_t i;

	look_again(s);
	for (pass = 0; pass < PASSES && moved; pass++) {
		moved = false;
		for (i = 0; i < s->b.n; i++)
			if (!gv_round_is_put(&s->b, s->b.order[i]) &&
			    exchange(s, s->b.order[i]))
				moved = true;
	}
}

/* ---- the search ---- */

static void
search_init(struct search *s, const struct gv_rounds *r, const struct gv_round_wish *wish,
    size_t n)
{
	gv_round_board_init(&s->b, r, wish, n);
	s->out = gv_xcalloc(n + 2, sizeof(*s->out));
	s->next = gv_xcalloc(s->b.n_gangs, sizeof(*s->next));
	s->density = gv_xcalloc(r->n_types, sizeof(*s->density));
	s->failed = gv_xcalloc(r->n_types * s->b.n_gangs, sizeof(*s->failed));
}

static void
search_free(struct search *s)
{
	gv_round_board_free(&s->b);
	free(s->out);
	free(s->next);
	free(s->density);
	free(s->failed);
}

void
gv_round_search(const struct gv_rounds *r, const size_t *room,
    const struct gv_round_wish *wish, size_t n, bool *taken)
{
	static const double power[] = {0, .5, 1};
	struct search s = {0};
	ptrdiff_t *best;
	double best_sum = -1;
	size_t i;
	size_t k;

	if (n == 0)
		return;
	search_init(&s, r, wish, n);
	best = gv_xcalloc(r->n_jobs, sizeof(*best));
	for (k = 0; k < 3 && (k == 0 || s.b.n_gangs > 1); k++) {
		double sum = 0;

		gv_round_board_clear(&s.b, room);
		if (k > 0)
			gv_round_board_rank(&s.b, power[k]);
		greedy(&s);
		improve(&s);
		for (i = 0; i < n; i++)
			sum += gv_round_is_put(&s.b, i) ? wish[i].weight : 0;
		if (sum > best_sum * (1 + tiny)) {
			best_sum = sum;
			memcpy(best, s.b.of, r->n_jobs * sizeof(*best));
		}
	}
	for (i = 0; i < n; i++)
		taken[i] = best[r->job[wish[i].job].member[0]] == (ptrdiff_t)i;
	search_free(&s);
	free(best);
}
