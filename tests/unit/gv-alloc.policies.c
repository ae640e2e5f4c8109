/* gv-alloc's core: classes, policies, and what must hold for every allocation. */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/price/price.h"

/*
 * A random problem: kinds kinds of jobs (0: all differ) with zeros, gangs and
 * weights; each job can run somewhere, no gang exceeds a type it has a rate on.
 */
static struct gv_problem
random_problem(size_t n, size_t m, size_t kinds)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, (1u << GV_N_NUMBERS) - 1);
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(1 + below(8));
		p.price[j] = .1 + uniform();
	}
	for (i = 0; i < n; i++) {
		size_t like = i;

		p.count[i] = 1;
		p.number[GV_NUMBER_POSITION][i] = (double)i;
		if (kinds > 0 && i >= kinds)
			like = below(kinds);
		if (like < i) {
			copy_job(&p, i, like);
			continue;
		}
		p.number[GV_NUMBER_STEPS][i] = exp(8 * uniform());
		p.number[GV_NUMBER_ELAPSED][i] = uniform() < .3 ? 0 : 20 * uniform();
		p.number[GV_NUMBER_ISOLATED][i] = uniform() < .3 ? 0 : 20 * uniform();
		p.scale[i] = (double)(1 << below(4));
		p.weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
		for (j = 0; j < m; j++)
			if (uniform() < .8 && p.scale[i] <= p.capacity[j])
				p.rate[i * m + j] = exp(4 * uniform());
		make_runnable(&p, i);
	}
	return p;
}

static struct gv_solution
solve_by(
    enum gv_solver solver, const struct gv_policy *policy, const struct gv_problem *p)
{
	const struct gv_policy_options opt = {.solve.solver = solver};

	return shares(policy, p, &opt, solver != GV_SOLVER_GLPK);
}

static struct gv_solution
solve(const struct gv_policy *policy, const struct gv_problem *p, bool merge)
{
	return solve_by(merge ? GV_SOLVER_AUTO : GV_SOLVER_GLPK, policy, p);
}

static double
level(const struct gv_policy *policy, const struct gv_problem *p)
{
	struct gv_solution s = solve(policy, p, true);

	free(s.x);
	return s.objective;
}

/* The second objective of max-min: sum of s_i thr_i / P_i. */
static double
throughput_sum(const struct gv_problem *p, const double *x)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double sum = 0;
	size_t i, j;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			sum += p->scale[i] * gv_problem_rate(p, i, j) / equal[i] *
			       x[i * p->m + j];
	free(equal);
	return sum;
}

/* ---- max-min ---- */

static void
test_paper(void)
{
	static const double want[] = {5. / 11, 0, 5. / 11, 1. / 11, 1. / 11, 10. / 11};
	struct gv_problem p = paper_problem();
	struct gv_solution s = solve(&gv_policy_max_min, &p, true);
	size_t i;

	is_near(s.objective, 8. / 11, 1e-12, "the paper's example: 8/11");
	ok(s.bound >= 8. / 11 && s.gap < 1e-12, "proved");
	for (i = 0; i < 6; i++)
		is_near(s.x[i], want[i], 1e-12, "share %zu", i);
	free(s.x);
	s = solve(&gv_policy_isolated, &p, true);
	for (i = 0; i < 6; i++)
		is_near(s.x[i], 1. / 3, 1e-15, "isolated share %zu", i);
	is_near(s.objective, 2. / 3, 1e-12, "max-min is 9 %% better than isolated");
	free(s.x);
	gv_problem_free(&p);
}

/*
 * The best level on two types, in another way.  At level t the shares of a job
 * that just reach it are a segment between an end with least time on type 0 and
 * one with most.  Least use of type 1 with the GPUs of type 0 is a knapsack of
 * fractions; t by bisection.
 */
struct segment {
	double from[2], to[2]; /* GPUs used of both types at either end */
};

static int
by_worth(const void *a, const void *b)
{
	const struct segment *x = a;
	const struct segment *y = b;
	double left = (x->from[1] - x->to[1]) * (y->to[0] - y->from[0]);
	double right = (y->from[1] - y->to[1]) * (x->to[0] - x->from[0]);

	return (left < right) - (left > right);
}

static bool
reachable(const struct gv_problem *p, const double *equal, double t)
{
	struct segment *seg = gv_xcalloc(p->n, sizeof(*seg));
	double used[2] = {0, 0};
	bool yes = true;
	size_t i;

	for (i = 0; i < p->n && yes; i++) {
		double f = p->scale[i] / (p->weight[i] * equal[i]);
		double a = f * p->rate[2 * i];
		double b = f * p->rate[2 * i + 1];
		double c = a != b ? (t - b) / (a - b)
				  : 0; /* of type 0, both types all the time */
		double low = t <= b ? 0 : c;
		double high = t <= a ? t / a : c;

		yes = t <= fmax(a, b);
		seg[i].from[0] = p->scale[i] * low;
		seg[i].from[1] = p->scale[i] * (t <= b ? t / b : 1 - c);
		seg[i].to[0] = p->scale[i] * high;
		seg[i].to[1] = p->scale[i] * (t <= a ? 0 : 1 - c);
		used[0] += seg[i].from[0];
		used[1] += seg[i].from[1];
	}
	yes = yes && used[0] <= p->capacity[0];
	qsort(seg, p->n, sizeof(*seg), by_worth);
	for (i = 0; i < p->n && yes && used[1] > p->capacity[1]; i++) {
		double room = p->capacity[0] - used[0];
		double more = seg[i].to[0] - seg[i].from[0];
		double part = more > room ? room / more : 1;

		used[0] += part * more;
		used[1] -= part * (seg[i].from[1] - seg[i].to[1]);
		if (part < 1)
			break;
	}
	free(seg);
	return yes && used[1] <= p->capacity[1];
}

static double
level_of_two_types(const struct gv_problem *p)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double low = 0, high = 1e6;
	int k;

	gv_problem_equal_throughput(p, equal);
	for (k = 0; k < 100; k++) {
		double t = (low + high) / 2;

		if (reachable(p, equal, t))
			low = t;
		else
			high = t;
	}
	free(equal);
	return low;
}

static void
test_two_types(void)
{
	int i, bad = 0;

	for (i = 0; i < 300; i++) {
		struct gv_problem p = random_problem(1 + below(12), 2, below(2) * 4);

		bad += !near(level(&gv_policy_max_min, &p), level_of_two_types(&p), 1e-9);
		gv_problem_free(&p);
	}
	is_int(bad, 0, "300 problems of two types agree with bisection over knapsacks");
}

static void
test_classes(void)
{
	int i, bad_level = 0, bad_sum = 0, bad_equal = 0, bad_gap = 0;

	for (i = 0; i < 300; i++) {
		size_t n = 2 + below(40);
		struct gv_problem p = random_problem(n, 1 + below(4), 1 + below(8));
		struct gv_solution full = solve(&gv_policy_max_min, &p, false);
		struct gv_solution merged = solve(&gv_policy_max_min, &p, true);
		size_t a, b;

		bad_level += !near(full.objective, merged.objective, 1e-9);
		bad_sum +=
		    !near(throughput_sum(&p, full.x), throughput_sum(&p, merged.x), 1e-7);
		bad_gap += !(full.gap <= 1e-9 && merged.gap <= 1e-9 && full.gap > 0);
		for (a = 0; a < n; a++)
			for (b = 0; b < a; b++)
				if (p.scale[a] == p.scale[b] &&
				    p.weight[a] == p.weight[b] &&
				    memcmp(&p.rate[a * p.m], &p.rate[b * p.m],
					p.m * sizeof(*p.rate)) == 0)
					bad_equal +=
					    memcmp(&merged.x[a * p.m], &merged.x[b * p.m],
						p.m * sizeof(*p.rate)) != 0;
		free(full.x);
		free(merged.x);
		gv_problem_free(&p);
	}
	is_int(
	    bad_level, 0, "classes and single jobs reach the same level, 300 problems");
	is_int(bad_sum, 0, "and the same sum of throughputs");
	is_int(bad_gap, 0, "and prove it");
	is_int(bad_equal, 0, "equal jobs have equal shares");
}

/* ---- prices ---- */

/* gv_price_solve itself, unscaled: 0 solved, 1 gave up. */
static int
by_prices(const struct gv_problem *p, double *level, double *sum, double *excess)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double *a = gv_xcalloc(p->n, p->m * sizeof(*a));
	double *gain = gv_xcalloc(p->n, p->m * sizeof(*gain));
	struct gv_price_problem q = {p->n, p->m, a, p->scale, gain, p->capacity};
	struct gv_price_solution s = {0};
	size_t i, j;
	int rc;

	s.x = gv_xcalloc(p->n, p->m * sizeof(*s.x));
	s.lambda = gv_xcalloc(p->n, sizeof(*s.lambda));
	s.price = gv_xcalloc(p->m, sizeof(*s.price));
	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			gain[i * p->m + j] =
			    p->scale[i] * gv_problem_rate(p, i, j) / equal[i];
			a[i * p->m + j] = gain[i * p->m + j] / p->weight[i];
		}
	rc = gv_price_solve(&q, &s);
	*level = gv_problem_level(p, s.x);
	*sum = throughput_sum(p, s.x);
	*excess = gv_problem_excess(p, s.x);
	if (rc == 0 &&
	    !(s.bound >= s.level * (1 - 1e-13) && s.bound - s.level <= 1e-10 * s.level &&
		near(s.level, *level, 1e-9)))
		rc = -1;
	free(s.x);
	free(s.lambda);
	free(s.price);
	free(equal);
	free(a);
	free(gain);
	return rc;
}

static void
test_prices(void)
{
	int i, gave_up = 0, bad_level = 0, bad_sum = 0, bad_excess = 0, broken = 0;

	for (i = 0; i < 1000; i++) {
		struct gv_problem p = random_problem(
		    1 + below(i % 10 == 0 ? 200 : 30), 1 + below(5), below(3) * 3);
		struct gv_solution s;
		double lp_level, level_, sum, excess;
		size_t j;
		int rc;

		for (j = 0; i % 3 == 0 && j < p.m; j++)
			p.capacity[j] *=
			    (double)(1 + below(10)); /* time is short, not GPUs */
		s = solve_by(GV_SOLVER_GLPK, &gv_policy_max_min, &p);
		lp_level = s.objective;
		rc = by_prices(&p, &level_, &sum, &excess);
		broken += rc < 0;
		gave_up += rc == 1;
		if (rc == 0) {
			bad_level += !near(level_, lp_level, 1e-9);
			bad_sum += !near(sum, throughput_sum(&p, s.x), 1e-7);
			bad_excess += !(excess <= 1e-9);
		}
		free(s.x);
		gv_problem_free(&p);
	}
	is_int(broken, 0, "bound and level belong together");
	is_int(
	    bad_level, 0, "prices reach the level of the linear program, 1000 problems");
	is_int(bad_sum, 0, "and its sum of throughputs");
	is_int(bad_excess, 0, "within the constraints");
	ok(gave_up <= 10, "and rarely give up (%d)", gave_up);
}

/* ---- what holds for all policies ---- */

static struct gv_problem
permuted(const struct gv_problem *p, size_t *to)
{
	struct gv_problem q;
	size_t i, j;

	gv_problem_alloc(&q, p->n, p->m);
	gv_problem_ask(&q, (1u << GV_N_NUMBERS) - 1);
	memcpy(q.capacity, p->capacity, p->m * sizeof(*p->capacity));
	memcpy(q.price, p->price, p->m * sizeof(*p->price));
	for (i = 0; i < p->n; i++)
		to[i] = i;
	for (i = p->n; i > 1; i--) {
		size_t k = below(i);
		size_t old = to[i - 1];

		to[i - 1] = to[k];
		to[k] = old;
	}
	for (i = 0; i < p->n; i++) {
		memcpy(
		    &q.rate[to[i] * p->m], &p->rate[i * p->m], p->m * sizeof(*p->rate));
		q.scale[to[i]] = p->scale[i];
		q.weight[to[i]] = p->weight[i];
		q.count[to[i]] = p->count[i];
		for (j = 0; j < GV_N_NUMBERS; j++)
			q.number[j][to[i]] = p->number[j][i];
	}
	return q;
}

static void
test_prices_permuted(void)
{
	int i, moved = 0, excess = 0;

	for (i = 0; i < 100; i++) {
		struct gv_problem p =
		    random_problem(1 + below(60), 1 + below(4), below(10));
		size_t *to = gv_xcalloc(p.n, sizeof(*to));
		struct gv_problem q = permuted(&p, to);
		struct gv_solution s = solve_by(GV_SOLVER_PRICE, &gv_policy_max_min, &p);
		struct gv_solution r = solve_by(GV_SOLVER_PRICE, &gv_policy_max_min, &q);
		size_t k;

		excess += !(gv_problem_excess(&p, s.x) <= 1e-12);
		for (k = 0; k < p.n; k++)
			moved += memcmp(&s.x[k * p.m], &r.x[to[k] * p.m],
				     p.m * sizeof(*s.x)) != 0;
		free(s.x);
		free(r.x);
		free(to);
		gv_problem_free(&p);
		gv_problem_free(&q);
	}
	is_int(moved, 0, "by prices: permuted rows are permuted shares, bit for bit");
	is_int(excess, 0, "by prices: rows at most 1, types at most full");
}

static void
test_properties(const struct gv_policy *policy)
{
	int i, excess = 0, moved = 0, unusable = 0, scaled = 0, bound = 0;

	for (i = 0; i < 200; i++) {
		struct gv_problem p =
		    random_problem(1 + below(30), 1 + below(4), below(10));
		size_t *to = gv_xcalloc(p.n, sizeof(*to));
		struct gv_problem q;
		struct gv_solution s, r, t;
		size_t k, j;

		for (k = 0; k < p.n && policy == &gv_policy_allox; k++)
			p.scale[k] = 1;
		q = permuted(&p, to);
		s = solve(policy, &p, true);
		r = solve(policy, &q, true);

		excess += !(gv_problem_excess(&p, s.x) <= 1e-12);
		bound += s.has_bound && !((policy->minimises ? s.bound <= s.objective
							     : s.bound >= s.objective) &&
					    s.gap <= fmax(1e-9, policy->proved));
		for (k = 0; k < p.n; k++) {
			moved += memcmp(&s.x[k * p.m], &r.x[to[k] * p.m],
				     p.m * sizeof(*s.x)) != 0;
			for (j = 0; j < p.m; j++)
				unusable +=
				    (gv_problem_rate(&p, k, j) == 0 &&
					s.x[k * p.m + j] != 0) ||
				    !(s.x[k * p.m + j] >= 0 && s.x[k * p.m + j] <= 1);
		}
		for (k = 0; k < p.n; k++) {
			p.number[GV_NUMBER_STEPS][k] *= (double)(k % 7 + 1) * 1e-3;
			for (j = 0; j < p.m; j++)
				p.rate[k * p.m + j] *= (double)(k % 7 + 1) * 1e-3;
		}
		t = solve(policy, &p, true);
		/* max-sum and min-cost add steps; sjf serves jobs in turn unless they are equal */
		scaled += !(policy->numbers >> GV_NUMBER_NEED & 1) &&
			  policy != &gv_policy_sjf &&
			  !near(s.objective, t.objective, fmax(1e-9, policy->proved));
		free(s.x);
		free(r.x);
		free(t.x);
		free(to);
		gv_problem_free(&p);
		gv_problem_free(&q);
	}
	is_int(excess, 0, "%s: rows at most 1, types at most full", policy->name);
	is_int(unusable, 0, "%s: no share where a job cannot run", policy->name);
	is_int(
	    moved, 0, "%s: permuted rows are permuted shares, bit for bit", policy->name);
	is_int(scaled, 0, "%s: the units of a job's steps do not count", policy->name);
	is_int(bound, 0, "%s: bounds hold", policy->name);
}

static void
test_monotone(void)
{
	int i, lower = 0, weights = 0, isolated = 0;

	for (i = 0; i < 200; i++) {
		struct gv_problem p =
		    random_problem(1 + below(20), 1 + below(3), below(6));
		double *equal = gv_xcalloc(p.n, sizeof(*equal));
		double before = level(&gv_policy_max_min, &p);
		size_t k, j = below(p.m);

		isolated += level(&gv_policy_isolated, &p) > before * (1 + 1e-9) ||
			    level(&gv_policy_proportional, &p) > before * (1 + 1e-9);
		for (k = 0; k < p.n; k++)
			p.weight[k] *= 4;
		weights += !near(level(&gv_policy_max_min, &p) * 4, before, 1e-9);
		for (k = 0; k < p.n; k++)
			p.weight[k] /= 4;
		/* the levels are relative to P, which more GPUs change: put that in the weights */
		gv_problem_equal_throughput(&p, equal);
		for (k = 0; k < p.n; k++)
			p.weight[k] *= equal[k];
		p.capacity[j] += (double)(1 + below(3));
		gv_problem_equal_throughput(&p, equal);
		for (k = 0; k < p.n; k++)
			p.weight[k] /= equal[k];
		lower += level(&gv_policy_max_min, &p) < before * (1 - 1e-9);
		free(equal);
		gv_problem_free(&p);
	}
	is_int(lower, 0, "more GPUs never lower the least throughput");
	is_int(weights, 0, "four times all weights is a quarter of the level");
	is_int(isolated, 0, "no other policy has a higher level than max-min");
}

/* A job of twice the weight has twice the throughput of its equal, while there is not enough. */
static void
test_weight(void)
{
	struct gv_problem p;
	struct gv_solution s;
	size_t i;

	gv_problem_alloc(&p, 6, 1);
	p.capacity[0] = 2;
	for (i = 0; i < 6; i++) {
		p.rate[i] = 10;
		p.scale[i] = p.count[i] = 1;
		p.weight[i] = i < 2 ? 2 : 1;
	}
	s = solve(&gv_policy_max_min, &p, true);
	is_near(s.x[0], .5, 1e-12, "weight 2");
	is_near(s.x[5], .25, 1e-12, "weight 1");
	free(s.x);
	p.capacity[0] = 6;
	s = solve(&gv_policy_max_min, &p, true);
	is_near(s.x[0] + s.x[5], 2, 1e-12, "with enough GPUs all have all the time");
	free(s.x);
	gv_problem_free(&p);
}

/* Gangs: as much throughput per GPU; a gang of the pool's size alternates with others. */
static void
test_gangs(void)
{
	struct gv_problem p;
	struct gv_solution s;

	gv_problem_alloc(&p, 2, 1);
	p.capacity[0] = 4;
	p.rate[0] = p.rate[1] = 5;
	p.weight[0] = p.weight[1] = p.count[0] = p.count[1] = 1;
	p.scale[0] = 4;
	p.scale[1] = 1;
	s = solve(&gv_policy_max_min, &p, true);
	/* 4 x = t, y = t, 4 x + y <= 4: t = 1 by y <= 1, then x = 3/4 is left for the gang */
	is_near(s.objective, 1, 1e-12, "limited by the time of the small job");
	is_near(s.x[0], .75, 1e-12, "what is left goes to the gang");
	is_near(s.x[1], 1, 1e-12, "the small job runs all the time");
	free(s.x);
	s = solve(&gv_policy_isolated, &p, true);
	is_near(s.x[0], .5, 1e-15, "isolated: N / (n s)");
	is_near(s.x[1], 1, 1e-15, "but not more than all the time");
	free(s.x);
	s = solve(&gv_policy_proportional, &p, true);
	is_near(s.x[0], .8, 1e-15, "proportional: five GPUs wanted, four there");
	is_near(s.x[1], .8, 1e-15, "the same share for everybody");
	free(s.x);
	gv_problem_free(&p);
}

/* Weights and rates over many orders of magnitude. */
static void
test_ranges(void)
{
	int i, bad = 0;

	for (i = 0; i < 200; i++) {
		struct gv_problem p = random_problem(2 + below(20), 1 + below(3), 0);
		struct gv_solution s;
		size_t k, j;

		for (k = 0; k < p.n; k++) {
			double unit = pow(10, 24 * uniform() - 12);

			p.weight[k] *= pow(10, 12 * uniform() - 6);
			for (j = 0; j < p.m; j++)
				p.rate[k * p.m + j] *= unit;
		}
		s = solve(&gv_policy_max_min, &p, true);
		bad += !(s.gap <= 1e-9 && gv_problem_excess(&p, s.x) <= 1e-12);
		free(s.x);
		gv_problem_free(&p);
	}
	is_int(bad, 0,
	    "rates of 1e-12 to 1e12 and weights of 1e-6 to 1e6 are proved to 1e-9");
}

int
main(void)
{
	size_t i;

	draws_begin(11, 0, 0);
	test_paper();
	test_two_types();
	test_classes();
	test_prices();
	for (i = 0; gv_policies[i] != NULL; i++)
		test_properties(gv_policies[i]);
	test_prices_permuted();
	test_monotone();
	test_weight();
	test_gangs();
	test_ranges();
	ok(gv_policy_find("max-min") == &gv_policy_max_min, "a policy by its name");
	ok(gv_policy_find("max") == NULL, "no prefixes");
	return done_testing();
}
