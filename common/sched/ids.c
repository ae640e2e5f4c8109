/* The ids of a cluster's GPUs: from the column ids, or counted. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "sched/cluster.h"

/* A cell "0;1;5": exactly n ids, ascending.  NULL when it is not that. */
static const int *
parse_ids(struct gv_arena *arena, struct gv_cell cell, size_t n)
{
	int *id;
	size_t i, at = 0;

	if (n > cell.len) /* an id takes a byte at least */
		return NULL;
	id = gv_arena_alloc(arena, n, sizeof(*id));
	for (i = 0; i < n; i++) {
		size_t end = at;
		int64_t v;

		while (end < cell.len && cell.s[end] != ';')
			end++;
		if (end > cell.len || gv_parse_int(cell.s + at, end - at, &v) != 0 ||
		    v < 0 || v > INT32_MAX || (i > 0 && v <= id[i - 1]) ||
		    (end < cell.len) != (i + 1 < n))
			return NULL;
		id[i] = (int)v;
		at = end + 1;
	}
	return id;
}

/* The first id that two pools have, or -1: merges what is ascending in both. */
static long
common_id(const struct gv_pool *a, const struct gv_pool *b)
{
	size_t i = 0, k = 0;

	while (i < a->gpus && k < b->gpus) {
		int x = gv_pool_id(a, i), y = gv_pool_id(b, k);

		if (x == y)
			return x;
		if (x < y)
			i++;
		else
			k++;
	}
	return -1;
}

/* Real GPUs that two pools of one machine claim; CPU devices are only numbered. */
static int
check_overlaps(
    const struct gv_cluster *c, bool one_machine, const char *file, struct gv_error *e)
{
	size_t i, k;
	int rc = 0;

	for (i = 1; i < c->n_pools; i++)
		for (k = 0; k < i; k++) {
			const struct gv_pool *a = &c->pool[k], *b = &c->pool[i];
			long id;

			if (c->type[a->type].threads > 0 ||
			    c->type[b->type].threads > 0 ||
			    (a->id == NULL && b->id == NULL) ||
			    (!one_machine && strcmp(a->node, b->node) != 0))
				continue;
			id = common_id(a, b);
			if (id >= 0)
				rc = gv_error_at(e, file, b->line, "ids",
				    "GPU %ld is in two pools of this node, first at line "
				    "%ld",
				    id, a->line);
		}
	return rc;
}

int
gv_cluster_set_ids(struct gv_cluster *c, const struct gv_frame *f, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(f, "ids");
	struct gv_hash nodes = {0};
	size_t *used =
	    gv_xcalloc(c->n_pools, sizeof(*used)); /* [nodes] GPUs counted so far */
	size_t i;
	int rc = 0;

	for (i = 0; i < c->n_pools; i++) {
		struct gv_pool *p = &c->pool[i];
		struct gv_cell cell = gv_frame_cell(f, i, column);
		size_t node = gv_hash_add(&nodes, p->node, strlen(p->node));

		if (c->type[p->type].threads == 0) {
			p->first_id = used[node];
			used[node] += p->gpus;
		}
		if (cell.len == 0)
			continue;
		p->id = parse_ids(&c->arena, cell, p->gpus);
		if (p->id == NULL) {
			rc = gv_frame_expected(
			    f, i, column, e, "%zu ascending ids such as 0;1", p->gpus);
		}
	}
	gv_hash_free(&nodes);
	free(used);
	return rc == 0 ? check_overlaps(c, false, f->file, e) : rc;
}

int
gv_cluster_join(struct gv_cluster *c, const char *file, struct gv_error *e)
{
	size_t used = 0, i;

	for (i = 0; i < c->n_pools; i++) {
		struct gv_pool *p = &c->pool[i];

		if (c->type[p->type].threads > 0)
			continue;
		p->first_id = used;
		used += p->gpus;
	}
	return check_overlaps(c, true, file, e);
}

int
gv_pool_id(const struct gv_pool *p, size_t i)
{
	return p->id != NULL ? p->id[i] : (int)(p->first_id + i);
}
