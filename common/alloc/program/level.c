#include "level.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/tolerance.h"

void
gv_level_init(struct gv_level *l, const struct gv_problem *p, struct gv_solution *s,
    bool lexicographic)
{
	*l = (struct gv_level){.s = s, .lexicographic = lexicographic};
	l->lambda = gv_xcalloc(p->n, sizeof(*l->lambda));
	l->price = gv_xcalloc(p->m, sizeof(*l->price));
	if (p->together != NULL)
		l->time = gv_xcalloc(p->n, sizeof(*l->time));
}

void
gv_level_free(struct gv_level *l)
{
	free(l->lambda);
	free(l->price);
	free(l->time);
}

double
gv_level_reached(const struct gv_problem *p, const double *a, const double *x)
{
	double level = INFINITY;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double sum = 0;

		for (j = 0; j < p->m; j++)
			sum += a[i * p->m + j] * x[i * p->m + j];
		level = sum < level ? sum : level;
	}
	return level;
}

double
gv_level_unit(const struct gv_problem *p, const double *a)
{
	double gpus = 0;  /* sum N */
	double gangs = 0; /* GPUs that all jobs together want at once */
	double fit;       /* equal shares fit when multiplied by this */
	double *part;     /* [m] of all GPUs */
	double least = INFINITY;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		gpus += p->capacity[j];
	part = gv_xcalloc(p->m, sizeof(*part));
	for (j = 0; j < p->m; j++)
		part[j] = p->capacity[j] / gpus;
	for (i = 0; i < p->n; i++) {
		double equal = 0;

		gangs += p->count[i] * p->scale[i];
		for (j = 0; j < p->m; j++)
			equal += a[i * p->m + j] * part[j];
		least = equal < least ? equal : least;
	}
	fit = fmin(1, gpus / gangs);
	free(part);
	return fit * least;
}

/*
 * Every sum here is of numbers >= 0, so a sum of k terms errs by at most k units in the
 * last place; they are summed in blocks, and the blocks in turn.
 */
double
gv_level_bound(const struct gv_problem *p, const double *a, double unit,
    const double *lambda, const double *price, double budget)
{
	enum { BLOCK = 1024 };
	double gain_error = ((double)p->m + 8) * DBL_EPSILON / 2;
	double cost_error = (budget > 0 ? 4 : 2) * DBL_EPSILON;
	double sum_error =
	    2 * (fmin(BLOCK, (double)p->n) + (double)(p->n / BLOCK) + (double)p->m + 16) *
	    DBL_EPSILON;
	double sum = 0, block = 0;
	double multipliers = 0, multipliers_block = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += price[j] * p->capacity[j];
	sum += budget * p->budget;
	for (i = 0; i < p->n; i++) {
		double most = 0;

		for (j = 0; j < p->m; j++) {
			double gain = lambda[i] * (a[i * p->m + j] / unit);
			double gpu =
			    budget > 0 ? price[j] + budget * p->price[j] : price[j];
			double cost = gpu * p->count[i] * p->scale[i];

			double net = gain * (1 + gain_error) - cost * (1 - cost_error);

			most = gain > 0 && net > most ? net : most;
		}
		block += most;
		multipliers_block += lambda[i];
		if (i % BLOCK == BLOCK - 1 || i == p->n - 1) {
			sum += block;
			multipliers += multipliers_block;
			block = multipliers_block = 0;
		}
	}
	return unit * (sum / multipliers) * (1 + sum_error);
}

double
gv_level_per_step(const struct gv_problem *p, const double *a, size_t i)
{
	size_t j, best = 0;

	for (j = 1; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > gv_problem_rate(p, i, best))
			best = j;
	return a[i * p->m + best] / gv_problem_rate(p, i, best);
}

double
gv_level_rounding(const struct gv_problem *p)
{
	double n = (double)p->n, m = (double)p->m;

	return fmin(GV_TOL_SUM * (sqrt(n) + m + 16), DBL_EPSILON * (n + m + 8));
}

double
gv_level_limit(const struct gv_problem *p, const double *a, const struct gv_level *l)
{
	double rounding = gv_level_rounding(p);
	double sum = 0;
	size_t i, j;

	if (l->limit > 0)
		return l->limit * (1 + rounding);
	for (j = 0; j < p->m; j++)
		sum += l->price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		double most = 0, size = 0;

		for (j = 0; j < p->m; j++) {
			double gain = l->lambda[i] * a[i * p->m + j];
			double cost = l->price[j] * p->count[i] * p->scale[i];

			size = fmax(size, gain);
			most = gain > 0 ? fmax(most, gain - cost) : most;
		}
		sum += most + 2 * size * DBL_EPSILON;
	}
	return sum * (1 + rounding);
}

double
gv_level_gap(const struct gv_problem *p, double bound, double level)
{
	double sure = level * (1 - ((double)p->m + 16) * DBL_EPSILON);

	return (bound - sure) / bound;
}
