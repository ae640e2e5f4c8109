/* What the tests of common/sched/rounds share: a small cluster, and how shares are tracked. */
#ifndef ROUNDS_HELP_H
#define ROUNDS_HELP_H

#include "draws.h"
#include "sched/rounds/rounds.h"
#include "tap.h"

enum { ALL_TYPES = 4, ALL_JOBS = 60, MAX_POOLS = 12, MAX_GPUS = 64 };

static const double round_s = 360;

struct world {
	struct gv_cluster c;
	struct gv_pool pool[MAX_POOLS];
	struct gv_gpu_type type[ALL_TYPES];
	struct gv_rounds r;
	size_t n_jobs; /* without pairs, where there are some */
	ptrdiff_t owner[MAX_GPUS];
	double x[ALL_JOBS][ALL_TYPES]; /* promised; received is in the claims */
};

/* An empty world of types without GPUs. */
static inline void
world_begin(struct world *w, size_t n_types)
{
	size_t t;

	memset(w, 0, sizeof(*w));
	w->c.type = w->type;
	w->c.pool = w->pool;
	w->c.n_types = n_types;
	for (t = 0; t < n_types; t++)
		w->type[t].name = "type";
}

static inline void
world_add_pool(struct world *w, size_t type, size_t gpus, const char *node)
{
	w->pool[w->c.n_pools++] =
	    (struct gv_pool){.type = type, .gpus = gpus, .node = node};
	w->type[type].gpus += gpus;
}

/* All pools are there; GPUs are idle, jobs may be added. */
static inline void
world_start(struct world *w)
{
	size_t g;

	gv_rounds_init(&w->r, &w->c, round_s);
	for (g = 0; g < w->r.n_gpus; g++)
		w->owner[g] = GV_GPU_IDLE;
}

/* Promises x. */
static inline void
world_promise(struct world *w)
{
	size_t m;
	size_t j;

	for (m = 0; m < w->r.n_jobs; m++)
		for (j = 0; j < w->c.n_types; j++)
			gv_rounds_claim(&w->r, m, j)->share = w->x[m][j];
}

/* n random weights; returns their sum. */
static inline double
draw_weights(double *weight, size_t n)
{
	double sum = 0;
	size_t k;

	for (k = 0; k < n; k++)
		sum += weight[k] = -log(1 - uniform());
	return sum;
}

/* The largest shortfall of a share after so many rounds. */
static inline double
shortfall(const struct world *w, int rounds)
{
	double worst = 0;
	size_t m;
	size_t j;

	for (m = 0; m < w->r.n_jobs; m++)
		for (j = 0; j < w->c.n_types; j++)
			worst = fmax(
			    worst, w->x[m][j] - gv_rounds_claim(&w->r, m, j)->received_s /
						    (rounds * round_s));
	return worst;
}

/* The worst shortfall of all worlds from round 20 on, from 100 on, and at the last round. */
struct tracking {
	double worst[3];
};

enum { TRACKED_ROUNDS = 400 };

/* After round k of TRACKED_ROUNDS. */
static inline void
track(struct tracking *t, const struct world *w, int k)
{
	if (k >= 20 && k <= 100)
		t->worst[0] = fmax(t->worst[0], shortfall(w, k));
	if (k >= 100)
		t->worst[1] = fmax(t->worst[1], shortfall(w, k));
	if (k == TRACKED_ROUNDS)
		t->worst[2] = fmax(t->worst[2], shortfall(w, k));
}

static inline void
judge_tracking(const struct tracking *t)
{
	static const int at[] = {20, 100, TRACKED_ROUNDS};
	static const double bound[] = {.10, .05, .03};
	int i;

	for (i = 0; i < 3; i++) {
		printf("# from round %d on: shortfall at most %.2f points\n", at[i],
		    100 * t->worst[i]);
		ok(t->worst[i] <= bound[i], "shortfall <= %.0f points after %d rounds",
		    100 * bound[i], at[i]);
	}
}

#endif
