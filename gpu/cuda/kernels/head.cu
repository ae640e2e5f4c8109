/*
 * Heads.  xent with few classes: a thread a target, in the order of
 * common/nn/cpu/xent.c; with many: a block a target, each thread every 256th class.
 */
#include "device.h"

namespace gv_head {
enum { WARP = 32, WIDE = 256, WARPS = WIDE / WARP };

/* The logit at the label is not below that of class j, and above where j is before it. */
template <class T>
GV_DEVICE bool
not_below(const T *x, unsigned label, unsigned j)
{
	float at = gv_get(x + label), other = gv_get(x + j);

	return j < label ? at > other : at >= other;
}

/* One target of a model. */
template <class T> struct target {
	const T *x;
	T *dx;
	float *loss, *hit, divisor;
	int label;

	GV_MEMBER
	target(const struct gv_cuda_head_run &r, size_t b, size_t i)
	{
		const struct gv_cuda_head &a = r.h;

		x = (const T *)a.x + b * a.x_apart + i * a.classes;
		dx = a.dx == NULL ? NULL : (T *)a.dx + b * a.dx_apart + i * a.classes;
		loss = r.loss + b * r.loss_apart + i;
		hit = r.hit == NULL ? NULL : r.hit + b * r.hit_apart + i;
		divisor = a.divisor;
		label = a.label == NULL ? 0 : a.label[i];
	}
	/* By one thread. */
	GV_MEMBER void
	say(float l, bool met) const
	{
		*loss = l;
		if (hit != NULL)
			*hit = met;
	}
	/* Of class j, whose softmax is p. */
	GV_MEMBER void
	give_back(unsigned j, float p) const
	{
		if (dx != NULL)
			gv_put(
			    dx + j, (p - (j == (unsigned)label ? 1.0f : 0.0f)) / divisor);
	}
};

/* A target without a label: class first, first + step ... */
template <class T>
GV_DEVICE void
nothing(const target<T> &t, unsigned classes, unsigned first, unsigned step)
{
	if (first == 0)
		t.say(0, false);
	for (unsigned j = first; j < classes && t.dx != NULL; j += step)
		gv_put(t.dx + j, 0);
}

template <class T>
GV_DEVICE void
narrow(const struct gv_cuda_head_run &a)
{
	unsigned classes = (unsigned)a.h.classes;
	size_t i = gv_global(GV_THREADS_xent_narrow_f32);

	if (i >= a.h.n * a.h.targets)
		return;
	GV_EACH_MODEL(b, a.h)
	{
		target<T> t(a, b, i);
		float top = gv_get(t.x), sum = 0;
		bool hit = true;

		if (t.label < 0) {
			nothing(t, classes, 0, 1);
			continue;
		}
		for (unsigned j = 0; j < classes; j++) {
			float v = gv_get(t.x + j);

			top = v > top ? v : top;
			hit = hit && not_below(t.x, (unsigned)t.label, j);
		}
		for (unsigned j = 0; j < classes; j++)
			sum += expf(gv_get(t.x + j) - top);
		t.say(logf(sum) - (gv_get(t.x + t.label) - top), hit);
		for (unsigned j = 0; j < classes; j++)
			t.give_back(j, expf(gv_get(t.x + j) - top) / sum);
	}
}

GV_KERNELS(xent_narrow, gv_cuda_head_run, narrow)

/* ---- many classes ---- */

struct parts {
	float v[WARPS];
};

struct larger {
	GV_MEMBER static float
	of(float a, float b)
	{
		return b > a ? b : a;
	}
};

struct sum {
	GV_MEMBER static float
	of(float a, float b)
	{
		return a + b;
	}
};

/* Of all threads' values; all get the same bits. */
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
one_wide(const target<T> &t, parts &p, unsigned classes)
{
	float top = gv_get(t.x), total = 0, misses = 0;

	for (unsigned j = gv_thread; j < classes; j += WIDE) {
		float v = gv_get(t.x + j);

		top = v > top ? v : top;
		misses += not_below(t.x, (unsigned)t.label, j) ? 0 : 1;
	}
	top = over_block<larger>(p, top);
	for (unsigned j = gv_thread; j < classes; j += WIDE)
		total += expf(gv_get(t.x + j) - top);
	total = over_block<sum>(p, total);
	misses = over_block<sum>(p, misses);
	if (gv_thread == 0)
		t.say(logf(total) - (gv_get(t.x + t.label) - top), misses == 0);
	for (unsigned j = gv_thread; j < classes; j += WIDE)
		t.give_back(j, expf(gv_get(t.x + j) - top) / total);
}

template <class T>
GV_DEVICE void
wide(const struct gv_cuda_head_run &a)
{
	GV_SHARED(parts, p);
	unsigned classes = (unsigned)a.h.classes;

	GV_EACH_MODEL(b, a.h)
	{
		target<T> t(a, b, gv_block_x);

		if (t.label < 0)
			nothing(t, classes, gv_thread, WIDE);
		else
			one_wide(t, p, classes);
	}
}

GV_KERNELS(xent_wide, gv_cuda_head_run, wide)

/* ---- numbers ---- */

template <class T, bool CROSS>
GV_DEVICE void
numbers(const struct gv_cuda_head_run &a)
{
	size_t i = gv_global(GV_THREADS_mse_f32);

	if (i >= a.h.n * a.h.targets)
		return;
	GV_EACH_MODEL(b, a.h)
	{
		target<T> t(a, b, i);
		float x = gv_get(t.x), want = a.h.number[i], slope;

		if (CROSS) {
			float e = expf(-fabsf(x)), p = x >= 0 ? 1 / (1 + e) : e / (1 + e);

			t.say((x > 0 ? x : 0) - x * want + log1pf(e),
			    (x > 0) == (want > 0.5f));
			slope = p - want;
		} else {
			t.say((x - want) * (x - want), false);
			slope = 2 * (x - want);
		}
		if (t.dx != NULL)
			gv_put(t.dx, slope / t.divisor);
	}
}

GV_KERNEL(mse_f32, gv_cuda_head_run)
{
	numbers<float, false>(a);
}
GV_KERNEL(mse_bf16, gv_cuda_head_run)
{
	numbers<gv_bf16, false>(a);
}
GV_KERNEL(bce_f32, gv_cuda_head_run)
{
	numbers<float, true>(a);
}
GV_KERNEL(bce_bf16, gv_cuda_head_run)
{
	numbers<gv_bf16, true>(a);
}

/* From targets to samples, in order. */
GV_KERNEL(head_mean, gv_cuda_head_run)
{
	size_t i = gv_global(GV_THREADS_head_mean), targets = a.h.targets;

	if (i >= a.h.n)
		return;
	GV_EACH_MODEL(b, a.h)
	{
		const float *loss = a.loss + b * a.loss_apart + i * targets;
		double total = 0;
		float hits = 0;

		for (size_t t = 0; t < targets; t++) {
			total += (double)loss[t];
			hits +=
			    a.hit == NULL ? 0 : a.hit[b * a.hit_apart + i * targets + t];
		}
		a.h.loss[b * a.h.loss_apart + i] = (float)(total / (double)targets);
		if (a.hit != NULL)
			a.h.hit[b * a.h.hit_apart + i] = hits;
	}
}
} // namespace gv_head
