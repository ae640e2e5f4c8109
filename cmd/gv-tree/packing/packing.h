/*
 * Spanning trees whose edges are used both ways, up to a root and down again: what
 * an all-reduce over direct links needs.
 */
#ifndef TREE_PACKING_H
#define TREE_PACKING_H

#include "base/err.h"
#include "gv-tree/fabric/fabric.h"
#include "gv-tree/forest/forest.h"

/*
 * The most that spanning trees can carry together, in units:
 *
 *	min over partitions P of the GPUs of crossing(P) / (|P| - 1)
 *
 * (Tutte 1961, Nash-Williams 1961; the graph's strength), a pair of GPUs carrying the slower
 * of its two directions.  Newton's method; the partition that binds by Dilworth's
 * truncation, a minimum cut for each GPU (Cunningham 1985).  Switches are not looked at.
 * part, when not NULL, [n_gpus]: such a partition, by the number of its part.
 */
struct ratio packing_strength(const struct fabric *f, size_t *part);

/*
 * No allreduce is faster, through switches neither: the same of all nodes,
 *
 *	min over partitions P of the GPUs of sum over its parts of b(part) / (2 (|P| - 1)),
 *
 * b = the least cut between a part and the other GPUs.  Of p parts, p - 1 sums must be
 * handed on and come back, each over the edge of two parts; switches are taken not to add.
 */
struct ratio packing_bound(const struct fabric *f, size_t *part);

/*
 * Trees of that total: the linear program over all spanning trees, by column
 * generation; a tree that pays is a minimum spanning tree under the duals.  At most
 * as many trees as links carry weight.  Weights are exact where a common denominator
 * is found, else less than 10^-8 of the total is lost.
 * 0, or -1 with *e.
 */
int packing_colgen(struct forest *t, const struct fabric *f, struct gv_error *e);

/*
 * The same through switches: trees whose edges are links or ways about switches, each
 * of which counts on every link it passes; a tree that pays is a minimum spanning tree
 * of the GPUs under the shortest such ways.  No such trees carry more, but for 10^-8.
 * 0, or -1 with *e.
 */
int packing_relayed(struct forest *t, const struct fabric *f, struct gv_error *e);

/*
 * At most so many trees, of the same weight (forest/few.h): a union of graphic
 * matroids (Edmonds 1968), a shortest augmenting path for each edge.
 */
int packing_few(
    struct forest *t, const struct fabric *f, size_t most, struct gv_error *e);

/* Adds the tree of these n - 1 pairs of GPUs, hung up at its middle, so that it is least deep. */
void packing_hang(struct forest *t, size_t n, const size_t (*link)[2], int64_t weight);

#endif
