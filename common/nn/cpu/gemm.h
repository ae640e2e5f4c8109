/*
 * Matrix products whose bits depend on nothing but the numbers: every element
 * of C is one chain of fused multiply-adds in the order of k,
 *
 *	acc = C, bias or 0;  for k: acc = fma(a(i,k), b(k,j), acc)
 *
 * whatever m, n, the blocking, the threads and the vectors of the CPU.  That is
 * what makes fused = serial and any number of threads and ranks equal bit for
 * bit.  (A CPU without fused multiply-add rounds twice, so its bits differ.)
 *
 * Cost: about 100 GFLOP/s and core in float with AVX-512 when m, n >= 64; B is
 * packed once and used for any number of products.
 */
#ifndef GV_NN_CPU_GEMM_H
#define GV_NN_CPU_GEMM_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/real.h"

/* Room that a packed b[k][n] takes, in numbers. */
size_t gv_cpu_gemm_packed(size_t k, size_t n);

/* Packs b, whose element (i, j) is b[i * rs + j * cs], for i < k, j < n. */
void gv_cpu_gemm_pack(
    gv_real *packed, const gv_real *b, size_t rs, size_t cs, size_t k, size_t n);

/*
 * Packs rows [row, row + k) of a matrix of so many rows into where they lie in the packed
 * whole matrix; b is element (row, 0).
 */
void gv_cpu_gemm_pack_rows(gv_real *packed, const gv_real *b, size_t rs, size_t cs,
    size_t rows, size_t row, size_t k, size_t n);

/* c[m][n] = a[m][k] b[k][n]. */
struct gv_cpu_gemm {
	size_t m, n, k;
	/* element (i, l) is a[i * lda + l]; transposed: a[l * lda + i] */
	const gv_real *a;
	size_t lda;
	bool transposed;
	/* or, row_at not NULL: a[row_at[i] + step_at[l]], whatever lda and transposed are */
	const size_t *row_at, *step_at;
	/* packed; or, ldb > 0, as it lies: element (l, j) is b[l * ldb + j], turned b[j * ldb + l] */
	const gv_real *b;
	size_t ldb;
	bool turned;
	gv_real *c; /* element (i, j) is c[i * ldc + j] */
	size_t ldc;
	const gv_real *bias; /* [n], added to every row; NULL = none */
	bool add;            /* start from what c holds; then no bias */
	bool relu;           /* afterwards c = max(c, 0), NaN stays */
};

void gv_cpu_gemm(const struct gv_cpu_gemm *g);

/*
 * Sums over shards of a^T b: c[m][n] = or += a binary tree of shards' products,
 * each of its own k, as if made one by one and added.  a and b hold the shards one
 * behind the other: element (l, i) of a is a[l * lda + i].
 */
struct gv_cpu_shards {
	size_t m, n;
	size_t shards;     /* a power of two, at most 2^16 */
	const size_t *end; /* [shards] where each ends in l */
	const gv_real *a;
	size_t lda;
	const gv_real *b; /* packed, [end of the last][n] */
	gv_real *c;
	size_t ldc;
	bool add;
};

void gv_cpu_shards(const struct gv_cpu_shards *g);

/*
 * Products that are no matrix: n chains side by side, number by number,
 *	y[j] = start[j] or 0;  for t: y[j] = fma(x[t][j], w[t][j], y[j])
 * and the same again for each place, with x, start and y so many steps on.  y may be
 * start.
 */
struct gv_cpu_chain {
	size_t n, terms, places;
	const gv_real *const *x, *const *w; /* [terms][n] */
	const gv_real *start;               /* [n], or NULL */
	gv_real *y;                         /* [n] */
	size_t x_step, start_step, y_step;
	bool relu;
};
void gv_cpu_chain(const struct gv_cpu_chain *c);

/*
 * For place after place one more term of [terms][n] chains:
 *	acc[t][j] = fma(x[t][j], v[j], acc[t][j])
 * with x and v a step on each time.  acc has whole vectors, gv_cpu_gemm_packed(1, n), and
 * what is behind n in these is not read.
 */
struct gv_cpu_spread {
	size_t n, terms, places;
	const gv_real *const *x; /* [terms][n] */
	const gv_real *v;        /* [n] */
	gv_real *const *acc;
	size_t x_step, v_step;
};
void gv_cpu_spread(const struct gv_cpu_spread *s);

/* Which kernel runs here: "avx512", "avx2" or "c". */
const char *gv_cpu_gemm_kernel(void);

/*
 * For tests: takes another kernel from now on; NULL = the best again.  false when
 * this CPU lacks it.  No net may be alive: packed matrices differ by kernel.
 */
bool gv_cpu_gemm_use(const char *name);

#endif
