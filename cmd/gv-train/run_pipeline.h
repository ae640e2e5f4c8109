/* A run as a worker of a pipeline: what its parts share. */
#ifndef GV_TRAIN_RUN_PIPELINE_H
#define GV_TRAIN_RUN_PIPELINE_H

#include "gv-train/pipeline/set.h"
#include "gv-train/pipeline/worker.h"
#include "run.h"

struct run_pipeline {
	struct stages stages;
	struct route route;
	struct worker *worker;
	size_t batch;    /* samples of a micro-batch */
	uint64_t logged; /* rank 0: steps whose losses were looked at */

	/* rank 0: the set that is being saved, and who has not said yet that it has */
	struct set set;
	struct parcel **saved; /* [stages] NULL = nobody is waited for */
	bool saving;
};

/*
 * Writes this worker's slices of the present step.  Rank 0 then has a set to be made the
 * directory's.  0, or -1 with *e set.
 */
int run_slices_save(struct run *r, struct gv_error *e);
/* Rank 0: makes it so once all slices are there; wait: not before.  0, or -1 with *e set. */
int run_slices_commit(struct run *r, bool wait, struct gv_error *e);

/*
 * --weights of a pipeline, called by all workers at its end: each stage's parameters go to
 * rank 0, which writes them.  0, or -1 with *e set.
 */
int run_gather_weights(struct run *r, struct gv_error *e);

/*
 * --stages of a pipeline, called by all workers at its end: rank 0 writes what each stage
 * took, beside what the plan says.  0, or -1 with *e set.
 */
int run_stages_write(struct run *r, struct gv_error *e);

#endif
