/* Plans a round: who runs, then where. */
#include <stdlib.h>

#include "base/mem.h"
#include "sched/rounds.h"

/* ---- choosing: which job on which type ---- */

/* A wish to run, in the order of the queue. */
struct wish {
	ptrdiff_t rank; /* smaller first */
	double key;     /* larger first */
	double share;   /* larger first */
	size_t job;
	size_t type;
};

struct choice {
	size_t *room;    /* [n_types] GPUs not given yet */
	ptrdiff_t *type; /* [n_jobs] where it shall run, -1 = nowhere */
	ptrdiff_t *as;   /* [n_jobs] itself or its pair that shall run, -1 = none */
};

static bool
may_run(const struct gv_rounds *r, size_t m)
{
	const size_t *member = r->job[m].member;

	return gv_rounds_is_active(r, m) && r->job[member[0]].ready &&
	       r->job[member[1]].ready;
}

static bool
can_run_on(const struct gv_rounds *r, size_t m, size_t type)
{
	const struct gv_round_claim *c = gv_rounds_claim(r, m, type);

	return c->rate > 0 && (!gv_rounds_is_pair(r, m) || c->with_rate > 0);
}

static int
in_queue(const void *a, const void *b)
{
	const struct wish *x = a;
	const struct wish *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

static bool
fits(const struct gv_rounds *r, const struct choice *c, size_t m, size_t j)
{
	const size_t *member = r->job[m].member;

	return c->as[member[0]] < 0 && c->as[member[1]] < 0 && can_run_on(r, m, j) &&
	       r->job[m].gang <= c->room[j];
}

static void
run_on(const struct gv_rounds *r, struct choice *c, size_t m, size_t j)
{
	const size_t *member = r->job[m].member;

	c->type[m] = (ptrdiff_t)j;
	c->as[member[0]] = c->as[member[1]] = (ptrdiff_t)m;
}

static void
take(const struct gv_rounds *r, struct choice *c, size_t m, size_t j)
{
	run_on(r, c, m, j);
	c->room[j] -= r->job[m].gang;
}

/* Pass 1: what is owed by the end of the round; the longest waiting first of those in debt. */
static void
choose_owed(const struct gv_rounds *r, struct choice *c, struct wish *wish)
{
	size_t n = 0;
	size_t m;
	size_t j;
	size_t i;

	for (m = 0; m < r->n_jobs; m++)
		for (j = 0; j < r->n_types && may_run(r, m); j++) {
			const struct gv_round_claim *k = gv_rounds_claim(r, m, j);
			double owed = k->lag_s + k->share * r->round_s;

			/* less than a billionth of a round is rounding */
			if (!fits(r, c, m, j) || k->share == 0 ||
			    owed <= 1e-9 * r->round_s)
				continue;
			if (owed >= GV_ROUND_DEBT * r->round_s)
				wish[n++] =
				    (struct wish){-1, k->waited_s, k->share, m, j};
			else
				wish[n++] = (struct wish){0, owed, k->share, m, j};
		}
	qsort(wish, n, sizeof(*wish), in_queue);
	for (i = 0; i < n; i++)
		if (fits(r, c, wish[i].job, wish[i].type))
			take(r, c, wish[i].job, wish[i].type);
}

/* The largest rate of a job alone; 1 if it has none. */
static double
alone(const struct gv_rounds *r, size_t m)
{
	double best = 0;
	size_t j;

	for (j = 0; j < r->n_types; j++)
		if (gv_rounds_claim(r, m, j)->rate > best)
			best = gv_rounds_claim(r, m, j)->rate;
	return best > 0 ? best : 1;
}

/* How fast a type is to it; of a pair, as parts of what each has at best alone. */
static double
speed(const struct gv_rounds *r, size_t m, size_t j)
{
	const struct gv_round_claim *c = gv_rounds_claim(r, m, j);
	const size_t *member = r->job[m].member;

	if (!gv_rounds_is_pair(r, m))
		return c->rate;
	return c->rate / alone(r, member[0]) + c->with_rate / alone(r, member[1]);
}

static size_t
fastest(const struct gv_rounds *r, const struct choice *c, size_t m)
{
	size_t best = r->n_types;
	size_t j;

	for (j = 0; j < r->n_types; j++)
		if (fits(r, c, m, j) &&
		    (best == r->n_types || speed(r, m, j) > speed(r, m, best)))
			best = j;
	return best;
}

/* Pass 2: what is left over, to the least served job on its fastest type. */
static void
choose_rest(const struct gv_rounds *r, struct choice *c, struct wish *wish)
{
	size_t n = 0;
	size_t m;
	size_t j;
	size_t i;

	for (m = 0; m < r->n_jobs; m++) {
		struct wish w = {.job = m};

		if (!may_run(r, m) || c->as[m] >= 0)
			continue;
		for (j = 0; j < r->n_types; j++) {
			const struct gv_round_claim *k = gv_rounds_claim(r, m, j);

			w.share += k->share;
			w.key += k->lag_s;
		}
		w.rank =
		    w.share > 0 ? 0 : 1; /* those that were promised nothing come last */
		if (w.share > 0 || !gv_rounds_is_pair(r, m))
			wish[n++] = w;
	}
	qsort(wish, n, sizeof(*wish), in_queue);
	for (i = 0; i < n; i++) {
		size_t best = fastest(r, c, wish[i].job);

		if (best < r->n_types)
			take(r, c, wish[i].job, best);
	}
}

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
keep(const struct gv_rounds *r, const struct choice *c, struct holding *h, size_t m,
    size_t who)
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
extend_leases(
    const struct gv_rounds *r, const struct choice *c, struct holding *h, bool *placed)
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

/* next holds GV_GPU_IDLE where GPUs can be given. */
static void
place_movers(const struct gv_rounds *r, const struct choice *c, const bool *placed,
    struct wish *wish, ptrdiff_t *next)
{
	size_t *idle = gv_xcalloc(r->n_pools + 1, sizeof(*idle));
	size_t n = 0;
	size_t m;
	size_t i;

	for (i = 0; i < r->n_gpus; i++)
		idle[r->gpu_pool[i]] += next[i] == GV_GPU_IDLE;
	for (m = 0; m < r->n_jobs; m++)
		if (c->type[m] >= 0 && !placed[m])
			wish[n++] =
			    (struct wish){.rank = -(ptrdiff_t)r->job[m].gang, .job = m};
	qsort(wish, n, sizeof(*wish), in_queue); /* the largest gang first */
	for (i = 0; i < n; i++) {
		size_t want = r->job[wish[i].job].gang;
		size_t type = (size_t)c->type[wish[i].job];

		while (want > 0)
			want -= give(r, best_pool(r, type, want, idle), want, wish[i].job,
			    idle, next);
	}
	free(idle);
}

static void
choice_init(const struct gv_rounds *r, struct choice *c)
{
	size_t m;

	c->room = gv_xcalloc(r->n_types + 1, sizeof(*c->room));
	c->type = gv_xcalloc(r->n_jobs + 1, sizeof(*c->type));
	c->as = gv_xcalloc(r->n_jobs + 1, sizeof(*c->as));
	for (m = 0; m < r->n_jobs; m++)
		c->type[m] = c->as[m] = -1;
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

void
gv_rounds_plan(const struct gv_rounds *r, enum gv_round_mode mode, const ptrdiff_t *owner,
    ptrdiff_t *next)
{
	struct wish *wish =
	    gv_xcalloc(r->n_jobs * r->n_types + r->n_jobs + 1, sizeof(*wish));
	bool *placed = gv_xcalloc(r->n_jobs + 1, sizeof(*placed));
	struct choice c;
	struct holding h;
	size_t i;

	choice_init(r, &c);
	holding_init(r, &h);
	for (i = 0; i < r->n_gpus; i++) {
		size_t type = gv_rounds_type(r, i);

		if (owner[i] >= 0)
			hold(r, &h, (size_t)owner[i], type);
		if (owner[i] >= 0 && mode == GV_ROUND_FILL) {
			run_on(r, &c, (size_t)owner[i], type);
			placed[owner[i]] = true;
		} else if (owner[i] != GV_GPU_AWAY) {
			c.room[type]++;
		}
	}
	choose_owed(r, &c, wish);
	choose_rest(r, &c, wish);
	if (mode == GV_ROUND_NEW)
		extend_leases(r, &c, &h, placed);
	for (i = 0; i < r->n_gpus; i++) {
		next[i] = owner[i];
		if (owner[i] >= 0 && mode == GV_ROUND_NEW)
			next[i] = h.heir[r->job[owner[i]].member[0]];
	}
	place_movers(r, &c, placed, wish, next);
	free(wish);
	free(placed);
	free(c.room);
	free(c.type);
	free(c.as);
	free(h.gpus);
	free(h.pair);
	free(h.gone);
	free(h.heir);
}
