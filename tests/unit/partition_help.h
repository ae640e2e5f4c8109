/* What the tests of gv-partition's searches share: small random graphs, layers as sets. */
#ifndef PARTITION_HELP_H
#define PARTITION_HELP_H

#include <math.h>

#include "draws.h"
#include "gv-partition/search/plan.h"

enum { DAG_MOST = 9 };

/* A graph of a few layers; layers before and behind each other as masks. */
struct dag {
	struct gv_graph g;
	struct gv_graph_layer layer[DAG_MOST];
	struct gv_graph_edge edge[DAG_MOST * DAG_MOST];
	struct gv_graph_edge tie[DAG_MOST];
	unsigned before[DAG_MOST], behind[DAG_MOST], tied[DAG_MOST];
};

/* A whole number below n, of the bits of the stream. */
static inline size_t
draw(size_t n)
{
	return (size_t)(gv_random(draws.seed, draws.a, draws.b, draws.n++) % n);
}

/* More replicas than an update has micro-batches would have none; 1f1b updates behind each. */
static inline bool
too_many_replicas(const struct search_options *o, size_t replicas)
{
	const struct cost_rules *r = &o->rules;

	return (o->straight && replicas > 1) ||
	       (r->schedule != GV_SCHEDULE_1F1B && r->micro_batches > 0 &&
		   replicas > r->micro_batches);
}

/* n layers and no edges; layers are all zeros.  It must not be moved from then on. */
static inline void
dag_begin(struct dag *d, size_t n)
{
	d->g.n = n;
	d->g.layer = d->layer;
	d->g.edge = d->edge;
	d->g.tie = d->tie;
}

/* Each edge from a layer before i to i is there with probability density / 10. */
static inline void
dag_draw_edges(struct dag *d, size_t i, size_t density)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (draw(10) < density) {
			d->edge[d->g.n_edges++] =
			    (struct gv_graph_edge){(uint32_t)k, (uint32_t)i};
			d->before[i] |= 1U << k;
			d->behind[k] |= 1U << i;
		}
}

/* Of one graph in three: ties of two layers, or of three by two ties. */
static inline void
dag_draw_ties(struct dag *d)
{
	size_t n = draw(3) == 0 && d->g.n > 1 ? 1 + draw(2) : 0, i, a, b;

	for (i = 0; i < n; i++) {
		a = draw(d->g.n);
		b = draw(d->g.n);
		d->tie[d->g.n_ties++] = (struct gv_graph_edge){(uint32_t)a, (uint32_t)b};
		d->tied[a] |= 1U << b;
		d->tied[b] |= 1U << a;
	}
}

/* Whether it is a prefix that has none of two tied layers without the other. */
static inline bool
closed(const struct dag *d, unsigned set)
{
	size_t v;

	for (v = 0; v < d->g.n; v++)
		if ((set >> v & 1) && ((d->before[v] | d->tied[v]) & ~set) != 0)
			return false;
	return true;
}

/* Bytes of activations that leave a prefix. */
static inline double
crossing(const struct dag *d, unsigned set)
{
	double sum = 0;
	size_t v;

	for (v = 0; v < d->g.n; v++)
		if ((set >> v & 1) && (d->behind[v] & ~set) != 0)
			sum += d->layer[v].activation;
	return sum;
}

/* What the layers of a stage come to, and what the stage receives. */
struct amounts {
	double time, forward, weights, activation, receives;
};

/*
 * Seconds of a stage's layers, with forward passes twice where only that fits;
 * INFINITY where nothing does.  memory: of a GPU, 0 = any; flight: micro-batches
 * in flight without a flush; n replicas.
 */
static inline double
time_within(const struct amounts *a, const struct cost_rules *r, double memory,
    double flight, size_t n)
{
	double copies = (r->schedule == GV_SCHEDULE_1F1B ? flight : 2) + 1 + r->state;
	bool kept, again;

	if (r->schedule == GV_SCHEDULE_FLUSH || r->schedule == GV_SCHEDULE_GPIPE) {
		double own = ceil((double)r->micro_batches / (double)n);

		copies = 2 + r->state;
		flight = r->schedule == GV_SCHEDULE_GPIPE ? own : fmin(flight, own);
	}
	kept = memory <= 0 || copies * a->weights + flight * a->activation <= memory;
	again = memory <= 0 ||
		copies * a->weights + flight * a->receives + a->activation <= memory;
	if (kept && r->recompute != RECOMPUTE_FULL)
		return a->time;
	if (again && r->recompute != RECOMPUTE_NONE)
		return a->time + a->forward;
	return INFINITY;
}

#endif
