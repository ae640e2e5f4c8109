/*
 * Trees out of many roots at once, on direct links and through switches: the
 * largest rate that every root can send at to all GPUs, and trees that reach it.
 * All in whole numbers.  After ForestColl (Zhao et al., arXiv 2402.06787); of one
 * root alone it is Edmonds' theorem (1973).
 */
#ifndef TREE_FOREST_H
#define TREE_FOREST_H

#include "base/err.h"
#include "gv-tree/fabric/fabric.h"
#include "gv-tree/fabric/flow.h"

/* Shares of the data that start at each GPU: what root v sends is share[v] parts of sum. */
struct demand {
	int64_t *share; /* [n_gpus], >= 0 */
	int64_t sum;
};

void demand_of_root(struct demand *d, const struct fabric *f, size_t root);
void demand_of_all(struct demand *d, const struct fabric *f); /* the same of each GPU */
void demand_free(struct demand *d);

/* A fraction in lowest terms; 0/1 is none. */
struct ratio {
	int64_t over, under;
};

/*
 * The most that one part can be sent at, in units:
 *
 *	x* = min over node sets S that leave out some GPU of B+(S) / share(S),
 *
 * B+(S) = what leaves S.  Newton's method on the cuts that bind: a few rounds of
 * one flow for each GPU.  side, when not NULL, [n]: such an S.  0/1 when some GPU
 * cannot be reached.
 */
struct ratio forest_rate(const struct fabric *f, const struct demand *d, bool *side);

/* A tree: weight units flow along each of its edges. */
struct tree_edge {
	size_t from, to;
	size_t *path; /* [n_path] all nodes, from and to included */
	size_t n_path;
};

struct tree {
	size_t root;
	int64_t weight;
	struct tree_edge *edge; /* [n_edges], parents first */
	size_t n_edges;
};

struct forest {
	struct tree *tree;
	size_t n, cap;
	struct ratio unit; /* kB/s that weight 1 is */
};

void forest_free(struct forest *t);
struct tree *forest_add(struct forest *t, size_t root, int64_t weight, size_t n_edges);
void tree_edge_set(struct tree_edge *e, const size_t *path, size_t n_path);

/*
 * Packs trees that carry x* share[v] from each root v, found as forest_rate says.
 * f must be balanced (fabric_balance).  0, or -1 with *e: a GPU that is not
 * reached is named, or the numbers passed 2^62 (rates with many digits in a large fabric).
 */
int forest_pack(struct forest *t, const struct fabric *f, const struct demand *d,
    struct ratio *rate, struct gv_error *e);

/* As forest_pack, at a rate of whole units that is known to be possible. */
int forest_pack_rate(struct forest *t, const struct fabric *f, const struct demand *d,
    int64_t rate, struct gv_error *e);

/* The error of a fabric in which something is not reached: names two GPUs.  -1. */
int forest_unreached(const struct fabric *f, const struct demand *d, struct gv_error *e);

#endif
