/*
 * proportional: every job spends its time on the types in proportion to their
 * GPUs, and as much of it as all can have.
 *
 * Gavel's X^equal is x_ij = N_j / sum N for every job, which fits only while the
 * gangs together need no more than all GPUs.
 *
 * Differs: when they need more, all shares are multiplied by the same factor, so
 * that the type most asked for is just full.  A type that a job cannot use has
 * share 0, and the job's other shares stay as they are.
 */
#include <math.h>

#include "policy.h"

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	double gpus = 0;
	double wanted = 0; /* GPUs, on the type where most are wanted */
	size_t i, j;

	(void)opt;
	(void)e;
	for (j = 0; j < p->m; j++) {
		double sum = 0;

		gpus += p->capacity[j];
		for (i = 0; i < p->n; i++)
			sum +=
			    gv_problem_rate(p, i, j) > 0 ? p->count[i] * p->scale[i] : 0;
		wanted = fmax(wanted, sum);
	}
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0)
				s->x[i * p->m + j] = p->capacity[j] / fmax(gpus, wanted);
	gv_problem_clean(p, s->x);
	s->objective = gv_problem_level(p, s->x);
	return 0;
}

const struct gv_policy gv_policy_proportional = {
    .name = "proportional",
    .solve = solve,
};
