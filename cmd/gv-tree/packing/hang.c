#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "packing.h"

struct hung {
	size_t n, *from, *order, *depth;
};

/* From this root; how deep it is. */
static size_t
from_root(struct hung *h, const size_t (*link)[2], size_t root)
{
	size_t i, k, done = 1;

	for (i = 0; i < h->n; i++)
		h->from[i] = SIZE_MAX;
	h->order[0] = h->from[root] = root;
	h->depth[root] = 0;
	for (i = 0; i < done; i++)
		for (k = 0; k < h->n - 1; k++) {
			size_t u = h->order[i], v;

			if (link[k][0] != u && link[k][1] != u)
				continue;
			v = link[k][0] == u ? link[k][1] : link[k][0];
			if (h->from[v] != SIZE_MAX)
				continue;
			h->from[v] = u;
			h->depth[v] = h->depth[u] + 1;
			h->order[done++] = v;
		}
	return h->depth[h->order[done - 1]];
}

void
packing_hang(struct forest *t, size_t n, const size_t (*link)[2], int64_t weight)
{
	struct hung h = {n, gv_xcalloc(n, sizeof(size_t)), gv_xcalloc(n, sizeof(size_t)),
	    gv_xcalloc(n, sizeof(size_t))};
	size_t best = 0, least = SIZE_MAX, root, i;
	struct tree *tree;

	for (root = 0; root < n; root++) {
		size_t deep = from_root(&h, link, root);

		if (deep < least) {
			least = deep;
			best = root;
		}
	}
	from_root(&h, link, best);
	tree = forest_add(t, best, weight, n - 1);
	for (i = 1; i < n; i++) {
		size_t path[2] = {h.from[h.order[i]], h.order[i]};

		tree_edge_set(&tree->edge[i - 1], path, 2);
	}
	free(h.from);
	free(h.order);
	free(h.depth);
}
