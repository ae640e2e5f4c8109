/*
 * Levels of jobs whose weights are up to fifteen decades apart: the lowest of water-filling is
 * that of max-min, and what it says is possible at most is not below what is possible.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"

static struct gv_problem
random_problem(size_t n, size_t m)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(1 + below(4));
	for (i = 0; i < n; i++) {
		p.count[i] = 1;
		p.scale[i] = (double)(1 + below(2));
		p.weight[i] = pow(10, (double)below(16));
		for (j = 0; j < m; j++)
			if (uniform() < .7 && p.scale[i] <= p.capacity[j])
				p.rate[i * m + j] = exp(3 * uniform());
		make_runnable(&p, i);
	}
	return p;
}

/* What the policy says of p, and in *level what its shares give.  False: that there is none. */
static bool
solve(const struct gv_policy *policy, const struct gv_problem *p, enum gv_solver solver,
    bool certify, struct gv_solution *s, double *level)
{
	struct gv_policy_options opt = {.solve.solver = solver, .solve.certify = certify};
	struct gv_error e = {0};
	bool done;

	*s = (struct gv_solution){.x = gv_xcalloc(p->n, p->m * sizeof(*s->x))};
	done = policy->solve(p, &opt, s, &e) == 0;
	*level = done ? gv_problem_level(p, s->x) : NAN;
	gv_error_clear(&e);
	free(s->x);
	free(s->pair);
	free(s->late);
	s->x = NULL;
	return done;
}

struct tally {
	int none, below, low, dishonest;
	double worst;
};

/* best: the level of shares that there are. */
static void
judge(struct tally *t, const struct gv_problem *p, enum gv_solver solver, bool certify,
    double best)
{
	struct gv_solution s;
	double level;

	if (!solve(&gv_policy_water_filling, p, solver, certify, &s, &level)) {
		t->none++;
		return;
	}
	t->below += !(s.bound >= best * (1 - 1e-13));
	t->low += !(level >= best * (1 - 1e-9));
	t->dishonest += !(level >= s.bound * (1 - s.gap) * (1 - 1e-13));
	t->worst = fmax(t->worst, 1 - level / best);
}

static void
test_far_weights(const char *name, enum gv_solver solver, bool certify, int rounds)
{
	struct tally t = {0};
	int i;

	for (i = 0; i < rounds; i++) {
		struct gv_problem p = random_problem(2 + below(6), 1 + below(3));
		struct gv_solution s;
		double best;

		if (solve(&gv_policy_max_min, &p, GV_SOLVER_AUTO, false, &s, &best))
			judge(&t, &p, solver, certify, best);
		gv_problem_free(&p);
	}
	printf("# %s: none %d of %d, worst level %.2g below max-min's\n", name, t.none,
	    rounds, t.worst);
	is_int(t.below, 0, "%s: no bound is below what is possible", name);
	is_int(t.low, 0, "%s: the lowest level is that of max-min", name);
	is_int(t.dishonest, 0, "%s: the gap is between shares and bound", name);
	ok(t.none <= rounds / 20, "%s: %d of %d find none", name, t.none, rounds);
}

/* Two jobs on one GPU: the light one has 1 / (1 + w) of it. */
static void
test_one_gpu(int decade)
{
	struct gv_problem p;
	struct gv_solution s;
	double level, w = pow(10, decade);

	gv_problem_alloc(&p, 2, 1);
	p.capacity[0] = 1;
	p.count[0] = p.count[1] = p.scale[0] = p.scale[1] = 1;
	p.rate[0] = p.rate[1] = 1;
	p.weight[0] = 1;
	p.weight[1] = w;
	ok(solve(&gv_policy_water_filling, &p, GV_SOLVER_AUTO, false, &s, &level),
	    "weights 1 and 1e%d: solved", decade);
	ok(fabs(level * (1 + w) - 1) <= 1e-9, "weights 1 and 1e%d: level %.17g", decade,
	    level);
	ok(fabs(s.bound * (1 + w) - 1) <= 1e-9, "weights 1 and 1e%d: bound %.17g", decade,
	    s.bound);
	gv_problem_free(&p);
}

int
main(void)
{
	int rounds = getenv("GV_LONG") != NULL ? 20 : 1;
	int decade;

	draws_begin(41, 0, 0);
	for (decade = 0; decade <= 15; decade += 3)
		test_one_gpu(decade);
	test_far_weights("auto", GV_SOLVER_AUTO, false, 300 * rounds);
	test_far_weights("glpk", GV_SOLVER_GLPK, false, 300 * rounds);
	test_far_weights("price", GV_SOLVER_PRICE, false, 300 * rounds);
	test_far_weights("proved", GV_SOLVER_AUTO, true, 100 * rounds);
	return done_testing();
}
