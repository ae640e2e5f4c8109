/*
 * Clipping by the norm of all gradients of a model, whose rows are spread over stages:
 * each stage tells all workers the squares of its rows, and goes on with its update once
 * it knows all of them.  All then have the same norm to the last bit, that of one process.
 *
 * An update of a stage so waits for the gradients of all stages.  Schedules that flush
 * wait there anyway; others lose by it.
 */
#ifndef GV_TRAIN_CLIP_H
#define GV_TRAIN_CLIP_H

#include "chunk.h"

/* = {0} is one that clips nothing. */
struct clip {
	const struct worker_spec *spec;
	struct post *post;
	double *square;       /* [models][rows] of the present update */
	double *own;          /* the same, of one stage */
	struct parcel **from; /* [stages] NULL: not asked for, or here */
	bool asked;
};

/* Whether updates wait for each other is for the caller to ask: gv_net_clips. */
void clip_init(struct clip *c, const struct worker_spec *spec, struct post *post);
void clip_free(struct clip *c);

/*
 * A stage's gradients of an update are whole: tells their squares, and remembers them.
 * update: its number.  0, or -1: gv_net_error.
 */
int clip_tell(struct clip *c, struct chunk *chunk, uint64_t update);

/*
 * Waits until the squares of all stages are here: those of this worker were told.  Then
 * square has them for gv_net_clip, until the next clip_tell.  0, or -1: the post's error.
 */
int clip_wait(struct clip *c);

#endif
