/* Shares that keep every constraint to the last bit, not only but for rounding. */
#include <float.h>
#include <math.h>

#include "problem.h"

/* A sum in twice the precision of double (Dekker 1971). */
struct twice {
	double high, low;
};

static void
add(struct twice *a, double v)
{
	double sum = a->high + v;
	double part = sum - a->high;

	a->low += (a->high - (sum - part)) + (v - part);
	a->high = sum;
}

static bool
is_over(const struct twice *a, double limit)
{
	return (a->high - limit) + a->low > 0;
}

static bool
cost_is_over(const struct problem *p, const double *x)
{
	struct twice sum = {0, 0};
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		struct twice used = {0, 0};
		double cost;

		for (i = 0; i < p->n; i++) {
			double gpus = p->count[i] * p->scale[i];
			double part = gpus * x[i * p->m + j];

			add(&used, part);
			add(&used, fma(gpus, x[i * p->m + j], -part));
		}
		cost = p->price[j] * used.high;
		add(&sum, cost);
		add(&sum, fma(p->price[j], used.high, -cost));
		add(&sum, p->price[j] * used.low);
	}
	return is_over(&sum, p->budget);
}

static bool
row_is_over(const struct problem *p, const double *row)
{
	struct twice sum = {0, 0};
	size_t j;

	for (j = 0; j < p->m; j++)
		add(&sum, row[j]);
	return is_over(&sum, 1);
}

static bool
type_is_over(const struct problem *p, const double *x, size_t j)
{
	struct twice sum = {0, 0};
	size_t i;

	for (i = 0; i < p->n; i++) {
		double gpus = p->count[i] * p->scale[i]; /* whole, so not rounded */
		double used = gpus * x[i * p->m + j];

		add(&sum, used);
		add(&sum, fma(gpus, x[i * p->m + j], -used));
	}
	return is_over(&sum, p->capacity[j]);
}

void
problem_trim(const struct problem *p, double *x)
{
	static const double less = 1 - DBL_EPSILON;
	size_t i, j;
	int tries;

	for (i = 0; i < p->n; i++)
		for (tries = 0; tries < 4 && row_is_over(p, &x[i * p->m]); tries++)
			for (j = 0; j < p->m; j++)
				x[i * p->m + j] *= less;
	for (j = 0; j < p->m; j++)
		for (tries = 0; tries < 64 && type_is_over(p, x, j); tries++)
			for (i = 0; i < p->n; i++)
				x[i * p->m + j] *= less;
	for (tries = 0; p->budget > 0 && tries < 64 && cost_is_over(p, x); tries++)
		for (i = 0; i < p->n * p->m; i++)
			x[i] *= less;
}
