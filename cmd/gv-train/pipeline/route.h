/* The schedule of a plan: which worker has which stages, and what it does in which order. */
#ifndef GV_TRAIN_ROUTE_H
#define GV_TRAIN_ROUTE_H

#include "plan/course.h"
#include "stages.h"

/* What is asked for. */
struct route_spec {
	const char *schedule;   /* the name of one, or the file of its table */
	size_t chunks;          /* stages of each worker; of interleaved */
	uint64_t micro_batches; /* of a step: one update of the weights; 1f1b: 1 */
	uint64_t steps;
	bool vertical_sync;
	size_t workers;
};

/* = {0} is an empty one. */
struct route {
	enum gv_schedule_kind
	    kind;               /* a table's: 1f1b, 2bw or flush, whichever goes on so */
	uint32_t table;         /* crc of its steps; 0: there is none */
	uint64_t micro_batches; /* of a step */
	/* after so many every worker has gone as far, so that they can be saved and left */
	uint64_t unit;
	/* before each update: no micro-batch of a step waits for another's */
	bool flushes;
	/* a stage may sum over its replicas beside passes of the next unit */
	bool overlaps;
	size_t workers;
	size_t *rank;            /* [stages] of replica 0; its other replicas follow */
	struct gv_course course; /* of this worker */
};

/*
 * Fills *r for the worker of a rank.  0, or -1 with *e set: the schedule cannot be that of
 * the plan, of so many workers or steps.
 */
int route_make(struct route *r, const struct route_spec *spec, const struct stages *s,
    size_t rank, struct gv_error *e);
void route_free(struct route *r);

/* The replica, of so many, that has a micro-batch: round robin, in each batch that is flushed. */
size_t route_replica(const struct route *r, size_t replicas, uint64_t micro_batch);

/* Micro-batches whose gradients one update of a stage has: those of all its replicas. */
uint64_t route_together(const struct route *r, size_t replicas);

#endif
