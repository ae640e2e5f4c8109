/*
 * What each GPU of a pipeline does, in which order: a schedule as data.
 *
 * Stages 0..n-1 follow each other; stage k runs on the GPUs of place k mod
 * (n / chunks), each place having the same replicas for all its stages.  Only
 * the interleaved schedule has more than one chunk, a stage of a place.
 * Micro-batch i goes to replica i mod replicas on every stage, forward and
 * backward (round robin, 1F1B-RR).
 *
 * Source: PipeDream (SOSP 2019), section 3.2 and
 * 3.3: 1f1b; 2BW (ICML 2021), section 3: 2bw, flush; GPipe: gpipe; Narayanan et al. (SC
 * 2021), section 2.2: interleaved; Qi et al. (ICLR 2024), section 2.2: zb-h1.
 */
#ifndef GV_PLAN_TIMETABLE_H
#define GV_PLAN_TIMETABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The order of the passes. */
enum gv_schedule_kind {
	GV_SCHEDULE_1F1B,
	GV_SCHEDULE_2BW,
	GV_SCHEDULE_FLUSH,
	GV_SCHEDULE_GPIPE,
	GV_SCHEDULE_INTERLEAVED,
	GV_SCHEDULE_ZB_H1,
	GV_SCHEDULES
};
extern const char *const gv_schedule_name[GV_SCHEDULES];

struct gv_pipe_stage {
	size_t replicas;
	/* bytes of a GPU; 0 = no limit.  zb-h1 puts off weights' gradients in it */
	double memory;
	double forward_s; /* of one micro-batch on one GPU */
	/* with what is computed again for it; zb-h1: without weight_s */
	double backward_s;
	double weight_s;  /* gradients of the weights, where they are apart: zb-h1 */
	double receive_s; /* a micro-batch over the link in front, each way */
	double reduce_s;  /* all-reduce of the replicas' gradients, once */
	/* from the beginning of the pass that it is beside until its gradients, each from when it
	 * is made, can be summed; and so much longer that pass takes, which moves them */
	double ready_s, beside_s;
	double update_s; /* of its weights, once */

	double parameter; /* bytes of weights */
	double sum_bytes; /* that a GPU sends and receives in an all-reduce */
	double stash;     /* bytes kept for each micro-batch in flight */
	/* bytes on top from a micro-batch's backward pass until it is done */
	double working;
};

struct gv_pipe {
	size_t n;
	struct gv_pipe_stage *stage; /* [n] */
	enum gv_schedule_kind schedule;
	size_t chunks;        /* n is a multiple of it */
	size_t micro_batches; /* that are run, >= 1 */
	size_t batch; /* of these go into one update of the weights; 1f1b: unused */
	/* an all-reduce starts with the last backward pass, and stops no GPU */
	bool overlap;
	double state; /* bytes of optimiser state for each byte of weights */
};

enum gv_step_op {
	GV_STEP_FORWARD,
	GV_STEP_BACKWARD,
	GV_STEP_WEIGHT,
	GV_STEP_REDUCE,
	GV_STEP_UPDATE,
	GV_STEP_OPS
};
extern const char *const gv_step_name[GV_STEP_OPS]; /* F, B, W, AR, U */

struct gv_step {
	enum gv_step_op op;
	uint32_t stage;
	uint32_t micro_batch;  /* AR, U: the last whose gradient this GPU has put in */
	uint32_t version;      /* of the weights: F, B, W read it, AR, U make it */
	double start_s, end_s; /* simulate fills them in */
};

/* What one GPU does; the GPUs are numbered place by place. */
struct gv_lane {
	size_t place, replica;
	size_t n, cap;
	struct gv_step *step; /* [n] in order */
};

struct gv_timetable {
	size_t n;
	struct gv_lane *lane; /* [n] */
	size_t *first; /* [places + 1] the lanes of a place: first[k]..first[k + 1) */
};

/* The greatest common divisor; 1 of nothing. */
static inline size_t
gv_gcd(size_t a, size_t b)
{
	size_t c;

	for (; b > 0; a = b, b = c)
		c = a % b;
	return a > 0 ? a : 1;
}

static inline size_t
gv_pipe_places(const struct gv_pipe *p)
{
	return p->n / p->chunks;
}

void gv_pipe_free(struct gv_pipe *p);

/*
 * Micro-batches after which every replica of every stage has done as many: the least common
 * multiple of the replicas, or where that is more than 4096, of the first stages.
 */
size_t gv_pipe_round(const struct gv_pipe *p);

/*
 * Whether the schedule can run so: 0, or -1 with *e set.  interleaved needs equal
 * replicas and micro-batches that are a multiple of the GPUs; 2bw at least as many
 * in a batch as there are GPUs, so that no weights are needed before they are made.
 */
int gv_timetable_check(const struct gv_pipe *p, struct gv_error *e);
/* What of this the numbers say, without a pipe. */
int gv_timetable_check_batch(
    enum gv_schedule_kind schedule, size_t batch, size_t gpus, struct gv_error *e);

/*
 * The order of each GPU's steps; gv_timetable_check(p) was 0.
 *
 *   gpipe        all forward passes, all backward passes, update
 *   flush        u forward passes, then one forward and one backward in turn, then
 *                u backward passes, update; u = floor((W - 1) / r), W the GPUs of
 *                this stage and behind, r its own
 *   1f1b         as flush, but each backward pass is followed by an update, and
 *                the weights of each forward pass are kept for its backward pass
 *   2bw          as flush, but without a flush between batches; micro-batch i of
 *                batch g = i / batch reads version max(g - 1, 0)
 *   zb-h1        as flush; the gradients of the weights (W) follow u_0 - u backward
 *                passes later, so that each GPU keeps as many as the first one does
 *   interleaved  Megatron's: groups of as many micro-batches as places, chunk by
 *                chunk; 2 (places - place - 1) + (chunks - 1) places first
 *
 * The replicas of a stage all-reduce before an update.  Differs (zb-h1): where
 * a stage's memory leaves less room, fewer weight gradients are put off.
 */
void gv_timetable_make(struct gv_timetable *t, const struct gv_pipe *p);
void gv_timetable_free(struct gv_timetable *t);

/* What a GPU holds at most; follows from the order alone. */
struct gv_holding {
	size_t in_flight; /* micro-batches on stages: those of all chunks */
	size_t versions;  /* of the weights of a stage */
	/* as the cost of a stage counts them: versions, stash, gradients, state */
	double bytes;
};
struct gv_holding gv_timetable_holding(const struct gv_lane *l, const struct gv_pipe *p);

#endif
