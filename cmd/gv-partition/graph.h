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
 * Which layers a planner may not separate.  group [g->n] holds a number below
 * the result for each layer; layers of equal number stay in one stage.  The
 * graph of the groups has no circle.
 */

/* Each layer by itself: g->n. */
size_t groups_single(const struct graph *g, uint32_t *group);

/*
 * Merges branches without a fork or a join, as PipeDream's program does before it
 * plans Inception and NASNet: of two layers that are each other's only
 * successor and predecessor.
 */
size_t groups_linear(const struct graph *g, uint32_t *group);

/*
 * Goes on from groups: merges one after another the two groups along an edge
 * that take the least time together, as long as that makes no circle, and
 * writes the n - 1 or fewer merges to merge [n - 1] in their order, each into
 * its src.  The number of merges.  Cost: about n * (edges + n).
 */
size_t groups_merges(
    const struct graph *g, const uint32_t *group, size_t n, struct graph_edge *merge);

/* The groups after the first k merges: renumbers into out [g->n]; how many there are. */
size_t groups_after(const struct graph *g, const uint32_t *group, size_t n,
    const struct graph_edge *merge, size_t k, uint32_t *out);

#endif
