/* maxpool and avgpool: a thread a number; back, it asks the windows that it is in. */
#include "device.h"

namespace gv_pool {
/* Rows, or columns, [first, last) of the input under one place of the output. */
struct span {
	unsigned first, last;
};

GV_DEVICE span
window(const struct gv_cuda_pool &a, size_t o, size_t size)
{
	size_t end = o * a.s + a.k;
	span w = {0, (unsigned)size};

	if (a.k == 0)
		return w;
	w.first = o * a.s < a.p ? 0 : (unsigned)(o * a.s - a.p);
	w.last = end < a.p          ? 0
		 : end - a.p > size ? (unsigned)size
				    : (unsigned)(end - a.p);
	return w;
}

/* Places of the output whose windows reach row, or column, i of the input. */
GV_DEVICE span
reached(const struct gv_cuda_pool &a, size_t i, size_t out)
{
	size_t at = i + a.p;
	span o = {0, (unsigned)out};

	if (a.k == 0)
		return o;
	o.first = at < a.k ? 0 : (unsigned)((at - a.k) / a.s + 1);
	if (at / a.s + 1 < out)
		o.last = (unsigned)(at / a.s + 1);
	return o;
}

template <class T> struct image {
	const T *v; /* the channel of the sample */
	size_t width, channels;
	GV_MEMBER float
	at(size_t y, size_t x) const
	{
		return gv_get(v + (y * width + x) * channels);
	}
};

template <class T>
GV_DEVICE image<T>
input(const struct gv_cuda_pool &a, size_t b, const gv_place &p)
{
	image<T> x = {(const T *)a.x + b * a.x_apart +
			  (size_t)p.sample * a.height * a.width * a.channels + p.c,
	    a.width, a.channels};

	return x;
}

/* Of y, or dy. */
template <class T>
GV_DEVICE image<T>
output(const struct gv_cuda_pool &a, const void *v, size_t apart, size_t b,
    const gv_place &p)
{
	image<T> y = {(const T *)v + b * apart +
			  (size_t)p.sample * a.out_height * a.out_width * a.channels +
			  p.c,
	    a.out_width, a.channels};

	return y;
}

/* A NaN wins and stays. */
template <class T>
GV_DEVICE float
largest(const image<T> &x, span rows, span columns)
{
	float most = x.at(rows.first, columns.first);

	for (unsigned y = rows.first; y < rows.last; y++)
		for (unsigned z = columns.first; z < columns.last; z++) {
			float v = x.at(y, z);

			most = v > most || v != v ? v : most;
		}
	return most;
}

GV_DEVICE float
part_of(span rows, span columns)
{
	return 1.0f / (float)((rows.last - rows.first) * (columns.last - columns.first));
}

template <class T>
GV_DEVICE float
average(const image<T> &x, span rows, span columns)
{
	float sum = 0;

	for (unsigned y = rows.first; y < rows.last; y++)
		for (unsigned z = columns.first; z < columns.last; z++)
			sum += x.at(y, z);
	return sum * part_of(rows, columns);
}

template <class T, bool MAX>
GV_DEVICE void
forward(const struct gv_cuda_pool &a)
{
	size_t i = gv_global(GV_THREADS_maxpool_forward_f32);
	gv_place o = gv_place_of(i, a.out_height, a.out_width, a.channels);
	span rows = window(a, o.y, a.height), columns = window(a, o.x, a.width);

	if (o.sample >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		image<T> x = input<T>(a, b, o);

		gv_put((T *)a.y + b * a.y_apart + i,
		    MAX ? largest(x, rows, columns) : average(x, rows, columns));
	}
}

/* The input place is the first of the window that holds the maximum. */
template <class T>
GV_DEVICE bool
is_first(
    const image<T> &x, span rows, span columns, unsigned at_y, unsigned at_x, float most)
{
	if (x.at(at_y, at_x) != most)
		return false;
	for (unsigned y = rows.first; y <= at_y; y++)
		for (unsigned z = columns.first; z < (y < at_y ? columns.last : at_x);
		     z++)
			if (x.at(y, z) == most)
				return false;
	return true;
}

template <class T, bool MAX>
GV_DEVICE void
backward(const struct gv_cuda_pool &a)
{
	size_t i = gv_global(GV_THREADS_maxpool_backward_f32);
	gv_place at = gv_place_of(i, a.height, a.width, a.channels);
	span ys = reached(a, at.y, a.out_height), xs = reached(a, at.x, a.out_width);

	if (at.sample >= a.n)
		return;
	GV_EACH_MODEL(b, a)
	{
		image<T> x = input<T>(a, b, at);
		image<T> most = output<T>(a, a.y, a.y_apart, b, at);
		image<T> dy = output<T>(a, a.dy, a.dy_apart, b, at);
		const T *mask =
		    a.mask == NULL ? NULL : (const T *)a.mask + b * a.mask_apart;
		T *dx = (T *)a.dx + b * a.dx_apart + i;
		float v = a.add ? gv_get(dx) : 0;

		for (unsigned oy = ys.first; oy < ys.last; oy++)
			for (unsigned ox = xs.first; ox < xs.last; ox++) {
				span rows = window(a, oy, a.height);
				span columns = window(a, ox, a.width);

				if (!MAX)
					v += dy.at(oy, ox) * part_of(rows, columns);
				else if (is_first(x, rows, columns, at.y, at.x,
					     most.at(oy, ox)))
					v += dy.at(oy, ox);
			}
		gv_put(dx, gv_masked(mask, i, v));
	}
}

GV_KERNEL(maxpool_forward_f32, gv_cuda_pool)
{
	forward<float, true>(a);
}
GV_KERNEL(maxpool_forward_bf16, gv_cuda_pool)
{
	forward<gv_bf16, true>(a);
}
GV_KERNEL(maxpool_backward_f32, gv_cuda_pool)
{
	backward<float, true>(a);
}
GV_KERNEL(maxpool_backward_bf16, gv_cuda_pool)
{
	backward<gv_bf16, true>(a);
}
GV_KERNEL(avgpool_forward_f32, gv_cuda_pool)
{
	forward<float, false>(a);
}
GV_KERNEL(avgpool_forward_bf16, gv_cuda_pool)
{
	forward<gv_bf16, false>(a);
}
GV_KERNEL(avgpool_backward_f32, gv_cuda_pool)
{
	backward<float, false>(a);
}
GV_KERNEL(avgpool_backward_bf16, gv_cuda_pool)
{
	backward<gv_bf16, false>(a);
}
} // namespace gv_pool
