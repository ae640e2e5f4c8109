/* Times of a model's layers in training, measured step by step. */
#ifndef GV_PROFILE_LAYER_TIMES_H
#define GV_PROFILE_LAYER_TIMES_H

#include "data/data.h"
#include "nn/device/device.h"
#include "nn/net.h"

struct times_rule {
	size_t batch;
	size_t models; /* of an array */
	/* micro-batches of batch samples on their way at a time, and of a step, if more; 0 is as
	 * good as 1 */
	size_t in_flight, micro_batches;
	const struct gv_data *data; /* the samples, over and over; NULL: random ones */
	size_t stages;              /* as which rows are measured; 0 is as good as 1 */
	/* where the one that is measured now is told; NULL: nowhere */
	_Atomic size_t *stage_now;
	struct gv_nn_device device;
	enum gv_optimiser optimiser;
	double momentum;    /* of SGD */
	double warmup_s;    /* at least one step */
	double window_s;    /* measure for at least that long, */
	size_t least_steps; /* and so many steps */
	bool quiet;         /* no progress */
};

/* Over the measured steps. */
struct spread {
	double median_s;
	double deviation_s; /* the median of the distances from the median */
	double error_s;     /* of the median, as if the times were normal */
};

struct layer_time {
	struct spread forward, backward, update;
};

struct layer_times {
	size_t n;
	struct layer_time *layer; /* [n] */
	size_t steps;
	struct spread
	    layers; /* forward and backward of all, of a micro-batch of the same step */
	struct spread step; /* whole steps that nobody timed inside */
	double passed_s; /* by such a step on average, with what others had of the core */
	double update_s; /* of all */
};

/*
 * Trains m (after gv_model_shape) on the samples of the rule at a learning rate of 0,
 * timing every other step inside.  0, or -1 with *e set.
 */
int layer_times(struct layer_times *t, const struct gv_model *m,
    const struct times_rule *rule, struct gv_error *e);
void layer_times_free(struct layer_times *t);

/* v[0..n), n >= 1; sorts it. */
struct spread spread_of(double *v, size_t n);

#endif
