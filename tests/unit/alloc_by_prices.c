/*
 * Levels and sums by prices alone (price/level_prices.h, price/linear_prices.h), without
 * another solver to step in: they come to the end that the linear program of everything
 * comes to, first and second objective, and prove it.
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/level_prices.h"
#include "alloc/price/linear_prices.h"
#include "alloc/simplex/simplex.h"

static bool
near(double a, double b, double tol)
{
	return fabs(a - b) <= tol * fmax(fabs(a), fabs(b));
}

/* n rows that all differ; counts of 1 to 3; plenty: more GPUs than the jobs can use. */
static struct gv_problem
draw(size_t n, size_t m, bool plenty)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++) {
		p.capacity[j] =
		    floor((double)n * (plenty ? 9 : .5) * (1 + uniform()) / (double)m);
		p.price[j] = 1 + uniform();
	}
	for (i = 0; i < n; i++) {
		p.scale[i] = (double)(1 << below(3));
		p.weight[i] = .5 + uniform();
		p.count[i] = (double)(1 + below(3));
		for (j = 0; j < m; j++)
			p.rate[i * m + j] =
			    j > 0 && below(6) == 0 ? 0 : .5 + 4 * uniform() * uniform();
	}
	return p;
}

/* sum of s_i thr_i / P_i, the second objective of both */
static double
second_sum(const struct gv_problem *p, const double *x)
{
	double *gain = gv_linear_normalised(p);
	double sum = gv_linear_sum(p, gain, x);

	free(gain);
	return sum;
}

static void
test_level(size_t n, size_t m, bool plenty)
{
	struct gv_problem p = draw(n, m, plenty);
	double *a = gv_xcalloc(n, m * sizeof(*a));
	double *equal = gv_xcalloc(n, sizeof(*equal));
	struct gv_solution s = {.x = gv_xcalloc(n, m * sizeof(double))};
	struct gv_solution t = {.x = gv_xcalloc(n, m * sizeof(double))};
	enum gv_lp_status status;
	struct gv_level l, k;
	struct gv_error e = {0};
	double unit, effort = 1e12;
	bool done, program_done;
	size_t i, j;

	gv_problem_equal_throughput(&p, equal);
	for (i = 0; i < n; i++)
		for (j = 0; j < m; j++)
			a[i * m + j] = p.scale[i] / p.weight[i] *
				       (gv_problem_rate(&p, i, j) / equal[i]);
	unit = gv_level_unit(&p, a);
	gv_level_init(&l, &p, &s, true);
	gv_level_init(&k, &p, &t, true);
	is_int(gv_level_by_prices(&p, a, unit, &l, &effort, NULL, &done), 0,
	    "level of %zu jobs on %zu types%s: prices come to it", n, m,
	    plenty ? ", plenty" : "");
	is_int(gv_level_by_program(
		   &p, a, unit, false, false, &k, &status, &program_done, &e),
	    0, "as the program does");
	ok(done && program_done, "both go on to the second sum");
	ok(near(s.objective, t.objective, 1e-9) && s.bound >= s.objective &&
		near(s.bound, s.objective, 1e-9),
	    "the level is right: %.12g %.12g", s.objective, t.objective);
	ok(near(second_sum(&p, s.x), second_sum(&p, t.x), 1e-7),
	    "the second sum is: %.12g %.12g", second_sum(&p, s.x), second_sum(&p, t.x));
	ok(gv_problem_excess(&p, s.x) <= 1e-9, "shares keep the constraints");
	ok(effort < 1e12 && effort > 0, "operations are counted");
	gv_level_free(&l);
	gv_level_free(&k);
	free(a);
	free(equal);
	free(s.x);
	free(t.x);
	gv_problem_free(&p);
}

/* Where effort is left for the level alone, the second program has its own; how it ends. */
static int
levels_with(const struct gv_problem *p, const double *a, bool lexicographic,
    double *effort, double second, bool *done)
{
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(double))};
	struct gv_level l;
	int rc;

	gv_level_init(&l, p, &s, lexicographic);
	l.second_effort = second;
	rc = gv_level_by_prices(p, a, gv_level_unit(p, a), &l, effort, NULL, done);
	gv_level_free(&l);
	free(s.x);
	return rc;
}

static void
test_second_effort(void)
{
	struct gv_problem p = draw(600, 6, true);
	double all = 1e12, first = 1e12, left;
	bool done;

	levels_with(&p, p.rate, true, &all, 0, &done);
	levels_with(&p, p.rate, false, &first, 0, &done);
	all = 1e12 - all;
	first = 1e12 - first;
	ok(all > 2 * first, "a level takes %.0f operations, both %.0f", first, all);
	left = 1.01 * first;
	ok(levels_with(&p, p.rate, true, &left, 0, &done) == 1,
	    "for both its own are few");
	left = 1.01 * first;
	ok(levels_with(&p, p.rate, true, &left, all, &done) == 0 && done,
	    "the second program has others");
	gv_problem_free(&p);
}

/* Needs of every third job, and shares that keep them: a hundredth of all types. */
static void
draw_needs(const struct gv_problem *p, double *need, double *x)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		for (j = 0; j < p->m; j++)
			x[i * p->m + j] =
			    gv_problem_rate(p, i, j) > 0 ? .02 / (double)p->m : 0;
		need[i] = i % 3 == 0 ? .9 * gv_problem_throughput(p, x, i) : 0;
	}
}

static void
test_sum(size_t n, size_t m, bool plenty, bool needs, bool with_second)
{
	struct gv_problem p = draw(n, m, plenty);
	double *need = gv_xcalloc(n, sizeof(*need));
	double *normal = gv_linear_normalised(&p);
	struct gv_solution s = {.x = gv_xcalloc(n, m * sizeof(double))};
	struct gv_solution t = {.x = gv_xcalloc(n, m * sizeof(double))};
	struct gv_linear l, k;
	struct gv_error e = {0};
	double effort = 1e12;
	bool kept = true;
	size_t i;

	if (needs)
		draw_needs(&p, need, s.x);
	gv_linear_init(&l, &p, &s);
	gv_linear_init(&k, &p, &t);
	l.gain = k.gain = p.rate;
	l.need = k.need = needs ? need : NULL;
	l.second = k.second = with_second ? normal : NULL;
	is_int(gv_linear_by_prices(&l, &effort, NULL, "a sum", &e), 0,
	    "sum of %zu jobs on %zu types%s%s: prices come to it", n, m,
	    plenty ? ", plenty" : "", needs ? ", needs" : "");
	is_int(gv_linear_by_program(&k, false, false, "a sum", &e), 0,
	    "as the program does");
	ok(near(s.objective, t.objective, 1e-9) && s.gap <= 1e-9 && s.has_bound,
	    "the sum is right and proved: %.12g %.12g", s.objective, t.objective);
	ok(!with_second || near(second_sum(&p, s.x), second_sum(&p, t.x), 1e-7),
	    "the second sum is");
	for (i = 0; i < n && needs; i++)
		kept = kept && gv_problem_throughput(&p, s.x, i) >= need[i] * (1 - 1e-9);
	ok(kept && gv_problem_excess(&p, s.x) <= 1e-9, "shares keep what is needed");
	ok(effort < 1e12 && effort > 0, "operations are counted");
	gv_linear_free(&l);
	gv_linear_free(&k);
	gv_error_clear(&e);
	free(need);
	free(normal);
	free(s.x);
	free(t.x);
	gv_problem_free(&p);
}

/* Many small sums, half of them with rates that are alike: prices alone prove each. */
static void
test_small_sums(size_t draws_of)
{
	size_t unproved = 0, wrong = 0, unsolved = 0, i, r;

	for (r = 0; r < draws_of; r++) {
		size_t n = 2 + below(14), m = 1 + below(4);
		bool plenty = below(2) == 0;
		struct gv_problem p = draw(n, m, plenty);
		double *need = gv_xcalloc(n, sizeof(*need));
		struct gv_solution s = {.x = gv_xcalloc(n, m * sizeof(double))};
		struct gv_solution t = {.x = gv_xcalloc(n, m * sizeof(double))};
		bool needs = plenty && below(2) == 0, second = below(2) == 0;
		struct gv_linear l, k;
		struct gv_error e = {0};
		double *normal;

		for (i = 0; i < m; i++)
			p.capacity[i] = fmax(p.capacity[i], 1);
		if (below(2) == 0) /* alike, so that many vertices are as good */
			for (i = 0; i < n * m; i++)
				p.rate[i] = ceil(p.rate[i]);
		normal = gv_linear_normalised(&p);
		if (needs)
			draw_needs(&p, need, s.x);
		gv_linear_init(&l, &p, &s);
		gv_linear_init(&k, &p, &t);
		l.gain = k.gain = p.rate;
		l.need = k.need = needs ? need : NULL;
		l.second = k.second = second ? normal : NULL;
		if (gv_linear_by_program(&k, false, false, "a sum", &e) != 0) {
			unsolved++;
		} else if (gv_linear_by_prices(&l, NULL, NULL, "a sum", &e) != 0) {
			unproved++;
		} else {
			double sum = gv_linear_sum(&p, l.gain, s.x), bound;

			gv_linear_prove(&l);
			bound = s.bound;
			wrong += !near(sum, t.objective, 1e-9) ||
				 !near(bound, t.objective, 1e-9) ||
				 gv_problem_excess(&p, s.x) > 1e-9 ||
				 (second && !near(second_sum(&p, s.x),
						second_sum(&p, t.x), 1e-7));
			for (i = 0; i < n && needs; i++)
				wrong += gv_problem_throughput(&p, s.x, i) <
					 need[i] * (1 - 1e-9);
		}
		gv_linear_free(&l);
		gv_linear_free(&k);
		gv_error_clear(&e);
		free(need);
		free(normal);
		free(s.x);
		free(t.x);
		gv_problem_free(&p);
	}
	is_int((long)unsolved, 0, "programs of %zu small sums come to an end", draws_of);
	is_int((long)unproved, 0, "so do prices");
	is_int((long)wrong, 0, "which are right, and prove it");
}

int
main(void)
{
	static const size_t jobs[] = {12, 70, 300, 700};
	size_t i, m;

	draws_begin(79, 0, 0);
	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		for (m = 1; m <= 4; m++) {
			test_level(jobs[i], m, false);
			test_level(jobs[i], m, true);
			test_sum(jobs[i], m, false, false, true);
			test_sum(jobs[i], m, true, false, true);
			test_sum(jobs[i], m, false, true, true);
			test_sum(jobs[i], m, false, true, false);
		}
	draws_begin(80, 0, 0);
	test_small_sums(2000);
	test_second_effort();
	return done_testing();
}
