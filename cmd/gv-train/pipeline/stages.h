/* The stages of a plan as ranges of rows of the model that it is a table of. */
#ifndef GV_TRAIN_STAGES_H
#define GV_TRAIN_STAGES_H

#include "base/err.h"
#include "nn/model.h"
#include "plan/timetable.h"

struct stage {
	size_t first, last; /* rows [first, last) */
	size_t replicas;
	bool recompute;
	double forward_s, backward_s; /* of a micro-batch by the profile; 0: not told */
	/* bytes by the profile: what waits of a micro-batch, weights; 0: not told */
	double kept, parameter;
};

/* = {0} is empty. */
struct stages {
	size_t n;
	struct stage *stage; /* [n] */
};

/* Whether the table of the model has the columns of a plan. */
bool stages_are(const struct gv_model *m);

/*
 * Puts the rows of a model that is a plan into the order of their stages, those of a stage
 * as they were; where they are so already it does nothing.  0, or -1 with *e set: a stage
 * is no number, or reads what a later one makes.
 */
int stages_sort(struct gv_model *m, struct gv_error *e);

/*
 * Fills *s from the columns stage, replicas, recompute, forward_ms and backward_ms of the
 * model's table.  The rows are in the order of their stages.  0, or -1 with *e set: no
 * row is of a stage, its rows disagree.
 */
int stages_read(struct stages *s, const struct gv_model *m, struct gv_error *e);
void stages_free(struct stages *s);

/*
 * Samples of the micro-batch that the table was profiled with, by the bytes of its rows'
 * outputs, of 4 a number; 0: these are not told, or not of one such micro-batch.
 */
size_t stages_samples(const struct gv_model *m);

/* GPUs of the plan when each has so many stages, of which it has as many replicas. */
size_t stages_gpus(const struct stages *s, size_t chunks);

#endif
