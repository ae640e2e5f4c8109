/* Sums in a fixed order. */
#include <string.h>

#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

GV_HOT void
gv_cpu_sum_two(gv_real *restrict a, size_t lda, const gv_real *restrict b, size_t ldb,
    size_t rows, size_t n)
{
	size_t i, j;

	for (i = 0; i < rows; i++, a += lda, b += ldb)
		for (j = 0; j < n; j++)
			a[j] += b[j];
}

void
gv_cpu_sum_tree(gv_real *v, size_t shards, size_t n)
{
	size_t step, s;

	for (step = 1; step < shards; step *= 2)
		for (s = 0; s < shards; s += 2 * step)
			gv_cpu_sum_two(v + s * n, n, v + (s + step) * n, n, 1, n);
}

/*
 * Columns are summed WIDTH at a time, so that the sums stay in registers: rows
 * of a strip of RUN in gv_real, the strips in double.
 */
enum { WIDTH = 32, RUN = 32 };

enum what { SUM, SQUARES, PRODUCTS };

/* Columns [0, used) of one strip; inlined with constants for what and, mostly, used. */
GV_INLINE static inline void
strip(enum what what, const gv_real *restrict v, const gv_real *restrict x, size_t rows,
    size_t n, size_t used, const gv_real *restrict mean, const gv_real *restrict rstd,
    gv_real *restrict sum)
{
	double total[WIDTH] = {0};
	size_t i, j, end;

	for (i = 0; i < rows; i = end) {
		gv_real part[WIDTH] = {0};

		end = gv_cpu_lesser(i + RUN, rows);
		for (; i < end; i++) {
			const gv_real *restrict a = v + i * n, *restrict b = x + i * n;

			for (j = 0; j < used; j++)
				part[j] += what == SUM ? a[j]
					   : what == SQUARES
					       ? (a[j] - mean[j]) * (a[j] - mean[j])
					       : a[j] * ((b[j] - mean[j]) * rstd[j]);
		}
		for (j = 0; j < used; j++)
			total[j] += (double)part[j];
	}
	for (j = 0; j < used; j++)
		sum[j] = (gv_real)total[j];
}

#define STRIP(name, what)                                                        \
	GV_HOT static void name(const gv_real *v, const gv_real *x, size_t rows, \
	    size_t n, size_t used, const gv_real *mean, const gv_real *rstd,     \
	    gv_real *sum)                                                        \
	{                                                                        \
		if (used == WIDTH)                                               \
			strip(what, v, x, rows, n, WIDTH, mean, rstd, sum);      \
		else                                                             \
			strip(what, v, x, rows, n, used, mean, rstd, sum);       \
	}
STRIP(strip_sum, SUM)
STRIP(strip_squares, SQUARES)
STRIP(strip_products, PRODUCTS)

static void
columns(enum what what, const gv_real *v, const gv_real *x, size_t rows, size_t n,
    const gv_real *mean, const gv_real *rstd, gv_real *sum)
{
	size_t j, used;

	for (j = 0; j < n; j += WIDTH) {
		used = gv_cpu_lesser(n - j, WIDTH);
		(what == SUM          ? strip_sum
		    : what == SQUARES ? strip_squares
				      : strip_products)(
		    v + j, x + j, rows, n, used, mean + j, rstd + j, sum + j);
	}
}

void
gv_cpu_sum_columns(const gv_real *v, size_t rows, size_t n, gv_real *sum)
{
	columns(SUM, v, v, rows, n, sum, sum, sum);
}

void
gv_cpu_sum_squares(
    const gv_real *v, size_t rows, size_t n, const gv_real *mean, gv_real *sum)
{
	columns(SQUARES, v, v, rows, n, mean, mean, sum);
}

void
gv_cpu_sum_products(const gv_real *dy, const gv_real *x, size_t rows, size_t n,
    const gv_real *mean, const gv_real *rstd, gv_real *sum)
{
	columns(PRODUCTS, dy, x, rows, n, mean, rstd, sum);
}
