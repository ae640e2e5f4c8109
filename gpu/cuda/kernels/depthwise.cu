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

/* The taps phase, phase + s ... that meet outputs over a place, on one side: first, first - 1 ... */
struct meeting {
	unsigned phase, taps, first;

	GV_MEMBER
	meeting(unsigned place, unsigned k, unsigned s)
	{
		first = place / s;
		phase = place - first * s;
		taps = phase < k ? (k - phase + s - 1) / s : 0;
	}
};

/* Taps from the last, where they meet an output. */
template <class T>
GV_DEVICE void
backward(const struct gv_cuda_conv &a)
{
	unsigned k = (unsigned)a.k, s = (unsigned)a.s;
	size_t i = gv_global(GV_THREADS_depthwise_backward_f32);
	gv_place at = gv_place_of(i, a.height, a.width, a.channels);
	meeting h(at.y + (unsigned)a.p, k, s), l(at.x + (unsigned)a.p, k, s);

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

		for (unsigned ty = h.taps; ty-- > 0;)
			for (unsigned tx = l.taps; tx-- > 0;) {
				/* above and left of the output they wrap around */
				unsigned y = h.first - ty, x = l.first - tx;

				if (y < a.out_height && x < a.out_width)
					v = fmaf(gv_get(dy + ((size_t)y * a.out_width + x) *
								 a.channels),
					    gv_get(w + (h.phase + ty * s) * k + l.phase +
						   tx * s),
					    v);
			}
		gv_put(dx, gv_masked(mask, i, a.dx_relu ? gv_relu(v) : v));
	}
}

GV_KERNELS(depthwise_backward, gv_cuda_conv, backward)

/* Outputs from one on, and where their window's element is in x. */
struct walk {
	unsigned sample, y, x, height, width; /* of outputs */

	GV_MEMBER
	walk(unsigned l, const struct gv_cuda_conv &a)
	{
		height = (unsigned)a.out_height;
		width = (unsigned)a.out_width;
		x = l % width;
		y = l / width % height;
		sample = l / width / height;
	}
	GV_MEMBER void
	step()
	{
		if (++x < width)
			return;
		x = 0;
		if (++y < height)
			return;
		y = 0;
		sample++;
	}
};

/*
 * A thread a weight and piece of a shard, into scratch [B][shards][pieces][channels][k][k]:
 * a chain over outputs, several of which are on their way at once.
 */
enum { AHEAD = 16 };

template <class T>
GV_DEVICE void
gradient(const struct gv_cuda_depthwise_parts &r)
{
	const struct gv_cuda_conv &a = r.c;
	unsigned k = (unsigned)a.k, height = (unsigned)a.height,
		 width = (unsigned)a.width;
	size_t i = gv_global(GV_THREADS_depthwise_gradient_f32),
	       weights = k * k * a.channels;
	/* neighbours are channels, whose numbers lie side by side */
	gv_place w = gv_place_of(i, k, k, a.channels);
	unsigned first, last, part = w.sample;

	if (part >= a.shards.shards * r.pieces)
		return;
	gv_shard(&a.shards, part / r.pieces, &first, &last);
	gv_piece(&first, &last, (unsigned)(a.out_height * a.out_width), r.pieces,
	    part % r.pieces);
	GV_EACH_MODEL(b, a)
	{
		const T *x = (const T *)a.x + b * a.x_apart + w.c;
		const T *dy = (const T *)a.dy + b * a.dy_apart + w.c;
		walk at(first, a);
		float v = 0;

		for (unsigned l = first; l < last; l += AHEAD) {
			float from[AHEAD], to[AHEAD];
			unsigned there = 0;

			GV_UNROLL
			for (unsigned e = 0; e < AHEAD; e++, at.step()) {
				unsigned y = at.y * (unsigned)a.s + w.y - (unsigned)a.p;
				unsigned z = at.x * (unsigned)a.s + w.x - (unsigned)a.p;
				bool in = l + e < last && y < height && z < width;

				from[e] = to[e] = 0;
				if (!in)
					continue;
				there |= 1u << e;
				from[e] = gv_get(x + (((size_t)at.sample * height + y) *
							     width +
							 z) *
							 a.channels);
				to[e] = gv_get(dy + (size_t)(l + e) * a.channels);
			}
			GV_UNROLL
			for (unsigned e = 0; e < AHEAD; e++)
				if (there >> e & 1)
					v = fmaf(from[e], to[e], v);
		}
		a.scratch[(b * a.shards.shards * r.pieces + part) * weights +
			  (size_t)w.c * k * k + w.y * k + w.x] = v;
	}
}

GV_KERNELS(depthwise_gradient, gv_cuda_depthwise_parts, gradient)
} // namespace gv_depthwise
