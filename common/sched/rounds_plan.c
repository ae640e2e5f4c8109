/* Plans a round: who runs (rounds_choose.c), then where. */
#include <stdlib.h>

#include "base/mem.h"
#include "sched/rounds_choose.h"
#include "sched/rounds_view.h"

/* ---- placing: which GPUs of the type ---- */

/* Who holds what now. */
struct holding {
	size_t *gpus;    /* [n_jobs][n_types] GPUs of each job, alone or in a pair */
	ptrdiff_t *pair; /* [n_jobs] the pair in which it holds them, -1 = none */
	bool *gone;      /* [n_jobs] they are somebody else's from now on */
	ptrdiff_t *heir; /* [n_jobs] who keeps the GPUs of a job, -1 = nobody */
};

static void
hold(const struct gv_rounds *r, struct holding *h, size_t owner, size_t type)
{
	const size_t *member = r->job[owner].member;

	h->gpus[member[0] * r->n_types + type]++;
	if (member[0] == member[1])
		return;
	h->gpus[member[1] * r->n_types + type]++;
	h->pair[member[0]] = h->pair[member[1]] = (ptrdiff_t)owner;
}

/* Lets m, which shall run, keep the GPUs of its member who, if they are as many as it needs. */
static bool
keep(const struct gv_rounds *r, const struct gv_round_choice *c, struct holding *h,
    size_t m, size_t who)
{
	size_t i;

	if (h->gone[who] ||
	    h->gpus[who * r->n_types + (size_t)c->type[m]] != r->job[m].gang)
		return false;
	h->heir[who] = (ptrdiff_t)m;
	h->gone[who] = true;
	for (i = 0; i < 2 && h->pair[who] >= 0; i++) {
		size_t mate = r->job[h->pair[who]].member[i];

		h->heir[mate] = (ptrdiff_t)m;
		h->gone[mate] = true;
	}
	return true;
}

/* Who of those that shall run keeps GPUs: placed. */
static void
extend_leases(const struct gv_rounds *r, const struct gv_round_choice *c,
    struct holding *h, bool *placed)
{
	size_t m;

	for (m = 0; m < r->n_jobs; m++)
		if (c->type[m] >= 0)
			placed[m] = keep(r, c, h, m, r->job[m].member[0]) ||
				    keep(r, c, h, m, r->job[m].member[1]);
}

/* Gives up to want idle GPUs of a pool to a job; returns how many. */
static size_t
give(const struct gv_rounds *r, size_t pool, size_t want, size_t job, size_t *idle,
    ptrdiff_t *next)
{
	const struct gv_round_pool *p = &r->pool[pool];
	size_t given = 0;
	size_t i;

	for (i = p->first; i < p->first + p->gpus && given < want; i++)
		if (next[i] == GV_GPU_IDLE) {
			next[i] = (ptrdiff_t)job;
			given++;
		}
	idle[pool] -= given;
	return given;
}

/* The tightest pool that has room for all, else the one with most room. */
static size_t
best_pool(const struct gv_rounds *r, size_t type, size_t want, const size_t *idle)
{
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

/* next holds GV_GPU_IDLE where GPUs can be given. */
static void
place_movers(const struct gv_rounds *r, const struct gv_round_choice *c,
    const bool *placed, ptrdiff_t *next)
{
	struct mover *mover = gv_xcalloc(r->n_jobs + 1, sizeof(*mover));
	size_t *idle = gv_xcalloc(r->n_pools + 1, sizeof(*idle));
	size_t n = 0;
	size_t m;
	size_t i;

	for (i = 0; i < r->n_gpus; i++)
		idle[r->gpu_pool[i]] += next[i] == GV_GPU_IDLE;
	for (m = 0; m < r->n_jobs; m++)
		if (c->type[m] >= 0 && !placed[m])
			mover[n++] = (struct mover){r->job[m].gang, m};
	qsort(mover, n, sizeof(*mover), largest_first);
	for (i = 0; i < n; i++) {
		size_t want = mover[i].gang;
		size_t type = (size_t)c->type[mover[i].job];

		while (want > 0)
			want -= give(r, best_pool(r, type, want, idle), want,
			    mover[i].job, idle, next);
	}
	free(mover);
	free(idle);
}

static void
holding_init(const struct gv_rounds *r, struct holding *h)
{
	size_t m;

	h->gpus = gv_xcalloc(r->n_jobs * r->n_types + 1, sizeof(*h->gpus));
	h->pair = gv_xcalloc(r->n_jobs + 1, sizeof(*h->pair));
	h->gone = gv_xcalloc(r->n_jobs + 1, sizeof(*h->gone));
	h->heir = gv_xcalloc(r->n_jobs + 1, sizeof(*h->heir));
	for (m = 0; m < r->n_jobs; m++)
		h->pair[m] = h->heir[m] = -1;
}

/* The plan of rounds in which all jobs are of interest. */
static void
plan(const struct gv_rounds *r, enum gv_round_mode mode, const ptrdiff_t *owner,
    ptrdiff_t *next)
{
	bool *placed = gv_xcalloc(r->n_jobs + 1, sizeof(*placed));
	struct gv_round_choice c;
	struct holding h;
	size_t i;

	gv_round_choice_init(&c, r);
	holding_init(r, &h);
	for (i = 0; i < r->n_gpus; i++) {
		size_t type = gv_rounds_type(r, i);

		if (owner[i] >= 0)
			hold(r, &h, (size_t)owner[i], type);
		if (owner[i] >= 0 && mode == GV_ROUND_FILL) {
			gv_round_run(r, &c, (size_t)owner[i], type);
			placed[owner[i]] = true;
		} else if (owner[i] != GV_GPU_AWAY) {
			c.room[type]++;
		}
	}
	gv_round_choose(r, &c);
	if (mode == GV_ROUND_NEW)
		extend_leases(r, &c, &h, placed);
	for (i = 0; i < r->n_gpus; i++) {
		next[i] = owner[i];
		if (owner[i] >= 0 && mode == GV_ROUND_NEW)
			next[i] = h.heir[r->job[owner[i]].member[0]];
	}
	place_movers(r, &c, placed, next);
	free(placed);
	gv_round_choice_free(&c);
	free(h.gpus);
	free(h.pair);
	free(h.gone);
	free(h.heir);
}

void
gv_rounds_plan(const struct gv_rounds *r, enum gv_round_mode mode, const ptrdiff_t *owner,
    ptrdiff_t *next)
{
	struct gv_round_view v;
	size_t i;

	gv_round_view_init(&v, r, owner);
	for (i = 0; i < r->n_gpus; i++)
		next[i] = gv_round_view_find(&v, r, owner[i]);
	plan(&v.r, mode, next, next);
	for (i = 0; i < r->n_gpus; i++)
		if (next[i] >= 0)
			next[i] = (ptrdiff_t)v.number[next[i]];
	gv_round_view_free(&v);
}
