/*
 * makespan: the last job is done as early as possible, if nothing changes.
 *
 *	min max_i  n_i / thr_i(x)
 *
 * with n_i the steps job i has still to do.  The largest c with thr_i / n_i >= c for
 * all is its inverse, so this is one program of levels.  Gavel, OSDI 2020, section
 * 4.2; their code bisects and stops within 5 %.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy.h"
#include "alloc/program/multipliers.h"
#include "alloc/solve/deadline.h"
#include "alloc/solve/floored.h"
#include "alloc/problem/unfinished.h"

/* [n][m] T_ij / n_i */
static double *
levels(const struct gv_problem *p)
{
	double *a = gv_xcalloc(p->n, p->m * sizeof(*a));
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			a[i * p->m + j] =
			    gv_problem_rate(p, i, j) / p->number[GV_NUMBER_STEPS][i];
	return a;
}

/* Seconds until the last is done. */
static double
makespan(const struct gv_problem *p, const struct gv_solution *s)
{
	double *throughput = gv_xcalloc(p->n, sizeof(*throughput));
	double most = 0;
	size_t i;

	gv_solution_throughput(p, s, throughput);
	for (i = 0; i < p->n; i++)
		most = fmax(most, p->number[GV_NUMBER_STEPS][i] / throughput[i]);
	free(throughput);
	return most;
}

/*
 * Of the jobs of w, which need [n] steps/s, and x of all keeps that; also sets the
 * multipliers of all jobs.
 */
static int
solve_unfinished(const struct gv_unfinished *w, const double *need, const double *x,
    const struct gv_solver_options *opt, struct gv_solution *out,
    struct gv_multipliers *multipliers, struct gv_error *e)
{
	const struct gv_problem *p = &w->p;
	struct gv_solution s = {.x = gv_unfinished_take(w, x, p->m)};
	double *a = levels(p);
	double *floor = gv_level_floors(p, a, need);
	struct gv_level l;
	int rc;

	if (floor == NULL)
		memset(s.x, 0, p->n * p->m * sizeof(*s.x));
	gv_level_init(&l, p, &s, true);
	l.floor = floor;
	rc = gv_level_solve(p, a, opt, "makespan", &l, e);
	if (rc == 0) {
		out->x = s.x;
		out->pair = s.pair;
		out->n_pairs = s.n_pairs;
		out->n_made = s.n_made;
		out->objective = makespan(p, &s);
		out->bound = 1 / s.bound * (1 - 2 * DBL_EPSILON);
		out->gap = s.gap;
		out->exact = s.exact;
		out->second_missed = s.second_missed;
		gv_multipliers_of_level(multipliers, p, w->of, a, &l);
	} else {
		free(s.x);
		free(s.pair);
	}
	gv_level_free(&l);
	free(floor);
	free(a);
	return rc;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *out, struct gv_error *e)
{
	double *need = gv_xcalloc(p->n, sizeof(*need));
	struct gv_solution s = {.exact = true};
	struct gv_unfinished w;
	int rc;

	gv_unfinished_find(&w, p);
	rc = gv_deadline_needs(p, &opt->solve, opt->relax_slo, "makespan", need, out, e);
	if (rc == 0 && w.p.n > 0) {
		double *own = gv_unfinished_take(&w, need, 1);

		rc = solve_unfinished(
		    &w, own, out->x, &opt->solve, &s, &out->multipliers, e);
		free(own);
	} else {
		out->multipliers.known = out->multipliers.gpu != NULL;
	}
	if (rc == 0) {
		gv_unfinished_scatter(&w, s.x, out->x);
		gv_unfinished_scatter_pairs(&w, &s, out);
		out->objective = s.objective;
		out->bound = s.bound;
		out->gap = s.gap;
		out->exact = opt->solve.certify && s.exact;
		out->second_missed = s.second_missed;
		out->has_bound = true;
	}
	free(need);
	free(s.x);
	free(s.pair);
	gv_unfinished_free(&w);
	return rc;
}

/* Jobs without a step left get nothing, so nobody can share with them: y(i,k,j) goes. */
static void
drop_done(const struct gv_problem *p, struct gv_lp *lp, const struct gv_lp_names *names)
{
	const double *steps = p->number[GV_NUMBER_STEPS];
	size_t at, n = 0;

	for (at = 0; at < lp->n_entries; at++) {
		char name[GV_LP_NAME_LEN];
		char *end;

		names->col(names->ctx, lp->entry[at].col, name);
		if (name[0] == 'y' && (steps[strtoul(name + 2, &end, 10) - 1] == 0 ||
					  steps[strtoul(end + 1, NULL, 10) - 1] == 0))
			continue;
		lp->entry[n++] = lp->entry[at];
	}
	lp->n_entries = n;
}

static void
program(const struct gv_problem *p, struct gv_lp *lp, struct gv_lp_names *names)
{
	double *a = levels(p);

	gv_level_program(p, a, p->number[GV_NUMBER_NEED], lp, names);
	if (p->together != NULL)
		drop_done(p, lp, names);
	free(a);
}

const struct gv_policy gv_policy_makespan = {
    .name = "makespan",
    .solve = solve,
    .program = program,
    .numbers = 1u << GV_NUMBER_STEPS | GV_NEEDS,
    .minimises = true,
    .shares = true,
    .measure = GV_MEASURE_SECONDS,
    .multipliers = true,
};
