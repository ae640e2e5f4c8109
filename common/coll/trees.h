/*
 * The trees that a collective takes, as gv-tree writes them (gv-tables(5), Trees):
 * who sends to whom, and how much of the whole each tree carries.
 *
 * Ranks are the GPUs' names in order, numbers in them as numbers: gpu2 before gpu10.
 */
#ifndef GV_COLL_TREES_H
#define GV_COLL_TREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "table/tab.h"

enum gv_collective {
	GV_BROADCAST,
	GV_REDUCE,
	GV_ALL_REDUCE,
	GV_ALL_GATHER,
	GV_REDUCE_SCATTER,
	GV_COLLECTIVES
};

/* broadcast, reduce, allreduce, allgather, reducescatter */
extern const char *const gv_collective_name[GV_COLLECTIVES];

/* One phase of a tree. */
struct gv_tree_phase {
	int *
	    above; /* [n] the neighbour on the way to the root, -1 at the root; NULL = no such phase */
	const char **path; /* [n] the switches between the two, ";" between; "" = none */
	size_t depth;      /* edges on the longest way */
};

struct gv_tree {
	long id; /* as the table has it */
	int root;
	double weight;             /* GB/s */
	struct gv_tree_phase up;   /* reduce: each rank sends to the one above it */
	struct gv_tree_phase down; /* broadcast: each gets from the one above it */
};

struct gv_trees {
	enum gv_collective collective;
	int n;             /* ranks */
	const char **name; /* [n] */
	struct gv_tree *tree;
	size_t n_trees;
	double weight; /* of all, GB/s: what the whole buffer takes (algbw) */
	size_t depth;  /* of the deepest, both phases together */
	struct gv_arena arena;
};

/*
 * Reads the trees of a frame: columns tree, root, weight, phase, src, dst and, where
 * there is one, path.  Which collective they are of is what they show: phase
 * broadcast with one root is a broadcast, with each GPU a root an allgather; reduce
 * likewise a reduce and a reducescatter; both an allreduce.  0, or -1 with *e: rows
 * that are no trees over all GPUs, fewer than two GPUs, other roots.
 */
int gv_trees_read(struct gv_trees *t, const struct gv_frame *f, struct gv_error *e);
void gv_trees_free(struct gv_trees *t); /* also of a zeroed one */

/* A checksum of what members must agree on: names, roots, weights, neighbours. */
uint32_t gv_trees_crc(const struct gv_trees *t);

/* Whether it has a root that is told: broadcast and reduce. */
bool gv_collective_has_root(enum gv_collective c);
/* Whether each rank has its own block of the buffer: allgather and reducescatter. */
bool gv_collective_has_blocks(enum gv_collective c);

/*
 * Which elements tree k carries, of a buffer of count elements (of each rank's block,
 * where it has blocks; those are in the order of ranks): *first, and how many.
 * Trees of one root share its part by their weights, neighbours without gaps.
 */
size_t gv_trees_part(const struct gv_trees *t, size_t k, size_t count, size_t *first);

/*
 * The elements, of so many bytes each, of a chunk of tree k at most, where those of the tree
 * of the largest weight have chunk_bytes; at least one.
 */
size_t gv_trees_chunk(
    const struct gv_trees *t, size_t k, size_t size, size_t chunk_bytes);

/* Cuts n elements into the fewest chunks of most at most: how many; *chunk, of all but the last. */
size_t gv_trees_cut(size_t n, size_t most, size_t *chunk);

#endif
