/*
 * Links between GPUs and the trees over them, as gv-tree has them: nodes, what each
 * direction of a link can carry, and what the trees put on it.
 */
#ifndef GV_REPORT_TOPOLOGY_H
#define GV_REPORT_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/mem.h"
#include "table/tab.h"

struct topology_node {
	const char *name; /* NUL behind it */
	size_t len, host;
	bool relays; /* a switch, no GPU */
	double x, y,
	    r; /* set by place.h, its radius too: x in [0, 1], y in [0, height] */
};

/* One direction. */
struct topology_link {
	size_t src, dst;
	double rate; /* 10^9 bytes/s; NAN: only trees name it */
	double used; /* the same, by all trees */
};

/* From a GPU to another: hop[first..first + n), the nodes it goes through, both ends too. */
struct topology_edge {
	size_t tree, first, n;
	bool reduce;
};

struct topology_tree {
	int64_t number;
	size_t root;
	double weight;   /* 10^9 bytes/s */
	size_t from, to; /* its edges are among edge[from..to) */
	size_t edges;    /* of one phase */
	size_t depth;    /* most edges from the root to a GPU */
};

/* = {0} is empty. */
struct topology {
	size_t n_nodes, n_hosts, n_links, n_trees, n_edges, n_hops;
	struct topology_node *node;
	const char **host; /* [n_hosts] what stands before the last dot, "" = nothing */
	struct topology_link *link;
	struct topology_tree *tree;
	struct topology_edge *edge; /* in the order of the table */
	size_t *hop;
	double height;  /* set by place.h, of 1 */
	bool has_links; /* a table of links was read */
	bool has_trees;
	size_t cap_nodes, cap_hosts, cap_links, cap_trees, cap_edges, cap_hops;
	struct gv_hash names, hosts, pairs, numbers;
	struct gv_arena arena;
};

/* Whether t is at a table of links or of trees. */
bool topology_takes(const struct gv_tab *t);

/*
 * Takes it, links or trees, one of each.  0, or -1 with *e set: a bad row, or the second
 * table of a kind.
 */
int topology_read(struct topology *t, struct gv_tab *tab, struct gv_error *e);

/* After the last table: what links carry and how deep trees are. */
void topology_finish(struct topology *t);

void topology_free(struct topology *t);

#endif
