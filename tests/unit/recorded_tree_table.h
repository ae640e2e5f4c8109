/* Trees of a table as parts of an answer. */
#ifndef RECORDED_TREE_TABLE_H
#define RECORDED_TREE_TABLE_H

#include "coll/trees.h"
#include "recorded_frame.h"

static inline void
recorded_phase(
    struct recorded *r, const struct gv_trees *t, const struct gv_tree_phase *p)
{
	int i;

	recorded_whole(r, p->above != NULL);
	recorded_whole(r, (long long)p->depth);
	for (i = 0; p->above != NULL && i < t->n; i++) {
		recorded_whole(r, p->above[i]);
		recorded_text(r, p->path[i]);
	}
}

static inline void
recorded_trees(struct recorded *r, const struct gv_trees *t)
{
	size_t k;
	int i;

	recorded_text(r, gv_collective_name[t->collective]);
	recorded_whole(r, gv_collective_has_root(t->collective));
	recorded_whole(r, gv_collective_has_blocks(t->collective));
	recorded_whole(r, t->n);
	recorded_whole(r, (long long)t->depth);
	recorded_double(r, t->weight);
	for (i = 0; i < t->n; i++)
		recorded_text(r, t->name[i]);
	for (k = 0; k < t->n_trees; k++) {
		recorded_whole(r, t->tree[k].id);
		recorded_whole(r, t->tree[k].root);
		recorded_double(r, t->tree[k].weight);
		recorded_phase(r, t, &t->tree[k].up);
		recorded_phase(r, t, &t->tree[k].down);
	}
}

#endif
