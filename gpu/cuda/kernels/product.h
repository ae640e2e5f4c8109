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

enum { GV_PRODUCT_THREADS = 256, GV_PRODUCT_SIDE = 16 };

/* Operands at DEPTH k: rows begin at 16 bytes, and four of them lie in different banks. */
template <int TILE> struct alignas(16) gv_product_shared {
	enum { DEPTH = TILE > 64 ? 16 : 32 };
	float a[DEPTH][TILE + 4], b[DEPTH][TILE + 4]; /* [k][row], [k][column] */
};

/*
 * A tile's part of an operand on its way into shared memory.  Elements of a thread differ
 * in i alone where neighbours in k are neighbours in memory (a warp reads 8 of 4 rows),
 * in k alone elsewhere.
 */
template <int TILE, class OPERAND> struct gv_product_side {
	typedef gv_product_shared<TILE> shared;
	enum { DEPTH = shared::DEPTH, EACH = TILE * DEPTH / GV_PRODUCT_THREADS };
	const OPERAND &operand;
	typename OPERAND::outer_type outer[EACH];
	float v[EACH];

	GV_MEMBER
	gv_product_side(const OPERAND &o, unsigned first) : operand(o)
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++)
			outer[q] = o.outer(first + i(q));
	}
	GV_MEMBER unsigned
	i(unsigned q) const
	{
		unsigned eights = DEPTH / 8, warp = gv_thread / 32;

		return operand.along_k()
			   ? (warp / eights + q * (8 / eights)) * 4 + gv_thread % 32 / 8
			   : gv_thread % TILE;
	}
	GV_MEMBER unsigned
	l(unsigned q) const
	{
		return operand.along_k()
			   ? gv_thread / 32 % (DEPTH / 8) * 8 + gv_thread % 8
			   : gv_thread / TILE + q * (GV_PRODUCT_THREADS / TILE);
	}
	/* Those at k in [at, at + DEPTH), 0 from end on. */
	GV_MEMBER void
	fetch(unsigned at, unsigned end)
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++)
			v[q] = at + l(q) < end
				   ? operand.get(outer[q], operand.inner(at + l(q)))
				   : 0;
	}
	GV_MEMBER void
	put(float (*to)[TILE + 4]) const
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++)
			to[l(q)][i(q)] = v[q];
	}
};

/* What a thread makes: rows row(i), columns column(j) of the tile, WIDE neighbours each. */
template <int TILE> struct gv_product {
	enum { EACH = TILE / GV_PRODUCT_SIDE, DOWN = EACH, ACROSS = EACH, SIZE = TILE };
	enum { WIDE = EACH < 4 ? EACH : 4 };
	typedef gv_product_shared<TILE> shared;
	float v[DOWN][ACROSS];

	/* The i-th number of the thread that is the at-th of a side. */
	GV_MEMBER static unsigned
	place(unsigned at, unsigned i)
	{
		return i / WIDE * (WIDE * GV_PRODUCT_SIDE) + at * WIDE + i % WIDE;
	}
	GV_MEMBER static unsigned
	row(unsigned i)
	{
		return place(gv_thread / GV_PRODUCT_SIDE, i);
	}
	GV_MEMBER static unsigned
	column(unsigned j)
	{
		return place(gv_thread % GV_PRODUCT_SIDE, j);
	}

	/*
	 * v goes on over k in [from, end); all threads of the block come here.  The next
	 * elements are on their way while those that are there are multiplied.
	 */
	template <class A, class B>
	GV_MEMBER void
	run(shared &s, const A &a, const B &b, unsigned first_row, unsigned first_column,
	    unsigned from, unsigned end)
	{
		gv_product_side<TILE, A> rows(a, first_row);
		gv_product_side<TILE, B> columns(b, first_column);

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
			if (end - at >= shared::DEPTH) {
				GV_UNROLL
				for (unsigned l = 0; l < shared::DEPTH; l++)
					step(s, l);
			} else {
				for (unsigned l = 0; l < end - at; l++)
					step(s, l);
			}
		}
	}

	GV_MEMBER void
	step(const shared &s, unsigned l)
	{
		float x[DOWN], y[ACROSS];

		read(x, s.a[l], gv_thread / GV_PRODUCT_SIDE);
		read(y, s.b[l], gv_thread % GV_PRODUCT_SIDE);
		GV_UNROLL
		for (unsigned i = 0; i < DOWN; i++)
			GV_UNROLL
		for (unsigned j = 0; j < ACROSS; j++)
			v[i][j] = fmaf(x[i], y[j], v[i][j]);
	}

	GV_MEMBER static void
	read(float (&to)[EACH], const float *from, unsigned at)
	{
		GV_UNROLL
		for (unsigned i = 0; i < EACH; i += WIDE) {
			float some[WIDE];

			gv_get_some<WIDE>(some, from + place(at, i));
			GV_UNROLL
			for (unsigned e = 0; e < WIDE; e++)
				to[i + e] = some[e];
		}
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
