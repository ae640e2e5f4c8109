/*
 * Words for tensor cores: what the 32 lanes of a warp do together with pieces of
 * matrices.  With g = lane / 4 and t = lane % 4 a lane holds of
 *
 *	a (16 x 16)	rows g, g + 8 x columns 2t, 2t + 1; then the same at columns 2t + 8
 *	b (16 x 8)	rows 2t, 2t + 1 of column g; then rows 2t + 8, 2t + 9
 *	c (16 x 8)	columns 2t, 2t + 1 of row g; then of row g + 8
 *
 * two bfloat16 in a word, the first in the low half; with tf32 (8 deep) a number in a
 * word, 2t and 2t + 1 being t, and + 8 being + 4.
 */
#ifndef GV_CUDA_MATRIX_H
#define GV_CUDA_MATRIX_H

#include "device.h"

#ifdef __CUDACC__

/* c += a b: products of bfloat16, or of tf32, are exact, sums float. */
GV_DEVICE void
gv_mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
		     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

GV_DEVICE void
gv_mma_tf32(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
		     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/*
 * Four matrices of 8 x 8 bfloat16 from shared memory: lane l says where row l % 8 of
 * matrix l / 8 is (16 bytes, so aligned) and gets words t of row g of each; transposed:
 * of column g.
 */
GV_DEVICE void
gv_load_matrices(unsigned (&v)[4], const void *row)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
		     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
		     : "r"((unsigned)__cvta_generic_to_shared(row))
		     : "memory");
}

GV_DEVICE void
gv_load_transposed(unsigned (&v)[4], const void *row)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
		     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
		     : "r"((unsigned)__cvta_generic_to_shared(row))
		     : "memory");
}

/*
 * 16 bytes of global memory on their way into shared memory, zeros where there is
 * nothing; gv_copies_end closes a group of them, gv_copies_wait waits until all but the
 * last so many groups of this thread are there.
 */
GV_DEVICE void
gv_copy_16(void *to, const void *from, bool there)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
			 (unsigned)__cvta_generic_to_shared(to)),
		     "l"(from), "r"(there ? 16 : 0)
		     : "memory");
}

GV_DEVICE void
gv_copies_end(void)
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int LEFT>
GV_DEVICE void
gv_copies_wait(void)
{
	asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

/* Two numbers as bfloat16, to the nearest. */
GV_DEVICE unsigned
gv_pair(float low, float high)
{
	unsigned v;

	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(high), "f"(low));
	return v;
}

/* As tf32: 10 bits behind the point, to the nearest, ties away from 0. */
GV_DEVICE unsigned
gv_tf32(float v)
{
	unsigned bits;

	asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
	return bits;
}

#else

#define gv_mma(c, a, b0, b1)       emulate_mma(c, a, b0, b1, 0, __FILE__, __LINE__)
#define gv_mma_tf32(c, a, b0, b1)  emulate_mma(c, a, b0, b1, 1, __FILE__, __LINE__)
#define gv_load_matrices(v, row)   emulate_load(v, row, 0, __FILE__, __LINE__)
#define gv_load_transposed(v, row) emulate_load(v, row, 1, __FILE__, __LINE__)
#define gv_copy_16                 emulate_copy
#define gv_copies_end              emulate_copies_end

template <int LEFT>
GV_DEVICE void
gv_copies_wait(void)
{
	emulate_copies_wait(LEFT);
}

GV_DEVICE unsigned
gv_pair(float low, float high)
{
	gv_bf16 v[2];

	gv_put(&v[0], low);
	gv_put(&v[1], high);
	return v[0].bits | (unsigned)v[1].bits << 16;
}

GV_DEVICE unsigned
gv_tf32(float v)
{
	union {
		float v;
		unsigned bits;
	} u = {v};

	return v != v ? 0x7fffffff : (u.bits + 0x1000) & 0xffffe000;
}

#endif

/*
 * ROWS x WIDTH bfloat16 in shared memory, 16 bytes of a row where the rows before have
 * others, so that eight rows of a matrix lie in different banks.  WIDTH: 32, of which two
 * rows lie in all banks, or 64 and more.  BY 2: four rows of two times 16 bytes do.
 */
template <int ROWS, int WIDTH, int BY = 1> struct alignas(16) gv_square {
	enum { CHUNKS = WIDTH / 8 };
	unsigned short v[ROWS * WIDTH];

	GV_MEMBER unsigned short *
	chunk(unsigned row, unsigned c)
	{
		unsigned turn = CHUNKS < 8 ? row / 2 % 4 : row * BY % 8;

		return v + row * WIDTH + (c ^ turn) * 8;
	}

	/* a of the 16 rows from row on, 16 columns from chunk 2 k on */
	GV_MEMBER void
	load_a(unsigned (&a)[4], unsigned row, unsigned k, unsigned lane)
	{
		gv_load_matrices(a, chunk(row + lane % 16, 2 * k + lane / 16));
	}

	/* a of 16 columns from chunk c on, which are rows of a, and of the 16 rows from row on */
	GV_MEMBER void
	load_a_across(unsigned (&a)[4], unsigned row, unsigned c, unsigned lane)
	{
		gv_load_transposed(
		    a, chunk(row + lane / 16 * 8 + lane % 8, c + lane / 8 % 2));
	}

	/* b of two products whose columns are rows here: 8 from row on, and the next 8 */
	GV_MEMBER void
	load_b(unsigned (&b)[4], unsigned row, unsigned k, unsigned lane)
	{
		gv_load_matrices(
		    b, chunk(row + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
	}

	/* b of two products whose 16 rows are those from row on, columns two chunks */
	GV_MEMBER void
	load_b_across(unsigned (&b)[4], unsigned row, unsigned c, unsigned lane)
	{
		gv_load_transposed(b, chunk(row + lane % 16, c + lane / 16));
	}

	/*
	 * Rows [first, first + ROWS) of n, columns [0, width), on their way here; zeros
	 * elsewhere.  All of the block's threads; aligned: everything begins at 16 bytes.
	 */
	GV_MEMBER void
	fetch(const gv_bf16 *from, size_t apart, unsigned first, unsigned n,
	    unsigned width, bool aligned, unsigned threads)
	{
		for (unsigned i = gv_thread; i < ROWS * CHUNKS; i += threads) {
			unsigned row = i / CHUNKS, c = i % CHUNKS, at = first + row;
			const gv_bf16 *p = from + (size_t)at * apart + 8 * c;
			bool there = at < n && 8 * c < width;

			if (aligned) {
				gv_copy_16(chunk(row, c), there ? p : from, there);
				continue;
			}
			for (unsigned j = 0; j < 8; j++)
				chunk(row, c)[j] =
				    there && 8 * c + j < width ? p[j].bits : 0;
		}
	}
};

#endif
