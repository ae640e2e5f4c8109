#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "forest.h"

void
forest_free(struct forest *t)
{
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->tree[i].n_edges; k++)
			free(t->tree[i].edge[k].path);
		free(t->tree[i].edge);
	}
	free(t->tree);
	*t = (struct forest){0};
}

struct tree *
forest_add(struct forest *t, size_t root, int64_t weight, size_t n_edges)
{
	t->tree = gv_xgrow(t->tree, &t->cap, t->n + 1, sizeof(*t->tree));
	t->tree[t->n] = (struct tree){.root = root,
	    .weight = weight,
	    .edge = gv_xcalloc(n_edges + 1, sizeof(struct tree_edge)),
	    .n_edges = n_edges};
	return &t->tree[t->n++];
}

void
tree_edge_set(struct tree_edge *e, const size_t *path, size_t n_path)
{
	e->from = path[0];
	e->to = path[n_path - 1];
	e->n_path = n_path;
	e->path = gv_xcalloc(n_path, sizeof(*path));
	memcpy(e->path, path, n_path * sizeof(*path));
}
