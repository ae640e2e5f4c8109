/*
 * Any bytes as a table of trees.  Holds: what can be read leads from every rank to the
 * root of every tree, in order of names, its parts are the whole buffer once, its chunks the
 * whole part, and its times are times; what cannot, an error that says where.
 */
#include <math.h>
#include <string.h>

#include "coll/model.h"
#include "coll/trees.h"
#include "file.h"
#include "holds.h"
#include "table/tab.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

enum { COUNT = 1000 };

static size_t
depth_of(const struct gv_trees *t, const struct gv_tree *x, const struct gv_tree_phase *p)
{
	size_t deepest = 0;
	int r;

	HOLDS(p->above[x->root] == -1);
	for (r = 0; r < t->n; r++) {
		size_t steps = 0;
		int at;

		for (at = r; at != x->root; at = p->above[at]) {
			HOLDS(at >= 0 && at < t->n && steps < (size_t)t->n);
			steps++;
		}
		deepest = steps > deepest ? steps : deepest;
	}
	return deepest;
}

static void
look_at_parts(const struct gv_trees *t)
{
	bool blocks = gv_collective_has_blocks(t->collective);
	size_t whole = blocks ? COUNT * (size_t)t->n : COUNT, k, sum = 0;
	unsigned char *seen = calloc(whole + 1, 1);

	HOLDS(seen != NULL);
	for (k = 0; k < t->n_trees; k++) {
		size_t first, i, chunk, chunks;
		size_t n = gv_trees_part(t, k, COUNT, &first);
		size_t most = gv_trees_chunk(t, k, 4, 256);

		HOLDS(first + n <= whole && most > 0);
		for (i = first; i < first + n; i++)
			HOLDS(seen[i]++ == 0);
		sum += n;
		chunks = gv_trees_cut(n, most, &chunk);
		HOLDS(chunks == 0 ? n == 0
				  : chunk <= most && (chunks - 1) * chunk < n &&
					chunks * chunk >= n);
	}
	HOLDS(sum == whole);
	free(seen);
}

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	const char *path = as_file(0, s, len);
	struct gv_coll_cost cost = {1e-5, 1};
	struct gv_trees t;
	struct gv_frame f;
	struct gv_error e = {0};
	size_t k, deepest = 0;
	double chunk, time_s;
	int r;

	if (gv_frame_load(&f, path, &e) != 0)
		return 0;
	if (gv_trees_read(&t, &f, &e) != 0) {
		HOLDS(e.count > 0 && strncmp(e.text[0], path, strlen(path)) == 0);
		gv_frame_free(&f);
		return 0;
	}
	for (r = 1; r < t.n; r++)
		HOLDS(strcmp(t.name[r - 1], t.name[r]) != 0);
	for (k = 0; k < t.n_trees; k++) {
		const struct gv_tree *x = &t.tree[k];
		size_t depth = 0;

		HOLDS(x->up.above != NULL || x->down.above != NULL);
		if (x->up.above != NULL)
			depth += depth_of(&t, x, &x->up);
		if (x->down.above != NULL)
			depth += depth_of(&t, x, &x->down);
		deepest = depth > deepest ? depth : deepest;
	}
	HOLDS(deepest == t.depth);
	look_at_parts(&t);
	chunk = gv_coll_model_chunk(&t, &cost, 1e6, 4);
	time_s = gv_coll_model_s(&t, &cost, 1e6, chunk);
	HOLDS(chunk >= 4 && isfinite(time_s) && time_s > 0);
	gv_trees_free(&t);
	gv_frame_free(&f);
	return 0;
}
