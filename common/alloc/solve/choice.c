#include "choice.h"

bool
gv_choice_whole(double program)
{
	const double little = 1e5; /* a tenth of a millisecond */

	return program <= little;
}

/*
 * What the search takes where it has to find prices of all types: of a sample, where jobs are
 * many, and a pass over all.
 */
static double
search_effort(size_t n, size_t m)
{
	const double sample = 8192;
	double jobs = (double)n, types = (double)m, cubed = types * types * types;
	double looked_at = jobs < sample ? jobs : sample;

	return cubed * (500 * types + 6 * looked_at) + 25 * jobs * types;
}

double
gv_choice_prices_effort(size_t n, size_t m, double interior, bool scarce)
{
	const size_t few = 64;
	bool quick = search_effort(n, m) < interior || (n <= m && n <= few && !scarce);

	return interior * (quick ? .8 : .05);
}
