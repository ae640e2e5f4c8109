/*
 * Idle GPUs within a round.  They are few as a rule, and those that wait for them many:
 * only as many of each kind are looked at closely as could have them all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/rounds/seat.h"

/* With more idle GPUs, or fewer jobs, all are looked at. */
enum { MOST_GPUS = 64, FEW_JOBS = 32 };

/* A job and its place in an order. */
struct ranked {
	struct gv_round_rank rank;
	size_t job;
};

/* The first jobs of equal gangs on a type, in order. */
struct best {
	size_t type, gang;
	size_t n;
	struct ranked of[MOST_GPUS + 1];
};

struct fill {
	struct gv_rounds *r;
	struct gv_round_fill *f;
	size_t *room; /* [n_types] idle GPUs */
	size_t gpus;  /* the sum of them */
	bool all;     /* all are looked at */
	bool rest;    /* by the order of what is left over */
	size_t *done; /* [n_done] who has got some, ascending */
	size_t n_done;
	size_t n_best, cap_best;
	struct best *best;
	size_t *pick; /* [n_picked] who is looked at closely */
	size_t n_picked, cap_picked;
};

static void
count_room(struct fill *s)
{
	const struct gv_rounds *r = s->r;
	size_t p;

	s->gpus = 0;
	memset(s->room, 0, r->n_types * sizeof(*s->room));
	for (p = 0; p < r->n_pools; p++) {
		s->room[r->pool[p].type] += s->f->idle[p];
		s->gpus += s->f->idle[p];
	}
	s->all =
	    s->gpus > MOST_GPUS || s->f->n < FEW_JOBS + 2 * s->gpus || r->pairs.n > 0;
}

static void
pick(struct fill *s, size_t m)
{
	s->pick = gv_xgrow(s->pick, &s->cap_picked, s->n_picked + 1, sizeof(*s->pick));
	s->pick[s->n_picked++] = m;
}

/* ---- the first of each kind ---- */

static struct best *
find_best(struct fill *s, size_t type, size_t gang)
{
	size_t i;

	for (i = 0; i < s->n_best; i++)
		if (s->best[i].type == type && s->best[i].gang == gang)
			return &s->best[i];
	s->best = gv_xgrow(s->best, &s->cap_best, s->n_best + 1, sizeof(*s->best));
	s->best[s->n_best].type = type;
	s->best[s->n_best].gang = gang;
	s->best[s->n_best].n = 0;
	return &s->best[s->n_best++];
}

static bool
goes_before(const struct ranked *a, const struct ranked *b)
{
	size_t k;

	for (k = 0; k < 3; k++)
		if (a->rank.key[k] != b->rank.key[k])
			return a->rank.key[k] > b->rank.key[k];
	return a->job < b->job;
}

/* Puts it where it belongs among the first, one more of them than there are GPUs. */
static void
enter(const struct fill *s, struct best *b, const struct ranked *a)
{
	size_t most = s->gpus + 1;
	size_t i;

	if (b->n == most && !goes_before(a, &b->of[b->n - 1]))
		return;
	b->n += b->n < most;
	for (i = b->n - 1; i > 0 && goes_before(a, &b->of[i - 1]); i--)
		b->of[i] = b->of[i - 1];
	b->of[i] = *a;
}

/* Its order on a type; what is left over is left over on all of them. */
static bool
rank_on(const struct fill *s, size_t m, size_t type, struct gv_round_rank *rank)
{
	return s->rest ? gv_round_rank_rest(s->r, m, rank)
		       : gv_round_rank_promised(s->r, m, type, rank);
}

static void
look_at(struct fill *s, size_t m)
{
	size_t gang = s->r->job[m].gang;
	struct ranked a = {.job = m};
	size_t j;

	for (j = 0; j < s->r->n_types; j++)
		if (gang <= s->room[j] && gv_rounds_claim(s->r, m, j)->rate > 0 &&
		    rank_on(s, m, j, &a.rank))
			enter(s, find_best(s, j, gang), &a);
}

/* ---- who is looked at ---- */

static int
by_number(const void *a, const void *b)
{
	const size_t *x = a;
	const size_t *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void
sort_picks(struct fill *s)
{
	size_t n = 0;
	size_t i;

	if (s->n_picked > 1)
		qsort(s->pick, s->n_picked, sizeof(*s->pick), by_number);
	for (i = 0; i < s->n_picked; i++)
		if (n == 0 || s->pick[n - 1] != s->pick[i])
			s->pick[n++] = s->pick[i];
	s->n_picked = n;
}

/* The pairs of two that are there. */
static void
pick_pairs(struct fill *s)
{
	const struct gv_rounds *r = s->r;
	size_t n = s->n_picked;
	size_t i;

	for (i = 0; i < n; i++) {
		size_t m = s->pick[i];
		ptrdiff_t pair = r->job[m].pairs;

		while (pair >= 0) {
			const struct gv_round_job *p = &r->job[pair];

			if (p->member[0] == m && p->live &&
			    bsearch(&p->member[1], s->pick, n, sizeof(m), by_number) !=
				NULL)
				pick(s, (size_t)pair);
			pair = p->next[p->member[1] == m];
		}
	}
	if (s->n_picked > n)
		sort_picks(s);
}

static void
pick_jobs(struct fill *s)
{
	size_t i;
	size_t k;

	s->n_picked = s->n_best = 0;
	for (i = 0; i < s->f->n; i++) {
		size_t m = s->f->job[i];

		if (!s->r->job[m].ready || s->r->job[m].gang > s->gpus ||
		    (s->n_done > 0 &&
			bsearch(&m, s->done, s->n_done, sizeof(m), by_number) != NULL))
			continue;
		if (s->all)
			pick(s, m);
		else
			look_at(s, m);
	}
	for (i = 0; i < s->n_best; i++)
		for (k = 0; k < s->best[i].n; k++)
			pick(s, s->best[i].of[k].job);
	sort_picks(s);
	pick_pairs(s);
}

/* ---- who gets them ---- */

static void
note_given(struct gv_round_fill *f, const struct gv_round_seats *seats)
{
	size_t cap = f->n_given;

	if (seats->n_given == 0)
		return;
	f->given =
	    gv_xgrow(f->given, &cap, f->n_given + seats->n_given, sizeof(*f->given));
	memcpy(f->given + f->n_given, seats->given, seats->n_given * sizeof(*f->given));
	f->n_given += seats->n_given;
	qsort(f->given, f->n_given, sizeof(*f->given), by_number);
}

static void
note_done(struct fill *s, const struct gv_round_view *v, const struct gv_round_choice *c)
{
	size_t m;

	free(s->done);
	s->done = gv_xcalloc(v->r.n_jobs + 1, sizeof(*s->done));
	s->n_done = 0;
	for (m = 0; m < v->r.n_jobs; m++)
		if (c->as[m] >= 0)
			s->done[s->n_done++] = v->number[m];
}

static void
seat(struct fill *s, const struct gv_round_view *v, const struct gv_round_choice *c)
{
	bool *placed = gv_xcalloc(v->r.n_jobs + 1, sizeof(*placed));
	struct gv_round_seats seats;

	gv_round_seats_init(&seats, v, s->f->next);
	memcpy(seats.idle, s->f->idle, s->r->n_pools * sizeof(*seats.idle));
	gv_round_seat(&seats, c, placed);
	memcpy(s->f->idle, seats.idle, s->r->n_pools * sizeof(*seats.idle));
	note_given(s->f, &seats);
	gv_round_seats_free(&seats);
	free(placed);
}

/* Chooses among those picked, which it takes, and gives them GPUs. */
static void
give(struct fill *s)
{
	struct gv_round_choice c;
	struct gv_round_view v;

	gv_round_view_some(&v, s->r, s->pick, s->n_picked);
	s->pick = NULL;
	s->cap_picked = 0;
	gv_round_choice_init(&c, &v.r);
	memcpy(c.room, s->room, s->r->n_types * sizeof(*c.room));
	if (!s->rest)
		gv_round_choose_promised(&v.r, &c);
	if (s->rest || s->all)
		gv_round_choose_rest(&v.r, &c);
	seat(s, &v, &c);
	note_done(s, &v, &c);
	gv_round_choice_free(&c);
	gv_round_view_free(&v);
}

void
gv_rounds_fill(struct gv_rounds *r, struct gv_round_fill *f)
{
	struct fill s = {.r = r, .f = f};

	s.room = gv_xcalloc(r->n_types + 1, sizeof(*s.room));
	count_room(&s);
	while (s.gpus > 0 && f->n > 0) {
		pick_jobs(&s);
		if (s.n_picked > 0)
			give(&s);
		if (s.all || s.rest)
			break;
		s.rest = true; /* and what is left over, to whoever it is */
		count_room(&s);
		s.all = false;
	}
	free(s.room);
	free(s.best);
	free(s.pick);
	free(s.done);
}
