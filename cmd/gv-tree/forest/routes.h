/*
 * Links between GPUs, some of them made of hops through switches: what each pair
 * can carry, and along which nodes.
 */
#ifndef TREE_ROUTES_H
#define TREE_ROUTES_H

#include "gv-tree/fabric/fabric.h"
#include "forest.h"

/* So many units along these nodes. */
struct route {
	int64_t amount;
	size_t *node; /* [n] */
	size_t n;
};

/* Routes of one ordered pair of nodes, the first in use first. */
struct route_list {
	struct route *route;
	size_t n, cap, used;
};

struct routes {
	struct fabric f;         /* what is left between each pair */
	struct route_list *pair; /* [n][n] */
};

/* Every link is a route of two nodes. */
void routes_start(struct routes *r, const struct fabric *f);
void routes_free(struct routes *r);

/* Replaces amount units of (u, w) and (w, t) by routes from u to t; u = t drops them. */
void routes_join(struct routes *r, size_t u, size_t w, size_t t, int64_t amount);

/* The route in use of a pair, NULL = none is left; takes amount units from it. */
const struct route *routes_front(const struct routes *r, size_t u, size_t t);
void routes_take(struct routes *r, size_t u, size_t t, int64_t amount);

/*
 * Takes all switches away, so that routes join GPUs only and the flow that
 * reaches each GPU when root v sends rate[v] stays what it was (edge splitting:
 * Bang-Jensen, Frank and Jackson 1995).  Switches must be balanced.
 */
void routes_bypass_switches(struct routes *r, const int64_t *rate);

#endif
