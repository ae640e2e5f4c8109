/* Sums in a fixed order. */
#include <string.h>

#include "nn/impl.h"
#include "nn/simd.h"

GV_HOT void
sum_two(gv_real *restrict a, const gv_real *restrict b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		a[i] += b[i];
}

void
sum_tree(gv_real *v, size_t shards, size_t n)
{
	size_t step, s;

	for (step = 1; step < shards; step *= 2)
		for (s = 0; s < shards; s += 2 * step)
			sum_two(v + s * n, v + (s + step) * n, n);
}

/*
 * Columns are summed WIDTH at a time, so that the sums stay in registers: rows
 * of a strip of RUN in gv_real, the strips in double.
 */
enum { WIDTH = 32, RUN = 32 };

enum what { SUM, SQUARES, PRODUCTS };

/* All of WIDTH columns from v on; used of them count. */
GV_HOT static void
strip(enum what what, const gv_real *restrict v, const gv_real *restrict x, size_t rows, size_t n,
    size_t used, const gv_real *restrict mean, const gv_real *restrict rstd, gv_real *restrict sum)
{
	double total[WIDTH] = {0};
	size_t i, j, end;

	for (i = 0; i < rows; i = end) {
		gv_real part[WIDTH] = {0};

		end = rows - i < RUN ? rows : i + RUN;
		for (; i < end; i++) {
			const gv_real *restrict a = v + i * n, *restrict b = x + i * n;

			switch (what) {
			case SUM:
				for (j = 0; j < used; j++)
					part[j] += a[j];
				break;
			case SQUARES:
				for (j = 0; j < used; j++)
					part[j] += (a[j] - mean[j]) * (a[j] - mean[j]);
				break;
			case PRODUCTS:
				for (j = 0; j < used; j++)
					part[j] += a[j] * ((b[j] - mean[j]) * rstd[j]);
				break;
			}
		}
		for (j = 0; j < used; j++)
			total[j] += (double)part[j];
	}
	for (j = 0; j < used; j++)
		sum[j] = (gv_real)total[j];
}

static void
columns(enum what what, const gv_real *v, const gv_real *x, size_t rows, size_t n,
    const gv_real *mean, const gv_real *rstd, gv_real *sum)
{
	size_t j;

	for (j = 0; j < n; j += WIDTH)
		strip(what, v + j, x + j, rows, n, n - j < WIDTH ? n - j : WIDTH, mean + j, rstd + j,
		    sum + j);
}

void
sum_columns(const gv_real *v, size_t rows, size_t n, gv_real *sum)
{
	columns(SUM, v, v, rows, n, sum, sum, sum);
}

void
sum_squares(const gv_real *v, size_t rows, size_t n, const gv_real *mean, gv_real *sum)
{
	columns(SQUARES, v, v, rows, n, mean, mean, sum);
}

void
sum_products(const gv_real *dy, const gv_real *x, size_t rows, size_t n, const gv_real *mean,
    const gv_real *rstd, gv_real *sum)
{
	columns(PRODUCTS, dy, x, rows, n, mean, rstd, sum);
}
