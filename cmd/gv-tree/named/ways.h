/* Ways from one GPU to another, and how much trees of given shares can carry. */
#ifndef TREE_WAYS_H
#define TREE_WAYS_H

#include "base/err.h"
#include "gv-tree/forest/forest.h"

/*
 * The nodes from one GPU to another with the fewest hops, with a direct link (direct)
 * or about switches alone; path [f->n].  Their number, 0 = there is no way.
 */
size_t ways_shortest(
    const struct fabric *f, size_t from, size_t to, bool direct, size_t *path);

/*
 * Sets t->unit so that trees of the given shares pass no link: the largest of cap over
 * load.  both_ways: each edge is used up and down.
 */
void ways_fill(struct forest *t, const struct fabric *f, bool both_ways);

/* The error that nothing leads from u to v.  -1. */
int ways_none(
    const struct fabric *f, size_t u, size_t v, const char *what, struct gv_error *e);

#endif
