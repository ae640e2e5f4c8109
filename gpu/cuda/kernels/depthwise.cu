/*
 * conv with a group to each channel, where a product would be one column wide: a
 * thread a number, its chain over the taps that are inside.
 */
#include "device.h"

namespace gv_depthwise {
template <class T>
GV_DEVICE void
forward(const struct gv_cuda_conv &a)
{
	unsigned k = (unsigned)a.k, height = (unsigned)a.height,
		 width = (unsigned)a.width;
	size_t i = gv_global(GV_THREADS_depthwise_forward_f32);
	gv_place o = gv_place_of(i, a.out_height, a.out_width, a.channels);

	if (o.sample >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		const T *x = (const T *)a.x + b * a.x_apart + o.c +
			     (size_t)o.sample * height * width * a.channels;
		const T *w = (const T *)a.w + b * a.w_apart + o.c * (size_t)k * k;
		const T *mask =
		    a.y_mask == NULL ? NULL : (const T *)a.y_mask + b * a.y_mask_apart;
		T *to = (T *)a.y + b * a.y_apart + i;
		float v = a.y_add          ? gv_get(to)
			  : a.bias != NULL ? a.bias[b * a.bias_apart + o.c]
					   : 0;

		for (unsigned ky = 0; ky < k; ky++)
			for (unsigned kx = 0; kx < k; kx++) {
				unsigned y = o.y * (unsigned)a.s + ky - (unsigned)a.p;
				unsigned z = o.x * (unsigned)a.s + kx - (unsigned)a.p;

				/* above and left of the input they wrap around */
				if (y < height && z < width)
					v = fmaf(gv_get(x + ((size_t)y * width + z) *
								a.channels),
					    gv_get(w + ky * k + kx), v);
			}
		gv_put(to, gv_masked(mask, i, a.relu ? gv_relu(v) : v));
	}
}

GV_KERNELS(depthwise_forward, gv_cuda_conv, forward)

/* Taps from the last, where they meet an output. */
template <class T>
GV_DEVICE void
backward(const struct gv_cuda_conv &a)
{
	unsigned k = (unsigned)a.k, s = (unsigned)a.s;
	size_t i = gv_global(GV_THREADS_depthwise_backward_f32);
	gv_place at = gv_place_of(i, a.height, a.width, a.channels);

	if (at.sample >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		const T *dy = (const T *)a.dy + b * a.dy_apart + at.c +
			      (size_t)at.sample * a.out_height * a.out_width * a.channels;
		const T *w = (const T *)a.w + b * a.w_apart + at.c * (size_t)k * k;
		const T *mask =
		    a.mask == NULL ? NULL : (const T *)a.mask + b * a.mask_apart;
		T *dx = (T *)a.dx + b * a.dx_apart + i;
		float v = a.add               ? gv_get(dx)
			  : a.dx_bias != NULL ? a.dx_bias[b * a.dx_bias_apart + at.c]
					      : 0;

		for (unsigned ky = k; ky-- > 0;)
			for (unsigned kx = k; kx-- > 0;) {
				unsigned y = at.y + (unsigned)a.p - ky;
				unsigned x = at.x + (unsigned)a.p - kx;

				if (y % s != 0 || x % s != 0 || y / s >= a.out_height ||
				    x / s >= a.out_width)
					continue;
				v = fmaf(
				    gv_get(dy + ((size_t)(y / s) * a.out_width + x / s) *
						    a.channels),
				    gv_get(w + ky * k + kx), v);
			}
		gv_put(dx, gv_masked(mask, i, a.dx_relu ? gv_relu(v) : v));
	}
}

GV_KERNELS(depthwise_backward, gv_cuda_conv, backward)

/* A thread a weight and shard, into scratch [B][shards][channels][k][k]. */
template <class T>
GV_DEVICE void
gradient(const struct gv_cuda_conv &a)
{
	unsigned k = (unsigned)a.k, height = (unsigned)a.height,
		 width = (unsigned)a.width;
	size_t i = gv_global(GV_THREADS_depthwise_gradient_f32),
	       weights = k * k * a.channels;
	/* neighbours are channels, whose numbers lie side by side */
	gv_place w = gv_place_of(i, k, k, a.channels);
	unsigned first, last;

	if (w.sample >= a.shards.shards)
		return;
	gv_shard(&a.shards, w.sample, &first, &last);
	GV_EACH_MODEL(b, a)
	{
		const T *x = (const T *)a.x + b * a.x_apart + w.c;
		const T *dy = (const T *)a.dy + b * a.dy_apart + w.c;
		float v = 0;

		for (unsigned j = first; j < last; j++)
			for (unsigned oy = 0; oy < a.out_height; oy++)
				for (unsigned ox = 0; ox < a.out_width; ox++) {
					unsigned y =
					    oy * (unsigned)a.s + w.y - (unsigned)a.p;
					unsigned z =
					    ox * (unsigned)a.s + w.x - (unsigned)a.p;

					if (y >= height || z >= width)
						continue;
					v = fmaf(
					    gv_get(x + (((size_t)j * height + y) * width +
							   z) *
							   a.channels),
					    gv_get(dy + (((size_t)j * a.out_height + oy) *
								a.out_width +
							    ox) *
							    a.channels),
					    v);
				}
		a.scratch[(b * a.shards.shards + w.sample) * weights +
			  (size_t)w.c * k * k + w.y * k + w.x] = v;
	}
}

GV_KERNELS(depthwise_gradient, gv_cuda_conv, gradient)
} // namespace gv_depthwise
