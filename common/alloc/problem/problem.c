#include "problem.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

void
gv_problem_alloc(struct gv_problem *p, size_t n, size_t m)
{
	p->n = n;
	p->m = m;
	p->rate = gv_xcalloc(n, m * sizeof(*p->rate));
	p->scale = gv_xcalloc(n, sizeof(*p->scale));
	p->weight = gv_xcalloc(n, sizeof(*p->weight));
	p->count = gv_xcalloc(n, sizeof(*p->count));
	memset(p->number, 0, sizeof(p->number));
	p->kind = NULL;
	p->together = NULL;
	p->tree = NULL;
	p->capacity = gv_xcalloc(m, sizeof(*p->capacity));
	p->price = gv_xcalloc(m, sizeof(*p->price));
	p->reference = NULL;
	p->budget = 0;
}

void
gv_problem_refer(struct gv_problem *p, const double *gpus)
{
	free(p->reference);
	p->reference = NULL;
	if (gpus == NULL)
		return;
	p->reference = gv_xcalloc(p->m, sizeof(*gpus));
	memcpy(p->reference, gpus, p->m * sizeof(*gpus));
}

void
gv_problem_ask(struct gv_problem *p, unsigned numbers)
{
	size_t k;

	for (k = 0; k < GV_N_NUMBERS; k++)
		if (numbers >> k & 1)
			p->number[k] = gv_xcalloc(p->n, sizeof(*p->number[k]));
}

void
gv_problem_pick(struct gv_problem *to, const struct gv_problem *p, const bool *keep)
{
	size_t i, k, n = 0;

	for (i = 0; i < p->n; i++)
		n += keep[i];
	gv_problem_alloc(to, n, p->m);
	memcpy(to->capacity, p->capacity, p->m * sizeof(*p->capacity));
	memcpy(to->price, p->price, p->m * sizeof(*p->price));
	gv_problem_refer(to, p->reference);
	to->budget = p->budget;
	for (k = 0; k < GV_N_NUMBERS; k++)
		gv_problem_ask(to, p->number[k] != NULL ? 1u << k : 0);
	to->together = p->together;
	to->tree = p->tree;
	if (p->kind != NULL)
		to->kind = gv_xcalloc(n, sizeof(*to->kind));
	n = 0;
	for (i = 0; i < p->n; i++) {
		if (!keep[i])
			continue;
		memcpy(&to->rate[n * p->m], &p->rate[i * p->m], p->m * sizeof(*p->rate));
		to->scale[n] = p->scale[i];
		if (p->kind != NULL)
			to->kind[n] = p->kind[i];
		to->weight[n] = p->weight[i];
		to->count[n] = p->count[i];
		for (k = 0; k < GV_N_NUMBERS; k++)
			if (p->number[k] != NULL)
				to->number[k][n] = p->number[k][i];
		n++;
	}
}

void
gv_problem_free(struct gv_problem *p)
{
	size_t k;

	for (k = 0; k < GV_N_NUMBERS; k++)
		free(p->number[k]);
	free(p->price);
	free(p->kind);
	free(p->rate);
	free(p->scale);
	free(p->weight);
	free(p->count);
	free(p->capacity);
	free(p->reference);
	*p = (struct gv_problem){0};
}

static const double *
reference(const struct gv_problem *p)
{
	return p->reference != NULL ? p->reference : p->capacity;
}

void
gv_problem_equal_throughput(const struct gv_problem *p, double *throughput)
{
	gv_problem_equal_throughput_of(p, 0, p->n, throughput);
}

void
gv_problem_equal_throughput_of(
    const struct gv_problem *p, size_t from, size_t end, double *throughput)
{
	const double *own = reference(p);
	const double *beyond = p->number[GV_NUMBER_BEYOND];
	double *part = gv_xcalloc(p->m, sizeof(*part));
	double gpus = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		gpus += own[j];
	for (j = 0; j < p->m; j++)
		part[j] = own[j] / gpus;
	for (i = from; i < end; i++) {
		double sum = beyond != NULL ? beyond[i] / gpus : 0;

		for (j = 0; j < p->m; j++)
			sum += gv_problem_rate(p, i, j) * part[j];
		throughput[i - from] = sum;
	}
	free(part);
}

double
gv_problem_own_fastest(const struct gv_problem *p, size_t i)
{
	const double *own = reference(p);
	double most = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		if (p->scale[i] <= own[j])
			most = fmax(most, gv_problem_rate(p, i, j));
	return most;
}

void
gv_problem_isolated(const struct gv_problem *p, double *x)
{
	struct gv_problem any = *p; /* whatever they may cost */
	const double *own = reference(p);
	double jobs = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		jobs += p->count[i];
	for (i = 0; i < p->n; i++) {
		double *row = &x[i * p->m];
		double sum = 0;

		for (j = 0; j < p->m; j++) {
			row[j] = gv_problem_rate(p, i, j) > 0 && p->scale[i] <= own[j]
				     ? own[j] / (jobs * p->scale[i])
				     : 0;
			sum += row[j];
		}
		for (j = 0; sum > 1 && j < p->m; j++)
			row[j] /= sum;
	}
	any.budget = 0;
	if (p->reference == NULL)
		gv_problem_clean(&any, x);
}

void
gv_problem_times_alone(const struct gv_problem *p, double *alone)
{
	const double *own = reference(p), *away = p->number[GV_NUMBER_AWAY];
	double jobs = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		jobs += p->count[i];
	for (i = 0; i < p->n; i++) {
		double gpus = away != NULL ? p->number[GV_NUMBER_AWAY_GPUS][i] : 0;
		double sum = away != NULL ? away[i] : 0;

		for (j = 0; j < p->m; j++) {
			double rate = gv_problem_rate(p, i, j);

			if (!(rate > 0) || p->scale[i] > own[j])
				continue;
			sum += rate * own[j];
			gpus += own[j];
		}
		alone[i] =
		    p->number[GV_NUMBER_ISOLATED][i] +
		    p->number[GV_NUMBER_STEPS][i] / sum * fmax(jobs * p->scale[i], gpus);
	}
}

void
gv_problem_agnostic(struct gv_problem *p)
{
	const double *own = reference(p);
	double *beyond = p->number[GV_NUMBER_BEYOND];
	double *away = p->number[GV_NUMBER_AWAY];
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double *rate = &p->rate[i * p->m];
		double most = gv_row_max(rate, p->m), sum, gpus;

		/* of rates up to 1, so that no sum is infinite */
		sum = beyond != NULL ? beyond[i] / most : 0;
		gpus = beyond != NULL ? p->number[GV_NUMBER_BEYOND_GPUS][i] : 0;
		for (j = 0; j < p->m; j++)
			if (rate[j] > 0) {
				sum += rate[j] / most * own[j];
				gpus += own[j];
			}
		for (j = 0; j < p->m; j++)
			if (rate[j] > 0)
				rate[j] = sum / gpus * most;
		if (beyond != NULL)
			beyond[i] =
			    sum / gpus * most * p->number[GV_NUMBER_BEYOND_GPUS][i];
		if (away != NULL)
			away[i] = sum / gpus * most * p->number[GV_NUMBER_AWAY_GPUS][i];
	}
}

double
gv_problem_cost(const struct gv_problem *p, const double *x)
{
	double sum = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		double used = 0;

		for (i = 0; i < p->n; i++)
			used += p->count[i] * p->scale[i] * x[i * p->m + j];
		sum += p->price[j] * used;
	}
	return sum;
}

double
gv_problem_throughput(const struct gv_problem *p, const double *x, size_t i)
{
	double sum = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		sum += gv_problem_rate(p, i, j) * x[i * p->m + j];
	return sum;
}

double
gv_problem_level(const struct gv_problem *p, const double *x)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double level = INFINITY;
	size_t i, j;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		double throughput = 0;

		for (j = 0; j < p->m; j++)
			throughput +=
			    gv_problem_rate(p, i, j) / equal[i] * x[i * p->m + j];
		level = fmin(level, p->scale[i] / p->weight[i] * throughput);
	}
	free(equal);
	return level;
}

static double
row_sum(const struct gv_problem *p, const double *x, size_t i)
{
	double sum = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		sum += x[i * p->m + j];
	return sum;
}

/* Adds the GPUs that row i uses. */
static void
add_used(const struct gv_problem *p, const double *row, size_t i, double *used)
{
	double gpus = p->count[i] * p->scale[i];
	size_t j;

	for (j = 0; j < p->m; j++)
		used[j] += gpus * row[j];
}

/* [m], the caller's */
static double *
gpus_used(const struct gv_problem *p, const double *x)
{
	double *used = gv_xcalloc(p->m, sizeof(*used));
	size_t i;

	for (i = 0; i < p->n; i++)
		add_used(p, &x[i * p->m], i, used);
	return used;
}

/* Types over capacity are scaled down.  part [m]: GPUs used, and then what is left of a share. */
static void
fit_types(const struct gv_problem *p, double *x, double *part)
{
	bool fits = true;
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		part[j] = part[j] > p->capacity[j] ? p->capacity[j] / part[j] : 1;
		fits = fits && part[j] == 1;
	}
	for (i = 0; !fits && i < p->n; i++)
		for (j = 0; j < p->m; j++)
			x[i * p->m + j] *= part[j];
}

/*
 * Takes away row i's shares that are dust beside its largest, but where rates are so far apart
 * that the job would miss one.
 */
static void
sweep(const struct gv_problem *p, double *row, size_t i, double largest)
{
	double throughput = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		throughput += row[j] * gv_problem_rate(p, i, j);
	for (j = 0; j < p->m; j++)
		if (!(row[j] > GV_TOL_DUST * largest) &&
		    !(row[j] * gv_problem_rate(p, i, j) > GV_TOL_PROVED * throughput))
			row[j] = 0;
}

void
gv_problem_clean(const struct gv_problem *p, double *x)
{
	double *used = gv_xcalloc(p->m, sizeof(*used));
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double *row = &x[i * p->m];
		double largest = gv_row_max(row, p->m);
		double sum;
		bool dust = false;

		for (j = 0; j < p->m; j++) /* | and &: zeros cannot be foretold */
			dust |= (row[j] != 0) & !(row[j] > GV_TOL_DUST * largest);
		if (dust)
			sweep(p, row, i, largest);
		sum = row_sum(p, x, i);
		for (j = 0; sum > 1 && j < p->m; j++)
			row[j] /= sum;
		add_used(p, row, i, used);
	}
	fit_types(p, x, used);
	free(used);
	if (p->budget > 0) {
		double cost = gv_problem_cost(p, x);

		for (i = 0; cost > p->budget && i < p->n * p->m; i++)
			x[i] *= p->budget / cost;
	}
}

double
gv_problem_excess(const struct gv_problem *p, const double *x)
{
	double worst = 0;
	double *used = gpus_used(p, x);
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double over = row_sum(p, x, i) - 1;

		worst = gv_worse(worst, over);
	}
	for (j = 0; j < p->m; j++)
		worst =
		    gv_worse(worst, (used[j] - p->capacity[j]) / fmax(1, p->capacity[j]));
	free(used);
	if (p->budget > 0)
		worst = gv_worse(worst, gv_problem_cost(p, x) / p->budget - 1);
	return worst;
}
