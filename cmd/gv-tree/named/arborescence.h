/* The cheapest trees over given lengths of links. */
#ifndef TREE_ARBORESCENCE_H
#define TREE_ARBORESCENCE_H

#include <stddef.h>

/*
 * The least arborescence out of root (Chu and Liu 1965, Edmonds 1967): from [n],
 * where each node is entered from, SIZE_MAX at the root.  length [n][n], INFINITY =
 * no link.  With symmetric lengths it is the minimum spanning tree, hung at the
 * root.  Its length, INFINITY when some node is not reached.  O(n^3).
 */
double arborescence(size_t n, size_t root, const double *length, size_t *from);

#endif
