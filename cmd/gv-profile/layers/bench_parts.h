/*
 * A model measured as the stages of a pipeline have it: its rows cut into parts that take about equally
 * long, each of which is a net, and does all micro-batches of a step by itself, in the order of
 * 1f1b and flush.
 */
#ifndef GV_PROFILE_BENCH_PARTS_H
#define GV_PROFILE_BENCH_PARTS_H

#include "bench.h"

struct bench_part {
	struct gv_net *net;
	size_t row;      /* its first one */
	size_t slots;    /* micro-batches on their way, at most */
	size_t passed;   /* micro-batches before this step */
	size_t *crosses; /* [n] rows before it that it, and others behind it, read */
	size_t n;
	size_t numbers;   /* of them, up to whole lines of caches */
	size_t n_copies;  /* of these, but one to warm up; of what is large one */
	gv_real *side[2]; /* by gv_net_side, their numbers one after another */
	/*
	 * By gv_net_side several copies of these, in which passes compute: what a worker gets lies
	 * in memory of its own for each micro-batch, and in no cache of its core.  NULL: the net
	 * has them in its own memory.
	 */
	gv_real *copies[2];
};

/*
 * Opens a bench whose rows, with rule->stages above 1, are cut by a few steps of the whole, or as
 * the plan that they are says; what
 * crosses the cuts is kept: numbers that come from other stages otherwise.  0, or -1 with *e set.
 */
int bench_parts_open(struct bench *b, const struct gv_model *m,
    const struct times_rule *rule, struct gv_error *e);
/* All passes of a part, and its update.  0, or -1: gv_net_error. */
int bench_part_step(struct bench *b, size_t part);
/* Times of all parts' rows go there from now on (gv_net_time); NULL: nowhere. */
void bench_parts_time(struct bench *b, struct gv_net_times *times);
void bench_parts_close(struct bench *b); /* also when it could not be opened */

#endif
