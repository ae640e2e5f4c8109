/*
 * Branchings: trees that together use no link above its capacity, from roots that
 * each send a whole number of units to all GPUs (Edmonds 1973; with capacities and
 * multiplicities after Berczi and Frank 2010).
 */
#ifndef TREE_BRANCH_H
#define TREE_BRANCH_H

#include <stddef.h>
#include <stdint.h>

/* units copies of one tree; from[v] = SIZE_MAX: the root, or not reached yet. */
struct branching {
	size_t root;
	int64_t units;
	size_t *from;  /* [n] */
	size_t *depth; /* [n] edges from the root */
	size_t *order; /* [n_reached] nodes as they were reached, the root first */
	size_t n_reached;
};

struct branchings {
	size_t n; /* nodes */
	struct branching *b;
	size_t n_b, cap;
};

/*
 * Packs rate[v] units of trees out of each node v into cap [n][n], which is left
 * with what is not used.  Possible exactly when sum(rate) can flow to every node from a
 * source that feeds each v with rate[v]; 0, or -1 when it is not.  The nearest
 * node to the root is extended first, so trees stay shallow.  One flow over
 * n + n_b nodes for each edge that is tried.
 */
int branchings_pack(struct branchings *p, size_t n, int64_t *cap, const int64_t *rate);
void branchings_free(struct branchings *p);

#endif
