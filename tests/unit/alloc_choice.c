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
	test_few_jobs();
	test_second();
	return done_testing();
}
