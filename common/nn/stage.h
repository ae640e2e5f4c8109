/*
 * Rows of a plan carried through a backend: what must be known of other samples
 * (bn's sums) between what need not.  Private to common/nn.
 */
#ifndef GV_NN_STAGE_H
#define GV_NN_STAGE_H

#include "nn/backend.h"

/* How sums reach the other ranks. */
struct gv_nn_ranks {
	gv_net_reduce *reduce;
	void *ctx;
	bool joined;   /* by devices that reach each other: reduce is not called */
	gv_real *host; /* room for what is reduced; NULL when memory is the host's */
};

/* Sums v [n] of the backend over the ranks, when there are others.  0 or -1. */
int gv_nn_reduce(struct gv_nn_backend *be, const struct gv_nn_plan *p,
    const struct gv_nn_ranks *ranks, gv_real *v, size_t n);

/*
 * Rows [first, last) of a call: net.h's work items.  An evaluation asks nobody
 * else, and its weights must be packed (backend.h).  0, or -1.
 */
int gv_nn_stage_forward(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_ranks *ranks, size_t first, size_t last);
int gv_nn_stage_backward(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_ranks *ranks, size_t first, size_t last);
int gv_nn_stage_evaluate(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last);
int gv_nn_stage_gradient(struct gv_nn_backend *be, const struct gv_nn_call *c,
    size_t first, size_t last, const struct gv_nn_grads *grads, bool add);

#endif
