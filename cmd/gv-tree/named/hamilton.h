/* Orders of all GPUs along direct links, and how many of them fit together. */
#ifndef TREE_HAMILTON_H
#define TREE_HAMILTON_H

#include <stdbool.h>

#include "base/err.h"
#include "gv-tree/fabric/fabric.h"

enum { HAMILTON_GPUS = 10, HAMILTON_ORDERS = 100000 };

enum hamilton_kind {
	HAMILTON_RING,    /* closed, begun at GPU 0 */
	HAMILTON_RELAYED, /* the same; GPUs without a link meet about a third */
	HAMILTON_ROOT,    /* begun at the root */
	HAMILTON_CHAIN,   /* used both ways: begun at the lesser end */
};

struct hamilton {
	size_t n;       /* GPUs */
	size_t *order;  /* [n_orders][n] */
	int64_t *units; /* [n_orders], how often each is taken */
	size_t n_orders, cap;
	/* [n][n] of HAMILTON_RELAYED: the GPU between two, + 1; 0 = none */
	size_t *relay;
};

/* The nodes of the hop from u to v; their number, 2 or 3. */
size_t hamilton_hop(const struct hamilton *h, size_t u, size_t v, size_t path[3]);

/*
 * Finds all of them and takes as many units as the links hold together, by an
 * integer program.  n_orders = 0: there is none.  0, or -1 with *e: more GPUs or
 * orders than the limits above.
 */
int hamilton_pack(struct hamilton *h, const struct fabric *f, enum hamilton_kind kind,
    size_t root, struct gv_error *e);
void hamilton_free(struct hamilton *h);

#endif
