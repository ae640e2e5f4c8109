/*
 * What the simplex method takes: for each row what it is to make and check a program, and
 * rows squared, as it is with GLPK's, times more the more types: fit to what gv-alloc.choice
 * measures.
 */
#include "simplex.h"

double
gv_simplex_level_effort(size_t n, size_t m)
{
	double rows = (double)n, types = (double)m;

	return rows * (2000 + 700 * types + rows * (40 + 13.5 * types));
}

double
gv_simplex_sum_effort(size_t n, size_t m)
{
	double rows = (double)n, types = (double)m, few = m < 8 ? types : 8;

	return rows * (1500 + 350 * few + 650 * (types - few) +
			  rows * (12 + 9 * few + 3 * (types - few)));
}

/* It usually takes about two for each row. */
long
gv_simplex_most_steps(size_t rows)
{
	enum { MANY = 20 };

	return MANY * (long)(rows + MANY);
}
