/*
 * A tile of a matrix product: TILE x TILE numbers by a block of 256 threads, each
 * number one chain of fused multiply-adds in the order of k.  The operands say where
 * their elements are:
 *
 *	along_k()      neighbours in k are neighbours in memory
 *	outer(i)       what is the same for all elements of row (a) or column (b) i
 *	inner(l)       what is the same for all elements at k = l
 *	get(o, l)      the element; 0 where there is none
 *	whole()        neighbours (in k, or in i where not along_k) come in whole 16 bytes,
 *	chunk(o, l)    the first of those at o and l; NULL: zeros
 */
#ifndef GV_CUDA_PRODUCT_H
#define GV_CUDA_PRODUCT_H

#include "device.h"

enum { GV_PRODUCT_THREADS = 256, GV_PRODUCT_SIDE = 16 };

/*
 * Operands at DEPTH k: [k][row], [k][column].  Each four k are turned, so that what a warp
 * writes, neighbours in k or in i, lies in different banks; fours stay together.
 */
template <int TILE> struct alignas(16) gv_product_part {
	enum { DEPTH = TILE > 64 ? 16 : TILE > 32 ? 32 : 64, FOURS = DEPTH / 4 };
	float v[DEPTH][TILE];

	GV_MEMBER static unsigned
	turned(unsigned l, unsigned i)
	{
		return (i + l / 4 % FOURS * (FOURS < 8 ? 8 : 4)) % TILE;
	}
	GV_MEMBER float *
	at(unsigned l, unsigned i)
	{
		return &v[l][turned(l, i)];
	}
};

/* One is written while the other is read. */
template <int TILE> struct gv_product_shared {
	gv_product_part<TILE> a[2], b[2];
};

/*
 * A tile's part of an operand on its way into shared memory: fours of neighbours, or
 * (WHOLE = false) numbers: those of a thread differ in i alone where neighbours in k are
 * neighbours in memory (a warp reads 8 of 4 rows), in k alone elsewhere.
 */
template <int TILE, class OPERAND, bool WHOLE> struct gv_product_side {
	typedef gv_product_part<TILE> part;
	enum { DEPTH = part::DEPTH, MANY = WHOLE ? 4 : 1 };
	enum { EACH = TILE * DEPTH / GV_PRODUCT_THREADS / MANY };
	const OPERAND &operand;
	typename OPERAND::outer_type outer[EACH];
	float v[EACH][MANY];

	GV_MEMBER
	gv_product_side(const OPERAND &o, unsigned first) : operand(o)
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++)
			outer[q] = o.outer(first + i(q));
	}
	GV_MEMBER unsigned
	number(unsigned q) const
	{
		return gv_thread + q * GV_PRODUCT_THREADS;
	}
	GV_MEMBER unsigned
	i(unsigned q) const
	{
		unsigned eights = DEPTH / 8, warp = gv_thread / 32;

		if (WHOLE)
			return operand.along_k() ? number(q) / part::FOURS
						 : number(q) % (TILE / 4) * 4;
		return operand.along_k()
			   ? (warp / eights + q * (8 / eights)) * 4 + gv_thread % 32 / 8
			   : gv_thread % TILE;
	}
	GV_MEMBER unsigned
	l(unsigned q) const
	{
		if (WHOLE)
			return operand.along_k() ? number(q) % part::FOURS * 4
						 : number(q) / (TILE / 4);
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
			fetch_one(q, at + l(q), end);
	}
	GV_MEMBER void
	fetch_one(unsigned q, unsigned k, unsigned end)
	{
		if constexpr (WHOLE) {
			const float *p =
			    k < end ? operand.chunk(outer[q], operand.inner(k)) : NULL;

			GV_UNROLL
			for (unsigned e = 0; e < MANY; e++)
				v[q][e] = 0;
			if (p != NULL)
				gv_get_many(v[q], p);
		} else {
			v[q][0] = k < end ? operand.get(outer[q], operand.inner(k)) : 0;
		}
	}
	GV_MEMBER void
	put(part &to) const
	{
		GV_UNROLL
		for (unsigned q = 0; q < EACH; q++)
			if constexpr (!WHOLE) {
				*to.at(l(q), i(q)) = v[q][0];
			} else if (!operand.along_k()) {
				gv_put_many(to.at(l(q), i(q)), v[q]);
			} else {
				/* their four k are turned alike */
				float *first = to.at(l(q), i(q));

				GV_UNROLL
				for (unsigned e = 0; e < MANY; e++)
					first[e * TILE] = v[q][e];
			}
	}
};

/* What a thread makes: rows row(i), columns column(j) of the tile, WIDE neighbours each. */
template <int TILE> struct gv_product {
	enum { EACH = TILE / GV_PRODUCT_SIDE, DOWN = EACH, ACROSS = EACH, SIZE = TILE };
	enum { IN_ORDER = 1 }; /* of k, from any number on */
	enum { WIDE = EACH < 4 ? EACH : 4, DEPTH = gv_product_part<TILE>::DEPTH };
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

	/* v goes on over k in [from, end); all threads of the block come here. */
	template <class A, class B>
	GV_MEMBER void
	run(shared &s, const A &a, const B &b, unsigned first_row, unsigned first_column,
	    unsigned from, unsigned end)
	{
		/* a chunk is within k, or is not there */
		bool fours = (from | end) % 4 == 0 || !(a.along_k() || b.along_k());

		if (fours && a.whole() && b.whole())
			run_on<true>(s, a, b, first_row, first_column, from, end);
		else
			run_on<false>(s, a, b, first_row, first_column, from, end);
	}

	/* The next elements are on their way while those that are there are multiplied. */
	template <bool WHOLE, class A, class B>
	GV_MEMBER void
	run_on(shared &s, const A &a, const B &b, unsigned first_row,
	    unsigned first_column, unsigned from, unsigned end)
	{
		gv_product_side<TILE, A, WHOLE> rows(a, first_row);
		gv_product_side<TILE, B, WHOLE> columns(b, first_column);
		unsigned turn = 0;

		rows.fetch(from, end);
		columns.fetch(from, end);
		gv_sync(); /* nobody reads the last run's any more */
		rows.put(s.a[0]);
		columns.put(s.b[0]);
		for (unsigned at = from; at < end; at += DEPTH, turn ^= 1) {
			bool more = end - at > DEPTH;

			if (more) {
				rows.fetch(at + DEPTH, end);
				columns.fetch(at + DEPTH, end);
			}
			gv_sync(); /* this turn's are there, the last one's read */
			if (end - at >= DEPTH) {
				GV_UNROLL
				for (unsigned l = 0; l < DEPTH; l++)
					step(s.a[turn], s.b[turn], l);
			} else {
				for (unsigned l = 0; l < end - at; l++)
					step(s.a[turn], s.b[turn], l);
			}
			if (more) {
				rows.put(s.a[turn ^ 1]);
				columns.put(s.b[turn ^ 1]);
			}
		}
	}

	GV_MEMBER void
	step(gv_product_part<TILE> &a, gv_product_part<TILE> &b, unsigned l)
	{
		float x[DOWN], y[ACROSS];

		read(x, a, l, gv_thread / GV_PRODUCT_SIDE);
		read(y, b, l, gv_thread % GV_PRODUCT_SIDE);
		GV_UNROLL
		for (unsigned i = 0; i < DOWN; i++)
			GV_UNROLL
		for (unsigned j = 0; j < ACROSS; j++)
			v[i][j] = fmaf(x[i], y[j], v[i][j]);
	}

	GV_MEMBER static void
	read(float (&to)[EACH], gv_product_part<TILE> &from, unsigned l, unsigned at)
	{
		GV_UNROLL
		for (unsigned i = 0; i < EACH; i += WIDE) {
			float some[WIDE];

			gv_get_some<WIDE>(some, from.at(l, place(at, i)));
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
