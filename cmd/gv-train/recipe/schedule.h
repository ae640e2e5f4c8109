/*
 * Learning rates as functions of the step, by the definitions of torch.optim.lr_scheduler.
 *
 * With lr the model's rate, t the updates done before (the first has t = 0), W the steps
 * of the warm-up and T those of the whole:
 *
 *	warm-up     t < W: lr (start + (1 - start) t / W)            LinearLR(start, 1, W)
 *
 * and behind it, with t and T counted from its end, and t at most T:
 *
 *	constant    lr
 *	step        lr gamma^floor(t / step)                         StepLR
 *	linear      lr (1 + (end - 1) t / T)                         LinearLR(1, end, T)
 *	polynomial  lr (end + (1 - end) (1 - t / T)^power)           PolynomialLR, end 0
 *	cosine      lr (end + (1 - end) (1 + cos(pi t / T)) / 2)     CosineAnnealingLR
 *
 * (SequentialLR puts a warm-up before the others.)  one-cycle is OneCycleLR without its
 * cycle of the momentum: by halves of a cosine up from lr start to lr, which is reached
 * in step W - 1, and down to lr end in step T - 1.
 */
#ifndef GV_TRAIN_SCHEDULE_H
#define GV_TRAIN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

enum schedule_kind {
	SCHEDULE_CONSTANT,
	SCHEDULE_STEP,
	SCHEDULE_LINEAR,
	SCHEDULE_POLYNOMIAL,
	SCHEDULE_COSINE,
	SCHEDULE_ONE_CYCLE,
	SCHEDULES
};
extern const char *const schedule_names[SCHEDULES];

struct schedule {
	enum schedule_kind kind;
	uint64_t warmup; /* W; one-cycle: 0 = three tenths of T */
	double start;    /* NaN: 1 / W; one-cycle 1 / 25 */
	uint64_t total;  /* T with W, in steps from the beginning */
	double end;      /* NaN: 0; one-cycle 4e-6 */
	double power;
	uint64_t step; /* 0 = never */
	double gamma;
};
#define SCHEDULE_DEFAULT                                                           \
	{                                                                          \
		.start = (double)NAN, .end = (double)NAN, .power = 1, .gamma = 0.1 \
	}

/*
 * Fills in what depends on the rest: a step without a kind is the kind step, total 0 the
 * steps of the model, start and end their defaults.  0, or -1 with *e set (the text begins
 * with what, a place): a kind that lacks something or a warm-up longer than the whole.
 */
int schedule_complete(
    struct schedule *s, uint64_t steps, const char *what, struct gv_error *e);

/* The rate of a complete schedule at update t. */
double schedule_rate(const struct schedule *s, double lr, uint64_t t);

/* " schedule=cosine total=90 ...": all that decides the rates; nothing for a constant one. */
void schedule_describe(const struct schedule *s, struct gv_strbuf *text);

#endif
