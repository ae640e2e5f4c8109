/* gv-alloc --budget by prices of GPUs and of money, against one linear program of all. */
#include "tap.h"

#include "alloc_help.h"
#include "alloc/program/linear.h"

static struct gv_problem
random_problem(void)
{
	size_t n = 2 + below(50), m = 1 + below(5), i, j;
	struct gv_problem p;
	double all = 0;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_ELAPSED |
			       1u << GV_NUMBER_ISOLATED | 1u << GV_NUMBER_NEED |
			       1u << GV_NUMBER_POSITION);
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(1 + below(12));
		p.price[j] = uniform() < .1 ? 0 : exp(3 * uniform() - 1);
		all += p.capacity[j] * p.price[j];
	}
	for (i = 0; i < n; i++) {
		p.count[i] = uniform() < .2 ? (double)(1 + below(6)) : 1;
		p.weight[i] = .5 + uniform();
		p.scale[i] = uniform() < .6 ? 1 : (double)(1 + below(4));
		for (j = 0; j < m; j++)
			if (p.scale[i] <= p.capacity[j] && uniform() < .9)
				p.rate[i * m + j] = exp(3 * uniform());
		make_runnable(&p, i);
		draw_numbers(&p, i, .3);
	}
	p.budget = all * (.05 + .9 * uniform());
	return p;
}

static double
second_sum(const struct gv_problem *p, const double *x)
{
	double *gain = gv_linear_normalised(p);
	double sum = gv_linear_sum(p, gain, x);

	free(gain);
	return sum;
}

/* The worst of what may differ, over many problems. */
struct differences {
	double objective, second, gap, below, excess;
	size_t bind; /* problems whose budget is spent */
};

static void
compare(const struct gv_policy *policy, const struct gv_problem *p, bool lexicographic,
    struct differences *d)
{
	const struct gv_policy_options prices = {.solve.solver = GV_SOLVER_PRICE},
				       program = {.solve.solver = GV_SOLVER_GLPK};
	struct gv_problem q = seen_by(policy, p);
	struct gv_solution s[2] = {{0}};
	struct gv_error e = {0};
	int k;

	if (p->budget == 0) /* every GPU is free */
		return;
	for (k = 0; k < 2; k++) {
		s[k].x = gv_xcalloc(p->n, p->m * sizeof(*s[k].x));
		if (policy->solve(&q, k == 0 ? &prices : &program, &s[k], &e) != 0)
			gv_die_error(&e);
	}
	d->objective = fmax(d->objective, fabs(s[0].objective / s[1].objective - 1));
	d->gap = fmax(d->gap, s[0].gap);
	for (k = 0; k < 2; k++)
		d->below = fmax(d->below, -s[k].gap);
	d->excess = fmax(d->excess, gv_problem_excess(p, s[0].x));
	d->bind += gv_problem_cost(p, s[0].x) >= p->budget * (1 - 1e-9);
	if (lexicographic)
		d->second = fmax(
		    d->second, fabs(second_sum(p, s[0].x) / second_sum(p, s[1].x) - 1));
	for (k = 0; k < 2; k++)
		free(s[k].x);
}

static void
test_policy(const struct gv_policy *policy, bool lexicographic)
{
	struct differences d = {0};
	int k;

	for (k = 0; k < 300; k++) {
		struct gv_problem p = random_problem();

		compare(policy, &p, lexicographic, &d);
		gv_problem_free(&p);
	}
	ok(d.objective <= 1e-9 && d.second <= 1e-8,
	    "%s: as one linear program of all: %g, and the second sum: %g", policy->name,
	    d.objective, d.second);
	ok(d.gap <= 1e-9 && d.excess <= 1e-9, "%s: proved to %g, over by %g",
	    policy->name, d.gap, d.excess);
	ok(d.below <= 1e-9, "%s: no bound is below what is reached but by %g",
	    policy->name, d.below);
	ok(d.bind >= 50, "%s: the budget binds in %zu of 300", policy->name, d.bind);
}

int
main(void)
{
	gv_init("budget");
	draws_begin(71, 0, 0);
	test_policy(&gv_policy_max_min, true);
	test_policy(&gv_policy_makespan, true);
	test_policy(&gv_policy_finish_time, false);
	test_policy(&gv_policy_max_sum, true);
	test_policy(&gv_policy_fifo, true);
	return done_testing();
}
