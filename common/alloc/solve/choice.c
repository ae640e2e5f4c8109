#include "choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool
gv_choice_whole(double program)
{
	const double little = 1e5; /* a tenth of a millisecond */

	return program <= little;
}

/* Sums of many types: what their searches take differs much from one to the next. */
static bool
is_hard(size_t m, bool sum)
{
	const size_t few = 12;

	return sum && m > few;
}

/*
 * What the search takes where it has to find prices of all types: of a sample, where jobs are
 * many, and a pass over all.  Of a sum's prices there are more to be told apart.
 */
static double
search_effort(size_t n, size_t m, bool sum)
{
	const double sample = 8192;
	double jobs = (double)n, types = (double)m, cubed = types * types * types;
	double looked_at = jobs < sample ? jobs : sample;
	double steps = is_hard(m, sum) ? 4 : 1;

	return steps * cubed * (500 * types + 6 * looked_at) + 25 * jobs * types;
}

/*
 * What it takes where few types have a price, more where jobs that miss much of what they would
 * rather have touch the prices of others: fit to what gv-alloc.choice measures.  Prices that
 * are all 0 are seen at once.
 */
static double
short_effort(size_t n, size_t m, bool sum, const struct gv_choice_short *missing)
{
	const double sample = 8192;
	double jobs = (double)n, types = (double)m, few = (double)missing->types;
	double looked_at = jobs < sample ? jobs : sample;
	double each = sum ? 140 + .3 * looked_at : 100 + 3 * looked_at;
	double steps = (1 + .1 * few * few * few) * (1 + 3 * missing->part);

	if (missing->types == 0)
		return 0;
	return steps * types * types * each + 25 * jobs * types;
}

/* The type that is worth most to a job, of those that are not out; m = none is worth anything. */
static size_t
best_type(const double *worth, const bool *out, size_t m)
{
	size_t j, best = m;

	for (j = 0; j < m; j++)
		if (!out[j] && worth[j] > (best < m ? worth[best] : 0))
			best = j;
	return best;
}

struct gv_choice_short
gv_choice_short(const struct gv_problem *p, const double *worth, double level)
{
	struct gv_choice_short missing = {0, 0};
	double *left = gv_xcalloc(p->m, sizeof(*left));
	bool *out = gv_xcalloc(p->m, sizeof(*out)),
	     *none = gv_xcalloc(p->m, sizeof(*none));
	double all = 0;
	size_t i, j;

	memcpy(left, p->capacity, p->m * sizeof(*left));
	for (i = 0; i < p->n; i++) {
		const double *own = &worth[i * p->m];
		size_t first = best_type(own, none, p->m);
		double gpus = p->count[i] * p->scale[i];

		if (first == p->m)
			continue;
		gpus *= fmin(1, level / own[first]);
		all += gpus;
		for (j = first; j < p->m && gpus > 0; j = best_type(own, out, p->m)) {
			double taken = fmin(gpus, left[j]);

			left[j] -= taken;
			gpus -= taken;
			missing.part += j == first ? 0 : taken;
			missing.types += gpus > 0 && !out[j];
			out[j] = out[j] || gpus > 0;
		}
		missing.part += gpus;
	}
	missing.part /= all > 0 ? all : 1;
	free(left);
	free(out);
	free(none);
	return missing;
}

bool
gv_choice_simplex_second(size_t n, size_t m, double program, double interior)
{
	const double unsure = 1.3;

	return n <= m && unsure * program < interior;
}

double
gv_choice_prices_effort(size_t n, size_t m, bool sum, double next,
    const struct gv_choice_short *missing, bool many)
{
	double saved = many ? 1.5 : 1;
	double sure = (double)m / (double)(m + 10); /* next is less where types are few */
	double search = search_effort(n, m, sum);
	bool quick =
	    search < (is_hard(m, sum) ? .5 : saved) * next ||
	    (missing != NULL && short_effort(n, m, sum, missing) < sure * saved * next);

	return next * (quick ? .9 : is_hard(m, sum) && search < .75 * next ? .4 : .05);
}
