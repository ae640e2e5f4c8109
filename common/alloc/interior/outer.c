#include "outer.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/tolerance.h"

enum { PANEL = 32 };

/* A vector as large as the largest, which smaller processors do in parts. */
typedef double vector __attribute__((vector_size(GV_INTERIOR_TILE * sizeof(double))));
typedef double unaligned_vector __attribute__((
    vector_size(GV_INTERIOR_TILE * sizeof(double)), aligned(8), may_alias));

#define LOAD(p)     (*(const unaligned_vector *)(p))
#define STORE(p, v) (*(unaligned_vector *)(p) = (v))

#if defined(__x86_64__)
#define NAME(x) x##_avx512
#define TARGET  __attribute__((target("avx512f")))
#define LINES   8
#include "outer_loops.h"
#define NAME(x) x##_avx2
#define TARGET  __attribute__((target("avx2")))
#define LINES   4
#include "outer_loops.h"
#endif

#define NAME(x) x##_plain
#define TARGET
#define LINES 4
#include "outer_loops.h"

size_t
gv_interior_stride(size_t m)
{
	return (m + GV_INTERIOR_TILE - 1) / GV_INTERIOR_TILE * GV_INTERIOR_TILE;
}

void
gv_interior_outer(
    double *c, size_t stride, size_t from, size_t end, const double *r, size_t n_rows)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		outer_avx512(c, stride, from, end, r, n_rows);
		return;
	}
	if (__builtin_cpu_supports("avx2")) {
		outer_avx2(c, stride, from, end, r, n_rows);
		return;
	}
#endif
	outer_plain(c, stride, from, end, r, n_rows);
}

/* Columns from to end - 1 of the factor, in the rows from from on; what is before is taken off. */
static bool
factorise_panel(double *a, size_t stride, size_t from, size_t end, size_t m)
{
	const double infinite = 1e128;
	size_t i, j, k;

	for (i = from; i < m; i++) {
		double *row = &a[i * stride], pivot;

		for (j = from; j < end && j < i; j++) {
			const double *other = &a[j * stride];
			double sum = row[j];

			for (k = from; k < j; k++)
				sum -= row[k] * other[k];
			row[j] = sum / other[j];
		}
		if (i >= end)
			continue;
		pivot = row[i];
		for (k = from; k < i; k++)
			pivot -= row[k] * row[k];
		if (!isfinite(pivot))
			return false;
		row[i] = pivot > GV_TOL_INTERIOR_PIVOT ? sqrt(pivot) : infinite;
	}
	return true;
}

bool
gv_interior_cholesky(double *a, size_t stride, size_t m)
{
	double *across = gv_xcalloc(PANEL, stride * sizeof(*across));
	bool good = true;
	size_t from, i, k;

	for (from = 0; from < m && good; from += PANEL) {
		size_t end = from + PANEL < m ? from + PANEL : m;

		good = factorise_panel(a, stride, from, end, m);
		for (k = from; k < end; k++)
			for (i = end; i < m; i++)
				across[(k - from) * stride + i] = a[i * stride + k];
		if (end < m)
			gv_interior_outer(a, stride, end, m, across, end - from);
	}
	free(across);
	return good;
}
