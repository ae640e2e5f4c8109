/*
 * How many of Newton's steps markets (price/eisenberg_gale.h) take: no more than when this
 * was written, and a little.  What is found is looked at in alloc_eg.
 */
#include "tap.h"

#include <stdlib.h>

#include "draws.h"
#include "alloc/price/eg_barrier.h"
#include "alloc/price/eisenberg_gale.h"

static double counted(struct gv_eg_barrier *s);

#define gv_eg_newton counted
#include "../../common/alloc/price/eg_barrier.c"
#undef gv_eg_newton

static long steps, work; /* work: times jobs that are looked at */

static double
counted(struct gv_eg_barrier *s)
{
	steps++;
	work += (long)s->n;
	return gv_eg_newton(s);
}

static struct gv_problem
draw(size_t n, size_t m)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++)
		p.capacity[j] = 1 + (double)n * uniform();
	for (i = 0; i < n; i++) {
		p.weight[i] = p.count[i] = 1;
		p.scale[i] = (double)(1 << below(3));
		for (j = 0; j < m; j++)
			p.rate[i * m + j] = exp(2 * uniform());
	}
	return p;
}

/* So many markets of n jobs, all, and each job's part. */
static void
test(size_t n, int markets, long open_steps, long open_work, long part_steps,
    long part_work)
{
	long first_steps = 0, first_work = 0, other_steps = 0, other_work = 0;
	int k;

	for (k = 0; k < markets; k++) {
		struct gv_problem p = draw(n, 1 + below(5));
		struct gv_eg_market *market;
		size_t i;

		steps = work = 0;
		market = gv_eg_market_open(&p);
		first_steps += steps;
		first_work += work;
		steps = work = 0;
		for (i = 0; i < n; i += 1 + n / 10)
			gv_eg_market_externality(market, i);
		other_steps += steps;
		other_work += work;
		gv_eg_market_free(market);
		gv_problem_free(&p);
	}
	ok(first_steps <= open_steps && first_work <= open_work,
	    "%d markets of %zu jobs: %ld steps, of %ld jobs", markets, n, first_steps,
	    first_work);
	ok(other_steps <= part_steps && other_work <= part_work,
	    "and of each job's part: %ld, of %ld", other_steps, other_work);
}

int
main(void)
{
	draws_begin(17, 0, 0);
	test(5, 60, 4930, 11300, 15400, 54900);
	test(60, 20, 1440, 42000, 7400, 87800);
	test(600, 6, 510, 162000, 2440, 47700);
	return done_testing();
}
