/* What the interior-point method takes: fit to what gv-alloc.choice measures. */
#include "sift.h"

#include <math.h>

/* Where columns are sifted, those of few jobs are half of it, the rest a pass over all. */
static double
sifted_effort(size_t n, size_t m, double job, double column)
{
	double jobs = (double)n, types = (double)m, few = GV_INTERIOR_MANY / types;
	double end = types * types * types;

	if (jobs <= few)
		return jobs * job + end;
	return .5 * few * job + end + jobs * types * column;
}

double
gv_interior_level_effort(size_t n, size_t m)
{
	double types = (double)m;

	return sifted_effort(n, m, 6000 + types * (1600 + 10 * types), 1500);
}

/* Of many cells each takes longer: they leave the caches, and there are more steps. */
double
gv_interior_sum_effort(size_t n, size_t m)
{
	const double little = 24000;
	double types = (double)m;
	double cells = fmin((double)n * types, GV_INTERIOR_MANY);
	double slower = pow(fmax(1, cells / little), .65);

	return sifted_effort(n, m, 1000 + slower * types * (700 + 8 * types), 250);
}
