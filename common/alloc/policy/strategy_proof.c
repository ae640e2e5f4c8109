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
 * as the sum is concave: the gap, which the right prices make small (eisenberg_gale.h).
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "alloc/problem/classes.h"
#include "alloc/price/eisenberg_gale.h"
#include "policy.h"

/* No x has a larger sum of logarithms by more than this, per job. */
static double
gap(const struct gv_problem *p, const double *price, const double *x)
{
	double sum = 0, jobs = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		double v = gv_problem_throughput(p, x, i);
		double most = 0;

		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0)
				most = fmax(most, gv_problem_rate(p, i, j) / v -
						      price[j] * p->scale[i]);
		sum += p->count[i] * most;
		jobs += p->count[i];
	}
	return (sum - jobs) / jobs +
	       (double)(p->n + p->m + 8) * DBL_EPSILON * (sum / jobs);
}

/* The geometric mean of the levels. */
static double
mean_level(const struct gv_problem *p, const double *x)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double sum = 0, jobs = 0;
	size_t i;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		double level = p->scale[i] / p->weight[i] *
			       (gv_problem_throughput(p, x, i) / equal[i]);

		sum += p->count[i] * log(level);
		jobs += p->count[i];
	}
	free(equal);
	return exp(sum / jobs);
}

/*
 * Jobs whose rates are multiples of each other's have the same shares, whatever
 * their weights: with --agnostic few are left that differ, which would all be
 * undecided between types of the same price.
 */
static void
merge_multiples(struct gv_classes *c, const struct gv_problem *p)
{
	double *most = gv_xcalloc(p->n, sizeof(*most));
	struct gv_problem q;
	size_t i, j;

	gv_problem_fastest(p, most);
	gv_problem_alloc(&q, p->n, p->m);
	memcpy(q.capacity, p->capacity, p->m * sizeof(*q.capacity));
	for (i = 0; i < p->n; i++) {
		q.scale[i] = p->scale[i];
		q.weight[i] = 1;
		q.count[i] = p->count[i];
		for (j = 0; j < p->m; j++)
			q.rate[i * p->m + j] = gv_problem_rate(p, i, j) / most[i];
	}
	gv_classes_make(c, &q, true);
	gv_problem_free(&q);
	free(most);
}

/* Of all shares the parts that do not harm others.  p is of k: its fastest rates are 1. */
static void
take_parts(const struct gv_problem *p, struct gv_eg_market *k, double *x)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double part =
		    exp(gv_eg_market_externality(k, i)) / gv_problem_throughput(p, x, i);

		for (j = 0; j < p->m; j++)
			x[i * p->m + j] *= fmin(1, part);
	}
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	struct gv_classes c;
	struct gv_eg_market *k;
	double *price = gv_xcalloc(p->m, sizeof(*price));
	double *x;

	(void)opt;
	(void)e;
	merge_multiples(&c, p);
	k = gv_eg_market_open(&c.p);
	x = gv_xcalloc(c.p.n, p->m * sizeof(*x));
	gv_eg_market_shares(k, x, price);
	gv_problem_clean(&c.p, x);
	gv_classes_disaggregate(&c, p->n, x, s->x);
	s->has_bound = true;
	s->objective = mean_level(p, s->x);
	s->gap = -expm1(-gap(p, price, s->x));
	s->bound = s->objective / (1 - s->gap);
	take_parts(&c.p, k, x);
	gv_classes_disaggregate(&c, p->n, x, s->x);
	gv_eg_market_free(k);
	gv_classes_free(&c);
	free(price);
	free(x);
	return 0;
}

const struct gv_policy gv_policy_strategy_proof = {
    .name = "strategy-proof",
    .solve = solve,
};
