/*
 * strategy-proof: nobody gains by lying about the own rates.  Shares of
 * proportional fairness,
 *
 *	max sum_i log thr_i(x)
 *
 * of which each job is given only the part
 *
 *	d_i = prod_{k != i} thr_k(all) / thr_k(all but i),
 *
 * which is what the others lose by its being there (Cole, Gkatzelis and Goel, EC
 * 2013: the partial allocation mechanism).  So GPUs idle: that is the price.
 *
 * With l_i = 1 / thr_i and prices p_j of the GPUs no x is better by more than
 *
 *	sum_j p_j N_j + sum_i max(0, max_j (l_i T_ij - p_j s_i)) - n,
 *
 * as the sum is concave: the gap, which the right prices make small (market.h).
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "market.h"
#include "policy.h"

/* No x has a larger sum of logarithms by more than this, per job. */
static double
gap(const struct problem *p, const double *price, const double *x)
{
	double sum = 0, jobs = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		double v = problem_throughput(p, x, i);
		double most = 0;

		for (j = 0; j < p->m; j++)
			if (problem_rate(p, i, j) > 0)
				most = fmax(most,
				    problem_rate(p, i, j) / v - price[j] * p->scale[i]);
		sum += p->count[i] * most;
		jobs += p->count[i];
	}
	return (sum - jobs) / jobs +
	       (double)(p->n + p->m + 8) * DBL_EPSILON * (sum / jobs);
}

/* The geometric mean of the levels. */
static double
mean_level(const struct problem *p, const double *x)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double sum = 0, jobs = 0;
	size_t i;

	problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		double level =
		    p->scale[i] / p->weight[i] * (problem_throughput(p, x, i) / equal[i]);

		sum += p->count[i] * log(level);
		jobs += p->count[i];
	}
	free(equal);
	return exp(sum / jobs);
}

static int
solve(const struct problem *p, const struct solve_options *opt, struct solution *s,
    struct gv_error *e)
{
	struct market *k = market_open(p);
	double *price = gv_xcalloc(p->m, sizeof(*price));
	size_t i, j;

	(void)opt;
	(void)e;
	market_shares(k, s->x, price);
	problem_clean(p, s->x);
	s->has_bound = true;
	s->objective = mean_level(p, s->x);
	s->gap = -expm1(-gap(p, price, s->x));
	s->bound = s->objective / (1 - s->gap);
	for (i = 0; i < p->n; i++) {
		double fastest = 0, part;

		for (j = 0; j < p->m; j++)
			fastest = fmax(fastest, problem_rate(p, i, j));
		part =
		    exp(market_rest(k, i)) / (problem_throughput(p, s->x, i) / fastest);
		for (j = 0; j < p->m; j++)
			s->x[i * p->m + j] *= fmin(1, part);
	}
	market_free(k);
	free(price);
	return 0;
}

const struct policy policy_strategy_proof = {
    .name = "strategy-proof",
    .solve = solve,
};
