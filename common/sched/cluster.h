/*
 * A cluster: what GPUs there are, from the cluster table (gpu_type, gpus, node,
 * usd_per_h, memory_bytes, threads, ids).
 */
#ifndef GV_SCHED_CLUSTER_H
#define GV_SCHED_CLUSTER_H

#include <stdint.h>

#include "base/err.h"
#include "table/tab.h"

/* One row of the table: equal GPUs on one node. */
struct gv_pool {
	size_t type; /* index into gv_cluster.type */
	size_t gpus;
	const char *node; /* "" when the table has none: this machine */
	size_t first_id;  /* ids without a column ids: first_id, first_id + 1, ... */
	const int *id;    /* [gpus] ascending, from the column ids; NULL = none */
	long line;        /* of the table */
};

struct gv_gpu_type {
	const char *name;
	size_t gpus; /* over all its pools */
	/* more of them, out of reach of whom these are for; 0 as read */
	size_t elsewhere;
	size_t away; /* more of them, that are to come back (available.h); 0 as read */
	int threads; /* > 0: a CPU "GPU" of that many threads; 0: a real GPU */
	double usd_per_h;     /* per GPU, 0 = free; NAN = not given */
	int64_t memory_bytes; /* per GPU; 0 when not given */
};

struct gv_cluster {
	size_t n_types; /* in order of first appearance */
	struct gv_gpu_type *type;
	size_t n_pools; /* in table order */
	struct gv_pool *pool;
	struct gv_error *warnings; /* columns that look misspelled; NULL = none */
	struct gv_arena arena;     /* owns all of it */
};

/*
 * Reads a cluster table.  Rows of one gpu_type add up; they must agree in
 * threads, usd_per_h and memory_bytes.  0, or -1 with *e set: missing column,
 * negative number, the same type twice on one node, no row at all.
 */
int gv_cluster_read(struct gv_cluster *c, const char *path, struct gv_error *e);
/* The same of a table at hand, of which nothing is kept. */
int gv_cluster_from(struct gv_cluster *c, const struct gv_frame *f, struct gv_error *e);
/*
 * The id of GPU i of a pool on its node: what the column ids ("0;1") says, else
 * counted: of a CPU from 0 in each pool, of real GPUs over the node's pools in
 * the order of the table, so that they are NVML's indices.
 */
int gv_pool_id(const struct gv_pool *p, size_t i);

/* A part of gv_cluster_read: sets first_id and id; pool i is row i of f. */
int gv_cluster_set_ids(
    struct gv_cluster *c, const struct gv_frame *f, struct gv_error *e);

/*
 * All pools of c are of one machine, those with a node and those without: ids that are
 * counted go on from pool to pool.  0, or -1 with *e set: a GPU is in two of them.
 */
int gv_cluster_join(struct gv_cluster *c, const char *file, struct gv_error *e);

void gv_cluster_free(struct gv_cluster *c); /* also of a zeroed one */

/* The type of that name, or -1. */
ptrdiff_t gv_cluster_find(const struct gv_cluster *c, struct gv_cell name);

#endif
