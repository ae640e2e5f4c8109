/* The shortest arborescence against all choices of parents of few nodes. */
#include "tap.h"

#include <math.h>
#include <stdbool.h>

#include "draws.h"
#include "gv-tree/named/arborescence.h"

enum { MOST = 5 };

/* The length of those arcs; INFINITY where they are no tree out of root. */
static double
length_of(size_t n, size_t root, const double *length, const size_t *from)
{
	double sum = 0;
	size_t v, u, steps;

	for (v = 0; v < n; v++) {
		for (u = v, steps = 0; u != root && steps < n; steps++)
			u = from[u];
		if (u != root)
			return INFINITY;
		sum += v != root ? length[from[v] * n + v] : 0;
	}
	return sum;
}

/* The least of all choices, each a number of n digits. */
static double
brute(size_t n, size_t root, const double *length)
{
	double least = INFINITY;
	size_t choices = 1, choice, v, from[MOST];

	for (v = 0; v < n; v++)
		choices *= n;
	for (choice = 0; choice < choices; choice++) {
		size_t rest = choice;

		for (v = 0; v < n; v++, rest /= n)
			from[v] = rest % n;
		least = fmin(least, length_of(n, root, length, from));
	}
	return least;
}

int
main(void)
{
	int i, wrong = 0, none = 0, sums = 0;

	draws_begin(31, 0, 0);
	for (i = 0; i < 4000; i++) {
		size_t n = 1 + below(MOST), root = below(n), v, from[MOST] = {0};
		bool whole = below(2) == 0; /* with ties */
		double length[MOST * MOST], best, found;

		for (v = 0; v < n * n; v++)
			length[v] = below(5) == 0 ? INFINITY
				    : whole       ? (double)below(4)
						  : uniform();
		best = brute(n, root, length);
		found = arborescence(n, root, length, from);
		none += isinf(best);
		if (isinf(best) || isinf(found)) {
			wrong += isinf(best) != isinf(found);
			continue;
		}
		wrong += fabs(found - best) > 1e-12 * (1 + best);
		sums +=
		    fabs(length_of(n, root, length, from) - found) > 1e-12 * (1 + best);
	}
	is_int(wrong, 0, "4000 graphs: none is shorter");
	is_int(sums, 0, "what is said is what it is");
	ok(none > 200 && none < 2000, "some have none: %d", none);
	return done_testing();
}
