/* Sums over the trees that --trees names. */
#include <zlib.h>

#include "run.h"
#include "table/tab.h"

enum { CHUNK_BYTES = 64 * 1024 };

int
run_trees_read(struct run *r, struct gv_error *e)
{
	struct gv_frame f;
	int rc;

	if (r->o->trees == NULL)
		return 0;
	if (gv_frame_load(&f, r->o->trees, e) != 0)
		return -1;
	rc = gv_trees_read(&r->trees, &f, e);
	gv_frame_free(&f);
	if (rc != 0)
		return -1;
	if (r->trees.collective != GV_ALL_REDUCE)
		return gv_error_at(e, r->o->trees, 0, NULL,
		    "these trees are of a collective that sums nothing up for all, %s; "
		    "expected allreduce",
		    gv_collective_name[r->trees.collective]);
	if (r->trees.n != r->place.world)
		return gv_error_at(e, r->o->trees, 0, NULL,
		    "trees over %d GPUs; this gang has workers=%d", r->trees.n,
		    r->place.world);
	return 0;
}

uint32_t
run_trees_key(const struct run *r, uint32_t key)
{
	uint32_t crc = r->trees.n > 0 ? gv_trees_crc(&r->trees) : 0;

	return r->trees.n > 0 ? (uint32_t)crc32_z(key, (const Bytef *)&crc, sizeof(crc))
			      : key;
}

void
run_trees_start(struct run *r)
{
	struct gv_coll_spec s = {.trees = &r->trees,
	    .rank = r->place.rank,
	    .type = sizeof(gv_real) == sizeof(float) ? GV_COLL_FLOAT : GV_COLL_DOUBLE,
	    .op = GV_COLL_SUM,
	    .chunk_bytes = CHUNK_BYTES};

	if (r->trees.n > 0)
		r->coll = gv_coll_new(r->gang, &s);
}

int
run_trees_sum(struct run *r, gv_real *v, size_t n)
{
	gv_coll_begin(r->coll, v, v, n);
	return gv_coll_wait(r->coll, &r->gang_error);
}
