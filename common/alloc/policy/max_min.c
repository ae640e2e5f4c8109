/*
 * max-min: the least served job is served as well as possible (least attained
 * service, aware of what each job makes of each GPU type).
 *
 *	max min_i  s_i thr_i(x) / (w_i P_i)
 *
 * with thr_i(x) = sum_j T_ij x_ij and P_i = sum_j T_ij N_j / sum N.  Gavel, OSDI
 * 2020, section 4.1; solved by level.h.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "policy.h"
#include "alloc/program/multipliers.h"
#include "alloc/solve/deadline.h"
#include "alloc/solve/floored.h"

/* [n][m] s_i T_ij / (w_i P_i) */
static double *
levels(const struct gv_problem *p)
{
	enum { BLOCK = 1024 }; /* as many numbers stay in the cache */
	double equal[BLOCK];
	double *a = gv_xcalloc(p->n, p->m * sizeof(*a));
	size_t i, j, k;

	for (k = 0; k < p->n; k += BLOCK) {
		size_t end = p->n - k < BLOCK ? p->n : k + BLOCK;

		gv_problem_equal_throughput_of(p, k, end, equal);
		for (i = k; i < end; i++)
			for (j = 0; j < p->m; j++)
				a[i * p->m + j] =
				    p->scale[i] / p->weight[i] *
				    (gv_problem_rate(p, i, j) / equal[i - k]);
	}
	return a;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *out, struct gv_error *e)
{
	double *a = levels(p);
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *floor = NULL;
	struct gv_level l;
	int rc;

	gv_level_init(&l, p, out, true);
	rc = gv_deadline_needs(p, &opt->solve, opt->relax_slo, "max-min", need, out, e);
	if (rc == 0) {
		l.floor = floor = gv_level_floors(p, a, need);
		rc = gv_level_solve(p, a, &opt->solve, "max-min", &l, e);
	}
	if (rc == 0)
		gv_multipliers_of_level(&out->multipliers, p, NULL, a, &l);
	gv_level_free(&l);
	free(floor);
	free(need);
	free(a);
	return rc;
}

static void
program(const struct gv_problem *p, struct gv_lp *lp, struct gv_lp_names *names)
{
	double *a = levels(p);

	gv_level_program(p, a, p->number[GV_NUMBER_NEED], lp, names);
	free(a);
}

const struct gv_policy gv_policy_max_min = {
    .name = "max-min",
    .solve = solve,
    .program = program,
    .shares = true,
    .numbers = GV_NEEDS,
    .measure = GV_MEASURE_LEVEL,
    .multipliers = true,
};
