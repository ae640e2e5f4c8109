/* Clusters, gangs, rates and shares of many shapes, for tests of common/sched. */
#ifndef SCHED_DRAWS_H
#define SCHED_DRAWS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draws.h"
#include "recorded.h"
#include "sched/cluster.h"
#include "sched/rounds/rounds.h"

enum { DRAWN_TYPES = 6, DRAWN_POOLS = 14 };

/* A cluster, and how the numbers of its jobs are drawn. */
struct drawn {
	struct gv_cluster c;
	struct gv_pool pool[DRAWN_POOLS];
	struct gv_gpu_type type[DRAWN_TYPES];
	size_t n_gpus;
	size_t gangs, rates, shares; /* of which kind */
};

static inline bool
one_in(size_t n)
{
	return below(n) == 0;
}

/* Few GPUs a pool, or many; pools without any; types without pools. */
static inline void
draw_cluster(struct drawn *d)
{
	static const char *const name[] = {"a", "b", "c", "d", "e", "f"};
	static const char *const node[] = {"", "n1", "n2", "n3", "n4"};
	size_t most = one_in(6) ? 40 : 1 + below(8);
	size_t p;

	memset(d, 0, sizeof *d);
	d->c.type = d->type;
	d->c.pool = d->pool;
	d->c.n_types = 1 + below(one_in(3) ? DRAWN_TYPES : 3);
	d->c.n_pools = 1 + below(one_in(3) ? DRAWN_POOLS : 5);
	for (p = 0; p < d->c.n_types; p++)
		d->type[p] = (struct gv_gpu_type){.name = name[p],
		    .usd_per_h = one_in(8) ? (double)NAN : 1 + uniform()};
	for (p = 0; p < d->c.n_pools; p++) {
		size_t type = p < d->c.n_types && !one_in(10) ? p : below(d->c.n_types);
		size_t gpus = one_in(15) ? 0 : one_in(3) ? most : 1 + below(most);

		d->pool[p] =
		    (struct gv_pool){.type = type, .gpus = gpus, .node = node[below(5)]};
		d->type[type].gpus += gpus;
		d->n_gpus += gpus;
	}
	d->gangs = below(5);
	d->rates = below(5);
	d->shares = below(7);
}

static inline size_t
draw_gang(const struct drawn *d)
{
	switch (d->gangs) {
	case 0:
		return 1;
	case 1:
		return (size_t)1 << below(4);
	case 2:
		return 1 + below(3);
	case 3:
		return one_in(4) ? 1 + below(20) : 1;
	default: /* some that nothing can hold */
		return 1 + (size_t)(uniform() * uniform() * (double)(d->n_gpus + 2));
	}
}

/* From 1e-6 to 1e6. */
static inline double
draw_far(void)
{
	double x = 1 + uniform();

	return ldexp(x, (int)below(40) - 20);
}

static inline double
draw_rate(const struct drawn *d)
{
	switch (d->rates) {
	case 0:
		return 1;
	case 1:
		return (double)below(4);
	case 2:
		return one_in(3) ? 0 : .5 + uniform();
	case 3:
		return 1 + 9 * uniform();
	default:
		return draw_far();
	}
}

static inline double
draw_share(const struct drawn *d)
{
	switch (d->shares) {
	case 0:
		return (double)below(5) / 4;
	case 1:
		return one_in(2) ? 0 : .25;
	case 2:
		return uniform() / (double)d->c.n_types;
	case 3:
		return one_in(2) ? 0 : uniform();
	case 4:
		return one_in(3) ? ldexp(1, -(int)below(40)) : 0;
	case 5:
		return one_in(5) ? 1 : 0;
	default:
		return uniform() < .8 ? 0 : uniform() / 4;
	}
}

/* ---- what is told of rounds ---- */

static inline void
recorded_owners(struct recorded *r, const ptrdiff_t *owner, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		recorded_whole(r, owner[i]);
}

/* The accounts as they stand, counted or not. */
static inline void
recorded_claims(struct recorded *r, const struct gv_rounds *of)
{
	size_t m, j;

	recorded_whole(r, (long long)of->n_jobs);
	recorded_wholes(r, of->live, of->n_live);
	recorded_wholes(r, of->fresh, of->n_fresh);
	for (m = 0; m < of->n_jobs; m++) {
		const struct gv_round_job *job = &of->job[m];

		recorded_whole(r, (long long)job->gang);
		recorded_whole(
		    r, job->active + 2 * job->ready + 4 * job->live + 8 * job->fresh);
		recorded_whole(r, (long long)job->member[0]);
		recorded_whole(r, (long long)job->member[1]);
		recorded_whole(r, job->held);
		recorded_double(r, job->counted_s);
		recorded_double(r, job->move_s);
		for (j = 0; j < of->n_types; j++) {
			const struct gv_round_claim *k = gv_rounds_claim(of, m, j);

			recorded_double(r, k->rate);
			recorded_double(r, k->with_rate);
			recorded_double(r, k->share);
			recorded_double(r, k->received_s);
			recorded_double(r, k->lag_s);
			recorded_double(r, k->waited_s);
			recorded_double(r, k->promised_s);
			recorded_double(r, k->since_s);
			recorded_double(r, k->deficit_s);
		}
	}
}

#endif
