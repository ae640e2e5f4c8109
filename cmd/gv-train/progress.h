/* The line of progress on a terminal: where a run is, how fast, how long still. */
#ifndef GV_TRAIN_PROGRESS_H
#define GV_TRAIN_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* How fast it goes: steps a second, over about the last 5 seconds.  = {0} before the first. */
struct progress {
	double at_s; /* when it was last looked at, gv_clock_s; 0 = never */
	uint64_t step;
	double steps_per_s;
};

/* What is known now. */
struct progress_now {
	double now_s;
	uint64_t step, last; /* done, to do */
	size_t batch;        /* samples of a step */
	const double *loss;  /* [models] of the last step; NaN = took no part */
	size_t models;
};

enum { PROGRESS_LEN = 160 };

/*
 * "step 120 of 5000, loss 0.25, 3400 samples/s, 1 min 20 s left" into line
 * [PROGRESS_LEN]; of an array losses are LEAST to LARGEST and samples those of all
 * models that train.  What is not known yet is left out.
 */
void progress_text(char *line, struct progress *p, const struct progress_now *now);

#endif
