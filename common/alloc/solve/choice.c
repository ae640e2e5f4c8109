#include "choice.h"

bool
gv_choice_whole(double program)
{
	const double little = 1e5; /* a tenth of a millisecond */

	return program <= little;
}

/* What the search takes where it has to find prices of all types. */
static double
search_effort(size_t n, size_t m)
{
	double jobs = (double)n, types = (double)m, cubed = types * types * types;

	return cubed * (200 * types + 8 * jobs);
}

double
gv_choice_prices_effort(size_t n, size_t m, double interior)
{
	bool quick = search_effort(n, m) < interior || n <= 2 * m;

	return interior * (quick ? .9 : .3);
}
