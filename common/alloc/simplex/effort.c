/* What the simplex method takes: rows squared, as it is with GLPK's, times more the more types. */
#include "simplex.h"

double
gv_simplex_level_effort(size_t n, size_t m)
{
	double rows = (double)n;

	return rows * (100 + rows * (40 + 13.5 * (double)m));
}

double
gv_simplex_sum_effort(size_t n, size_t m)
{
	double rows = (double)n, few = m < 8 ? (double)m : 8;

	return rows * (100 + rows * (12 + 9 * few + 3 * ((double)m - few)));
}
