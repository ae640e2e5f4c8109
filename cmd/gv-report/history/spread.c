#include "spread.h"

#include <math.h>
#include <stdlib.h>

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
percentile(const double *v, size_t n, size_t percent)
{
	return v[(percent * n + 99) / 100 - 1];
}

struct spread
spread_of(double *v, size_t n)
{
	struct spread s = {n, 0, NAN, NAN, NAN, NAN, NAN};
	size_t i;

	if (n == 0)
		return s;
	for (i = 0; i < n; i++)
		s.sum += v[i];
	qsort(v, n, sizeof(*v), by_size);
	s.mean = s.sum / (double)n;
	s.median = n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	s.p95 = percentile(v, n, 95);
	s.p99 = percentile(v, n, 99);
	s.max = v[n - 1];
	return s;
}
