/* The optimiser on some parameters of one model.  Private to common/nn/cpu. */
#ifndef GV_NN_CPU_OPTIM_H
#define GV_NN_CPU_OPTIM_H

#include "nn/backend.h"

struct gv_cpu_adam {
	gv_real beta1, beta2, rest1, rest2; /* rest = 1 - beta */
	gv_real step;                       /* lr / (1 - beta1^t) */
	gv_real root;                       /* sqrt(1 - beta2^t) */
	gv_real eps, decay, keep;           /* keep: factor of w, for decoupled decay */
};

struct gv_cpu_optimiser {
	const struct gv_nn_update *u;
	const struct gv_net_coef *coef; /* of the model */
	size_t model;                   /* where its parameters begin */
	size_t second;                  /* from the first moments to the second ones */
	bool active;
	struct gv_cpu_adam adam;
};

/* Of model b, for an update; u must outlive it. */
struct gv_cpu_optimiser gv_cpu_optimiser(
    const struct gv_nn_update *u, const struct gv_nn_plan *p, size_t b);
/* Parameters [first, first + n) of the model by their gradients g [n]. */
void gv_cpu_optimise(
    const struct gv_cpu_optimiser *o, size_t first, const gv_real *g, size_t n);
/* Has what these parameters' step will read on its way to the cache. */
void gv_cpu_optimiser_fetch(const struct gv_cpu_optimiser *o, size_t first, size_t n);

#endif
