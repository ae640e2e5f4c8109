/*
 * A model as the planner sees it: layers with their costs, and which feeds
 * which.
 */
#ifndef GV_PLAN_GRAPH_H
#define GV_PLAN_GRAPH_H

#include <stddef.h>
#include <stdint.h>

struct gv_graph_layer {
	double time_s;     /* forward and backward of one minibatch on one GPU */
	double forward_s;  /* the forward part of it */
	double update_s;   /* of its weights by the optimiser, once; 0: it is not told */
	double activation; /* bytes of its output */
	double kept; /* bytes that wait for its backward pass, the output among them */
	double parameter; /* bytes of its weights */
};

struct gv_graph_edge {
	uint32_t src, dst; /* layers */
};

/* No circle, no edge twice.  = {0} is an empty graph. */
struct gv_graph {
	size_t n;
	struct gv_graph_layer *layer; /* [n] in the order of the rows */
	size_t n_edges;
	struct gv_graph_edge *edge; /* [n_edges] */
	size_t n_ties;
	struct gv_graph_edge
	    *tie; /* [n_ties] pairs of layers that are to be in one stage */
};

void gv_graph_free(struct gv_graph *g);

/*
 * An order in which each layer stands behind all that feed it; among several
 * the one of the lower number first.  order [n].  0, or -1 when there is a
 * circle, and then order[0] is the first layer on or behind it.
 */
int gv_graph_order(const struct gv_graph *g, uint32_t *order);

/*
 * Which layers each one feeds: those of layer v are dst[at[v]] up to dst[at[v + 1]],
 * dst [g->n_edges].  Returns at, to be freed.
 */
size_t *gv_graph_fed(const struct gv_graph *g, uint32_t *dst);

#endif
