/* gv-alloc's strategy-proof: closed forms, gaps, and that lying does not pay. */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"

static struct gv_solution
solve(const struct gv_problem *p, bool merge)
{
	const struct gv_policy_options opt = {0};

	return shares(&gv_policy_strategy_proof, p, &opt, merge);
}

static struct gv_problem
random_problem(void)
{
	struct gv_problem p;
	size_t i, j, n = 2 + below(6), m = 1 + below(3);

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(2 + below(5));
	for (i = 0; i < n; i++) {
		p.count[i] = p.weight[i] = 1;
		p.scale[i] = (double)(1 + below(2));
		for (j = 0; j < m; j++)
			p.rate[i * m + j] = exp(3 * uniform());
	}
	return p;
}

static void
test_paper(void)
{
	/* proportional fairness (20, 6, 50), times the parts */
	static const double want[] = {20 * .48, 6 * 24. / 49, 50 * 72. / 121};
	struct gv_problem p = paper_problem();
	struct gv_solution s = solve(&p, true);
	size_t i;

	for (i = 0; i < 3; i++)
		is_near(gv_problem_throughput(&p, s.x, i), want[i], 1e-7 * want[i],
		    "the example's job %zu", i);
	ok(s.gap >= 0 && s.gap <= 1e-9, "proved");
	free(s.x);
	gv_problem_free(&p);
}

/* n equal jobs on one type of N GPUs: N/n each, times ((n - 1) / n)^(n - 1). */
static void
test_equal(void)
{
	struct gv_problem p;
	struct gv_solution s;
	size_t i;

	gv_problem_alloc(&p, 5, 1);
	p.capacity[0] = 2;
	for (i = 0; i < 5; i++)
		p.rate[i] = p.scale[i] = p.weight[i] = p.count[i] = 1;
	for (i = 0; i < 2; i++) {
		s = solve(&p, i == 0);
		is_near(s.x[4], .4 * pow(.8, 4), 1e-9, "five equal jobs%s",
		    i == 0 ? ", as one class" : "");
		free(s.x);
	}
	p.capacity[0] = 9;
	s = solve(&p, true);
	is_near(s.x[0], 1, 1e-8, "with enough for all nothing is given back");
	free(s.x);
	gv_problem_free(&p);
}

static void
test_random(void)
{
	int i, unproved = 0, excess = 0, lies = 0, classes = 0;

	for (i = 0; i < 150; i++) {
		struct gv_problem p = random_problem();
		struct gv_solution honest = solve(&p, true);
		struct gv_solution single = solve(&p, false);
		struct gv_solution lying;
		double true_rate[3];
		size_t j, liar = below(p.n);
		double had = gv_problem_throughput(&p, honest.x, liar);

		unproved += !(honest.gap >= 0 && honest.gap <= 1e-9);
		excess += !(gv_problem_excess(&p, honest.x) <= 1e-12);
		for (j = 0; j < p.n * p.m; j++)
			classes += !(fabs(honest.x[j] - single.x[j]) <= 1e-6);
		for (j = 0; j < p.m; j++) {
			true_rate[j] = p.rate[liar * p.m + j];
			p.rate[liar * p.m + j] *= exp(2 * uniform() - 1);
		}
		lying = solve(&p, true);
		for (j = 0; j < p.m; j++)
			p.rate[liar * p.m + j] = true_rate[j];
		lies += gv_problem_throughput(&p, lying.x, liar) > had * (1 + 1e-6);
		free(honest.x);
		free(single.x);
		free(lying.x);
		gv_problem_free(&p);
	}
	is_int(unproved, 0, "150 random problems are proved");
	is_int(excess, 0, "rows at most 1, types at most full");
	is_int(classes, 0, "classes or single jobs, the same shares");
	is_int(lies, 0, "no lie about the own rates pays");
}

/*
 * What job i ends with is what the definition says: its level is the product of all
 * levels over that of the others' without it, both the best and proved.
 */
static void
test_definition(size_t n, int rounds)
{
	int i, bad = 0, unproved = 0;
	double worst = 0;

	for (i = 0; i < rounds; i++) {
		struct gv_problem p = random_problem();
		struct gv_solution all;
		size_t k, j;

		gv_problem_free(&p);
		gv_problem_alloc(&p, n, 1 + below(4));
		for (j = 0; j < p.m; j++)
			p.capacity[j] = (double)(2 + below(n));
		for (k = 0; k < n; k++) {
			p.count[k] = p.weight[k] = 1;
			p.scale[k] = (double)(1 + below(2));
			for (j = 0; j < p.m; j++)
				p.rate[k * p.m + j] =
				    j > 0 && uniform() < .2 ? 0 : exp(2 * uniform());
		}
		all = solve(&p, true);
		unproved += !(all.gap >= 0 && all.gap <= 1e-10);
		for (k = 0; k < n; k += 1 + n / 8) {
			bool keep[64];
			struct gv_problem rest;
			struct gv_solution others;
			double level, want;
			double equal[64];

			for (j = 0; j < n; j++)
				keep[j] = j != k;
			gv_problem_pick(&rest, &p, keep);
			others = solve(&rest, true);
			unproved += !(others.gap >= 0 && others.gap <= 1e-10);
			gv_problem_equal_throughput(&p, equal);
			level =
			    p.scale[k] * gv_problem_throughput(&p, all.x, k) / equal[k];
			want = exp((double)n * log(all.objective) -
				   (double)(n - 1) * log(others.objective));
			worst = fmax(worst, fabs(level - want) / want);
			bad += !(fabs(level - want) <= 1e-9 * want);
			free(others.x);
			gv_problem_free(&rest);
		}
		free(all.x);
		gv_problem_free(&p);
	}
	printf("# %zu jobs: worst difference %.2g\n", n, worst);
	is_int(unproved, 0, "%zu jobs: best shares with and without each, proved", n);
	is_int(bad, 0, "%zu jobs: each is left what the definition says", n);
}

int
main(void)
{
	draws_begin(13, 0, 0);
	test_definition(2, 60);
	test_definition(7, 60);
	test_definition(60, 4);
	test_paper();
	test_equal();
	test_random();
	return done_testing();
}
