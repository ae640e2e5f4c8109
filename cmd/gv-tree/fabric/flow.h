/*
 * Maximum flows and minimum cuts in whole numbers: Dinic's method over arcs that
 * are added once and may be run between many pairs of nodes.
 */
#ifndef TREE_FLOW_H
#define TREE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_MAX (INT64_MAX / 4) /* an arc that no minimum cut takes */

struct flow_arc {
	size_t to, next; /* next of the same tail, SIZE_MAX = none */
	int64_t capacity, left;
};

struct flow {
	size_t n;
	size_t *head;         /* [n] first arc out of a node */
	struct flow_arc *arc; /* the reverse of arc i is i ^ 1 */
	size_t n_arcs, cap_arcs;
	size_t *level, *at, *queue; /* [n] each, of the search */
};

/* A network of n nodes without arcs; frees what *f had.  = {0} before the first. */
void flow_start(struct flow *f, size_t n);
void flow_free(struct flow *f);

/* An arc; of capacity 0, or from a node to itself, it is left out. */
void flow_arc(struct flow *f, size_t from, size_t to, int64_t capacity);

/*
 * The largest flow from s to t, but no more than limit: what is asked is often
 * only whether so much can flow.  O(n^2 arcs) at worst.
 */
int64_t flow_run(struct flow *f, size_t s, size_t t, int64_t limit);

/* After flow_run below its limit: whether a node is on the source's side of a minimum cut. */
bool flow_on_source_side(const struct flow *f, size_t v);

#endif
