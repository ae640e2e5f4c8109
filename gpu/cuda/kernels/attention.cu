/*
 * attention without the matrix of probabilities (Dao et al., "FlashAttention", 2022).
 *
 * A block has eight rows of a head, a warp each: queries, or (for the gradients of keys
 * and values) keys.  It goes through the other side 32 places at a time, a lane each;
 * sums along a place's channels are chains, sums over places are made by lanes that have
 * a channel each, in the order of places.  Forward keeps a running largest product and
 * rescales; backward makes probabilities again from the row's log of sums.
 *
 * The other side is there in one piece; of heads too wide for that in pieces of 64
 * channels: first all of them for the products, then again for the sums over places.
 */
#include "device.h"

namespace gv_attention {
enum { WARP = 32, ROWS = 8 };

/* Heads of up to MOST channels. */
template <int MOST_, int PIECE_> struct heads_of {
	enum { MOST = MOST_, PIECE = PIECE_, EACH = MOST / WARP };
	float row[ROWS][2][MOST];        /* of this block's rows */
	float other[WARP][2][PIECE + 1]; /* of the other side; a lane reads a row */
	float p[ROWS][2][WARP];          /* what lanes give to each other, of a warp */
};
typedef heads_of<GV_CUDA_NARROW_HEAD, GV_CUDA_NARROW_HEAD> narrow;
typedef heads_of<GV_CUDA_HEAD, 64> wide;

GV_DEVICE unsigned
lane(void)
{
	return gv_thread % WARP;
}

GV_DEVICE unsigned
warp(void)
{
	return gv_thread / WARP;
}

GV_DEVICE float
sum_of(float v)
{
	for (unsigned k = WARP / 2; k > 0; k /= 2)
		v += gv_xor(v, k);
	return v;
}

GV_DEVICE float
largest_of(float v)
{
	for (unsigned k = WARP / 2; k > 0; k /= 2)
		v = fmaxf(v, gv_xor(v, k));
	return v;
}

/* One head of one sample of a model. */
template <class T> struct head {
	const struct gv_cuda_attention &a;
	unsigned n, D, first; /* places; channels; the first row of this block */
	size_t x, y, lse;     /* where it begins: place 0, channel 0 */
	size_t x_row, y_row;  /* from a place to the next */
	float scale;

	GV_MEMBER
	head(const struct gv_cuda_attention &args, size_t b) : a(args)
	{
		unsigned blocks = (unsigned)((a.T + ROWS - 1) / ROWS);
		unsigned number = gv_block_x / blocks, heads = (unsigned)a.heads;
		size_t sample = number / heads, h = number % heads;

		n = (unsigned)a.T;
		D = (unsigned)a.D;
		first = gv_block_x % blocks * ROWS;
		y_row = a.heads * a.D;
		x_row = 3 * y_row;
		x = b * a.x_apart + sample * n * x_row + h * D;
		y = sample * n * y_row + h * D;
		lse = b * a.lse_apart + (size_t)number * n;
		scale = (float)(1 / sqrt((double)D));
	}
	/* Channel c of the query (0), key (1) or value (2) of a place. */
	GV_MEMBER size_t
	at(unsigned place, unsigned which) const
	{
		return x + place * x_row + which * y_row;
	}
	/* The same of x and dx, which begin elsewhere. */
	GV_MEMBER size_t
	at_dx(size_t b, unsigned place, unsigned which) const
	{
		return at(place, which) - b * a.x_apart + b * a.dx_apart;
	}
	/* The row of this warp, and whether there is one. */
	GV_MEMBER unsigned
	row(void) const
	{
		return first + warp();
	}
	/* Query i looks at key j. */
	GV_MEMBER bool
	sees(unsigned i, unsigned j) const
	{
		return i < n && j < n && (!a.causal || j <= i);
	}
};

/* Channels of places [first, first + rows) to shared memory; 0 behind the last place. */
template <class T, int WIDTH>
GV_DEVICE void
fetch(float (*to)[2][WIDTH], unsigned slot, unsigned rows, const T *from, size_t apart,
    unsigned first, unsigned n, unsigned channels)
{
	for (unsigned i = gv_thread; i < rows * channels; i += ROWS * WARP) {
		unsigned place = i / channels, c = i % channels;

		to[place][slot][c] =
		    first + place < n ? gv_get(from + (size_t)(first + place) * apart + c)
				      : 0;
	}
}

/* 32 places of the other side from first on: channels from c on, in two slots. */
template <class T, class H> struct other_side {
	enum { PIECE = H::PIECE };
	const T *v[2];
	size_t apart[2];
	unsigned first, n, D;

	GV_MEMBER void
	fetch_piece(H &s, unsigned slot, unsigned c) const
	{
		fetch(s.other, slot, WARP, v[slot] + c, apart[slot], first, n,
		    channels_from(c));
	}
	GV_MEMBER unsigned
	channels_from(unsigned c) const
	{
		return D - c < PIECE ? D - c : (unsigned)PIECE;
	}
	GV_MEMBER bool
	is_one_piece(void) const
	{
		return H::MOST == H::PIECE;
	}
};

/*
 * v[k]: row k of this warp with slot k of a lane's place, the chain along the channels.
 * In one piece slots 0 and 1 are both there afterwards.
 */
template <class T, class H, int SLOTS>
GV_DEVICE void
products(float (&v)[SLOTS], H &s, const other_side<T, H> &o)
{
	for (int k = 0; k < SLOTS; k++)
		v[k] = 0;
	for (unsigned c = 0; c < o.D; c += H::PIECE) {
		gv_sync(); /* the last piece is read */
		o.fetch_piece(s, 0, c);
		if (SLOTS > 1 || o.is_one_piece())
			o.fetch_piece(s, 1, c);
		gv_sync();
		for (int k = 0; k < SLOTS; k++)
			for (unsigned i = 0; i < o.channels_from(c); i++)
				v[k] = fmaf(
				    s.row[warp()][k][c + i], s.other[lane()][k][i], v[k]);
	}
}

/* sum[e] goes on over the places that lanes have: p's of them times their channels. */
template <class T, class H>
GV_DEVICE void
add_places(
    H &s, const other_side<T, H> &o, unsigned of_p, unsigned slot, float (&sum)[H::EACH])
{
	GV_UNROLL
	for (unsigned e = 0; e < H::EACH; e++) {
		unsigned c = lane() + e * WARP;

		if (e * WARP >= o.D)
			continue;
		if (!o.is_one_piece() && e * WARP % H::PIECE == 0) {
			gv_sync();
			o.fetch_piece(s, slot, e * WARP);
			gv_sync();
		}
		if (c < o.D)
			for (unsigned j = 0; j < WARP; j++)
				sum[e] = fmaf(s.p[warp()][of_p][j],
				    s.other[j][slot][c % H::PIECE], sum[e]);
	}
}

/* ---- forward ---- */

template <class T, class H>
GV_DEVICE void
forward_head(const head<T> &h, H &s, size_t b)
{
	const struct gv_cuda_attention &a = h.a;
	const T *x = (const T *)a.x;
	unsigned i = h.row(), end = a.causal ? h.first + ROWS : h.n;
	float top = -GV_INFINITY, total = 0, y[H::EACH] = {};

	gv_sync(); /* the last head's is read */
	fetch(s.row, 0, ROWS, x + h.at(0, 0), h.x_row, h.first, h.n, h.D);
	for (unsigned j = 0; j < end && j < h.n; j += WARP) {
		other_side<T, H> o = {
		    {x + h.at(0, 1), x + h.at(0, 2)}, {h.x_row, h.x_row}, j, h.n, h.D};
		float all[1], v, p, more;

		products(all, s, o);
		v = h.sees(i, j + lane()) ? all[0] : -GV_INFINITY;
		more = fmaxf(top, largest_of(v));
		/* before the first place that is seen nothing is there to rescale */
		p = more == -GV_INFINITY ? 0 : expf((v - more) * h.scale);
		v = more == -GV_INFINITY ? 0 : expf((top - more) * h.scale);
		top = more;
		total = total * v + sum_of(p);
		GV_UNROLL
		for (unsigned e = 0; e < H::EACH; e++)
			y[e] *= v;
		s.p[warp()][0][lane()] = p;
		gv_sync_warp();
		if (a.y != NULL)
			add_places(s, o, 0, 1, y);
	}
	if (i >= h.n)
		return;
	if (lane() == 0)
		a.lse[h.lse + i] = top * h.scale + logf(total);
	GV_UNROLL
	for (unsigned e = 0; e < H::EACH; e++)
		if (lane() + e * WARP < h.D && a.y != NULL)
			gv_put((T *)a.y + b * a.y_apart + h.y + i * h.y_row + lane() +
				   e * WARP,
			    y[e] / total);
}

template <class T, class H>
GV_DEVICE void
forward(const struct gv_cuda_attention &a)
{
	GV_SHARED(H, s);

	GV_EACH_MODEL(b, a)
	{
		head<T> h(a, b);

		forward_head(h, s, b);
	}
}

GV_KERNEL(attention_forward_f32, gv_cuda_attention)
{
	forward<float, narrow>(a);
}
GV_KERNEL(attention_forward_bf16, gv_cuda_attention)
{
	forward<gv_bf16, narrow>(a);
}
GV_KERNEL(attention_forward_wide_f32, gv_cuda_attention)
{
	forward<float, wide>(a);
}
GV_KERNEL(attention_forward_wide_bf16, gv_cuda_attention)
{
	forward<gv_bf16, wide>(a);
}

/* ---- backward ---- */

/* dots[i] = dy[i] . y[i], which is the mean of dy v over the probabilities. */
template <class T>
GV_DEVICE void
dots(const struct gv_cuda_attention &a)
{
	GV_EACH_MODEL(b, a)
	{
		head<T> h(a, b);
		unsigned i = h.row();
		float sum = 0;

		for (unsigned c = lane(); c < h.D && i < h.n; c += WARP)
			sum += gv_get((const T *)a.dy + b * a.dy_apart + h.y +
				      i * h.y_row + c) *
			       gv_get((const T *)a.y + b * a.y_apart + h.y + i * h.y_row +
				      c);
		sum = sum_of(sum);
		if (i < h.n && lane() == 0)
			a.dots[h.lse + i] = sum;
	}
}

GV_KERNELS(attention_dots, gv_cuda_attention, dots)

/*
 * Probability of query i at key j, from their product v, and the gradient of that
 * product, from dy . value; 0 where i does not look.
 */
struct weights {
	float p, ds;

	template <class T>
	GV_MEMBER
	weights(const head<T> &h, unsigned i, unsigned j, float v, float dy)
	{
		bool seen = h.sees(i, j);

		p = seen ? expf(v * h.scale - h.a.lse[h.lse + i]) : 0;
		ds = seen ? p * (dy - h.a.dots[h.lse + i]) * h.scale : 0;
	}
};

/* A warp's row of dx: which 0 queries, 1 keys, 2 values. */
template <class T, unsigned EACH>
GV_DEVICE void
give(const head<T> &h, size_t b, unsigned which, const float (&sum)[EACH])
{
	const struct gv_cuda_attention &a = h.a;

	GV_UNROLL
	for (unsigned e = 0; e < EACH; e++) {
		unsigned c = lane() + e * WARP;
		size_t at = h.at_dx(b, h.row(), which) + c;
		T *dx = (T *)a.dx + at;
		float v = sum[e];

		if (h.row() >= h.n || c >= h.D)
			continue;
		if (a.mask != NULL && gv_get((const T *)a.mask + at - b * a.dx_apart +
					     b * a.mask_apart) <= 0)
			gv_put(dx, 0);
		else
			gv_put(dx, a.add ? gv_get(dx) + v : v);
	}
}

/* Rows are queries, the other side keys and values. */
template <class T, class H>
GV_DEVICE void
queries_of_head(const head<T> &h, H &s, size_t b)
{
	const struct gv_cuda_attention &a = h.a;
	const T *x = (const T *)a.x, *dy = (const T *)a.dy + b * a.dy_apart + h.y;
	unsigned end = a.causal ? h.first + ROWS : h.n;
	float dq[H::EACH] = {};

	gv_sync();
	fetch(s.row, 0, ROWS, x + h.at(0, 0), h.x_row, h.first, h.n, h.D);
	fetch(s.row, 1, ROWS, dy, h.y_row, h.first, h.n, h.D);
	for (unsigned j = 0; j < end && j < h.n; j += WARP) {
		other_side<T, H> o = {
		    {x + h.at(0, 1), x + h.at(0, 2)}, {h.x_row, h.x_row}, j, h.n, h.D};
		float v[2];

		products(v, s, o);
		weights w(h, h.row(), j + lane(), v[0], v[1]);
		s.p[warp()][0][lane()] = w.ds;
		gv_sync_warp();
		add_places(s, o, 0, 0, dq);
	}
	give(h, b, 0, dq);
}

/* Rows are keys and values, the other side queries and their dy. */
template <class T, class H>
GV_DEVICE void
keys_of_head(const head<T> &h, H &s, size_t b)
{
	const struct gv_cuda_attention &a = h.a;
	const T *x = (const T *)a.x, *dy = (const T *)a.dy + b * a.dy_apart + h.y;
	float dk[H::EACH] = {}, dv[H::EACH] = {};

	gv_sync();
	fetch(s.row, 0, ROWS, x + h.at(0, 1), h.x_row, h.first, h.n, h.D);
	fetch(s.row, 1, ROWS, x + h.at(0, 2), h.x_row, h.first, h.n, h.D);
	for (unsigned i = a.causal ? h.first / WARP * WARP : 0; i < h.n; i += WARP) {
		other_side<T, H> o = {
		    {x + h.at(0, 0), dy}, {h.x_row, h.y_row}, i, h.n, h.D};
		float v[2];

		products(v, s, o);
		weights w(h, i + lane(), h.row(), v[0], v[1]);
		s.p[warp()][0][lane()] = w.ds;
		s.p[warp()][1][lane()] = w.p;
		gv_sync_warp();
		add_places(s, o, 0, 0, dk);
		add_places(s, o, 1, 1, dv);
	}
	give(h, b, 1, dk);
	give(h, b, 2, dv);
}

template <class T, class H, bool KEYS>
GV_DEVICE void
backward(const struct gv_cuda_attention &a)
{
	GV_SHARED(H, s);

	GV_EACH_MODEL(b, a)
	{
		head<T> h(a, b);

		if (KEYS)
			keys_of_head(h, s, b);
		else
			queries_of_head(h, s, b);
	}
}

GV_KERNEL(attention_queries_f32, gv_cuda_attention)
{
	backward<float, narrow, false>(a);
}
GV_KERNEL(attention_queries_wide_f32, gv_cuda_attention)
{
	backward<float, wide, false>(a);
}
GV_KERNEL(attention_queries_bf16, gv_cuda_attention)
{
	backward<gv_bf16, narrow, false>(a);
}
GV_KERNEL(attention_queries_wide_bf16, gv_cuda_attention)
{
	backward<gv_bf16, wide, false>(a);
}
GV_KERNEL(attention_keys_f32, gv_cuda_attention)
{
	backward<float, narrow, true>(a);
}
GV_KERNEL(attention_keys_wide_f32, gv_cuda_attention)
{
	backward<float, wide, true>(a);
}
GV_KERNEL(attention_keys_bf16, gv_cuda_attention)
{
	backward<gv_bf16, narrow, true>(a);
}
GV_KERNEL(attention_keys_wide_bf16, gv_cuda_attention)
{
	backward<gv_bf16, wide, true>(a);
}
} // namespace gv_attention
