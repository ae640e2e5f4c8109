/* bn over numbers, and what becomes of its sums: common/nn/cpu/bn.c has the formulas. */
#include "device.h"

namespace gv_bn {
#define EPSILON  1e-5
#define MOMENTUM 0.1

template <class T>
GV_DEVICE void
forward(const struct gv_cuda_bn &a)
{
	size_t i = gv_global(GV_THREADS_bn_forward_f32);
	unsigned n = (unsigned)a.n, j = (unsigned)i % n;

	if (i >= a.rows * a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		const float *s = a.stats + b * a.stat_apart + j;
		float x = gv_get((const T *)a.x + b * a.x_apart + i);
		float v = (x - s[0]) * s[n] * a.gamma[b * a.param_apart + j] +
			  a.beta[b * a.param_apart + j];

		gv_put((T *)a.y + b * a.y_apart + i, a.relu ? gv_relu(v) : v);
	}
}

GV_KERNELS(bn_forward, gv_cuda_bn, forward)

/* dx = gamma rstd (dy - sum(dy) / n - xhat sum(dy xhat) / n) */
template <class T>
GV_DEVICE void
backward(const struct gv_cuda_bn &a)
{
	size_t i = gv_global(GV_THREADS_bn_backward_f32);
	unsigned n = (unsigned)a.n, j = (unsigned)i % n;
	float count = (float)a.count;

	if (i >= a.rows * a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		const float *s = a.stats + b * a.stat_apart + j;
		float scale = a.gamma[b * a.param_apart + j] * s[n];
		float shift = s[2 * n] / count, slope = s[n] * (s[3 * n] / count);
		float x = gv_get((const T *)a.x + b * a.x_apart + i);
		float dy = gv_get((const T *)a.dy + b * a.dy_apart + i);
		float v = scale * (dy - shift - (x - s[0]) * slope);
		const T *mask =
		    a.mask == NULL ? NULL : (const T *)a.mask + b * a.mask_apart;
		T *dx = (T *)a.dx + b * a.dx_apart + i;

		gv_put(dx, gv_masked(mask, i, a.add ? gv_get(dx) + v : v));
	}
}

GV_KERNELS(bn_backward, gv_cuda_bn, backward)

/* Channel j of a model's statistics; where these lie: GV_NN_STATS. */
GV_DEVICE void
take(const struct gv_cuda_stat_run &r, size_t b, size_t j)
{
	const struct gv_cuda_stat &a = r.s;
	const float *sum = a.sums + b * a.sum_apart + j;
	float *s = a.stats + b * a.stat_apart + j;
	double mean = (double)*sum / a.count;

	if (r.what == GV_CUDA_TAKE_X) {
		s[0] = s[6 * a.n] = (float)mean;
	} else if (r.what == GV_CUDA_TAKE_SQUARES) {
		s[a.n] = (float)(1 / sqrt(mean + EPSILON));
		s[7 * a.n] = (float)mean;
	} else {
		s[2 * a.n] = sum[0];
		s[3 * a.n] = sum[a.n];
	}
}

GV_DEVICE void
run_on(const struct gv_cuda_stat &a, size_t b, size_t j)
{
	const float *v = a.running + b * a.running_apart + j;
	const float *s = a.stats + b * a.stat_apart + j;
	float *to = a.to + b * a.running_apart + j;

	to[0] = (float)((1 - MOMENTUM) * (double)v[0] + MOMENTUM * (double)s[6 * a.n]);
	to[a.n] = (float)((1 - MOMENTUM) * (double)v[a.n] +
			  MOMENTUM * (double)s[7 * a.n] * (a.count / (a.count - 1)));
}

GV_KERNEL(stats, gv_cuda_stat_run)
{
	size_t j = gv_global(GV_THREADS_stats);

	if (j >= a.s.n)
		return;
	GV_EACH_MODEL(b, a.s)
	{
		const float *v = a.s.running + b * a.s.running_apart + j;
		float *s = a.s.stats + b * a.s.stat_apart + j;

		if (a.what == GV_CUDA_UPDATE_RUNNING) {
			run_on(a.s, b, j);
		} else if (a.what == GV_CUDA_USE_RUNNING) {
			s[0] = v[0];
			s[a.s.n] = (float)(1 / sqrt((double)v[a.s.n] + EPSILON));
		} else {
			take(a, b, j);
		}
	}
}
} // namespace gv_bn
