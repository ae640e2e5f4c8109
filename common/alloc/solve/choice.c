#include "choice.h"

bool
gv_choice_whole(double program)
{
	const double little = 1e5; /* a tenth of a millisecond */

	return program <= little;
}

/*
 * What the search takes where it has to find prices of all types: of a sample, where jobs are
 * many, and a pass over all.  Of a sum's prices there are more to be told apart.
 */
static double
search_effort(size_t n, size_t m, bool sum)
{
	const double sample = 8192;
	const size_t few = 12;
	double jobs = (double)n, types = (double)m, cubed = types * types * types;
	double looked_at = jobs < sample ? jobs : sample;
	double steps = sum && m > few ? 4 : 1;

	return steps * cubed * (500 * types + 6 * looked_at) + 25 * jobs * types;
}

double
gv_choice_prices_effort(
    size_t n, size_t m, bool sum, double interior, bool scarce, bool many)
{
	const size_t few = scarce ? 32 : 64;
	double saved = many ? 1.5 : 1;
	bool quick = search_effort(n, m, sum) < saved * interior || (n <= m && n <= few);

	return interior * (quick ? .9 : .05);
}
