/*
 * Tiles of 64 x 64 or 128 x 128 on tensor cores, with the operands of product.h: eight
 * warps, a quarter of the rows and half of the columns each.  gv_product_bf16 reads bfloat16, eight neighbours at a time where
 * the operands say that all of them are there together:
 *
 *	whole()        neighbours (in k, or in i where not along_k) come in eights,
 *	chunk(o, l)    the first of those at o and l; NULL: zeros
 *
 * gv_product_tf32 rounds floats on their way.  Sums are float, in an order of their own.
 */
#ifndef GV_CUDA_TENSOR_H
#define GV_CUDA_TENSOR_H

#include "matrix.h"
#include "product.h"

/* What a thread makes: rows row(i), columns column(j) of the tile. */
template <int TILE> struct gv_tensor_place {
	enum { SIZE = TILE, DOWN = TILE / 32, ACROSS = TILE / 8 };

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

/* ---- bfloat16 ---- */

/* A part of an operand: [i][k], or [k][i]. */
template <int TILE> union gv_tensor_part {
	enum { DEPTH = TILE > 64 ? 32 : 64 };
	gv_square<TILE, DEPTH> along;
	gv_square<DEPTH, TILE> across;

	GV_MEMBER unsigned short *
	chunk(bool along_k, unsigned row, unsigned c)
	{
		return along_k ? along.chunk(row, c) : across.chunk(row, c);
	}
};

template <int TILE> struct gv_tensor_shared {
	gv_tensor_part<TILE> a[2], b[2];
};

/* A tile's part of an operand on its way into shared memory. */
template <int TILE, class OPERAND> struct gv_tensor_side {
	typedef gv_tensor_part<TILE> part;
	enum { EACH = TILE * part::DEPTH / 8 / 256 };
	const OPERAND &operand;
	typename OPERAND::outer_type outer[EACH];
	unsigned first;

	GV_MEMBER
	gv_tensor_side(const OPERAND &o, unsigned i) : operand(o), first(i)
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++)
			outer[q] = o.outer(i + (o.along_k() ? row(q) : 8 * chunk()));
	}
	GV_MEMBER unsigned
	chunks(void) const
	{
		return (operand.along_k() ? part::DEPTH : TILE) / 8;
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
	/* Numbers at k in [at, end): eight at a time, or one by one. */
	GV_MEMBER void
	fetch(part &to, unsigned at, unsigned end) const
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++) {
			unsigned l = at + (operand.along_k() ? 8 * chunk() : row(q));

			if (operand.whole())
				copy(to, q, l, end);
			else
				gather(to, q, l, end);
		}
	}
	GV_MEMBER void
	copy(part &to, unsigned q, unsigned l, unsigned end) const
	{
		const gv_bf16 *p =
		    l < end ? operand.chunk(outer[q], operand.inner(l)) : NULL;

		gv_copy_16(to.chunk(operand.along_k(), row(q), chunk()), p, p != NULL);
	}
	GV_MEMBER void
	gather(part &to, unsigned q, unsigned l, unsigned end) const
	{
		bool along = operand.along_k();
		unsigned short *v = to.chunk(along, row(q), chunk());

		for (unsigned j = 0; j < 8; j++) {
			unsigned k = along ? l + j : l;
			gv_bf16 n = {0};

			if (k < end)
				gv_put(&n,
				    operand.get(
					along ? outer[q]
					      : operand.outer(first + 8 * chunk() + j),
					operand.inner(k)));
			v[j] = n.bits;
		}
	}
};

template <int TILE> struct gv_product_bf16 : gv_tensor_place<TILE> {
	typedef gv_tensor_place<TILE> place;
	typedef gv_tensor_shared<TILE> shared;
	typedef gv_tensor_part<TILE> part;
	enum { DOWN = place::DOWN, ACROSS = place::ACROSS, DEPTH = part::DEPTH };
	float v[DOWN][ACROSS];

	/* v goes on over k in [from, end); all threads of the block come here. */
	template <class A, class B>
	GV_MEMBER void
	run(shared &s, const A &a, const B &b, unsigned first_row, unsigned first_column,
	    unsigned from, unsigned end)
	{
		gv_tensor_side<TILE, A> rows(a, first_row);
		gv_tensor_side<TILE, B> columns(b, first_column);
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
		for (unsigned k = 0; k < DEPTH / 16; k++) {
			GV_UNROLL
			for (unsigned i = 0; i < DOWN / 2; i++)
				if (a_along)
					a.along.load_a(x[i], row + 16 * i, k, lane);
				else
					a.across.load_a_across(
					    x[i], 16 * k, row / 8 + 2 * i, lane);
			GV_UNROLL
			for (unsigned j = 0; j < ACROSS / 2; j += 2) {
				if (b_along)
					b.along.load_b(y, column + 8 * j, k, lane);
				else
					b.across.load_b_across(
					    y, 16 * k, column / 8 + j, lane);
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

		gv_mma(c, x, y0, y1);
		low[0] = c[0];
		low[1] = c[1];
		high[0] = c[2];
		high[1] = c[3];
	}
};

/* ---- tf32 ---- */

struct gv_product_tf32 : gv_tensor_place<64> {
	typedef gv_product_shared<SIZE> shared;
	float v[DOWN][ACROSS];

	template <class A, class B>
	GV_MEMBER void
	run(shared &s, const A &a, const B &b, unsigned first_row, unsigned first_column,
	    unsigned from, unsigned end)
	{
		gv_product_side<SIZE, A> rows(a, first_row);
		gv_product_side<SIZE, B> columns(b, first_column);

		rows.fetch(from, end);
		columns.fetch(from, end);
		for (unsigned at = from; at < end; at += shared::DEPTH) {
			gv_sync(); /* nobody reads the last step's any more */
			rows.put(s.a);
			columns.put(s.b);
			gv_sync();
			if (end - at > shared::DEPTH) {
				rows.fetch(at + shared::DEPTH, end);
				columns.fetch(at + shared::DEPTH, end);
			}
			multiply(s);
		}
	}

	GV_MEMBER void
	multiply(const shared &s)
	{
		unsigned g = gv_thread % 32 / 4, t = gv_thread % 4;

		GV_UNROLL
		for (unsigned k = 0; k < shared::DEPTH; k += 8) {
			unsigned row = warp_row() + g;
			unsigned x[4] = {gv_tf32(s.a[k + t][row]),
			    gv_tf32(s.a[k + t][row + 8]), gv_tf32(s.a[k + t + 4][row]),
			    gv_tf32(s.a[k + t + 4][row + 8])};

			GV_UNROLL
			for (unsigned j = 0; j < 4; j++) {
				unsigned column = warp_column() + 8 * j + g;
				float c[4] = {v[0][2 * j], v[0][2 * j + 1], v[1][2 * j],
				    v[1][2 * j + 1]};

				gv_mma_tf32(c, x, gv_tf32(s.b[k + t][column]),
				    gv_tf32(s.b[k + t + 4][column]));
				v[0][2 * j] = c[0];
				v[0][2 * j + 1] = c[1];
				v[1][2 * j] = c[2];
				v[1][2 * j + 1] = c[3];
			}
		}
	}
};

/* ---- which product is for which type, and tile ---- */

template <class T, int SIZE> struct gv_product_for {
	typedef gv_product<SIZE> type;
};
template <int SIZE> struct gv_product_for<gv_bf16, SIZE> {
	typedef gv_product_bf16<SIZE> type;
};

#endif
