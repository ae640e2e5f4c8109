/*
 * fifo: who came first is served best.
 *
 *	max sum_i (M - m_i) thr_i(x) / max_j T_ij   subject to   thr_i(x) >= need_i
 *
 * with m_i = 0, 1, ... the place of job i in the queue and M the number of jobs.
 * Gavel, OSDI 2020, section 4.2.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy.h"
#include "alloc/program/multipliers.h"
#include "alloc/solve/deadline.h"

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
	double *need = gv_xcalloc(p->n, sizeof(*need));
	struct gv_linear l;
	int rc;

	gv_linear_init(&l, p, out);
	l.gain = gain;
	l.second = second;
	l.shared = &shared;
	l.shared_second = &shared_second;
	rc = gv_deadline_needs(p, &opt->solve, opt->relax_slo, "fifo", need, out, e);
	l.need = out->late != NULL ? need : NULL;
	if (rc == 0)
		rc = gv_linear_solve(&l, &opt->solve, "fifo", e);
	if (rc == 0)
		gv_multipliers_of_linear(&out->multipliers, &l);
	gv_linear_free(&l);
	free(need);
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
	const struct gv_linear l = {
	    .p = p, .gain = gain, .shared = &shared, .need = p->number[GV_NUMBER_NEED]};

	gv_linear_program(&l, lp, names);
	free(worth);
	free(gain);
}

const struct gv_policy gv_policy_fifo = {
    .name = "fifo",
    .solve = solve,
    .program = program,
    .shares = true,
    .numbers = 1u << GV_NUMBER_POSITION | GV_NEEDS,
    .measure = GV_MEASURE_QUEUE,
    .multipliers = true,
};
