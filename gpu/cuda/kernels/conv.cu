/*
 * linear and conv as products whose operands are gathered: struct gv_cuda_conv.  A
 * block of the grid's first dimension is a tile, of its second one a model's group
 * (and, on the way back, a class of places; of the gradient a part of the shards).
 */
#include "tensor.h"

namespace gv_conv {
/* What all three need, of one model's group. */
template <class T> struct conv {
	const struct gv_cuda_conv_run &r;
	const struct gv_cuda_conv &c;
	unsigned height, width, out_height, out_width, k, s, p;
	unsigned cin, cout, group; /* channels of the group */

	GV_MEMBER
	conv(const struct gv_cuda_conv_run &a, size_t g) : r(a), c(a.c)
	{
		height = (unsigned)c.height;
		width = (unsigned)c.width;
		out_height = (unsigned)c.out_height;
		out_width = (unsigned)c.out_width;
		k = (unsigned)c.k;
		s = (unsigned)c.s;
		p = (unsigned)c.p;
		cin = (unsigned)(c.channels / c.g);
		cout = (unsigned)(c.out / c.g);
		group = (unsigned)g;
	}
	GV_MEMBER unsigned
	places() const
	{
		return (unsigned)c.n * out_height * out_width;
	}
	GV_MEMBER const T *
	x(size_t b) const
	{
		return (const T *)c.x + b * c.x_apart + group * cin;
	}
	GV_MEMBER const T *
	w(size_t b) const
	{
		return (const T *)c.w + b * c.w_apart +
		       (size_t)group * k * k * cin * cout;
	}
	GV_MEMBER const T *
	dy(size_t b) const
	{
		return (const T *)c.dy + b * c.dy_apart + group * cout;
	}
};

/* A window of x: its upper left corner may be outside. */
template <class T> struct corner {
	const T *sample; /* NULL: no such window */
	int y, x;
};

/* An element of a window. */
struct tap {
	int y, x;
	unsigned c;
};

template <class T>
GV_DEVICE corner<T>
corner_of(const conv<T> &v, const T *x, unsigned place)
{
	unsigned row = gv_divided(place, v.r.out_width);
	unsigned sample = gv_divided(row, v.r.out_height);
	unsigned left = (place - row * v.out_width) * v.s;
	unsigned top = (row - sample * v.out_height) * v.s;
	corner<T> at = {NULL, (int)top - (int)v.p, (int)left - (int)v.p};

	if (place < v.places())
		at.sample = x + (size_t)sample * v.height * v.width * v.c.channels;
	return at;
}

template <class T>
GV_DEVICE tap
tap_of(const conv<T> &v, unsigned element)
{
	unsigned t = gv_divided(element, v.r.in), y = gv_divided(t, v.r.k);
	tap e = {(int)y, (int)(t - y * v.k), element - t * v.cin};

	return e;
}

/* Where it is; NULL: outside. */
template <class T>
GV_DEVICE const T *
place_under(const conv<T> &v, const corner<T> &at, const tap &e)
{
	int y = at.y + e.y, x = at.x + e.x;

	if (at.sample == NULL || y < 0 || x < 0 || y >= (int)v.height ||
	    x >= (int)v.width || e.y >= (int)v.k)
		return NULL;
	return at.sample + ((size_t)y * v.width + (size_t)x) * v.c.channels + e.c;
}

template <class T>
GV_DEVICE float
under(const conv<T> &v, const corner<T> &at, const tap &e)
{
	const T *p = place_under(v, at, e);

	return p != NULL ? gv_get(p) : 0;
}

/* Runs of n numbers from v on, so far apart, are made of whole 16 bytes. */
template <class T>
GV_DEVICE bool
in_eights(const T *v, size_t apart, unsigned n)
{
	return ((size_t)v | (apart | n) * sizeof(T)) % 16 == 0;
}

/* Element (place, element of its window). */
template <class T> struct windows {
	typedef corner<T> outer_type;
	const conv<T> &v;
	const T *x;

	GV_MEMBER bool
	along_k() const
	{
		return true;
	}
	GV_MEMBER outer_type
	outer(unsigned i) const
	{
		return corner_of(v, x, i);
	}
	GV_MEMBER tap
	inner(unsigned l) const
	{
		return tap_of(v, l);
	}
	GV_MEMBER float
	get(const outer_type &at, const tap &e) const
	{
		return under(v, at, e);
	}
	GV_MEMBER bool
	whole() const
	{
		return in_eights(x, v.c.channels, v.cin);
	}
	GV_MEMBER const T *
	chunk(const outer_type &at, const tap &e) const
	{
		return place_under(v, at, e);
	}
};

/* Element (element of a window, place): the same, transposed. */
template <class T> struct windows_across {
	typedef tap outer_type;
	const conv<T> &v;
	const T *x;

	GV_MEMBER bool
	along_k() const
	{
		return false;
	}
	GV_MEMBER outer_type
	outer(unsigned i) const
	{
		return tap_of(v, i);
	}
	GV_MEMBER corner<T>
	inner(unsigned l) const
	{
		return corner_of(v, x, l);
	}
	GV_MEMBER float
	get(const outer_type &e, const corner<T> &at) const
	{
		return under(v, at, e);
	}
	GV_MEMBER bool
	whole() const
	{
		return in_eights(x, v.c.channels, v.cin);
	}
	GV_MEMBER const T *
	chunk(const outer_type &e, const corner<T> &at) const
	{
		return place_under(v, at, e);
	}
};

/* Element (l, j) of rows that are apart: a matrix of weights, dy by place. */
template <class T> struct rows {
	typedef unsigned outer_type;
	const T *v;
	size_t apart;
	unsigned n; /* columns */

	GV_MEMBER bool
	along_k() const
	{
		return false;
	}
	GV_MEMBER outer_type
	outer(unsigned j) const
	{
		return j;
	}
	GV_MEMBER const T *
	inner(unsigned l) const
	{
		return v + l * apart;
	}
	GV_MEMBER float
	get(outer_type j, const T *row) const
	{
		return j < n ? gv_get(row + j) : 0;
	}
	GV_MEMBER bool
	whole() const
	{
		return in_eights(v, apart, n);
	}
	GV_MEMBER const T *
	chunk(outer_type j, const T *row) const
	{
		return j < n ? row + j : NULL;
	}
};

/* ---- forward: places x channels of the output ---- */

template <class T, class PRODUCT>
GV_DEVICE void
forward(const struct gv_cuda_conv_run &r)
{
	GV_SHARED(typename PRODUCT::shared, s);
	const struct gv_cuda_conv &a = r.c;

	for (size_t z = gv_block_y; z < a.B * a.g; z += gv_grid_y) {
		size_t b = z / a.g;
		conv<T> v(r, z % a.g);
		windows<T> x = {v, v.x(b)};
		rows<T> w = {v.w(b), v.cout, v.cout};
		gv_tile t(gv_block_x, v.cout, PRODUCT::SIZE);
		T *y = (T *)a.y + b * a.y_apart + v.group * v.cout;
		const T *mask =
		    a.y_mask == NULL
			? NULL
			: (const T *)a.y_mask + b * a.y_mask_apart + v.group * v.cout;
		PRODUCT p;

		if (!gv_active(a.active, b))
			continue;
		GV_UNROLL
		for (unsigned i = 0; i < p.DOWN; i++)
			GV_UNROLL
		for (unsigned j = 0; j < p.ACROSS; j++) {
			unsigned place = t.row + p.row(i);
			unsigned o = t.column + p.column(j);
			bool there = place < v.places() && o < v.cout;

			p.v[i][j] = there && a.y_add
					? gv_get(y + (size_t)place * a.out + o)
				    : there && a.bias != NULL
					? a.bias[b * a.bias_apart + v.group * v.cout + o]
					: 0;
		}
		p.run(s, x, w, t.row, t.column, 0, v.k * v.k * v.cin);
		GV_UNROLL
		for (unsigned i = 0; i < p.DOWN; i++)
			GV_UNROLL
		for (unsigned j = 0; j < p.ACROSS; j++) {
			unsigned place = t.row + p.row(i);
			unsigned o = t.column + p.column(j);
			size_t at = (size_t)place * a.out + o;

			if (place < v.places() && o < v.cout)
				gv_put(
				    y + at, gv_masked(mask, at,
						a.relu ? gv_relu(p.v[i][j]) : p.v[i][j]));
		}
	}
}

GV_KERNEL(conv_forward_128_f32, gv_cuda_conv_run)
{
	forward<float, gv_product_for<float, 128>::type>(a);
}
GV_KERNEL_OF(2, conv_forward_64_f32, gv_cuda_conv_run)
{
	forward<float, gv_product_for<float, 64>::type>(a);
}
GV_KERNEL_OF(2, conv_forward_128_tf32, gv_cuda_conv_run)
{
	forward<float, gv_product_tensor<float, 128>>(a);
}
GV_KERNEL_OF(2, conv_forward_64_tf32, gv_cuda_conv_run)
{
	forward<float, gv_product_tensor<float, 64>>(a);
}
GV_KERNEL_OF(2, conv_forward_32_f32, gv_cuda_conv_run)
{
	forward<float, gv_product_for<float, 32>::type>(a);
}
GV_KERNEL_OF(2, conv_forward_128_bf16, gv_cuda_conv_run)
{
	forward<gv_bf16, gv_product_for<gv_bf16, 128>::type>(a);
}
GV_KERNEL_OF(2, conv_forward_64_bf16, gv_cuda_conv_run)
{
	forward<gv_bf16, gv_product_for<gv_bf16, 64>::type>(a);
}

/* ---- backward: places x channels of the input ---- */

/*
 * With stride s the places of the input fall into s x s classes by (place + p) mod s:
 * those of a class meet the same taps, so no product is with zeros between dy.  One
 * side of a class:
 */
struct side {
	unsigned phase; /* the first of its taps */
	unsigned taps;  /* phase, phase + s ... */
	unsigned first; /* of its places; they are s apart */
	unsigned n;

	GV_MEMBER
	side(unsigned f, unsigned k, unsigned s, unsigned p, unsigned size)
	{
		phase = f;
		taps = f < k ? (k - f + s - 1) / s : 0;
		first = (f + s - p % s) % s;
		n = first < size ? (size - first + s - 1) / s : 0;
	}
};

/* The places of a class, one after the other. */
template <class T> struct places_of_class {
	const conv<T> &v;
	side h, w;

	GV_MEMBER gv_place
	place(unsigned i) const
	{
		gv_place at = gv_place_of(i, h.n, w.n, 1);

		at.y = h.first + at.y * v.s;
		at.x = w.first + at.x * v.s;
		return at;
	}
	/* Where its channels of this group begin in x. */
	GV_MEMBER size_t
	in_x(unsigned i) const
	{
		gv_place at = place(i);

		return (((size_t)at.sample * v.height + at.y) * v.width + at.x) *
			   v.c.channels +
		       v.group * v.cin;
	}
};

/* Element (place of the class, tap and channel of the output): taps from the last. */
template <class T> struct reach {
	struct outer_type {
		const T *sample; /* NULL: no such place */
		int y, x;        /* the output place under the first tap */
	};
	const conv<T> &v;
	const T *dy;
	const places_of_class<T> &places;
	const side &h, &w;
	const gv_cuda_divider &by_taps; /* of w */

	GV_MEMBER bool
	along_k() const
	{
		return true;
	}
	GV_MEMBER outer_type
	outer(unsigned i) const
	{
		gv_place at = places.place(i);
		outer_type o = {NULL, (int)((at.y + v.p - h.phase) / v.s),
		    (int)((at.x + v.p - w.phase) / v.s)};

		if (at.sample < v.c.n)
			o.sample =
			    dy + (size_t)at.sample * v.out_height * v.out_width * v.c.out;
		return o;
	}
	GV_MEMBER tap
	inner(unsigned l) const
	{
		unsigned t = gv_divided(l, v.r.out), y = gv_divided(t, by_taps);
		tap e = {(int)(h.taps - 1 - y), (int)(w.taps - 1 - (t - y * w.taps)),
		    l - t * v.cout};

		return e;
	}
	GV_MEMBER const T *
	chunk(const outer_type &o, const tap &e) const
	{
		int y = o.y - e.y, x = o.x - e.x;

		if (o.sample == NULL || y < 0 || x < 0 || y >= (int)v.out_height ||
		    x >= (int)v.out_width)
			return NULL;
		return o.sample + ((size_t)y * v.out_width + (size_t)x) * v.c.out + e.c;
	}
	GV_MEMBER float
	get(const outer_type &o, const tap &e) const
	{
		const T *p = chunk(o, e);

		return p != NULL ? gv_get(p) : 0;
	}
	GV_MEMBER bool
	whole() const
	{
		return in_eights(dy, v.c.out, v.cout);
	}
};

/* Element (tap and channel of the output, channel of the input) of the weights. */
template <class T> struct weights_back {
	typedef const T *outer_type;
	const conv<T> &v;
	const T *weight;
	side h, w;
	const gv_cuda_divider &by_taps; /* of w */

	GV_MEMBER bool
	along_k() const
	{
		return true;
	}
	GV_MEMBER outer_type
	outer(unsigned j) const
	{
		return j < v.cin ? weight + (size_t)j * v.cout : NULL;
	}
	GV_MEMBER size_t
	inner(unsigned l) const
	{
		unsigned t = gv_divided(l, v.r.out), y = gv_divided(t, by_taps);
		unsigned ky = h.phase + (h.taps - 1 - y) * v.s;
		unsigned kx = w.phase + (w.taps - 1 - (t - y * w.taps)) * v.s;

		return (size_t)(ky * v.k + kx) * v.cin * v.cout + (l - t * v.cout);
	}
	GV_MEMBER float
	get(outer_type column, size_t at) const
	{
		return column != NULL ? gv_get(column + at) : 0;
	}
	GV_MEMBER bool
	whole() const
	{
		return in_eights(weight, v.cout, v.cout);
	}
	GV_MEMBER const T *
	chunk(outer_type column, size_t at) const
	{
		return column != NULL ? column + at : NULL;
	}
};

/* A tile of one class of places. */
template <class T, class PRODUCT>
GV_DEVICE void
backward_class(const conv<T> &v, typename PRODUCT::shared &s, size_t b, side h, side w)
{
	const struct gv_cuda_conv &a = v.c;
	unsigned n = (unsigned)a.n * h.n * w.n;
	const gv_cuda_divider &by_taps = v.r.taps[w.taps - v.k / v.s];
	places_of_class<T> places = {v, h, w};
	reach<T> dy = {v, v.dy(b), places, h, w, by_taps};
	weights_back<T> weight = {v, v.w(b), h, w, by_taps};
	gv_tile t(gv_block_x, v.cin, PRODUCT::SIZE);
	T *dx = (T *)a.dx + b * a.dx_apart;
	const T *mask = a.mask == NULL ? NULL : (const T *)a.mask + b * a.mask_apart;
	PRODUCT p;

	if (t.row >= n)
		return;
	GV_UNROLL
	for (unsigned i = 0; i < p.DOWN; i++) {
		size_t at = places.in_x(t.row + p.row(i));

		GV_UNROLL
		for (unsigned j = 0; j < p.ACROSS; j++) {
			unsigned c = t.column + p.column(j);

			bool there = t.row + p.row(i) < n && c < v.cin;

			p.v[i][j] =
			    there && a.add ? gv_get(dx + at + c)
			    : there && a.dx_bias != NULL
				? a.dx_bias[b * a.dx_bias_apart + v.group * v.cin + c]
				: 0;
		}
	}
	p.run(s, dy, weight, t.row, t.column, 0, h.taps * w.taps * v.cout);
	GV_UNROLL
	for (unsigned i = 0; i < p.DOWN; i++) {
		/* once more, rather than kept all the way */
		size_t at = places.in_x(t.row + p.row(i));

		GV_UNROLL
		for (unsigned j = 0; j < p.ACROSS; j++) {
			unsigned c = t.column + p.column(j);

			float to = a.dx_relu ? gv_relu(p.v[i][j]) : p.v[i][j];

			if (t.row + p.row(i) < n && c < v.cin)
				gv_put(dx + at + c, gv_masked(mask, at + c, to));
		}
	}
}

template <class T, class PRODUCT>
GV_DEVICE void
backward(const struct gv_cuda_conv_run &r)
{
	GV_SHARED(typename PRODUCT::shared, s);
	const struct gv_cuda_conv &a = r.c;
	unsigned k = (unsigned)a.k, step = (unsigned)a.s, p = (unsigned)a.p;
	size_t classes = a.s * a.s;

	for (size_t z = gv_block_y; z < a.B * a.g * classes; z += gv_grid_y) {
		size_t b = z / classes / a.g, f = z % classes;
		conv<T> v(r, z / classes % a.g);
		side h((unsigned)(f / a.s), k, step, p, v.height);
		side w((unsigned)(f % a.s), k, step, p, v.width);

		if (gv_active(a.active, b))
			backward_class<T, PRODUCT>(v, s, b, h, w);
	}
}

GV_KERNEL(conv_backward_128_f32, gv_cuda_conv_run)
{
	backward<float, gv_product_for<float, 128>::type>(a);
}
GV_KERNEL_OF(2, conv_backward_64_f32, gv_cuda_conv_run)
{
	backward<float, gv_product_for<float, 64>::type>(a);
}
GV_KERNEL_OF(2, conv_backward_128_tf32, gv_cuda_conv_run)
{
	backward<float, gv_product_tensor<float, 128>>(a);
}
GV_KERNEL_OF(2, conv_backward_64_tf32, gv_cuda_conv_run)
{
	backward<float, gv_product_tensor<float, 64>>(a);
}
GV_KERNEL_OF(2, conv_backward_32_f32, gv_cuda_conv_run)
{
	backward<float, gv_product_for<float, 32>::type>(a);
}
GV_KERNEL_OF(2, conv_backward_128_bf16, gv_cuda_conv_run)
{
	backward<gv_bf16, gv_product_for<gv_bf16, 128>::type>(a);
}
GV_KERNEL_OF(2, conv_backward_64_bf16, gv_cuda_conv_run)
{
	backward<gv_bf16, gv_product_for<gv_bf16, 64>::type>(a);
}

/* ---- gradient: elements of a window x channels of the output ---- */

/*
 * The sum over the shards of a part, as a tree: sum[0] is shards 0 and 1, sum[1] 2 and 3.
 * Products that are not in order go on from shard to shard instead.
 */
template <class PRODUCT> struct tree_of_four {
	enum { DOWN = PRODUCT::DOWN, ACROSS = PRODUCT::ACROSS };
	float sum[2][DOWN][ACROSS];

	/* by words that name their numbers, which can be in registers then */
	GV_MEMBER void
	take(unsigned shard, unsigned i, unsigned j, float v)
	{
		float *first = &sum[0][i][j], *second = &sum[1][i][j];

		if (shard < 2)
			*first = shard == 0 ? v : *first + v;
		else
			*second = shard == 2 ? v : *second + v;
		if (shard == 3)
			*first += *second;
	}
};

template <class T, class PRODUCT>
GV_DEVICE void
gradient_part(const struct gv_cuda_conv_parts &a, const conv<T> &v,
    typename PRODUCT::shared &s, size_t b, size_t part)
{
	unsigned elements = v.k * v.k * v.cin, first, last;
	unsigned places = v.out_height * v.out_width;
	windows_across<T> x = {v, v.x(b)};
	rows<T> dy = {v.dy(b), v.c.out, v.cout};
	gv_tile t(gv_block_x, v.cout, PRODUCT::SIZE);
	float *out = a.out + b * a.out_apart + part * a.part_apart +
		     (size_t)v.group * elements * v.cout;
	PRODUCT p = {};
	tree_of_four<PRODUCT> sum;

	for (unsigned shard = 0; shard < a.inner; shard++) {
		if (PRODUCT::IN_ORDER)
			p = {};
		gv_shard(&v.c.shards, part / a.pieces * a.inner + shard, &first, &last);
		gv_piece(&first, &last, places, a.pieces, part % a.pieces);
		p.run(s, x, dy, t.row, t.column, first, last);
		GV_UNROLL
		for (unsigned i = 0; PRODUCT::IN_ORDER && i < p.DOWN; i++)
			GV_UNROLL
		for (unsigned j = 0; j < p.ACROSS; j++)
			sum.take(shard, i, j, p.v[i][j]);
	}
	GV_UNROLL
	for (unsigned i = 0; i < sum.DOWN; i++)
		GV_UNROLL
	for (unsigned j = 0; j < sum.ACROSS; j++) {
		unsigned e = t.row + PRODUCT::row(i);
		unsigned o = t.column + PRODUCT::column(j);
		float *to = out + (size_t)e * v.cout + o;
		float all = PRODUCT::IN_ORDER ? sum.sum[0][i][j] : p.v[i][j];

		if (e < elements && o < v.cout)
			*to = a.add ? *to + all : all;
	}
}

template <class T, class PRODUCT>
GV_DEVICE void
gradient(const struct gv_cuda_conv_parts &a)
{
	GV_SHARED(typename PRODUCT::shared, s);

	const struct gv_cuda_conv &c = a.r.c;

	for (size_t z = gv_block_y; z < c.B * c.g * a.parts; z += gv_grid_y) {
		size_t b = z / a.parts / c.g;
		conv<T> v(a.r, z / a.parts % c.g);

		if (gv_active(c.active, b))
			gradient_part<T, PRODUCT>(a, v, s, b, z % a.parts);
	}
}

GV_KERNEL_OF(2, conv_gradient_64_f32, gv_cuda_conv_parts)
{
	gradient<float, gv_product_for<float, 64>::type>(a);
}
GV_KERNEL_OF(2, conv_gradient_128_tf32, gv_cuda_conv_parts)
{
	gradient<float, gv_product_tensor<float, 128>>(a);
}
GV_KERNEL_OF(2, conv_gradient_64_tf32, gv_cuda_conv_parts)
{
	gradient<float, gv_product_tensor<float, 64>>(a);
}
GV_KERNEL_OF(2, conv_gradient_32_f32, gv_cuda_conv_parts)
{
	gradient<float, gv_product_for<float, 32>::type>(a);
}
GV_KERNEL_OF(2, conv_gradient_128_bf16, gv_cuda_conv_parts)
{
	gradient<gv_bf16, gv_product_for<gv_bf16, 128>::type>(a);
}
GV_KERNEL_OF(2, conv_gradient_64_bf16, gv_cuda_conv_parts)
{
	gradient<gv_bf16, gv_product_for<gv_bf16, 64>::type>(a);
}
} // namespace gv_conv
