/*
 * A tile of a matrix product: TILE x TILE numbers by a block of 256 threads, each
 * number one chain of fused multiply-adds in the order of k.  The operands say where
 * their elements are:
 *
 *	along_k()     neighbours in k are neighbours in memory
 *	outer(i)      what is the same for all elements of row (a) or column (b) i
 *	inner(l)      what is the same for all elements at k = l
 *	get(o, l)     the element; 0 where there is none
 */
#ifndef GV_CUDA_PRODUCT_H
#define GV_CUDA_PRODUCT_H

#include "device.h"

enum { GV_PRODUCT_THREADS = 256, GV_PRODUCT_DEPTH = 16, GV_PRODUCT_SIDE = 16 };

template <int TILE> struct gv_product_shared {
	/* [k][row], and a number more: threads write down columns */
	float a[GV_PRODUCT_DEPTH][TILE + 1], b[GV_PRODUCT_DEPTH][TILE + 1];
};

/* A tile's part of an operand on its way into shared memory. */
template <int TILE, class OPERAND> struct gv_product_side {
	enum { EACH = TILE * GV_PRODUCT_DEPTH / GV_PRODUCT_THREADS };
	const OPERAND &operand;
	typename OPERAND::outer_type outer[EACH];
	unsigned i[EACH], l[EACH]; /* in the tile */

	GV_MEMBER
	gv_product_side(const OPERAND &o, unsigned first) : operand(o)
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++) {
			unsigned e = gv_thread + q * GV_PRODUCT_THREADS;

			i[q] = o.along_k() ? e / GV_PRODUCT_DEPTH : e % TILE;
			l[q] = o.along_k() ? e % GV_PRODUCT_DEPTH : e / TILE;
			outer[q] = o.outer(first + i[q]);
		}
	}

	GV_MEMBER void
	fill(float (*to)[TILE + 1], unsigned at, unsigned end) const
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++)
			to[l[q]][i[q]] = at + l[q] < end ? operand.get(outer[q],
							       operand.inner(at + l[q]))
							 : 0;
	}
};

/* What a thread makes: rows y + 16 i, columns x + 16 j of the tile. */
template <int TILE> struct gv_product {
	enum { EACH = TILE / GV_PRODUCT_SIDE, DOWN = EACH, ACROSS = EACH, SIZE = TILE };
	typedef gv_product_shared<TILE> shared;
	float v[DOWN][ACROSS];

	GV_MEMBER static unsigned
	row(unsigned i)
	{
		return gv_thread / GV_PRODUCT_SIDE + i * GV_PRODUCT_SIDE;
	}

	GV_MEMBER static unsigned
	column(unsigned j)
	{
		return gv_thread % GV_PRODUCT_SIDE + j * GV_PRODUCT_SIDE;
	}

	/* v goes on over k in [from, end); all threads of the block come here. */
	template <class A, class B>
	GV_MEMBER void
	run(gv_product_shared<TILE> &s, const A &a, const B &b, unsigned first_row,
	    unsigned first_column, unsigned from, unsigned end)
	{
		gv_product_side<TILE, A> rows(a, first_row);
		gv_product_side<TILE, B> columns(b, first_column);

		for (unsigned at = from; at < end; at += GV_PRODUCT_DEPTH) {
			gv_sync(); /* nobody reads the last step's any more */
			rows.fill(s.a, at, end);
			columns.fill(s.b, at, end);
			gv_sync();
			if (end - at >= GV_PRODUCT_DEPTH) {
				GV_UNROLL
				for (unsigned l = 0; l < GV_PRODUCT_DEPTH; l++)
					step(s, l);
			} else {
				for (unsigned l = 0; l < end - at; l++)
					step(s, l);
			}
		}
	}

	GV_MEMBER void
	step(const gv_product_shared<TILE> &s, unsigned l)
	{
		float x[EACH], y[EACH];

		GV_UNROLL
		for (unsigned i = 0; i < EACH; i++) {
			x[i] = s.a[l][row(i)];
			y[i] = s.b[l][column(i)];
		}
		GV_UNROLL
		for (unsigned i = 0; i < EACH; i++)
			GV_UNROLL
		for (unsigned j = 0; j < EACH; j++)
			v[i][j] = fmaf(x[i], y[j], v[i][j]);
	}
};

/* Numbers of a matrix rows x columns, cut into tiles: the first of tile t. */
struct gv_tile {
	unsigned row, column;
	GV_MEMBER
	gv_tile(unsigned t, unsigned columns, unsigned tile)
	{
		unsigned across = (columns + tile - 1) / tile;

		row = t / across * tile;
		column = t % across * tile;
	}
};

#endif
