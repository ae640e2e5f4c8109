/* A tree of entities, whom jobs belong to, as numbers. */
#ifndef GV_ALLOC_TREE_H
#define GV_ALLOC_TREE_H

#include <stddef.h>
#include <stdint.h>

/* GV_NUMBER_ENTITY of a job is its node, which has no other nodes in it. */
struct gv_tree {
	size_t n;
	size_t *parent; /* [n] SIZE_MAX: at the top */
	double *weight; /* [n] > 0 */
	double *quota;  /* [n] GPUs that it has for sure; 0 = none */
};

void gv_tree_free(struct gv_tree *t); /* also of a zeroed one */

/* The node at the top that this one is in. */
static inline size_t
gv_tree_top(const struct gv_tree *t, size_t node)
{
	while (t->parent[node] != SIZE_MAX)
		node = t->parent[node];
	return node;
}

#endif
