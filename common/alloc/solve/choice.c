#include "choice.h"

bool
gv_prices_first(size_t n)
{
	enum { FEW = 64 }; /* the program takes less than a millisecond on few types */

	return n > FEW;
}

double
gv_prices_effort(double program)
{
	return program / 2;
}
