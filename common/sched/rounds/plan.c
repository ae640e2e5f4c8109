/* Plans a round: who runs (choose.c), then where. */
#include <stdlib.h>

#include "base/mem.h"
#include "sched/rounds/choose.h"
#include "sched/rounds/seat.h"
#include "sched/rounds/view.h"

/* ---- leases ---- */

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

/* All GPUs but those away are given anew; who stays on its type keeps its GPUs. */
static void
plan_anew(const struct gv_round_view *v, const ptrdiff_t *owner, ptrdiff_t *next)
{
	const struct gv_rounds *r = &v->r;
	struct gv_round_seats seats;
	struct gv_round_choice c;
	struct holding h;
	bool *placed = gv_xcalloc(r->n_jobs + 1, sizeof(*placed));
	size_t i;

	gv_round_choice_init(&c, r);
	holding_init(r, &h);
	for (i = 0; i < r->n_gpus; i++) {
		size_t type = gv_rounds_type(r, i);

		if (owner[i] >= 0)
			hold(r, &h, (size_t)owner[i], type);
		c.room[type] += owner[i] != GV_GPU_AWAY;
	}
	gv_round_choose(r, &c);
	extend_leases(r, &c, &h, placed);
	gv_round_seats_init(&seats, v, next);
	for (i = 0; i < r->n_gpus; i++) {
		ptrdiff_t heir =
		    owner[i] < 0 ? owner[i] : h.heir[r->job[owner[i]].member[0]];

		next[i] = heir < 0 ? heir : (ptrdiff_t)v->number[heir];
		seats.idle[r->gpu_pool[i]] += next[i] == GV_GPU_IDLE;
	}
	gv_round_seat(&seats, &c, placed);
	gv_round_seats_free(&seats);
	free(placed);
	gv_round_choice_free(&c);
	free(h.gpus);
	free(h.pair);
	free(h.gone);
	free(h.heir);
}

static void
plan_new(struct gv_rounds *r, const ptrdiff_t *owner, ptrdiff_t *next)
{
	struct gv_round_view v;
	size_t i;

	gv_round_view_init(&v, r, owner);
	for (i = 0; i < r->n_gpus; i++)
		next[i] = gv_round_view_find(&v, r, owner[i]);
	plan_anew(&v, next, next);
	gv_round_view_free(&v);
}

/* Who has no place, and which GPUs nobody has. */
static void
plan_idle(struct gv_rounds *r, const ptrdiff_t *owner, ptrdiff_t *next)
{
	bool *placed = gv_xcalloc(r->n_jobs + 1, sizeof(*placed));
	size_t *job = gv_xcalloc(r->n_live + 1, sizeof(*job));
	size_t *idle = gv_xcalloc(r->n_pools + 1, sizeof(*idle));
	struct gv_round_fill f = {.job = job, .idle = idle, .next = next};
	size_t i;

	for (i = 0; i < r->n_gpus; i++) {
		next[i] = owner[i];
		idle[r->gpu_pool[i]] += owner[i] == GV_GPU_IDLE;
		if (owner[i] >= 0)
			placed[r->job[owner[i]].member[0]] =
			    placed[r->job[owner[i]].member[1]] = true;
	}
	for (i = 0; i < r->n_live; i++)
		if (!placed[r->live[i]] && !gv_rounds_is_pair(r, r->live[i]))
			job[f.n++] = r->live[i];
	gv_rounds_fill(r, &f);
	free(f.given);
	free(placed);
	free(job);
	free(idle);
}

void
gv_rounds_plan(
    struct gv_rounds *r, enum gv_round_mode mode, const ptrdiff_t *owner, ptrdiff_t *next)
{
	if (mode == GV_ROUND_NEW)
		plan_new(r, owner, next);
	else
		plan_idle(r, owner, next);
}
