/* The optimisers over the arena of parameters; their formulas are in nn/net.h. */
#include "device.h"

namespace gv_update {
GV_DEVICE void
store(const struct gv_cuda_update &a, size_t b, size_t i, float w)
{
	a.to[b * a.apart + i] = w;
	if (a.rounded != NULL)
		gv_put((gv_bf16 *)a.rounded + b * a.rounded_apart + i, w);
}

GV_KERNEL(sgd, gv_cuda_update)
{
	size_t i = a.first + gv_global(GV_THREADS_sgd);

	if (i >= a.last)
		return;
	for (size_t b = gv_block_y; b < a.B; b += gv_grid_y) {
		const struct gv_cuda_coef &c = a.coef[b];
		size_t at = b * a.apart + i;
		float w, step;

		if (!c.active)
			continue;
		w = a.from[at];
		step = a.grads[at] + c.decay * w;
		if (a.state != NULL && c.momentum != 0)
			step = a.state[at] = c.momentum * a.state[at] + step;
		store(a, b, i, w - c.lr * step);
	}
}

GV_KERNEL(adam, gv_cuda_update)
{
	size_t i = a.first + gv_global(GV_THREADS_adam);

	if (i >= a.last)
		return;
	for (size_t b = gv_block_y; b < a.B; b += gv_grid_y) {
		const struct gv_cuda_coef &c = a.coef[b];
		size_t at = b * a.apart + i;
		float w, g, m, v;

		if (!c.active)
			continue;
		w = a.from[at];
		g = a.grads[at] + c.decay * w;
		m = a.state[at] = c.beta1 * a.state[at] + c.rest1 * g;
		v = a.second[at] = c.beta2 * a.second[at] + c.rest2 * (g * g);
		store(a, b, i, w * c.keep - c.step * (m / (sqrtf(v) / c.root + c.eps)));
	}
}
} // namespace gv_update
