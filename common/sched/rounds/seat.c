#include "sched/rounds/seat.h"

#include <stdlib.h>

#include "base/mem.h"

void
gv_round_seats_init(
    struct gv_round_seats *s, const struct gv_round_view *v, ptrdiff_t *next)
{
	*s = (struct gv_round_seats){.view = v, .next = next};
	s->idle = gv_xcalloc(v->r.n_pools + 1, sizeof(*s->idle));
	s->from = gv_xcalloc(v->r.n_pools + 1, sizeof(*s->from));
}

void
gv_round_seats_free(struct gv_round_seats *s)
{
	free(s->idle);
	free(s->from);
	free(s->given);
	*s = (struct gv_round_seats){0};
}

/* Gives up to want idle GPUs of a pool to a job; returns how many. */
static size_t
give(struct gv_round_seats *s, size_t pool, size_t want, size_t job)
{
	const struct gv_round_pool *p = &s->view->r.pool[pool];
	size_t given = 0;
	size_t i;

	for (i = s->from[pool]; i < p->gpus && given < want; i++) {
		size_t g = p->first + i;

		if (s->next[g] != GV_GPU_IDLE)
			continue;
		s->next[g] = (ptrdiff_t)s->view->number[job];
		s->given =
		    gv_xgrow(s->given, &s->cap_given, s->n_given + 1, sizeof(*s->given));
		s->given[s->n_given++] = g;
		given++;
	}
	s->from[pool] = i;
	s->idle[pool] -= given;
	return given;
}

/* The tightest pool that has room for all, else the one with most room. */
static size_t
best_pool(const struct gv_round_seats *s, size_t type, size_t want)
{
	const struct gv_rounds *r = &s->view->r;
	const size_t *idle = s->idle;
	size_t best = r->n_pools;
	size_t p;

	for (p = 0; p < r->n_pools; p++) {
		if (r->pool[p].type != type || idle[p] == 0)
			continue;
		if (best == r->n_pools || (idle[best] < want && idle[p] > idle[best]) ||
		    (idle[p] >= want && idle[p] < idle[best]))
			best = p;
	}
	return best;
}

/* A job that needs GPUs. */
struct mover {
	size_t gang;
	size_t job;
};

static int
largest_first(const void *a, const void *b)
{
	const struct mover *x = a;
	const struct mover *y = b;

	if (x->gang != y->gang)
		return x->gang > y->gang ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

void
gv_round_seat(
    struct gv_round_seats *s, const struct gv_round_choice *c, const bool *placed)
{
	const struct gv_rounds *r = &s->view->r;
	struct mover *mover = gv_xcalloc(r->n_jobs + 1, sizeof(*mover));
	size_t n = 0;
	size_t m;
	size_t i;

	for (m = 0; m < r->n_jobs; m++)
		if (c->type[m] >= 0 && !placed[m])
			mover[n++] = (struct mover){r->job[m].gang, m};
	qsort(mover, n, sizeof(*mover), largest_first);
	for (i = 0; i < n; i++) {
		size_t want = mover[i].gang;
		size_t type = (size_t)c->type[mover[i].job];

		while (want > 0)
			want -= give(s, best_pool(s, type, want), want, mover[i].job);
	}
	free(mover);
}
