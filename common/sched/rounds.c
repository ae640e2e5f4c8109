#include "sched/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- state ---- */

void
gv_rounds_init(struct gv_rounds *r, const struct gv_cluster *c, double round_s)
{
	size_t p;
	size_t i;

	*r = (struct gv_rounds){
	    .n_types = c->n_types, .n_pools = c->n_pools, .round_s = round_s};
	r->pool = gv_xcalloc(c->n_pools + 1, sizeof(*r->pool));
	for (p = 0; p < c->n_pools; p++) {
		r->pool[p] =
		    (struct gv_round_pool){c->pool[p].type, r->n_gpus, c->pool[p].gpus};
		r->n_gpus += c->pool[p].gpus;
	}
	r->gpu_pool = gv_xcalloc(r->n_gpus + 1, sizeof(*r->gpu_pool));
	for (p = 0; p < c->n_pools; p++)
		for (i = 0; i < r->pool[p].gpus; i++)
			r->gpu_pool[r->pool[p].first + i] = p;
}

void
gv_rounds_free(struct gv_rounds *r)
{
	free(r->pool);
	free(r->gpu_pool);
	free(r->job);
	free(r->claim);
	*r = (struct gv_rounds){0};
}

size_t
gv_rounds_add(struct gv_rounds *r, size_t gang)
{
	size_t n = r->n_jobs;

	r->job = gv_xgrow(r->job, &r->cap_jobs, n + 1, sizeof(*r->job));
	r->claim =
	    gv_xgrow(r->claim, &r->cap_claims, (n + 1) * r->n_types, sizeof(*r->claim));
	r->job[n] = (struct gv_round_job){.gang = gang, .ready = true};
	memset(&r->claim[n * r->n_types], 0, r->n_types * sizeof(*r->claim));
	return r->n_jobs++;
}

size_t
gv_rounds_type(const struct gv_rounds *r, size_t gpu)
{
	return r->pool[r->gpu_pool[gpu]].type;
}

static size_t
type_gpus(const struct gv_rounds *r, size_t type)
{
	size_t n = 0;
	size_t p;

	for (p = 0; p < r->n_pools; p++)
		if (r->pool[p].type == type)
			n += r->pool[p].gpus;
	return n;
}

bool
gv_rounds_possible(const struct gv_rounds *r, size_t job)
{
	size_t j;

	for (j = 0; j < r->n_types; j++)
		if (gv_rounds_claim(r, job, j)->rate > 0 &&
		    r->job[job].gang <= type_gpus(r, j))
			return true;
	return false;
}

void
gv_rounds_pass(struct gv_rounds *r, double seconds)
{
	size_t m;
	size_t j;

	for (m = 0; m < r->n_jobs; m++)
		for (j = 0; r->job[m].active && j < r->n_types; j++) {
			struct gv_round_claim *c = gv_rounds_claim(r, m, j);

			c->waited_s += seconds;
			c->lag_s += c->share * seconds;
			if (c->lag_s > GV_ROUND_DEBT * r->round_s)
				c->lag_s = GV_ROUND_DEBT * r->round_s;
		}
}

void
gv_rounds_credit(struct gv_rounds *r, size_t job, size_t type, double seconds)
{
	struct gv_round_claim *c = gv_rounds_claim(r, job, type);

	c->received_s += seconds;
	c->lag_s -= seconds;
	c->waited_s = 0;
}

void
gv_rounds_settle(struct gv_rounds *r)
{
	size_t i;

	for (i = 0; i < r->n_jobs * r->n_types; i++) {
		double *lag = &r->claim[i].lag_s;

		if (r->claim[i].share == 0 || *lag < 0)
			*lag = 0;
		else if (*lag > r->round_s)
			*lag = r->round_s;
	}
}

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
};

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
	return c->type[m] < 0 && gv_rounds_claim(r, m, j)->rate > 0 &&
	       r->job[m].gang <= c->room[j];
}

static void
take(const struct gv_rounds *r, struct choice *c, size_t m, size_t j)
{
	c->type[m] = (ptrdiff_t)j;
	c->room[j] -= r->job[m].gang;
}

static bool
may_run(const struct gv_rounds *r, size_t m)
{
	return r->job[m].active && r->job[m].ready;
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

		if (!may_run(r, m) || c->type[m] >= 0)
			continue;
		for (j = 0; j < r->n_types; j++) {
			const struct gv_round_claim *k = gv_rounds_claim(r, m, j);

			w.share += k->share;
			w.key += k->lag_s;
		}
		w.rank =
		    w.share > 0 ? 0 : 1; /* those that were promised nothing come last */
		wish[n++] = w;
	}
	qsort(wish, n, sizeof(*wish), in_queue);
	for (i = 0; i < n; i++) {
		size_t best = r->n_types;

		m = wish[i].job;
		for (j = 0; j < r->n_types; j++)
			if (fits(r, c, m, j) &&
			    (best == r->n_types || gv_rounds_claim(r, m, j)->rate >
						       gv_rounds_claim(r, m, best)->rate))
				best = j;
		if (best < r->n_types)
			take(r, c, m, best);
	}
}

/* ---- placing: which GPUs of the type ---- */

/* GPUs the job holds on the type it shall run on, when they are as many as it needs. */
static bool
can_stay(const struct gv_rounds *r, const struct choice *c, const size_t *held, size_t m)
{
	return c->type[m] >= 0 &&
	       held[m * r->n_types + (size_t)c->type[m]] == r->job[m].gang;
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

void
gv_rounds_plan(const struct gv_rounds *r, enum gv_round_mode mode, const ptrdiff_t *owner,
    ptrdiff_t *next)
{
	size_t cells = r->n_jobs * r->n_types;
	struct wish *wish = gv_xcalloc(cells + r->n_jobs + 1, sizeof(*wish));
	size_t *held = gv_xcalloc(cells + 1, sizeof(*held));
	bool *placed = gv_xcalloc(r->n_jobs + 1, sizeof(*placed));
	struct choice c;
	size_t m;
	size_t i;

	c.room = gv_xcalloc(r->n_types + 1, sizeof(*c.room));
	c.type = gv_xcalloc(r->n_jobs + 1, sizeof(*c.type));
	for (m = 0; m < r->n_jobs; m++)
		c.type[m] = -1;
	for (i = 0; i < r->n_gpus; i++) {
		size_t type = gv_rounds_type(r, i);

		if (owner[i] >= 0)
			held[(size_t)owner[i] * r->n_types + type]++;
		if (owner[i] >= 0 && mode == GV_ROUND_FILL) {
			c.type[owner[i]] = (ptrdiff_t)type;
			placed[owner[i]] = true;
		} else if (owner[i] != GV_GPU_AWAY) {
			c.room[type]++;
		}
	}
	choose_owed(r, &c, wish);
	choose_rest(r, &c, wish);
	for (i = 0; i < r->n_gpus; i++) {
		ptrdiff_t was = owner[i];
		bool stays = was == GV_GPU_AWAY ||
			     (was >= 0 && (mode == GV_ROUND_FILL ||
					      can_stay(r, &c, held, (size_t)was)));

		next[i] = stays ? was : GV_GPU_IDLE;
		if (stays && was >= 0)
			placed[was] = true;
	}
	place_movers(r, &c, placed, wish, next);
	free(wish);
	free(held);
	free(placed);
	free(c.room);
	free(c.type);
}
