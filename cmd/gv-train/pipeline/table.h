/* A schedule from a table, as gv-partition --timeline writes it or as one is made by hand. */
#ifndef GV_TRAIN_TABLE_H
#define GV_TRAIN_TABLE_H

#include "base/err.h"
#include "plan/schedule.h"
#include "stages.h"

/* What it says of the whole. */
struct table {
	struct gv_schedule s;
	enum gv_schedule_kind kind; /* that goes on like it: 1f1b, 2bw, or flush */
	uint64_t micro_batches;     /* that it has */
	uint64_t together;          /* of an update of the first stage */
	uint32_t crc;               /* of all it says */
};

/*
 * Reads it for stages whose replicas are the GPUs from rank[stage] on, and so many
 * micro-batches of an update that are asked for; 1f1b has 1, of each replica.  0, or -1 with *e
 * set: a step on another GPU than that of its stage and micro-batch, one that is missing,
 * there twice or before what it needs, updates that no schedule has, a pass on weights
 * that are not made before, an update that is not behind all its gradients.
 */
int table_read(struct table *t, const char *path, const struct stages *s,
    const size_t *rank, uint64_t micro_batches, struct gv_error *e);
void table_free(struct table *t);

/* The steps of a GPU, [*n]; to be freed. */
struct gv_step *table_lane(const struct table *t, size_t rank, size_t *n);

#endif
