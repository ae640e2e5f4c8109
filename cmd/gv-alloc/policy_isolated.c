/*
 * isolated: every job has its n-th part of every type to itself.
 *
 * x_ij = N_j / (n s_i), the row divided by its sum where that is over 1; n is
 * the number of jobs.  Gavel's X^isolated (Themis calls it the share of an
 * isolated cluster).
 *
 * Differs: a type that the job cannot use takes none of its time; in Gavel's
 * code such a type still counts in the sum.
 */
#include <math.h>

#include "policy.h"

static int
solve(const struct problem *p, const struct solve_options *opt, struct solution *s,
    struct gv_error *e)
{
	double jobs = 0;
	size_t i, j;

	(void)opt;
	(void)e;
	for (i = 0; i < p->n; i++)
		jobs += p->count[i];
	for (i = 0; i < p->n; i++) {
		double *x = &s->x[i * p->m];
		double sum = 0;

		for (j = 0; j < p->m; j++) {
			x[j] = problem_rate(p, i, j) > 0
				   ? p->capacity[j] / (jobs * p->scale[i])
				   : 0;
			sum += x[j];
		}
		for (j = 0; sum > 1 && j < p->m; j++)
			x[j] /= sum;
	}
	problem_clean(p, s->x);
	s->objective = problem_level(p, s->x);
	return 0;
}

const struct policy policy_isolated = {
    .name = "isolated",
    .solve = solve,
};
