/*
 * ln: half a warp a row, whose sums are those of common/nn/cpu/exp.c: number i to lane
 * i % 16, then the lanes as a tree.
 */
#include "device.h"

namespace gv_ln {
enum { LANES = 16, ROWS = GV_THREADS_ln_forward_f32 / LANES };

#define LN_EPSILON 1e-5

GV_DEVICE unsigned
lane(void)
{
	return gv_thread % LANES;
}

/* The lanes' sum; all get the same bits. */
GV_DEVICE float
across(float v)
{
	for (unsigned k = LANES / 2; k > 0; k /= 2)
		v += gv_xor(v, k);
	return v;
}

/* A row of the block; where there is none, lanes go along without reading. */
template <class T> struct row {
	const T *x;
	unsigned n; /* 0: there is none */
	float mean, rstd;

	GV_MEMBER
	row(const struct gv_cuda_ln &a, size_t b, size_t i)
	{
		float sum = 0, squares = 0, count = (float)a.n;

		n = i < a.rows ? (unsigned)a.n : 0;
		x = (const T *)a.x + b * a.x_apart + i * a.n;
		for (unsigned j = lane(); j < n; j += LANES)
			sum += gv_get(x + j);
		mean = across(sum) / count;
		for (unsigned j = lane(); j < n; j += LANES) {
			float apart = gv_get(x + j) - mean;

			squares += apart * apart;
		}
		rstd = (float)(1 / sqrt((double)(across(squares) / count) + LN_EPSILON));
	}
	GV_MEMBER float
	xhat(unsigned j) const
	{
		return (gv_get(x + j) - mean) * rstd;
	}
};

GV_DEVICE size_t
row_of_thread(void)
{
	return (size_t)gv_block_x * ROWS + gv_thread / LANES;
}

template <class T>
GV_DEVICE void
forward(const struct gv_cuda_ln &a)
{
	size_t i = row_of_thread();

	GV_EACH_MODEL(b, a)
	{
		row<T> r(a, b, i);
		const float *gamma = a.gamma + b * a.gamma_apart;
		const float *beta = a.beta == NULL ? NULL : a.beta + b * a.beta_apart;
		float *stats = a.stats == NULL ? NULL : a.stats + b * a.stats_apart + i;
		T *y = (T *)a.y + b * a.y_apart + i * a.n;

		if (stats != NULL && r.n > 0 && lane() == 0) {
			stats[0] = r.mean;
			stats[a.rows] = r.rstd;
		}
		for (unsigned j = lane(); j < r.n && a.y != NULL; j += LANES) {
			float v = r.xhat(j) * gamma[j];

			gv_put(y + j, beta == NULL ? v : v + beta[j]);
		}
	}
}

GV_KERNELS(ln_forward, gv_cuda_ln, forward)

/* dx = rstd * (g - mean of g - xhat * mean of g xhat), g = dy * gamma */
template <class T>
GV_DEVICE void
backward(const struct gv_cuda_ln &a)
{
	size_t i = row_of_thread();

	GV_EACH_MODEL(b, a)
	{
		row<T> r(a, b, i);
		const float *gamma = a.gamma + b * a.gamma_apart;
		const T *dy = (const T *)a.dy + b * a.dy_apart + i * a.n;
		const T *mask = a.mask == NULL
				    ? NULL
				    : (const T *)a.mask + b * a.mask_apart + i * a.n;
		T *dx = (T *)a.dx + b * a.dx_apart + i * a.n;
		float sum = 0, dot = 0, shift, slope;

		for (unsigned j = lane(); j < r.n; j += LANES) {
			float g = gv_get(dy + j) * gamma[j];

			sum += g;
			dot += g * r.xhat(j);
		}
		shift = across(sum) / (float)a.n;
		slope = across(dot) / (float)a.n;
		for (unsigned j = lane(); j < r.n; j += LANES) {
			float g = gv_get(dy + j) * gamma[j];
			float v = r.rstd * (g - shift - r.xhat(j) * slope);

			gv_put(
			    dx + j, gv_masked(mask, j, a.add ? gv_get(dx + j) + v : v));
		}
	}
}

GV_KERNELS(ln_backward, gv_cuda_ln, backward)
} // namespace gv_ln
