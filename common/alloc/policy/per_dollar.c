/*
 * min-cost+per-dollar: the published program's objective of cost, a sum of each
 * job's throughput by what one GPU of the type costs.
 *
 *	max sum_i sum_j T_ij x_ij / c_j   subject to   thr_i(x) >= need_i
 *
 * with c_j in US dollars per second.  It is not what the paper minimises (policy
 * min-cost): gangs pay for one GPU, and cheap types count for more the more of them
 * there are.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "alloc/solve/deadline.h"
#include "policy.h"
#include "alloc/program/multipliers.h"

/* [n][m] T_ij / c_j */
static double *
gains(const struct gv_problem *p)
{
	double *g = gv_xcalloc(p->n, p->m * sizeof(*g));
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0)
				g[i * p->m + j] =
				    gv_problem_rate(p, i, j) / (p->price[j] / 3600);
	return g;
}

/* [m] 1 / c_j */
static double *
per_dollar(const struct gv_problem *p)
{
	double *g = gv_xcalloc(p->m, sizeof(*g));
	size_t j;

	for (j = 0; j < p->m; j++)
		g[j] = p->price[j] > 0 ? 1 / (p->price[j] / 3600) : 1;
	return g;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *out, struct gv_error *e)
{
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *second = gv_linear_normalised(p);
	double *gain = gains(p);
	double *ones = gv_linear_ones(p), *normal = gv_linear_normal(p),
	       *type = per_dollar(p);
	const struct gv_shared_gain shared = {ones, type, NULL};
	const struct gv_shared_gain shared_second = {.job = normal};
	struct gv_linear l;
	int rc;

	gv_linear_init(&l, p, out);
	l.gain = gain;
	l.second = second;
	l.need = need;
	l.shared = &shared;
	l.shared_second = &shared_second;
	rc = gv_deadline_needs(
	    p, &opt->solve, opt->relax_slo, "min-cost+per-dollar", need, out, e);
	if (rc == 0)
		rc = gv_linear_solve(&l, &opt->solve, "min-cost+per-dollar", e);
	if (rc == 0)
		gv_multipliers_of_linear(&out->multipliers, &l);
	gv_linear_free(&l);
	free(need);
	free(second);
	free(ones);
	free(normal);
	free(type);
	free(gain);
	return rc;
}

static void
program(const struct gv_problem *p, struct gv_lp *lp, struct gv_lp_names *names)
{
	double *gain = gains(p), *ones = gv_linear_ones(p), *type = per_dollar(p);
	const struct gv_shared_gain shared = {ones, type, NULL};
	const struct gv_linear l = {
	    .p = p, .gain = gain, .shared = &shared, .need = p->number[GV_NUMBER_NEED]};

	gv_linear_program(&l, lp, names);
	free(ones);
	free(type);
	free(gain);
}

const struct gv_policy gv_policy_per_dollar = {
    .name = "min-cost+per-dollar",
    .solve = solve,
    .program = program,
    .shares = true,
    .numbers = GV_NEEDS,
    .prices = true,
    .measure = GV_MEASURE_PER_DOLLAR,
    .multipliers = true,
};
