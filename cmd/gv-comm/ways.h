/* The links of a machine, and which of them each edge of each tree takes. */
#ifndef COMM_WAYS_H
#define COMM_WAYS_H

#include "base/mem.h"
#include "coll/trees.h"
#include "table/tab.h"

struct link {
	const char *src, *dst;
	double bytes_per_s;
};

/* The links on the way of one edge, in order: hop[first .. first + n) */
struct way {
	size_t first, n;
};

struct ways {
	const struct gv_trees *t;
	struct link *link; /* one for each direction of two nodes */
	size_t n_links;
	size_t *hop; /* numbers of links */
	size_t n_hops, cap_hops;
	struct way *way; /* way_of */
	struct gv_arena arena;
};

/*
 * Of the links in frame (src, dst, gbytes_per_s; rows of one pair add up), that many
 * times slower.  0, or -1 with *e: a hop of a tree has no link.
 */
int ways_read(struct ways *s, const struct gv_trees *t, const struct gv_frame *frame,
    double slower, struct gv_error *e);
void ways_free(struct ways *s); /* also of a zeroed one */

/* Of the edge between rank below and the one above it, in a phase of a tree. */
const struct way *way_of(const struct ways *s, size_t tree, bool up, int below);

#endif
