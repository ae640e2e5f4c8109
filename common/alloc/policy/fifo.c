/*
 * fifo: who came first is served best.
 *
 *	max sum_i (M - m_i) thr_i(x) / max_j T_ij
 *
 * with m_i = 0, 1, ... the place of job i in the queue and M the number of jobs.
 * Gavel, OSDI 2020, section 4.2.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy.h"
#include "alloc/program/multipliers.h"

/* [n] (M - m_i) / max_j T_ij */
static double *
gain_per_step(const struct gv_problem *p)
{
	double *worth = gv_xcalloc(p->n, sizeof(*worth));
	double jobs = 0;
	size_t i;

	for (i = 0; i < p->n; i++)
		jobs += p->count[i];
	for (i = 0; i < p->n; i++) {
		double fastest = gv_problem_own_fastest(p, i);

		worth[i] = (jobs - p->number[GV_NUMBER_POSITION][i]) / fastest;
	}
	return worth;
}

/* [n][m] (M - m_i) T_ij / max_j T_ij */
static double *
gains(const struct gv_problem *p)
{
	double *g = gv_xcalloc(p->n, p->m * sizeof(*g));
	double jobs = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		jobs += p->count[i];
	for (i = 0; i < p->n; i++) {
		double fastest = gv_problem_own_fastest(p, i);

		for (j = 0; j < p->m; j++)
			g[i * p->m + j] = (jobs - p->number[GV_NUMBER_POSITION][i]) *
					  (gv_problem_rate(p, i, j) / fastest);
	}
	return g;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *out, struct gv_error *e)
{
	double *second = gv_linear_normalised(p);
	double *gain = gains(p);
	double *worth = gain_per_step(p), *normal = gv_linear_normal(p);
	const struct gv_shared_gain shared = {.job = worth},
				    shared_second = {.job = normal};
	struct gv_linear l;
	int rc;

	gv_linear_init(&l, p, out);
	l.gain = gain;
	l.second = second;
	l.shared = &shared;
	l.shared_second = &shared_second;
	rc = gv_linear_solve(&l, &opt->solve, "fifo", e);
	if (rc == 0)
		gv_multipliers_of_linear(&out->multipliers, &l);
	gv_linear_free(&l);
	free(second);
	free(worth);
	free(normal);
	free(gain);
	return rc;
}

static void
program(const struct gv_problem *p, struct gv_lp *lp, struct gv_lp_names *names)
{
	double *gain = gains(p), *worth = gain_per_step(p);
	const struct gv_shared_gain shared = {.job = worth};
	const struct gv_linear l = {.p = p, .gain = gain, .shared = &shared};

	gv_linear_program(&l, lp, names);
	free(worth);
	free(gain);
}

const struct gv_policy gv_policy_fifo = {
    .name = "fifo",
    .solve = solve,
    .program = program,
    .shares = true,
    .numbers = 1u << GV_NUMBER_POSITION,
    .measure = GV_MEASURE_QUEUE,
    .multipliers = true,
};
