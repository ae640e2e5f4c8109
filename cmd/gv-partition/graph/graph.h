/*
 * A model as the planner sees it: layers with their costs, and which feeds
 * which.
 */
#ifndef GV_PARTITION_GRAPH_H
#define GV_PARTITION_GRAPH_H

#include <stddef.h>
#include <stdint.h>

struct layer {
	double time_s;     /* forward and backward of one minibatch on one GPU */
	double forward_s;  /* the forward part of it */
	double activation; /* bytes of its output */
	double parameter;  /* bytes of its weights */
};

struct graph_edge {
	uint32_t src, dst; /* layers */
};

/* No circle, no edge twice.  = {0} is an empty graph. */
struct graph {
	size_t n;
	struct layer *layer; /* [n] in the order of the rows */
	size_t n_edges;
	struct graph_edge *edge; /* [n_edges] */
};

void graph_free(struct graph *g);

/*
 * An order in which each layer stands behind all that feed it; among several
 * the one of the lower number first.  order [n].  0, or -1 when there is a
 * circle, and then order[0] is a layer on or behind it.
 */
int graph_order(const struct graph *g, uint32_t *order);

/*
 * Which layers each one feeds: those of layer v are dst[at[v]] up to dst[at[v + 1]],
 * dst [g->n_edges].  Returns at, to be freed.
 */
size_t *graph_fed(const struct graph *g, uint32_t *dst);

#endif
