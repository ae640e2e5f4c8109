/*
 * Tiles of 64 x 64 or 128 x 128 on tensor cores, with the operands of product.h: eight
 * warps, a quarter of the rows and half of the columns each.  Operands are read 16 bytes
 * at a time where they say that all of them are there together; floats are rounded to
 * tf32 on their way into products.  Sums are float, in an order of their own.
 */
#ifndef GV_CUDA_TENSOR_H
#define GV_CUDA_TENSOR_H

#include "matrix.h"
#include "product.h"

/* What a thread makes: rows row(i), columns column(j) of the tile. */
template <int TILE> struct gv_tensor_place {
	enum { SIZE = TILE, DOWN = TILE / 32, ACROSS = TILE / 8, IN_ORDER = 0 };

	GV_MEMBER static unsigned
	warp_row(void)
	{
		return gv_thread / 32 % 4 * (TILE / 4);
	}
	GV_MEMBER static unsigned
	warp_column(void)
	{
		return gv_thread / 128 * (TILE / 2);
	}
	GV_MEMBER static unsigned
	row(unsigned i)
	{
		return warp_row() + gv_thread % 32 / 4 + 8 * i;
	}
	GV_MEMBER static unsigned
	column(unsigned j)
	{
		return warp_column() + 8 * (j / 2) + gv_thread % 4 * 2 + j % 2;
	}
};

/* ---- operands in shared memory ---- */

/* 16 bytes hold MANY numbers, each WIDE times 2 bytes; a step of tensor cores is two of them deep. */
template <class T> struct gv_tensor_number {
	enum { MANY = 16 / sizeof(T), WIDE = sizeof(T) / 2 };
};

/* A part of an operand: [i][k], or [k][i]. */
template <class T, int TILE> union gv_tensor_part {
	enum { MANY = gv_tensor_number<T>::MANY, WIDE = gv_tensor_number<T>::WIDE };
	enum { DEPTH = (TILE > 64 ? 4 : 8) * MANY, STEPS = DEPTH / MANY / 2 };
	gv_square<TILE, DEPTH * WIDE> along;
	gv_square<DEPTH, TILE * WIDE, WIDE> across;

	GV_MEMBER unsigned short *
	chunk(bool along_k, unsigned row, unsigned c)
	{
		return along_k ? along.chunk(row, c) : across.chunk(row, c);
	}
	/* Number (k, i) of across. */
	GV_MEMBER unsigned
	tf32_at(unsigned k, unsigned i)
	{
		const float *four = (const float *)(const void *)across.chunk(k, i / 4);

		return gv_tf32(four[i % 4]);
	}
};

template <class T, int TILE> struct gv_tensor_shared {
	gv_tensor_part<T, TILE> a[2], b[2];
};

GV_DEVICE void
gv_tensor_put(unsigned short *v, unsigned j, float n, gv_bf16)
{
	gv_bf16 to;

	gv_put(&to, n);
	v[j] = to.bits;
}

GV_DEVICE void
gv_tensor_put(unsigned short *v, unsigned j, float n, float)
{
	((float *)(void *)v)[j] = n;
}

/* A tile's part of an operand on its way into shared memory. */
template <class T, int TILE, class OPERAND> struct gv_tensor_side {
	typedef gv_tensor_part<T, TILE> part;
	enum { MANY = part::MANY, EACH = TILE * part::DEPTH / MANY / 256 };
	const OPERAND &operand;
	typename OPERAND::outer_type outer[EACH];
	unsigned first;

	GV_MEMBER
	gv_tensor_side(const OPERAND &o, unsigned i) : operand(o), first(i)
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++)
			outer[q] = o.outer(i + (o.along_k() ? row(q) : MANY * chunk()));
	}
	GV_MEMBER unsigned
	chunks(void) const
	{
		return (operand.along_k() ? part::DEPTH : TILE) / MANY;
	}
	GV_MEMBER unsigned
	chunk(void) const
	{
		return gv_thread % chunks();
	}
	GV_MEMBER unsigned
	row(unsigned q) const
	{
		return gv_thread / chunks() + q * (256 / chunks());
	}
	/* Numbers at k in [at, end): 16 bytes at a time, or one by one. */
	GV_MEMBER void
	fetch(part &to, unsigned at, unsigned end) const
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++) {
			unsigned l = at + (operand.along_k() ? MANY * chunk() : row(q));

			if (operand.whole())
				copy(to, q, l, end);
			else
				gather(to, q, l, end);
		}
	}
	GV_MEMBER void
	copy(part &to, unsigned q, unsigned l, unsigned end) const
	{
		const T *p = l < end ? operand.chunk(outer[q], operand.inner(l)) : NULL;

		gv_copy_16(to.chunk(operand.along_k(), row(q), chunk()), p, p != NULL);
	}
	GV_MEMBER void
	gather(part &to, unsigned q, unsigned l, unsigned end) const
	{
		bool along = operand.along_k();
		unsigned short *v = to.chunk(along, row(q), chunk());

		for (unsigned j = 0; j < MANY; j++) {
			unsigned k = along ? l + j : l;
			float n = 0;

			if (k < end)
				n = operand.get(
				    along ? outer[q]
					  : operand.outer(first + MANY * chunk() + j),
				    operand.inner(k));
			gv_tensor_put(v, j, n, T());
		}
	}
};

/* ---- what a warp multiplies ---- */

GV_DEVICE void
gv_tensor_multiply(
    float (&c)[4], const unsigned (&x)[4], unsigned y0, unsigned y1, gv_bf16)
{
	gv_mma(c, x, y0, y1);
}

GV_DEVICE void
gv_tensor_multiply(float (&c)[4], const unsigned (&x)[4], unsigned y0, unsigned y1, float)
{
	gv_mma_tf32(c, x, y0, y1);
}

/* The bits of floats become those of tf32. */
GV_DEVICE void
gv_tensor_round(unsigned (&x)[4])
{
	GV_UNROLL
	for (unsigned e = 0; e < 4; e++) {
		union {
			unsigned bits;
			float v;
		} u = {x[e]};

		x[e] = gv_tf32(u.v);
	}
}

/* Of 16 rows from row on, at the k-th step. */
template <int TILE>
GV_DEVICE void
gv_tensor_load_a(unsigned (&x)[4], gv_tensor_part<gv_bf16, TILE> &a, bool along,
    unsigned row, unsigned k, unsigned lane)
{
	if (along)
		a.along.load_a(x, row, k, lane);
	else
		a.across.load_a_across(x, 16 * k, row / 8, lane);
}

template <int TILE>
GV_DEVICE void
gv_tensor_load_a(unsigned (&x)[4], gv_tensor_part<float, TILE> &a, bool along,
    unsigned row, unsigned k, unsigned lane)
{
	unsigned at = 8 * k + lane % 4, i = row + lane / 4;

	if (!along) {
		GV_UNROLL
		for (unsigned e = 0; e < 4; e++)
			x[e] = a.tf32_at(at + e / 2 * 4, i + e % 2 * 8);
		return;
	}
	a.along.load_a(x, row, k, lane);
	gv_tensor_round(x);
}

/* Of two products: 8 columns from column on, and the next 8. */
template <int TILE>
GV_DEVICE void
gv_tensor_load_b(unsigned (&y)[4], gv_tensor_part<gv_bf16, TILE> &b, bool along,
    unsigned column, unsigned k, unsigned lane)
{
	if (along)
		b.along.load_b(y, column, k, lane);
	else
		b.across.load_b_across(y, 16 * k, column / 8, lane);
}

template <int TILE>
GV_DEVICE void
gv_tensor_load_b(unsigned (&y)[4], gv_tensor_part<float, TILE> &b, bool along,
    unsigned column, unsigned k, unsigned lane)
{
	unsigned at = 8 * k + lane % 4, j = column + lane / 4;

	if (!along) {
		GV_UNROLL
		for (unsigned e = 0; e < 4; e++)
			y[e] = b.tf32_at(at + e % 2 * 4, j + e / 2 * 8);
		return;
	}
	b.along.load_b(y, column, k, lane);
	gv_tensor_round(y);
}

template <class T, int TILE> struct gv_product_tensor : gv_tensor_place<TILE> {
	typedef gv_tensor_place<TILE> place;
	typedef gv_tensor_shared<T, TILE> shared;
	typedef gv_tensor_part<T, TILE> part;
	enum { DOWN = place::DOWN, ACROSS = place::ACROSS, DEPTH = part::DEPTH };
	float v[DOWN][ACROSS];

	/* v goes on over k in [from, end); all threads of the block come here. */
	template <class A, class B>
	GV_MEMBER void
	run(shared &s, const A &a, const B &b, unsigned first_row, unsigned first_column,
	    unsigned from, unsigned end)
	{
		gv_tensor_side<T, TILE, A> rows(a, first_row);
		gv_tensor_side<T, TILE, B> columns(b, first_column);
		unsigned turn = 0;

		gv_sync(); /* nobody reads the last run's any more */
		if (from < end) {
			rows.fetch(s.a[0], from, end);
			columns.fetch(s.b[0], from, end);
		}
		gv_copies_end();
		for (unsigned at = from; at < end; at += DEPTH, turn ^= 1) {
			unsigned next = at + DEPTH;

			if (next < end) {
				rows.fetch(s.a[turn ^ 1], next, end);
				columns.fetch(s.b[turn ^ 1], next, end);
			}
			gv_copies_end();
			gv_copies_wait<1>();
			gv_sync();
			multiply(s.a[turn], s.b[turn], a.along_k(), b.along_k());
			gv_sync();
		}
		gv_copies_wait<0>();
	}

	GV_MEMBER void
	multiply(part &a, part &b, bool a_along, bool b_along)
	{
		unsigned row = place::warp_row(), column = place::warp_column();
		unsigned lane = gv_thread % 32, x[DOWN / 2][4], y[4];

		GV_UNROLL
		for (unsigned k = 0; k < part::STEPS; k++) {
			GV_UNROLL
			for (unsigned i = 0; i < DOWN / 2; i++)
				gv_tensor_load_a(x[i], a, a_along, row + 16 * i, k, lane);
			GV_UNROLL
			for (unsigned j = 0; j < ACROSS / 2; j += 2) {
				gv_tensor_load_b(y, b, b_along, column + 8 * j, k, lane);
				GV_UNROLL
				for (unsigned i = 0; i < DOWN / 2; i++) {
					add(x[i], y[0], y[1], i, j);
					add(x[i], y[2], y[3], i, j + 1);
				}
			}
		}
	}

	/* The piece of 16 rows from 16 i and 8 columns from 8 j on. */
	GV_MEMBER void
	add(const unsigned (&x)[4], unsigned y0, unsigned y1, unsigned i, unsigned j)
	{
		float *low = &v[2 * i][2 * j], *high = &v[2 * i + 1][2 * j];
		float c[4] = {low[0], low[1], high[0], high[1]};

		gv_tensor_multiply(c, x, y0, y1, T());
		low[0] = c[0];
		low[1] = c[1];
		high[0] = c[2];
		high[1] = c[3];
	}
};

/* ---- which product is for which type, and tile ---- */

template <class T, int SIZE> struct gv_product_for {
	typedef gv_product<SIZE> type;
};
template <int SIZE> struct gv_product_for<gv_bf16, SIZE> {
	typedef gv_product_tensor<gv_bf16, SIZE> type;
};

#endif
