/*
 * What a net's memory holds while it trains: a log kept between the net and its
 * backend, of all that is allocated and of every row's turn there, back and at the
 * gradients.  One log at a time.
 */
#ifndef GV_PROFILE_MEMORY_LOG_H
#define GV_PROFILE_MEMORY_LOG_H

#include "nn/backend.h"

/* A change: at time_s so many bytes more, or fewer, are in use, for this. */
struct memory_event {
	double time_s;
	int64_t bytes;
	char tensor[48];
};

struct memory_log {
	struct memory_event *event; /* [n], times never fall */
	size_t n, cap;
};

/* From here on be tells this log what is allocated.  Before gv_net_new. */
void memory_log_begin(struct memory_log *log, struct gv_nn_backend *be);
/* The net is made: what else holds activations holds samples. */
void memory_log_samples(void);
/*
 * The next step is logged row by row: an output (y of a row, dy its gradient, named by the
 * row's id) is in use from when it is made until the last that reads it is through.
 */
void memory_log_step(const struct gv_model *m);
/* Closes the step: its events, in order, behind those of what was allocated. */
void memory_log_end(void);
void memory_log_free(struct memory_log *log);

#endif
