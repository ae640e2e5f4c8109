/*
 * max-sum: as many steps per second as possible, of all jobs together, while
 * deadlines are met.
 *
 *	max sum_i thr_i(x)   subject to   thr_i(x) >= need_i
 *
 * Steps of different jobs are added as they are, so jobs of short steps get what
 * they can use.  Gavel, OSDI 2020, section 4.2.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "alloc/solve/deadline.h"
#include "policy.h"
#include "alloc/program/multipliers.h"

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *out, struct gv_error *e)
{
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *second = gv_linear_normalised(p);
	double *ones = gv_linear_ones(p), *normal = gv_linear_normal(p);
	const struct gv_shared_gain shared = {.job = ones},
				    shared_second = {.job = normal};
	struct gv_linear l;
	int rc;

	gv_linear_init(&l, p, out);
	l.gain = p->rate;
	l.second = second;
	l.need = need;
	l.shared = &shared;
	l.shared_second = &shared_second;
	rc = gv_deadline_needs(p, &opt->solve, opt->relax_slo, "max-sum", need, out, e);
	if (rc == 0)
		rc = gv_linear_solve(&l, &opt->solve, "max-sum", e);
	if (rc == 0)
		gv_multipliers_of_linear(&out->multipliers, &l);
	gv_linear_free(&l);
	free(need);
	free(second);
	free(ones);
	free(normal);
	return rc;
}

static void
program(const struct gv_problem *p, struct gv_lp *lp, struct gv_lp_names *names)
{
	double *ones = gv_linear_ones(p);
	const struct gv_shared_gain shared = {.job = ones};
	const struct gv_linear l = {.p = p,
	    .gain = p->rate,
	    .shared = &shared,
	    .need = p->number[GV_NUMBER_NEED]};

	gv_linear_program(&l, lp, names);
	free(ones);
}

const struct gv_policy gv_policy_max_sum = {
    .name = "max-sum",
    .solve = solve,
    .program = program,
    .shares = true,
    .numbers = GV_NEEDS,
    .measure = GV_MEASURE_SUM,
    .multipliers = true,
};
