/*
 * water-filling of jobs that fall apart into types of their own, where each type's are all: by
 * components the same as all together by GLPK, also where needs cannot be met.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/policy/policy.h"

enum { TYPES = 3, EACH = 4, JOBS = TYPES * EACH };

/* Each job runs on one type. */
static void
draw(struct gv_problem *p, double most_need, bool one, bool entities)
{
	size_t i, bad = below(TYPES);

	gv_problem_alloc(p, JOBS, TYPES);
	gv_problem_ask(p, GV_NEEDS);
	if (entities)
		gv_problem_ask(p, 1u << GV_NUMBER_ENTITY | 1u << GV_NUMBER_ENTITY_WEIGHT);
	for (i = 0; i < TYPES; i++)
		p->capacity[i] = (double)(1 + below(EACH));
	for (i = 0; i < JOBS; i++) {
		size_t type = i % TYPES;
		double rate = .5 + uniform();

		p->count[i] = p->scale[i] = 1;
		p->weight[i] = .5 + uniform();
		p->rate[i * TYPES + type] = rate;
		if (uniform() < .4 && (!one || type == bad))
			p->number[GV_NUMBER_NEED][i] = rate * uniform() * most_need;
		if (entities) {
			p->number[GV_NUMBER_ENTITY][i] = (double)(i % 2);
			p->number[GV_NUMBER_ENTITY_WEIGHT][i] = (double)(1 + i % 2);
		}
	}
}

static int
ask(const struct gv_problem *p, enum gv_solver solver, bool relax, struct gv_solution *s,
    struct gv_error *e)
{
	struct gv_policy_options opt = {.relax_slo = relax};

	opt.solve.solver = solver;
	*s = (struct gv_solution){.x = gv_xcalloc(JOBS, TYPES * sizeof(double))};
	return gv_policy_water_filling.solve(p, &opt, s, e);
}

static void
forget(struct gv_solution *s)
{
	free(s->x);
	free(s->late);
	free(s->pair);
}

static bool
is_late(const struct gv_solution *s, size_t i)
{
	return s->late != NULL && s->late[i];
}

/* What the least served has, of what it would have of an equal part. */
static double
lowest(const struct gv_problem *p, const double *x)
{
	double equal[JOBS], least = INFINITY;
	size_t i;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < JOBS; i++)
		least = fmin(least, p->scale[i] * gv_problem_throughput(p, x, i) /
					equal[i] / p->weight[i]);
	return least;
}

static void
test(double most_need, bool one, bool relax, bool entities)
{
	enum { CASES = 40 };
	size_t round, i, wrong = 0, failed = 0, relaxed = 0;
	double worst = 0, bounds = 0;

	for (round = 0; round < CASES; round++) {
		struct gv_error e[2] = {{0}, {0}};
		struct gv_solution s[2];
		struct gv_problem p;
		int rc[2];

		draw(&p, most_need, one, entities);
		rc[0] = ask(&p, GV_SOLVER_AUTO, relax, &s[0], &e[0]);
		rc[1] = ask(&p, GV_SOLVER_GLPK, relax, &s[1], &e[1]);
		wrong += rc[0] != rc[1] || e[0].count != e[1].count ||
			 (e[0].count > 0 && strcmp(e[0].text[0], e[1].text[0]) != 0);
		for (i = 0; i < JOBS; i++)
			wrong += is_late(&s[0], i) != is_late(&s[1], i);
		failed += rc[0] != 0;
		relaxed += s[0].relaxation > 1 + 1e-9;
		if (rc[0] == 0 && rc[1] == 0) {
			for (i = 0; i < JOBS * TYPES; i++)
				worst = fmax(worst, fabs(s[0].x[i] - s[1].x[i]));
			worst = fmax(worst, fabs(s[0].relaxation - s[1].relaxation));
			if (!entities) /* of whom it is what one of them has */
				worst = fmax(
				    worst, fabs(s[0].objective / lowest(&p, s[0].x) - 1));
			wrong += s[0].exact; /* nobody has asked for that */
			wrong += !s[0].has_bound || !(s[0].gap > 0) ||
				 (s[0].objective > 0 && !(s[0].bound > s[0].objective));
			bounds = fmax(bounds, fabs(s[0].bound / s[0].objective - 1));
			bounds = fmax(bounds, s[0].gap);
		}
		forget(&s[0]);
		forget(&s[1]);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "needs to %g%s%s%s: what is said", most_need,
	    one ? " of one type" : "", relax ? ", relaxed" : "",
	    entities ? ", of entities" : "");
	ok(worst < 1e-6, "the same shares: %g", worst);
	ok(bounds < 1e-6, "which are the best: %g", bounds);
	if (most_need < .2)
		is_int(failed + relaxed, 0, "all needs are met");
	else
		ok((relax ? relaxed : failed) > 5, "%zu fail, %zu are relaxed", failed,
		    relaxed);
}

int
main(void)
{
	draws_begin(14, 9, 1);
	test(0, false, false, false);
	test(0, false, false, true);
	test(.1, false, false, false);
	test(.1, false, true, false);
	test(.1, false, true, true);
	test(2, true, false, false);
	test(2, false, false, false);
	test(2, true, true, false);
	test(2, false, true, false);
	return done_testing();
}
