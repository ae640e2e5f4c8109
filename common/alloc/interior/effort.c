/* What the interior-point method takes: fit to what gv-alloc.choice measures. */
#include "interior.h"

double
gv_interior_level_effort(size_t n, size_t m)
{
	double jobs = (double)n, types = (double)m;

	return jobs * (6000 + types * (1600 + 10 * types)) + 10 * types * types * types;
}

double
gv_interior_sum_effort(size_t n, size_t m)
{
	double jobs = (double)n, types = (double)m;

	return jobs * (2000 + types * (1900 + 10 * types)) + 10 * types * types * types;
}
