/* Which solver is tried, and how long: counts of what is short, and the rule on them. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/interior/interior.h"
#include "alloc/simplex/simplex.h"
#include "alloc/solve/choice.h"

/* n jobs of one GPU on m types of so many, nobody worth anything yet. */
static struct gv_problem
problem(size_t n, size_t m, double gpus)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++)
		p.capacity[j] = gpus;
	for (i = 0; i < n; i++)
		p.scale[i] = p.count[i] = p.weight[i] = 1;
	return p;
}

static void
check(const struct gv_problem *p, const double *worth, double level, size_t types,
    double part, const char *what)
{
	struct gv_choice_short missing = gv_choice_short(p, worth, level);

	is_int(missing.types, types, "%s: types", what);
	is_near(missing.part, part, 1e-12, "%s: part", what);
}

static void
test_short(void)
{
	enum { N = 4, M = 3 };
	static const double same[N * M] = {3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1};
	static const double apart[N * M] = {3, 2, 1, 1, 3, 2, 2, 1, 3, 0, 0, -1};
	struct gv_problem p = problem(N, M, 2);

	check(&p, apart, INFINITY, 0, 0, "each its own type");
	check(&p, same, INFINITY, 1, .5, "two have the next");
	check(&p, same, 1.5, 0, 0, "half the time is enough");
	check(&p, same, 2, 1, .25, "two thirds are not");
	p.capacity[0] = p.capacity[1] = 1.5;
	check(&p, same, INFINITY, 2, .625, "parts of a job");
	p.count[3] = p.scale[3] = 2;
	check(&p, same, INFINITY, 3, 5.5 / 7, "equal gangs, not enough for them");
	gv_problem_free(&p);
}

/* Jobs that are worth nothing miss nothing; of two equal types the first is the best. */
static void
test_short_of_nothing(void)
{
	static const double some[] = {0, 0, 0, 3, 3, 1, 3, 3, 1};
	struct gv_problem p = problem(3, 3, .5);

	check(&p, some, INFINITY, 3, .75, "one has nothing to miss");
	p.capacity[0] = 0;
	p.capacity[1] = 2;
	check(&p, some, INFINITY, 1, 1, "the first of two equal ones");
	p.capacity[0] = 2;
	p.capacity[1] = 0;
	check(&p, some, INFINITY, 0, 0, "it has room");
	check(&p, (double[9]){0}, INFINITY, 0, 0, "nobody wants anything");
	gv_problem_free(&p);
}

/*
 * From what effort of the next solver on prices have more than that part of it; some
 * operations are not told apart.
 */
static double
turns(size_t n, size_t m, bool sum, const struct gv_choice_short *missing, bool many,
    double part)
{
	double low = 1, high = 1e15;

	while (high > low * (1 + 1e-13)) {
		double next = sqrt(low * high);

		if (gv_choice_prices_effort(n, m, sum, next, missing, many) > part * next)
			high = next;
		else
			low = next;
	}
	return high;
}

/* The efforts that were fit to measurements, worked out by hand. */
static void
test_efforts(void)
{
	const struct gv_choice_short two = {2, .5}, none = {0, 0};
	const double tol = 1e-11;

	ok(gv_choice_whole(1e5) && !gv_choice_whole(nextafter(1e5, 1e6)),
	    "100,000 operations are one program, more are not");
	is_near(turns(1000, 4, false, NULL, false, .5), 612000, tol, "levels");
	is_near(turns(1000, 4, false, NULL, true, .5), 408000, tol, "one of many");
	is_near(turns(10000, 16, false, NULL, false, .5), 238094592, tol, "a sample");
	is_near(turns(100, 13, false, NULL, false, .5), 15631200, tol, "of many types");
	is_near(turns(100, 12, true, NULL, false, .5), 11434800, tol, "sums");
	is_near(turns(100, 12, true, NULL, false, .3), 11434800, tol, "at once");
	is_near(turns(100, 13, true, NULL, false, .5), 124854600, tol, "hard sums");
	is_near(turns(100, 13, true, NULL, false, .3), 83236400, tol, "in two steps");
	is_near(turns(100, 13, false, NULL, false, .3), 15631200, tol, "levels in one");
	is_near(turns(1000, 40, false, &two, false, .5), 29150000, tol,
	    "two types are short");
	is_near(turns(1000, 40, false, &two, true, .5), 23320000 / 1.2, tol,
	    "one of many such");
	is_near(turns(1000, 40, true, &two, false, .5), 5210000, tol, "sums of such");
	is_near(
	    turns(10000, 40, false, &two, false, .5), 234584000, tol, "a sample of such");
	is_near(turns(10000, 40, true, &two, false, .5), 35878400, tol,
	    "sums of such a sample");
	ok(turns(10000, 40, true, &none, false, .5) < 1.1, "none is short");
	ok(gv_choice_prices_effort(10000, 40, true, 1e-3, &none, false) > .5e-3,
	    "which takes no time at all");
	is_near(gv_choice_prices_effort(100, 13, false, 1e9, NULL, false), .9e9, tol,
	    "nearly all of the next");
	is_near(gv_choice_prices_effort(100, 13, true, 1e8, NULL, false), .4e8, tol,
	    "less of a hard one");
	is_near(gv_choice_prices_effort(100, 13, true, 1e7, NULL, false), .05e7, tol,
	    "little where it takes longer");
}

/* What the search for prices may take beside what follows, of a problem of so many short types. */
static double
part(size_t n, size_t m, bool sum, size_t types, double missed)
{
	const struct gv_choice_short missing = {types, missed};
	double program =
	    sum ? gv_simplex_sum_effort(n, m) : gv_simplex_level_effort(n, m);
	double interior =
	    sum ? gv_interior_sum_effort(n, m) : gv_interior_level_effort(n, m);
	double next =
	    gv_choice_simplex_second(n, m, program, interior) ? program : interior;

	return gv_choice_prices_effort(n, m, sum, next, &missing, false) / next;
}

/*
 * Of few jobs on many types prices are soon found where few types are short, and not where they
 * are many: sums of jobs that all look for the same cheap types, as --per-dollar has them.
 */
static void
test_few_jobs(void)
{
	size_t n, m, lost = 0, in_vain = 0;

	for (m = 16; m <= 64; m += 8)
		for (n = 8; n <= m; n += 8) {
			lost +=
			    part(n, m, false, 0, 0) < .5 || part(n, m, true, 0, 0) < .5;
			in_vain += part(n, m, true, n / 5 + 1, .5) > .1;
		}
	is_int(lost, 0, "prices of GPUs that are plenty are looked for");
	is_int(in_vain, 0, "those of many types are not");
	ok(part(32, 24, false, 2, .03) > .5, "two short types of 24, 32 jobs");
	ok(part(48, 64, true, 2, .03) > .5, "two of 64, 48 jobs");
	ok(part(4096, 4, false, 4, .5) > .5, "all of few types, many jobs");
	ok(part(16384, 16, true, 16, .9) < .1,
	    "a hard sum, the other takes about as long");
	ok(fabs(part(100000, 16, true, 16, .9) - .4) < .1, "it takes longer");
}

static void
test_second(void)
{
	ok(gv_choice_simplex_second(
	       16, 64, gv_simplex_sum_effort(16, 64), gv_interior_sum_effort(16, 64)),
	    "sums of 16 jobs on 64 types: GLPK");
	ok(gv_choice_simplex_second(
	       16, 64, gv_simplex_level_effort(16, 64), gv_interior_level_effort(16, 64)),
	    "levels of 16 jobs on 64 types: GLPK");
	ok(!gv_choice_simplex_second(
	       128, 64, gv_simplex_sum_effort(128, 64), gv_interior_sum_effort(128, 64)),
	    "sums of 128 jobs on 64 types: the interior point");
	ok(!gv_choice_simplex_second(64, 4, 1, 2), "jobs that are no few");
}

int
main(void)
{
	test_short();
	test_short_of_nothing();
	test_efforts();
	test_few_jobs();
	test_second();
	return done_testing();
}
