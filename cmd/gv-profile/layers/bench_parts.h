/*
 * A net measured as the stages of a pipeline have it: its rows cut into parts that take about equally
 * long, each of which does all micro-batches of a step by itself, in the order of 1f1b and flush.
 */
#ifndef GV_PROFILE_BENCH_PARTS_H
#define GV_PROFILE_BENCH_PARTS_H

#include "bench.h"

/*
 * Opens a bench whose rows, with rule->stages above 1, are cut by a few steps of the whole; what
 * crosses the cuts is kept: numbers that come from other stages otherwise.  0, or -1 with *e set.
 */
int bench_parts_open(struct bench *b, const struct gv_model *m,
    const struct times_rule *rule, struct gv_error *e);
void bench_parts_close(struct bench *b); /* also when it could not be opened */

#endif
