/*
 * Rows of two stages that have one weight: each stage holds a copy, and once its gradient is
 * summed over its replicas tells that of the copy to all replicas of the other stage.  Both
 * then go on with the sum, and the copies stay the same to the last bit, those of one process.
 *
 * Both updates have to be of the same micro-batches and the same weights: schedules that flush.
 */
#ifndef GV_TRAIN_TIE_H
#define GV_TRAIN_TIE_H

#include "chunk.h"

/* The first two rows that are tied across stages, in *row and *to; false: there are none. */
bool tie_across(
    const struct gv_model *m, const struct stages *s, size_t *row, size_t *to);

/*
 * A stage's gradients of an update are whole: tells those of its rows that are tied with
 * others, and asks for theirs; *waits is set where there are any.  0, or -1: gv_net_error.
 */
int tie_tell(const struct worker_spec *spec, struct post *post, struct chunk *c,
    uint64_t update, bool *waits);
/* Waits for them and adds them.  0, or -1: gv_net_error, or *lost and the post's error. */
int tie_wait(
    const struct worker_spec *spec, struct post *post, struct chunk *c, bool *lost);
/* What was asked for and not waited for. */
void tie_free(struct chunk *c, struct post *post);

#endif
