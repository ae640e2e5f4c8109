#include "sched/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "table/kind.h"

enum { MAX_GPUS = 1000000000, MAX_THREADS = 1000000 };

struct columns {
	ptrdiff_t gpu_type, gpus, node, usd_per_h, memory_bytes, threads;
};

static int
find_columns(struct columns *c, const struct gv_frame *f, struct gv_error *e)
{
	int rc = 0;

	if (gv_frame_expect(f, GV_KIND_CLUSTER, e) != 0)
		return -1;
	rc |= gv_frame_require(f, "gpu_type", &c->gpu_type, e);
	rc |= gv_frame_require(f, "gpus", &c->gpus, e);
	c->node = gv_frame_find(f, "node");
	c->usd_per_h = gv_frame_find(f, "usd_per_h");
	c->memory_bytes = gv_frame_find(f, "memory_bytes");
	c->threads = gv_frame_find(f, "threads");
	return rc;
}

static int
read_count(const struct gv_frame *f, size_t row, ptrdiff_t column, int64_t otherwise,
    int64_t max, int64_t *v, struct gv_error *e)
{
	if (gv_frame_int(f, row, column, otherwise, v, e) != 0)
		return -1;
	if (*v < 0)
		return gv_frame_expected(f, row, column, e, "a whole number >= 0");
	if (*v > max)
		return gv_frame_expected(f, row, column, e, "a smaller number");
	return 0;
}

/* What a row says about its type, *gpus aside. */
static int
read_row(struct gv_gpu_type *t, int64_t *gpus, const struct gv_frame *f, size_t row,
    const struct columns *c, struct gv_error *e)
{
	int64_t threads = 0;
	int rc = 0;

	if (gv_frame_cell(f, row, c->gpu_type).len == 0)
		rc = gv_frame_expected(f, row, c->gpu_type, e, "the name of a GPU type");
	rc |= read_count(f, row, c->gpus, INT64_MIN, MAX_GPUS, gpus, e);
	rc |= read_count(f, row, c->threads, 0, MAX_THREADS, &threads, e);
	rc |= read_count(f, row, c->memory_bytes, 0, INT64_MAX, &t->memory_bytes, e);
	t->threads = (int)threads;
	if (gv_frame_cell(f, row, c->usd_per_h).len == 0)
		t->usd_per_h = NAN;
	else
		rc |= gv_frame_not_negative(f, row, c->usd_per_h, NAN, &t->usd_per_h, e);
	return rc;
}

static int
check_agrees(const struct gv_frame *f, size_t row, ptrdiff_t column, bool same,
    size_t first, struct gv_error *e)
{
	struct gv_cell was = gv_frame_cell(f, first, column);
	char q[GV_QUOTE_LEN];

	if (same)
		return 0;
	return gv_frame_expected(f, row, column, e, "%s as at line %ld",
	    gv_quote(q, was.s, was.len), f->line[first]);
}

/* A row of a type that an earlier row has described. */
static int
check_type(const struct gv_gpu_type *known, const struct gv_gpu_type *t,
    const struct gv_frame *f, size_t row, const struct columns *c, size_t first,
    struct gv_error *e)
{
	int rc = 0;

	rc |= check_agrees(f, row, c->threads, known->threads == t->threads, first, e);
	rc |= check_agrees(f, row, c->usd_per_h,
	    known->usd_per_h == t->usd_per_h ||
		(isnan(known->usd_per_h) && isnan(t->usd_per_h)),
	    first, e);
	rc |= check_agrees(
	    f, row, c->memory_bytes, known->memory_bytes == t->memory_bytes, first, e);
	return rc;
}

static int
check_repeated(const struct gv_frame *f, size_t row, const struct columns *c,
    size_t first, struct gv_error *e)
{
	struct gv_cell type = gv_frame_cell(f, row, c->gpu_type);
	struct gv_cell node = gv_frame_cell(f, row, c->node);
	char q[2][GV_QUOTE_LEN];

	if (node.len == 0)
		return gv_frame_error(f, row, c->gpu_type, e,
		    "repeated gpu_type %s, first at line %ld",
		    gv_quote(q[0], type.s, type.len), f->line[first]);
	return gv_frame_error(f, row, c->gpu_type, e,
	    "repeated gpu_type %s on node %s, first at line %ld",
	    gv_quote(q[0], type.s, type.len), gv_quote(q[1], node.s, node.len),
	    f->line[first]);
}

/* A table's types and pools by name, and the row where each is first seen. */
struct seen {
	struct gv_hash types, pools;
	size_t *type_row, *pool_row; /* [rows of the table] */
};

static int
read_rows(struct gv_cluster *c, const struct gv_frame *f, const struct columns *col,
    struct seen *seen, struct gv_error *e)
{
	size_t row;
	int rc = 0;

	for (row = 0; row < f->n_rows; row++) {
		struct gv_cell name = gv_frame_cell(f, row, col->gpu_type);
		struct gv_cell node = gv_frame_cell(f, row, col->node);
		struct gv_gpu_type t = {0};
		struct gv_pool *p = &c->pool[row];
		int64_t gpus = 0;
		size_t pool;
		char *key; /* "type\0node\0" knows the pool */

		if (read_row(&t, &gpus, f, row, col, e) != 0) {
			rc = -1;
			continue;
		}
		key = gv_arena_alloc(&c->arena, name.len + node.len + 2, 1);
		memset(key, 0, name.len + node.len + 2);
		memcpy(key, name.s, name.len);
		if (node.len > 0)
			memcpy(key + name.len + 1, node.s, node.len);
		p->node = key + name.len + 1;
		p->gpus = (size_t)gpus;
		p->line = f->line[row];
		p->type = gv_hash_add(&seen->types, key, name.len);
		if (p->type == c->n_types) {
			seen->type_row[c->n_types] = row;
			t.name = key;
			c->type[c->n_types++] = t;
		} else {
			rc |= check_type(&c->type[p->type], &t, f, row, col,
			    seen->type_row[p->type], e);
		}
		pool = gv_hash_add(&seen->pools, key, name.len + 1 + node.len);
		if (pool == c->n_pools)
			seen->pool_row[c->n_pools++] = row;
		else
			rc |= check_repeated(f, row, col, seen->pool_row[pool], e);
		c->type[p->type].gpus += p->gpus;
	}
	return rc;
}

static void
look_for_slips(struct gv_cluster *c, const struct gv_frame *f)
{
	static const char *const known[] = {
	    "gpu_type", "gpus", "node", "usd_per_h", "memory_bytes", "threads", "ids"};
	struct gv_error w = {0};

	gv_frame_warn_names(f, known, sizeof(known) / sizeof(known[0]), &w);
	if (w.count == 0)
		return;
	c->warnings = gv_arena_alloc(&c->arena, 1, sizeof(w));
	*c->warnings = w;
}

int
gv_cluster_from(struct gv_cluster *c, const struct gv_frame *f, struct gv_error *e)
{
	struct columns col;
	struct seen seen = {0};
	int rc = -1;

	*c = (struct gv_cluster){0};
	if (find_columns(&col, f, e) != 0)
		goto out;
	if (f->n_rows == 0) {
		gv_error_at(e, f->file, 0, NULL, "a cluster needs at least one row");
		goto out;
	}
	c->type = gv_arena_alloc(&c->arena, f->n_rows, sizeof(*c->type));
	c->pool = gv_arena_alloc(&c->arena, f->n_rows, sizeof(*c->pool));
	memset(c->pool, 0, f->n_rows * sizeof(*c->pool));
	seen.type_row = gv_xcalloc(f->n_rows, sizeof(*seen.type_row));
	seen.pool_row = gv_xcalloc(f->n_rows, sizeof(*seen.pool_row));
	rc = read_rows(c, f, &col, &seen, e);
	if (rc == 0)
		rc = gv_cluster_set_ids(c, f, e);
	if (rc == 0)
		look_for_slips(c, f);
out:
	free(seen.type_row);
	free(seen.pool_row);
	gv_hash_free(&seen.types);
	gv_hash_free(&seen.pools);
	if (rc != 0)
		gv_cluster_free(c);
	return rc;
}

int
gv_cluster_read(struct gv_cluster *c, const char *path, struct gv_error *e)
{
	struct gv_frame f = {0};
	int rc = gv_frame_load(&f, path, e);

	*c = (struct gv_cluster){0};
	if (rc == 0)
		rc = gv_cluster_from(c, &f, e);
	gv_frame_free(&f);
	return rc;
}

void
gv_cluster_free(struct gv_cluster *c)
{
	gv_arena_free(&c->arena);
	*c = (struct gv_cluster){0};
}

ptrdiff_t
gv_cluster_find(const struct gv_cluster *c, struct gv_cell name)
{
	size_t i;

	for (i = 0; i < c->n_types; i++)
		if (gv_cell_is(name, c->type[i].name))
			return (ptrdiff_t)i;
	return -1;
}
