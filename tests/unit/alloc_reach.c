/*
 * The inequality that a reach proves (program/reach.h), of jobs that want something and
 * of those that want nothing: lifted as far as their GPUs' prices pay for, and kept by
 * whatever shares are feasible.
 */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/solve/solve.h"

static struct gv_problem
draw(size_t n, size_t m)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(2 + below(n / 2));
	for (i = 0; i < n; i++) {
		p.scale[i] = (double)(1 << below(2));
		p.count[i] = (double)(1 + below(2));
		p.weight[i] = 1;
		for (j = 0; j < m; j++)
			p.rate[i * m + j] =
			    j > 0 && below(4) == 0 ? 0 : .5 + 4 * uniform();
	}
	return p;
}

/* min_j p_j n_i s_i / a_ij */
static double
lifted(const struct gv_problem *p, const struct gv_reach *r, size_t i)
{
	double least = INFINITY;
	size_t j;

	for (j = 0; j < p->m; j++)
		if (p->rate[i * p->m + j] > 0)
			least = fmin(least, r->price[j] * p->count[i] * p->scale[i] /
						p->rate[i * p->m + j]);
	return least;
}

/* sum_i lambda_i sum_j a_ij x_ij of random shares, as large as constraints let them be. */
static double
left_side(const struct gv_problem *p, const struct gv_reach *r)
{
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	double sum = 0;
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		x[i] = p->rate[i] > 0 && below(3) == 0 ? 3 * uniform() : 0;
	gv_problem_clean(p, x);
	for (i = 0; i < p->n; i++)
		sum += r->lambda[i] * gv_problem_throughput(p, x, i);
	free(x);
	return sum;
}

static void
test(size_t n, size_t m, enum gv_solver solver)
{
	const struct gv_solver_options opt = {.solver = solver};
	struct gv_problem p = draw(n, m);
	double *want = gv_xcalloc(n, sizeof(*want));
	struct gv_error e = {0};
	struct gv_reach r;
	size_t i, idle = 0, right = 0;
	double most = 0;
	int k;

	for (i = 0; i < n; i++)
		want[i] = i % 3 == 0 ? 0 : .2 + uniform();
	gv_reach_alloc(&r, &p);
	is_int(gv_reach_solve(&r, &p, p.rate, want, false, &opt, &e), 0,
	    "a reach of %zu jobs on %zu types", n, m);
	for (i = 0; i < n; i++)
		if (want[i] == 0) {
			idle++;
			right += r.lambda[i] == lifted(&p, &r, i);
		}
	is_int(right, idle, "jobs that want nothing are lifted");
	for (k = 0; k < 200; k++)
		most = fmax(most, left_side(&p, &r));
	ok(most > 0 && most <= r.limit * (1 + gv_reach_rounding(&p)),
	    "no shares break it: %g of it", most / r.limit);
	gv_reach_free(&r);
	gv_error_clear(&e);
	free(want);
	gv_problem_free(&p);
}

int
main(void)
{
	size_t k;

	draws_begin(80, 0, 0);
	for (k = 0; k < 8; k++) {
		test(6 + 4 * k, 1 + k % 4, GV_SOLVER_GLPK);
		test(6 + 4 * k, 1 + k % 4, GV_SOLVER_PRICE);
	}
	return done_testing();
}
