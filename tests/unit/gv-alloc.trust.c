/*
 * What every allocation must keep, on thousands of random clusters: the fast
 * paths find what GLPK finds job by job, constraints hold, and the properties that
 * the policies are known for are there.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/program/linear.h"

/* So many cases: quick in make check, what is promised when there is time. */
static int
many(int quick, int promised)
{
	return getenv("GV_LONG") != NULL ? promised : quick;
}

/* Rates rounded to whole numbers half of the time, so that there are ties. */
static void
draw_job(struct gv_problem *p, size_t i, bool even)
{
	size_t j, m = p->m;
	bool runs = false;

	p->scale[i] = (double)(1 << below(4));
	p->weight[i] = uniform() < .5 ? 1 : even ? 2 : .25 + 4 * uniform();
	p->number[GV_NUMBER_STEPS][i] = even ? 1 + (double)below(20) : exp(8 * uniform());
	p->number[GV_NUMBER_ELAPSED][i] = uniform() < .4 ? 0 : 20 * uniform();
	p->number[GV_NUMBER_ISOLATED][i] = uniform() < .4 ? 0 : 20 * uniform();
	for (j = 0; j < m; j++) {
		if (uniform() < .2 || p->scale[i] > p->capacity[j])
			continue;
		p->rate[i * m + j] = even ? 1 + (double)below(6) : exp(5 * uniform());
		runs = true;
	}
	if (!runs) {
		p->scale[i] = 1;
		p->rate[i * m + below(m)] = 1 + (double)below(3);
	}
}

static struct gv_problem
draw(size_t n, size_t m)
{
	double equal_jobs = uniform() < .5 ? .5 : 0;
	bool even = uniform() < .5;
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, (1u << GV_N_NUMBERS) - 1);
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(1 + below(uniform() < .5 ? 3 : 24));
		p.price[j] = even ? 1 + (double)below(4) : .1 + 3 * uniform();
	}
	for (i = 0; i < n; i++) {
		p.count[i] = 1;
		if (i > 0 && uniform() < equal_jobs)
			copy_job(&p, i, below(i));
		else
			draw_job(&p, i, even);
		p.number[GV_NUMBER_POSITION][i] = (double)i;
		p.number[GV_NUMBER_ENTITY_WEIGHT][i] = 1;
	}
	return p;
}

static struct gv_solution
solve(enum gv_solver solver, const struct gv_policy *policy, const struct gv_problem *p)
{
	const struct gv_policy_options opt = {
	    .solve.solver = solver, .inside = GV_INSIDE_NONE};

	return shares(policy, p, &opt, solver != GV_SOLVER_GLPK);
}

/* ---- against GLPK ---- */

static void
test_glpk(void)
{
	static const struct gv_policy *const programs[] = {&gv_policy_max_min,
	    &gv_policy_makespan, &gv_policy_finish_time, &gv_policy_max_sum,
	    &gv_policy_min_cost, &gv_policy_per_dollar, &gv_policy_fifo};
	size_t n_programs = sizeof(programs) / sizeof(programs[0]);
	int n = many(1500, 100000);
	int i, differ = 0, broken = 0, unproved = 0;
	double worst = 0, gap = 0;

	for (i = 0; i < n; i++) {
		const struct gv_policy *policy = programs[(size_t)i % n_programs];
		struct gv_problem p = draw(1 + below(20), 1 + below(5));
		struct gv_solution plain = solve(GV_SOLVER_GLPK, policy, &p);
		struct gv_solution price = solve(GV_SOLVER_PRICE, policy, &p);

		worst = fmax(worst, fabs(price.objective - plain.objective) /
					fmax(price.objective, plain.objective));
		gap = fmax(gap, fmax(plain.gap, price.gap));
		if (!near(price.objective, plain.objective, 1e-9)) {
			differ++;
			printf("# case %d, %s: prices %.17g, GLPK %.17g\n", i,
			    policy->name, price.objective, plain.objective);
		}
		unproved += plain.gap > 1e-9 || price.gap > 1e-9;
		broken += gv_problem_excess(&p, plain.x) > 1e-9 ||
			  gv_problem_excess(&p, price.x) > 1e-9;
		free(plain.x);
		free(price.x);
		gv_problem_free(&p);
	}
	printf("# worst relative difference %.2g, worst gap %.2g\n", worst, gap);
	is_int(differ, 0, "%d problems: prices and GLPK agree to 1e-9", n);
	is_int(broken, 0, "both keep the constraints");
	is_int(unproved, 0, "both prove it to 1e-9");
}

/* ---- properties ---- */

/*
 * One more GPU of a type never hurts.  Max-min compares with the whole cluster, so
 * the weights of the larger one are those that keep the old comparison.
 */
static void
test_more_gpus(void)
{
	static const struct gv_policy *const grow[] = {&gv_policy_max_min,
	    &gv_policy_max_sum, &gv_policy_min_cost, &gv_policy_per_dollar,
	    &gv_policy_fifo, &gv_policy_makespan};
	int n = many(600, 10000);
	int i, bad = 0;

	for (i = 0; i < n; i++) {
		const struct gv_policy *policy = grow[i % 6];
		struct gv_problem p = draw(1 + below(16), 1 + below(4));
		struct gv_solution less = solve(GV_SOLVER_AUTO, policy, &p), more;
		double *before = gv_xcalloc(p.n, sizeof(*before));
		double *after = gv_xcalloc(p.n, sizeof(*after));
		size_t k;

		gv_problem_equal_throughput(&p, before);
		p.capacity[below(p.m)] += 1;
		gv_problem_equal_throughput(&p, after);
		if (policy == &gv_policy_max_min)
			for (k = 0; k < p.n; k++)
				p.weight[k] *= before[k] / after[k];
		more = solve(GV_SOLVER_AUTO, policy, &p);
		if (policy->minimises)
			bad += more.objective > less.objective * (1 + 1e-9);
		else
			bad += more.objective < less.objective * (1 - 1e-9);
		free(before);
		free(after);
		free(less.x);
		free(more.x);
		gv_problem_free(&p);
	}
	is_int(bad, 0, "%d clusters: one more GPU never hurts", n);
}

/* Steps may be counted in any unit, job by job. */
static void
test_units(void)
{
	static const struct gv_policy *const scale_free[] = {&gv_policy_max_min,
	    &gv_policy_water_filling, &gv_policy_makespan, &gv_policy_finish_time,
	    &gv_policy_fifo};
	int n = many(500, 10000);
	int i, bad = 0;

	for (i = 0; i < n; i++) {
		const struct gv_policy *policy = scale_free[i % 5];
		struct gv_problem p = draw(1 + below(16), 1 + below(4));
		struct gv_solution one = solve(GV_SOLVER_AUTO, policy, &p), other;
		size_t k, j;

		for (k = 0; k < p.n; k++) {
			double unit = exp(10 * (uniform() - .5));

			for (j = 0; j < p.m; j++)
				p.rate[k * p.m + j] *= unit;
			p.number[GV_NUMBER_STEPS][k] *= unit;
		}
		other = solve(GV_SOLVER_AUTO, policy, &p);
		bad += !near(one.objective, other.objective, 1e-9);
		free(one.x);
		free(other.x);
		gv_problem_free(&p);
	}
	is_int(bad, 0, "%d clusters: the units of steps do not matter", n);
}

/*
 * Nobody can have more unless somebody has less: with everybody's throughput
 * kept, the largest sum is the one there is.
 */
static void
test_pareto(void)
{
	int n = many(200, 10000);
	int i, bad = 0, failed = 0;
	double worst = 0;

	for (i = 0; i < n; i++) {
		struct gv_problem p = draw(1 + below(12), 1 + below(4));
		struct gv_solution s = solve(
				       GV_SOLVER_AUTO, &gv_policy_water_filling, &p),
				   best;
		struct gv_solver_options opt = {.solver = GV_SOLVER_GLPK};
		double *need = gv_xcalloc(p.n, sizeof(*need));
		double *gain = gv_linear_normalised(&p);
		struct gv_error e = {0};
		struct gv_linear l;
		double sum = 0;
		size_t k, j;

		for (k = 0; k < p.n; k++) {
			need[k] = gv_problem_throughput(&p, s.x, k) * (1 - 1e-12);
			for (j = 0; j < p.m; j++)
				sum += gain[k * p.m + j] * s.x[k * p.m + j];
		}
		best = (struct gv_solution){.x = gv_xcalloc(p.n, p.m * sizeof(*best.x))};
		gv_linear_init(&l, &p, &best);
		l.gain = gain;
		l.need = need;
		if (gv_linear_solve(&l, &opt, "pareto", &e) != 0)
			failed++;
		else
			bad += best.objective > sum * (1 + 1e-7);
		worst = fmax(worst, best.objective / sum - 1);
		gv_linear_free(&l);
		free(best.x);
		free(need);
		free(gain);
		free(s.x);
		gv_problem_free(&p);
	}
	printf("# the most that was left: %.2g of the sum\n", worst);
	is_int(failed, 0, "%d clusters", n);
	is_int(bad, 0, "water-filling leaves nothing that hurts nobody");
}

/*
 * Sharing pays: with equal weights, and where the n-th part of the cluster is no
 * more than a job can use, max-min gives no job less than that part.  No job
 * that starts now is done later than there with finish-time.
 */
static void
test_incentive(void)
{
	int n = many(400, 10000);
	int i, looked = 0, bad = 0, late = 0;

	for (i = 0; i < n; i++) {
		struct gv_problem p = draw(2 + below(16), 1 + below(4));
		double *alone = gv_xcalloc(p.n, p.m * sizeof(*alone));
		struct gv_solution s;
		double gpus = 0;
		bool fits = true;
		size_t k;

		for (k = 0; k < p.m; k++)
			gpus += p.capacity[k];
		for (k = 0; k < p.n; k++) {
			p.weight[k] = 1;
			p.number[GV_NUMBER_ELAPSED][k] = p.number[GV_NUMBER_ISOLATED][k] =
			    0;
			fits = fits && gpus <= (double)p.n * p.scale[k];
		}
		gv_problem_isolated(&p, alone);
		if (fits) {
			looked++;
			s = solve(GV_SOLVER_AUTO, &gv_policy_max_min, &p);
			for (k = 0; k < p.n; k++)
				bad += gv_problem_throughput(&p, s.x, k) <
				       gv_problem_throughput(&p, alone, k) * (1 - 1e-9);
			free(s.x);
		}
		s = solve(GV_SOLVER_AUTO, &gv_policy_finish_time, &p);
		late += s.objective > 1 + 1e-9;
		free(s.x);
		free(alone);
		gv_problem_free(&p);
	}
	ok(looked > n / 20, "%d clusters, %d of them with jobs that can use their part",
	    n, looked);
	is_int(bad, 0, "max-min gives no job less than its part");
	is_int(late, 0, "finish-time makes no job later than with its part");
}

int
main(void)
{
	draws_begin(29, 0, 0);
	test_glpk();
	test_more_gpus();
	test_units();
	test_pareto();
	test_incentive();
	return done_testing();
}
