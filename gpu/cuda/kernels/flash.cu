/*
 * attention in bfloat16 on tensor cores, heads of up to 128 channels: the passes of
 * attention.cu, of which a warp takes 16 rows and a block 64.
 *
 * The rows of a block stay in shared memory, the other side comes by in tiles.  Products
 * of rows and places are sums in registers, whose layout is that of a factor of the next
 * product, once they are rounded: probabilities never leave a warp.  Sums over places
 * are float, tile after tile; the block's own rows are nobody else's, so nothing is
 * added by two blocks.
 */
#include "matrix.h"

namespace gv_flash {
enum { WARP = 32, WARPS = 4, THREADS = WARP * WARPS, ROWS = 16 * WARPS };
enum { FORWARD = 64, BACK = 32 }; /* places of a tile */

template <int WIDTH> struct shared_forward {
	gv_square<ROWS, WIDTH> q;
	gv_square<FORWARD, WIDTH> k, v;
};

/* own: keys and values, or queries and dy; other: the other two */
template <int WIDTH> struct shared_back {
	gv_square<ROWS, WIDTH> own[2];
	gv_square<BACK, WIDTH> other[2];
};

GV_DEVICE unsigned
lane(void)
{
	return gv_thread % WARP;
}

/* The first of a lane's two rows, counted in the block; the other is 8 on. */
GV_DEVICE unsigned
own_row(void)
{
	return gv_thread / WARP * 16 + lane() / 4;
}

/* The first of a lane's two columns in a piece of 8. */
GV_DEVICE unsigned
own_column(void)
{
	return lane() % 4 * 2;
}

/* One head of one sample of a model, and the rows of this block. */
struct head {
	const struct gv_cuda_attention &a;
	unsigned n, D, first;
	size_t x, y, lse, x_row, y_row, model;
	float scale;
	bool aligned; /* all rows begin at 16 bytes */

	GV_MEMBER
	head(const struct gv_cuda_attention &args, size_t b) : a(args)
	{
		unsigned blocks = (unsigned)((a.T + ROWS - 1) / ROWS);
		unsigned number = gv_block_x / blocks, heads = (unsigned)a.heads;
		size_t where = (size_t)a.x | (size_t)a.dy;

		n = (unsigned)a.T;
		D = (unsigned)a.D;
		/* those that see the most begin first */
		first = (blocks - 1 - gv_block_x % blocks) * ROWS;
		y_row = a.heads * a.D;
		x_row = 3 * y_row;
		model = b;
		x = b * a.x_apart + number / heads * (n * x_row) + number % heads * D;
		y = number / heads * (n * y_row) + number % heads * D;
		lse = b * a.lse_apart + (size_t)number * n;
		scale = (float)(1 / sqrt((double)D));
		where |= (a.x_apart | a.dy_apart | D) * sizeof(gv_bf16);
		aligned = where % 16 == 0;
	}
	/* Queries (0), keys (1), values (2) of place 0. */
	GV_MEMBER const gv_bf16 *
	side(unsigned which) const
	{
		return (const gv_bf16 *)a.x + x + which * y_row;
	}
	GV_MEMBER const gv_bf16 *
	dy(void) const
	{
		return (const gv_bf16 *)a.dy + model * a.dy_apart + y;
	}
	GV_MEMBER bool
	sees(unsigned i, unsigned j) const
	{
		return i < n && j < n && (!a.causal || j <= i);
	}
	template <int R, int WIDTH>
	GV_MEMBER void
	fetch_side(gv_square<R, WIDTH> &to, unsigned which, unsigned from) const
	{
		to.fetch(side(which), x_row, from, n, D, aligned, THREADS);
	}
	template <int R, int WIDTH>
	GV_MEMBER void
	fetch_dy(gv_square<R, WIDTH> &to, unsigned from) const
	{
		to.fetch(dy(), y_row, from, n, D, aligned, THREADS);
	}
};

/* s [16][TILE] = 16 rows of own, this warp's, times those of other, along the channels. */
template <int TILE, int WIDTH>
GV_DEVICE void
products(float (&s)[TILE / 8][4], gv_square<ROWS, WIDTH> &own,
    gv_square<TILE, WIDTH> &other, unsigned D)
{
	unsigned a[4], b[4];

	GV_UNROLL
	for (unsigned j = 0; j < TILE / 8; j++)
		s[j][0] = s[j][1] = s[j][2] = s[j][3] = 0;
	GV_UNROLL
	for (unsigned k = 0; k < WIDTH / 16; k++) {
		if (16 * k >= D)
			break;
		own.load_a(a, gv_thread / WARP * 16, k, lane());
		GV_UNROLL
		for (unsigned j = 0; j < TILE / 8; j += 2) {
			other.load_b(b, 8 * j, k, lane());
			gv_mma(s[j], a, b[0], b[1]);
			gv_mma(s[j + 1], a, b[2], b[3]);
		}
	}
}

/* sum [16][WIDTH] += s [16][TILE], rounded, times the rows of other. */
template <int TILE, int WIDTH>
GV_DEVICE void
add_places(float (&sum)[WIDTH / 8][4], const float (&s)[TILE / 8][4],
    gv_square<TILE, WIDTH> &other, unsigned D)
{
	unsigned b[4];

	GV_UNROLL
	for (unsigned k = 0; k < TILE / 16; k++) {
		const float(&l)[4] = s[2 * k], (&r)[4] = s[2 * k + 1];
		unsigned a[4] = {gv_pair(l[0], l[1]), gv_pair(l[2], l[3]),
		    gv_pair(r[0], r[1]), gv_pair(r[2], r[3])};

		GV_UNROLL
		for (unsigned c = 0; c < WIDTH / 8; c += 2) {
			if (8 * c >= D)
				break;
			other.load_b_across(b, 16 * k, c, lane());
			gv_mma(sum[c], a, b[0], b[1]);
			gv_mma(sum[c + 1], a, b[2], b[3]);
		}
	}
}

/* Of the four lanes that share a row. */
GV_DEVICE float
largest_of(float v)
{
	v = fmaxf(v, gv_xor(v, 1));
	return fmaxf(v, gv_xor(v, 2));
}

GV_DEVICE float
sum_of(float v)
{
	v += gv_xor(v, 1);
	return v + gv_xor(v, 2);
}

/* ---- forward ---- */

/* A row's products become probabilities up to a factor: what older sums are worth now. */
template <int TILE>
GV_DEVICE float
soften(float (&s)[TILE / 8][4], unsigned half, float &top, float &total, float scale)
{
	float most = top, sum = 0, worth;

	GV_UNROLL
	for (unsigned j = 0; j < TILE / 8; j++)
		most = fmaxf(most, fmaxf(s[j][2 * half], s[j][2 * half + 1]));
	most = largest_of(most);
	/* before the first place that is seen nothing is there to rescale */
	worth = most == -GV_INFINITY ? 0 : expf((top - most) * scale);
	GV_UNROLL
	for (unsigned j = 0; j < TILE / 8; j++)
		GV_UNROLL
	for (unsigned e = 2 * half; e < 2 * half + 2; e++) {
		s[j][e] = most == -GV_INFINITY ? 0 : expf((s[j][e] - most) * scale);
		sum += s[j][e];
	}
	top = most;
	total = total * worth + sum_of(sum);
	return worth;
}

template <int TILE>
GV_DEVICE void
hide(const head &h, float (&s)[TILE / 8][4], unsigned place)
{
	GV_UNROLL
	for (unsigned j = 0; j < TILE / 8; j++)
		GV_UNROLL
	for (unsigned e = 0; e < 4; e++)
		if (!h.sees(h.first + own_row() + e / 2 * 8,
			place + 8 * j + own_column() + e % 2))
			s[j][e] = -GV_INFINITY;
}

template <int WIDTH>
GV_DEVICE void
put_rows(const head &h, const float (&o)[WIDTH / 8][4], const float (&top)[2],
    const float (&total)[2])
{
	GV_UNROLL
	for (unsigned half = 0; half < 2; half++) {
		unsigned i = h.first + own_row() + 8 * half;
		gv_bf16 *y = (gv_bf16 *)h.a.y + h.model * h.a.y_apart + h.y + i * h.y_row;

		if (i >= h.n)
			continue;
		if (own_column() == 0)
			h.a.lse[h.lse + i] = top[half] * h.scale + logf(total[half]);
		GV_UNROLL
		for (unsigned c = 0; c < WIDTH / 8; c++)
			GV_UNROLL
		for (unsigned e = 0; e < 2; e++)
			if (8 * c + own_column() + e < h.D && h.a.y != NULL)
				gv_put(y + 8 * c + own_column() + e,
				    o[c][2 * half + e] / total[half]);
	}
}

template <int WIDTH>
GV_DEVICE void
forward_head(const head &h, shared_forward<WIDTH> &s)
{
	unsigned end = h.a.causal && h.first + ROWS < h.n ? h.first + ROWS : h.n;
	float o[WIDTH / 8][4] = {}, p[FORWARD / 8][4];
	float top[2] = {-GV_INFINITY, -GV_INFINITY}, total[2] = {};

	gv_sync(); /* the last head's is read */
	h.fetch_side(s.q, 0, h.first);
	for (unsigned j = 0; j < end; j += FORWARD) {
		h.fetch_side(s.k, 1, j);
		gv_copies_end();
		h.fetch_side(s.v, 2, j);
		gv_copies_end();
		gv_copies_wait<1>();
		gv_sync();
		products<FORWARD, WIDTH>(p, s.q, s.k, h.D);
		hide<FORWARD>(h, p, j);
		GV_UNROLL
		for (unsigned half = 0; half < 2; half++) {
			float worth =
			    soften<FORWARD>(p, half, top[half], total[half], h.scale);

			GV_UNROLL
			for (unsigned c = 0; c < WIDTH / 8; c++) {
				o[c][2 * half] *= worth;
				o[c][2 * half + 1] *= worth;
			}
		}
		gv_copies_wait<0>();
		gv_sync();
		if (h.a.y != NULL)
			add_places<FORWARD, WIDTH>(o, p, s.v, h.D);
		gv_sync();
	}
	put_rows<WIDTH>(h, o, top, total);
}

template <int WIDTH>
GV_DEVICE void
forward(const struct gv_cuda_attention &a)
{
	GV_SHARED(shared_forward<WIDTH>, s);

	GV_EACH_MODEL(b, a)
	{
		head h(a, b);

		forward_head<WIDTH>(h, s);
	}
}

GV_KERNEL(flash_forward_64, gv_cuda_attention)
{
	forward<64>(a);
}
GV_KERNEL(flash_forward_128, gv_cuda_attention)
{
	forward<128>(a);
}

/* ---- backward: p and ds again from products, the rows' sums and dots ---- */

/* Row and column of s[j][e]; query and key of them: KEYS says whose rows are the block's. */
template <bool KEYS>
GV_DEVICE void
weigh(const head &h, float (&s)[BACK / 8][4], float (&d)[BACK / 8][4], unsigned place)
{
	GV_UNROLL
	for (unsigned j = 0; j < BACK / 8; j++)
		GV_UNROLL
	for (unsigned e = 0; e < 4; e++) {
		unsigned own = h.first + own_row() + e / 2 * 8;
		unsigned other = place + 8 * j + own_column() + e % 2;
		unsigned i = KEYS ? other : own, k = KEYS ? own : other;
		bool seen = h.sees(i, k);

		s[j][e] = seen ? expf(s[j][e] * h.scale - h.a.lse[h.lse + i]) : 0;
		d[j][e] = seen ? s[j][e] * (d[j][e] - h.a.dots[h.lse + i]) * h.scale : 0;
	}
}

/* Rows of dx: which 0 queries, 1 keys, 2 values. */
template <int WIDTH>
GV_DEVICE void
give(const head &h, unsigned which, const float (&sum)[WIDTH / 8][4])
{
	const struct gv_cuda_attention &a = h.a;

	GV_UNROLL
	for (unsigned half = 0; half < 2; half++) {
		unsigned i = h.first + own_row() + 8 * half;
		size_t at = h.x - h.model * a.x_apart + which * h.y_row + i * h.x_row;
		gv_bf16 *dx = (gv_bf16 *)a.dx + h.model * a.dx_apart + at;
		const gv_bf16 *mask = a.mask == NULL ? NULL
						     : (const gv_bf16 *)a.mask +
							   h.model * a.mask_apart + at;

		if (i >= h.n)
			continue;
		GV_UNROLL
		for (unsigned c = 0; c < WIDTH / 8; c++)
			GV_UNROLL
		for (unsigned e = 0; e < 2; e++) {
			unsigned to = 8 * c + own_column() + e;
			float v = sum[c][2 * half + e];

			if (to < h.D)
				gv_put(dx + to,
				    gv_masked(mask, to, a.add ? gv_get(dx + to) + v : v));
		}
	}
}

/* What queries give to keys that they see, or keys to queries: the tiles of the other side. */
template <int WIDTH, bool KEYS>
GV_DEVICE void
back_head(const head &h, shared_back<WIDTH> &s)
{
	unsigned from = KEYS && h.a.causal ? h.first : 0;
	unsigned end = !KEYS && h.a.causal && h.first + ROWS < h.n ? h.first + ROWS : h.n;
	float p[BACK / 8][4], d[BACK / 8][4];
	float sum[WIDTH / 8][4] = {}, values[KEYS ? WIDTH / 8 : 1][4] = {};

	gv_sync();
	h.fetch_side(s.own[0], KEYS ? 1 : 0, h.first);
	if (KEYS)
		h.fetch_side(s.own[1], 2, h.first);
	else
		h.fetch_dy(s.own[1], h.first);
	for (unsigned j = from; j < end; j += BACK) {
		h.fetch_side(s.other[0], KEYS ? 0 : 1, j);
		if (KEYS)
			h.fetch_dy(s.other[1], j);
		else
			h.fetch_side(s.other[1], 2, j);
		gv_copies_end();
		gv_copies_wait<0>();
		gv_sync();
		products<BACK, WIDTH>(p, s.own[0], s.other[0], h.D);
		products<BACK, WIDTH>(d, s.own[1], s.other[1], h.D);
		weigh<KEYS>(h, p, d, j);
		add_places<BACK, WIDTH>(sum, d, s.other[0], h.D);
		if constexpr (KEYS)
			add_places<BACK, WIDTH>(values, p, s.other[1], h.D);
		gv_sync();
	}
	give<WIDTH>(h, KEYS ? 1 : 0, sum);
	if constexpr (KEYS)
		give<WIDTH>(h, 2, values);
}

template <int WIDTH, bool KEYS>
GV_DEVICE void
backward(const struct gv_cuda_attention &a)
{
	GV_SHARED(shared_back<WIDTH>, s);

	GV_EACH_MODEL(b, a)
	{
		head h(a, b);

		back_head<WIDTH, KEYS>(h, s);
	}
}

GV_KERNEL(flash_queries_64, gv_cuda_attention)
{
	backward<64, false>(a);
}
GV_KERNEL(flash_queries_128, gv_cuda_attention)
{
	backward<128, false>(a);
}
GV_KERNEL(flash_keys_64, gv_cuda_attention)
{
	backward<64, true>(a);
}
GV_KERNEL(flash_keys_128, gv_cuda_attention)
{
	backward<128, true>(a);
}
} // namespace gv_flash
