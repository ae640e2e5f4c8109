#include "choice.h"

bool
gv_prices_first(double program)
{
	const double little = 1e5; /* a tenth of a millisecond */

	return program > little;
}

double
gv_prices_effort(double program)
{
	return .9 * program;
}
