/* The optimisers, and their coefficients from the host's. */
#include <math.h>

#include "cuda/launch.h"
#include "nn/backend.h"

int
gv_cuda_update(const struct gv_cuda_queue *q, enum gv_cuda_optimiser o,
    const struct gv_cuda_update *a)
{
	return gv_cuda_run_each(q, o == GV_CUDA_SGD ? GV_CUDA_sgd : GV_CUDA_adam,
	    a->last - a->first, a->B, a, sizeof(*a));
}

void
gv_cuda_coef_of(const struct gv_nn_update *u, size_t b, struct gv_cuda_coef *to)
{
	const struct gv_net_coef *c = &u->coef[b];
	bool apart = u->optimiser == GV_ADAMW;
	double t = (double)u->steps[b];

	*to = (struct gv_cuda_coef){.lr = (float)c->lr,
	    .decay = apart ? 0 : (float)c->weight_decay,
	    .momentum = u->momentum ? (float)c->momentum : 0,
	    .eps = (float)c->eps,
	    .active = u->active[b]};
	if (u->optimiser == GV_SGD)
		return;
	to->beta1 = (float)c->beta1;
	to->beta2 = (float)c->beta2;
	to->rest1 = (float)(1 - c->beta1);
	to->rest2 = (float)(1 - c->beta2);
	to->step = (float)(c->lr / (1 - pow(c->beta1, t)));
	to->root = (float)sqrt(1 - pow(c->beta2, t));
	to->keep = apart ? (float)(1 - c->lr * c->weight_decay) : 1;
}
