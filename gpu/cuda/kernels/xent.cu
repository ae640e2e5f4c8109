/*
 * xent: softmax cross entropy.  Few classes: a thread a sample, in the order of
 * common/nn/cpu/xent.c; many: a block a sample, each thread every 256th class.
 */
#include "device.h"

enum { WARP = 32, WIDE = 256, WARPS = WIDE / WARP };

/* The largest logit is at the label, and no other before it is as large. */
template <class T>
GV_DEVICE bool
not_below(const T *x, unsigned label, unsigned j)
{
	float at = gv_get(x + label), other = gv_get(x + j);

	return j < label ? at > other : at >= other;
}

/* A class's part of the gradient of the mean loss. */
template <class T>
GV_DEVICE void
give_back(const struct gv_cuda_xent &a, T *dx, unsigned j, unsigned label, float share)
{
	if (dx != NULL)
		gv_put(dx + j, (share - (j == label ? 1.0f : 0.0f)) / a.samples);
}

template <class T> struct sample {
	const T *x;
	T *dx;
	unsigned label;
	float *loss, *hit;

	GV_MEMBER
	sample(const struct gv_cuda_xent &a, size_t b, size_t i)
	{
		x = (const T *)a.x + b * a.x_apart + i * a.classes;
		dx = a.dx == NULL ? NULL : (T *)a.dx + b * a.dx_apart + i * a.classes;
		label = (unsigned)a.label[i];
		loss = a.loss + b * a.loss_apart + i;
		hit = a.hit == NULL ? NULL : a.hit + b * a.hit_apart + i;
	}
};

template <class T>
GV_DEVICE void
narrow(const struct gv_cuda_xent &a)
{
	unsigned classes = (unsigned)a.classes;
	size_t i = gv_global(GV_THREADS_xent_narrow_f32);

	if (i >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		sample<T> s(a, b, i);
		float top = gv_get(s.x), sum = 0;
		bool hit = true;

		for (unsigned j = 0; j < classes; j++) {
			float v = gv_get(s.x + j);

			top = v > top ? v : top;
			hit = hit && not_below(s.x, s.label, j);
		}
		for (unsigned j = 0; j < classes; j++)
			sum += expf(gv_get(s.x + j) - top);
		*s.loss = logf(sum) - (gv_get(s.x + s.label) - top);
		if (s.hit != NULL)
			*s.hit = hit;
		for (unsigned j = 0; j < classes && s.dx != NULL; j++)
			give_back(a, s.dx, j, s.label, expf(gv_get(s.x + j) - top) / sum);
	}
}

GV_KERNELS(xent_narrow, gv_cuda_xent, narrow)

/* ---- many classes ---- */

struct parts {
	float v[WARPS];
};

/* The largest of the block's values; with a NaN it may be any, as on the CPU. */
struct largest {
	GV_MEMBER static float
	of(float a, float b)
	{
		return b > a ? b : a;
	}
};

struct total {
	GV_MEMBER static float
	of(float a, float b)
	{
		return a + b;
	}
};

/* All threads get the same bits. */
template <class F>
GV_DEVICE float
over_block(parts &s, float v)
{
	for (unsigned k = WARP / 2; k > 0; k /= 2)
		v = F::of(v, gv_xor(v, k));
	gv_sync(); /* the last one's parts have been read */
	if (gv_thread % WARP == 0)
		s.v[gv_thread / WARP] = v;
	gv_sync();
	v = s.v[0];
	for (unsigned w = 1; w < WARPS; w++)
		v = F::of(v, s.v[w]);
	return v;
}

template <class T>
GV_DEVICE void
wide(const struct gv_cuda_xent &a)
{
	GV_SHARED(parts, p);
	unsigned classes = (unsigned)a.classes;

	GV_EACH_MODEL(b, a)
	{
		sample<T> s(a, b, gv_block_x);
		float top = gv_get(s.x), sum = 0, misses = 0;

		for (unsigned j = gv_thread; j < classes; j += WIDE) {
			float v = gv_get(s.x + j);

			top = v > top ? v : top;
			misses += not_below(s.x, s.label, j) ? 0 : 1;
		}
		top = over_block<largest>(p, top);
		for (unsigned j = gv_thread; j < classes; j += WIDE)
			sum += expf(gv_get(s.x + j) - top);
		sum = over_block<total>(p, sum);
		misses = over_block<total>(p, misses);
		if (gv_thread == 0) {
			*s.loss = logf(sum) - (gv_get(s.x + s.label) - top);
			if (s.hit != NULL)
				*s.hit = misses == 0;
		}
		for (unsigned j = gv_thread; j < classes && s.dx != NULL; j += WIDE)
			give_back(a, s.dx, j, s.label, expf(gv_get(s.x + j) - top) / sum);
	}
}

GV_KERNELS(xent_wide, gv_cuda_xent, wide)
