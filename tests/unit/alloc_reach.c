/*
 * The inequality that a reach proves (program/reach.h), of jobs that want something and
 * of those that want nothing: lifted as far as their GPUs' prices pay for, and kept by
 * whatever shares are feasible.
 */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "lp/lp.h"
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

/* The part of what they want that all have. */
static double
part_of(const struct gv_problem *p, const struct gv_reach *r, const double *want)
{
	double part = INFINITY;
	size_t i;

	for (i = 0; i < p->n; i++)
		if (want[i] > 0)
			part = fmin(part, gv_problem_throughput(p, r->x, i) / want[i]);
	return part;
}

static void
test(size_t n, size_t m, double range, enum gv_solver solver)
{
	const struct gv_solver_options opt = {.solver = solver};
	struct gv_problem p = draw(n, m);
	double *want = gv_xcalloc(n, sizeof(*want));
	struct gv_error e = {0};
	struct gv_reach r;
	size_t i, idle = 0, right = 0;
	double most = 0, wanted = 0, part;
	int k;

	for (i = 0; i < n; i++)
		want[i] = i % 3 == 0 ? 0 : .2 + range * uniform();
	gv_reach_alloc(&r, &p);
	for (i = 0; i < n * m; i++)
		r.x[i] = 1; /* of what was asked before */
	is_int(gv_reach_solve(&r, &p, p.rate, want, false, &opt, &e), 0,
	    "a reach of %zu jobs on %zu types", n, m);
	ok(gv_problem_excess(&p, r.x) <= 1e-9, "shares that there are");
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
	for (i = 0; i < n; i++)
		wanted += r.lambda[i] * want[i];
	part = part_of(&p, &r, want);
	ok(part >= 1 - 1e-9 || wanted >= r.limit * (1 - gv_reach_rounding(&p)),
	    "what all have %g of does", part);
	gv_reach_free(&r);
	gv_error_clear(&e);
	free(want);
	gv_problem_free(&p);
}

/* ---- against linear programs of all shares and pairs ---- */

/* Adds a column: what job i, and k where there are two, make of a share on type j. */
static void
add_column(struct gv_lp *lp, const struct gv_problem *p, const double *worth,
    const double *factor, size_t i, size_t k, size_t j, const double *rate)
{
	double cost = worth != NULL ? worth[i] * factor[i] * rate[0] +
					  (k != i ? worth[k] * factor[k] * rate[1] : 0)
				    : 0;
	size_t col = gv_lp_add_col(lp, 0, INFINITY, cost);

	gv_lp_set(lp, j, col, p->scale[i] * (k == i ? p->count[i] : 1));
	gv_lp_set(lp, p->m + i, col, 1);
	if (k != i)
		gv_lp_set(lp, p->m + k, col, 1);
	if (worth != NULL)
		return;
	gv_lp_set(lp, p->m + p->n + i, col, factor[i] * rate[0]);
	if (k != i)
		gv_lp_set(lp, p->m + p->n + k, col, factor[k] * rate[1]);
}

/*
 * The most that sum_i worth_i of what all make can be; worth NULL: the largest part of want
 * that all can have.  Levels are factor_i times throughputs.
 */
static double
most_of(const struct gv_problem *p, const double *factor, const double *worth,
    const double *want)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution sol;
	struct gv_error e = {0};
	size_t i, k, j;
	double best;

	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++)
		gv_lp_add_row(&lp, -INFINITY, 1);
	for (i = 0; worth == NULL && i < p->n; i++)
		gv_lp_add_row(&lp, 0, INFINITY);
	if (worth == NULL) {
		gv_lp_add_col(&lp, 0, INFINITY, 1);
		for (i = 0; i < p->n; i++)
			gv_lp_set(&lp, p->m + p->n + i, 0, -want[i]);
	}
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (p->rate[i * p->m + j] > 0)
				add_column(&lp, p, worth, factor, i, i, j,
				    &p->rate[i * p->m + j]);
	for (i = 0; i < p->n && p->together != NULL; i++)
		for (k = 0; k < p->n; k++) {
			size_t at =
			    p->kind[i] > p->kind[k] || i == k ||
				    (p->kind[i] == p->kind[k] && k < i)
				? SIZE_MAX
				: gv_together_find(p->together, p->kind[i], p->kind[k]);

			for (j = 0; j < p->m && at != SIZE_MAX; j++) {
				const double *rate =
				    &p->together->rate[(at * p->m + j) * 2];

				if (rate[0] > 0)
					add_column(&lp, p, worth, factor, i, k, j, rate);
			}
		}
	if (gv_lp_solve(&lp, NULL, NULL, &sol, &e) != 0 || sol.status != GV_LP_OPTIMAL)
		abort();
	best = sol.check.objective;
	gv_lp_solution_free(&sol);
	gv_lp_free(&lp);
	return best;
}

/* Kinds of two scales; those of one scale share, most of them. */
static void
draw_together(struct gv_together *t, size_t kinds, size_t m)
{
	struct gv_together_entry *entry = gv_xcalloc(kinds * kinds * m, sizeof(*entry));
	size_t a, b, j, n = 0;

	for (a = 0; a < kinds; a++)
		for (b = a; b < kinds; b += 2)
			for (j = 0; j < m; j++)
				if (uniform() < .8)
					entry[n++] =
					    (struct gv_together_entry){.a = (uint32_t)a,
						.b = (uint32_t)b,
						.type = (uint32_t)j,
						.rate_a = .3 + 3 * uniform(),
						.rate_b = .3 + 3 * uniform()};
	gv_together_make(t, kinds, m, entry, n);
	free(entry);
}

/* The least part of what each wants that the shares found give. */
static double
part_given(const struct gv_problem *p, const struct gv_reach *r, const double *factor,
    const double *want)
{
	const struct gv_solution s = {.x = r->x, .pair = r->pair, .n_pairs = r->n_pairs};
	double *thr = gv_xcalloc(p->n, sizeof(*thr));
	double least = INFINITY;
	size_t i;

	gv_solution_throughput(p, &s, thr);
	for (i = 0; i < p->n; i++)
		if (want[i] > 0)
			least = fmin(least, factor[i] * thr[i] / want[i]);
	free(thr);
	return least;
}

static void
keep_one_type(struct gv_problem *p, size_t i)
{
	size_t only = below(p->m), j;

	for (j = 0; j < p->m; j++)
		p->rate[i * p->m + j] = j == only ? .5 + 4 * uniform() : 0;
}

/*
 * The reach is the largest, and its inequality is kept by all allocations and filled by
 * some: lifted where pairs let it be.  Narrow: jobs with one type have what they want, and
 * the program is that of the others; the inequality is all jobs', as before.
 */
static void
test_exactly(bool pairs, bool narrow)
{
	size_t k, wrong_reach = 0, broken = 0, loose = 0, lifts = 0, idle = 0;

	for (k = 0; k < 150; k++) {
		const struct gv_solver_options opt = {
		    .solver = k % 4 == 1 && !narrow ? GV_SOLVER_GLPK : GV_SOLVER_AUTO,
		    .wide = !narrow};
		size_t n = 2 + below(6), m = 1 + below(3), kinds = 2 + below(4), i, j;
		struct gv_problem p = draw(n < 2 ? 2 : n, m);
		double *want = gv_xcalloc(n, sizeof(*want));
		double *factor = gv_xcalloc(n, sizeof(*factor));
		double *a = gv_xcalloc(n, m * sizeof(*a));
		double *worth = gv_xcalloc(n, sizeof(*worth));
		struct gv_together t = {0};
		struct gv_error e = {0};
		struct gv_reach r;
		double most;

		if (pairs) {
			draw_together(&t, kinds, m);
			p.together = &t;
			p.kind = gv_xcalloc(n, sizeof(*p.kind));
		}
		for (i = 0; i < n; i++) {
			if (pairs) {
				p.kind[i] = below(kinds);
				p.scale[i] = (double)(1 + p.kind[i] % 2);
				p.count[i] = 1;
			}
			want[i] = i > 0 && below(3) == 0 ? 0 : .2 + uniform();
			factor[i] = .5 + uniform();
			if (narrow && below(2) == 0)
				keep_one_type(&p, i);
			for (j = 0; j < m; j++)
				a[i * m + j] = factor[i] * p.rate[i * m + j];
		}
		gv_reach_alloc(&r, &p);
		if (gv_reach_solve(&r, &p, a, want, false, &opt, &e) != 0)
			abort();
		most = most_of(&p, factor, NULL, want);
		if (narrow)
			most = most >= 1 ? 1 : 0;
		wrong_reach += !(part_given(&p, &r, factor, want) >= most * (1 - 1e-9));
		most = most_of(&p, factor, r.lambda, NULL);
		broken += !(most <= r.limit * (1 + 1e-9));
		loose += !narrow && !(most >= r.limit * (1 - 1e-8));
		for (i = 0; i < n; i++)
			if (want[i] == 0) {
				idle++;
				lifts += r.lambda[i] > 0;
			}
		gv_reach_free(&r);
		free(want);
		free(factor);
		free(a);
		free(worth);
		gv_problem_free(&p);
		gv_together_free(&t);
	}
	is_int(wrong_reach, 0, "%s: what all can have is the most",
	    pairs    ? "pairs"
	    : narrow ? "one type"
		     : "alone");
	is_int(broken, 0, "the inequality is kept by all allocations");
	is_int(loose, 0, "and filled by some");
	ok(lifts > idle / 12, "lifted for %zu of %zu that want nothing", lifts, idle);
}

int
main(void)
{
	size_t k;

	draws_begin(80, 0, 0);
	for (k = 0; k < 8; k++) {
		test(6 + 4 * k, 1 + k % 4, 1, GV_SOLVER_GLPK);
		test(6 + 4 * k, 1 + k % 4, 1, GV_SOLVER_PRICE);
	}
	test_exactly(false, false);
	test_exactly(true, false);
	test_exactly(false, true);
	for (k = 0; k < 40; k++)
		test(3 + k % 10, 2 + k % 4, 2, GV_SOLVER_AUTO);
	return done_testing();
}
