/*
 * What follows where a solver fails: GLPK, the search for prices or the interior-point
 * method, as told here.  This program's glp_simplex() stands before GLPK's and fails for
 * programs of many rows; the others are compiled in and fail when told.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "tap.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <glpk.h>

#include "alloc/solve/solve.h"
#include "alloc_help.h"
#include "alloc_real.h"

/* GLPK fails for programs of more rows than that, and after so many by the dual method. */
static int glpk_rows = INT_MAX;
static int glpk_dual = INT_MAX;
static int glpk_pass;  /* so many of the next calls do not fail, whatever is said below */
static int glpk_first; /* so many of the next calls fail */
static int glpk_failed, glpk_solved;

/* Jobs from which on finish-time begins with a sample of them. */
enum { MANY = 65536 };

/* So many price searches fail after some that do not: with no effort left, or at no end. */
static int prices_pass, prices_fail;
static bool prices_spend;
static int prices_loose; /* the bounds of so many are above what is reached */
static int price_calls, price_calls_of_many;

/* Whether the interior-point method fails. */
static bool interior_fails;
static int interior_calls;

int
glp_simplex(glp_prob *p, const glp_smcp *parm)
{
	int (*next)(glp_prob *, const glp_smcp *);
	void *found = dlsym(RTLD_NEXT, "glp_simplex");

	if (glpk_pass-- <= 0 &&
	    (glp_get_num_rows(p) > glpk_rows ||
		(parm->meth == GLP_DUAL && glpk_dual-- <= 0) || glpk_first-- > 0)) {
		glpk_failed++;
		return GLP_EFAIL;
	}
	glpk_solved++;
	memcpy(&next, &found, sizeof(next));
	return next(p, parm);
}

/* Whether this search fails; its effort is spent then, if there is a limit. */
static bool
fails(double *effort)
{
	price_calls++;
	if (prices_pass > 0 || prices_fail == 0) {
		prices_pass -= prices_pass > 0;
		return false;
	}
	prices_fail--;
	if (prices_spend && effort != NULL)
		*effort = -1;
	return true;
}

/* Half of something, which must not stay. */
static void
spoil(struct gv_solution *s, const struct gv_problem *p)
{
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		s->x[i] = .5;
}

int
gv_level_by_prices(const struct gv_problem *p, const double *a, double unit,
    struct gv_level *l, double *effort, struct gv_price_memory *memory, bool *second_done)
{
	int rc;

	*second_done = false;
	price_calls_of_many += p->n > MANY;
	if (fails(effort))
		return 1;
	rc = real_level_by_prices(p, a, unit, l, effort, memory, second_done);
	if (rc == 0 && prices_loose-- > 0)
		l->s->bound *= 1 + 1e-6;
	return rc;
}

int
gv_linear_by_prices(struct gv_linear *l, double *effort, struct gv_price_memory *memory,
    const char *name, struct gv_error *e)
{
	if (!fails(effort))
		return real_linear_by_prices(l, effort, memory, name, e);
	spoil(l->s, l->p);
	return 1;
}

int
gv_linear_by_interior(struct gv_linear *l, const char *name, struct gv_error *e)
{
	interior_calls++;
	if (!interior_fails)
		return real_linear_by_interior(l, name, e);
	spoil(l->s, l->p);
	return 1;
}

int
gv_level_by_interior(const struct gv_problem *p, const double *a, double unit, bool sharp,
    struct gv_level *l, bool *second_done, struct gv_error *e)
{
	interior_calls++;
	*second_done = false;
	if (!interior_fails)
		return real_level_by_interior(p, a, unit, sharp, l, second_done, e);
	spoil(l->s, p);
	return 1;
}

static void
all_work(void)
{
	glpk_rows = glpk_dual = INT_MAX;
	glpk_pass = glpk_first = prices_pass = prices_fail = 0;
	prices_spend = false;
	prices_loose = 0;
	interior_fails = false;
	glpk_failed = glpk_solved = interior_calls = 0;
	price_calls = price_calls_of_many = 0;
}

/* n jobs that all differ on three types; needs: some, that can be met. */
static struct gv_problem
draw(size_t n, bool needs)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, 3);
	gv_problem_ask(&p, 1u << GV_NUMBER_NEED | 1u << GV_NUMBER_STEPS |
			       1u << GV_NUMBER_ELAPSED | 1u << GV_NUMBER_ISOLATED);
	for (j = 0; j < 3; j++) {
		p.capacity[j] = (double)(n / 4 + 1 + below(5));
		p.price[j] = 1 + uniform();
	}
	for (i = 0; i < n; i++) {
		p.scale[i] = (double)(1 << below(3));
		p.weight[i] = .5 + uniform();
		p.count[i] = 1;
		for (j = 0; j < 3; j++)
			p.rate[i * 3 + j] = .5 + 4 * uniform();
		p.number[GV_NUMBER_NEED][i] = needs && i % 4 == 0 ? .01 : 0;
		p.number[GV_NUMBER_STEPS][i] = 1 + (double)(i % 7);
	}
	return p;
}

/* Solves; the objective, or NAN where it failed with a sentence. */
static double
objective(const struct gv_policy *policy, const struct gv_problem *p,
    enum gv_solver solver, bool certify)
{
	const struct gv_policy_options opt = {
	    .solve = {.solver = solver, .certify = certify}};
	struct gv_problem seen = seen_by(policy, p);
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	struct gv_error e = {0};
	double found = NAN;
	int rc = policy->solve(&seen, &opt, &s, &e);

	if (rc == 0) {
		ok(e.count == 0, "%s: no error stays", policy->name);
		ok(gv_problem_excess(p, s.x) <= 1e-9 && s.gap <= 1e-9,
		    "%s: feasible and proved", policy->name);
		found = s.objective;
	} else {
		ok(strstr(e.text[0], "the linear program of ") != NULL,
		    "%s: says what failed: %s", policy->name, e.text[0]);
	}
	gv_error_clear(&e);
	free(s.x);
	free(s.late);
	return found;
}

enum { FEW = 50 };

/* Few jobs have an answer in many digits where all solvers fail. */
static bool
near_or_none(double found, double best, size_t n)
{
	return n < FEW ? near(found, best, 1e-9) : isnan(found);
}

/*
 * All ways of failing, of a policy and problem whose first solver is GLPK, or prices.
 * needs: a program of levels says first whether they can be met.
 */
static void
test_policy(const struct gv_policy *policy, size_t n, bool needs, bool prices_first)
{
	struct gv_problem p = draw(n, needs);
	int small = n < 100 ? 14 : 100; /* programs of a few free jobs still work */
	bool once = policy == &gv_policy_max_min || policy == &gv_policy_max_sum;
	double best;

	all_work();
	best = objective(policy, &p, GV_SOLVER_AUTO, false);
	ok(best > 0 && (price_calls > 0) == prices_first, "%s, %zu jobs: %s first",
	    policy->name, n, prices_first ? "prices" : "GLPK");

	all_work();
	glpk_rows = small;
	ok(near(objective(policy, &p, GV_SOLVER_AUTO, false), best, 1e-9) &&
		price_calls > 0,
	    "%s, %zu jobs: prices where GLPK fails", policy->name, n);
	ok((glpk_failed > 0) == !prices_first, "which it did");

	all_work();
	prices_fail = 1000;
	glpk_rows = prices_first ? small : INT_MAX;
	ok(near(objective(policy, &p, GV_SOLVER_AUTO, false), best, 1e-9) &&
		(interior_calls > 0) == prices_first,
	    "%s, %zu jobs: the interior-point method where prices fail", policy->name, n);

	all_work();
	prices_fail = 1000;
	interior_fails = true;
	ok(near(objective(policy, &p, GV_SOLVER_AUTO, false), best, 1e-9) &&
		glpk_solved > 0,
	    "%s, %zu jobs: GLPK where both fail", policy->name, n);

	all_work();
	prices_pass = needs; /* the search that says whether they can be met */
	prices_fail = 1;
	prices_spend = interior_fails = true;
	glpk_rows = small;
	if (prices_first && once) /* and not one program after another */
		ok(near(objective(policy, &p, GV_SOLVER_AUTO, false), best, 1e-9) &&
			price_calls == 2 + needs && interior_calls > 0,
		    "%s, %zu jobs: prices again, and longer, where both fail first",
		    policy->name, n);

	all_work();
	prices_fail = 1000;
	prices_spend = interior_fails = true;
	glpk_rows = 0;
	ok(near_or_none(objective(policy, &p, GV_SOLVER_AUTO, false), best, n) &&
		price_calls > 0 && glpk_failed > 0,
	    "%s, %zu jobs: where all fail many digits for few jobs, else an error",
	    policy->name, n);
	all_work();
	glpk_rows = 0;
	ok(near_or_none(objective(policy, &p, GV_SOLVER_GLPK, false), best, n) &&
		price_calls == 0,
	    "%s, %zu jobs: --solver=glpk has only those", policy->name, n);
	all_work();
	prices_fail = 1000;
	ok(near(objective(policy, &p, GV_SOLVER_PRICE, false), best, 1e-9) &&
		glpk_solved > 0,
	    "%s, %zu jobs: --solver=price has GLPK", policy->name, n);
	all_work();
	prices_fail = 1000;
	ok(near(objective(policy, &p, GV_SOLVER_INTERIOR, false), best, 1e-9) &&
		interior_calls > 0 && price_calls == 0,
	    "%s, %zu jobs: --solver=interior asks it alone", policy->name, n);
	all_work();
	interior_fails = true;
	ok(near(objective(policy, &p, GV_SOLVER_INTERIOR, false), best, 1e-9) &&
		interior_calls > 0 && glpk_solved > 0,
	    "%s, %zu jobs: --solver=interior has GLPK", policy->name, n);
	all_work();
	interior_fails = true;
	glpk_rows = small;
	ok(near(objective(policy, &p, GV_SOLVER_INTERIOR, false), best, 1e-9) &&
		price_calls > 0,
	    "%s, %zu jobs: --solver=interior has prices at last", policy->name, n);
	all_work();
	glpk_rows = 0;
	ok(near_or_none(objective(policy, &p, GV_SOLVER_AUTO, true), best, n) &&
		(needs || !once || price_calls == 0),
	    "%s, %zu jobs: prices are no certificate", policy->name, n);
	gv_problem_free(&p);
}

/* A reach, at a corner or not; its factor, 0 where it fails. */
static double
reach(const struct gv_problem *p, const double *want, bool corner, enum gv_solver solver)
{
	const struct gv_solver_options opt = {.solver = solver};
	struct gv_error e = {0};
	struct gv_reach r;
	double sum = 0, least = INFINITY;
	size_t i, j;
	int rc;

	gv_reach_alloc(&r, p);
	rc = gv_reach_solve(&r, p, p->rate, want, corner, &opt, &e);
	for (i = 0; i < p->n && rc == 0; i++) {
		double level = 0;

		for (j = 0; j < p->m; j++)
			level += p->rate[i * p->m + j] * r.x[i * p->m + j];
		least = fmin(least, level / want[i]);
		sum += r.lambda[i] * want[i];
	}
	ok((rc == 0) == (e.count == 0), "an error is said if there is one");
	ok(rc != 0 || near(least, r.limit / sum, 1e-9), "the inequality is full");
	gv_error_clear(&e);
	gv_reach_free(&r);
	return rc == 0 ? least : 0;
}

static void
test_reach(size_t n, bool corner, bool prices_first)
{
	struct gv_problem p = draw(n, false);
	double *want = gv_xcalloc(n, sizeof(*want));
	double best;
	size_t i;

	for (i = 0; i < n; i++)
		want[i] = .1 + uniform();
	all_work();
	best = reach(&p, want, corner, GV_SOLVER_AUTO);
	ok(best > 0 && (price_calls > 0) == prices_first, "reach of %zu jobs: %s first",
	    n, prices_first ? "prices" : "GLPK");
	all_work();
	glpk_rows = 0;
	ok(near(reach(&p, want, corner, GV_SOLVER_AUTO), best, 1e-8),
	    "reach of %zu jobs: prices where GLPK fails", n);
	all_work();
	prices_fail = 1000;
	ok(near(reach(&p, want, corner, GV_SOLVER_AUTO), best, 1e-8),
	    "reach of %zu jobs: another where prices fail", n);
	all_work();
	prices_fail = 1000;
	interior_fails = true;
	ok(near(reach(&p, want, corner, GV_SOLVER_AUTO), best, 1e-8),
	    "reach of %zu jobs: GLPK where both fail", n);
	all_work();
	prices_fail = 1000;
	interior_fails = true;
	glpk_rows = 0;
	ok(n < FEW ? near(reach(&p, want, corner, GV_SOLVER_AUTO), best, 1e-8)
		   : reach(&p, want, corner, GV_SOLVER_AUTO) == 0,
	    "reach of %zu jobs: where all fail many digits for few jobs, else an error",
	    n);
	all_work();
	glpk_rows = 0;
	ok(reach(&p, want, corner, GV_SOLVER_GLPK) == 0 && price_calls == 0,
	    "reach of %zu jobs: --solver=glpk has no other way", n);
	free(want);
	gv_problem_free(&p);
}

/* Levels of a queue of jobs that share GPUs: [n], the caller's. */
static double *
queue_levels(const struct gv_problem *p)
{
	const struct gv_policy_options opt = {.inside = GV_INSIDE_FIFO};
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	double *v = gv_xcalloc(p->n, sizeof(*v));
	struct gv_error e = {0};

	ok(gv_policy_water_filling.solve(p, &opt, &s, &e) == 0 && s.gap <= 1e-9,
	    "a queue: proved");
	ok(e.count == 0, "a queue: no error stays");
	gv_solution_throughput(p, &s, v);
	gv_error_clear(&e);
	free(s.x);
	free(s.pair);
	return v;
}

/* The objective of jobs that share GPUs, or NAN; whatever fails nothing is given out twice. */
static double
shared_objective(const struct gv_policy *policy, const struct gv_problem *p)
{
	const struct gv_policy_options opt = {0};
	struct gv_problem seen = seen_by(policy, p);
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(*s.x))};
	double *left = gv_xcalloc(p->m, sizeof(*left)), found = NAN;
	struct gv_error e = {0};
	size_t i;
	int rc = policy->solve(&seen, &opt, &s, &e);

	ok((rc == 0) == (e.count == 0), "%s: an error is said if there is one",
	    policy->name);
	for (i = 0; i < p->m; i++)
		left[i] = p->capacity[i];
	for (i = 0; i < p->n * p->m; i++)
		left[i % p->m] -= p->scale[i / p->m] * s.x[i];
	for (i = 0; i < s.n_pairs; i++)
		left[s.pair[i].type] -= p->scale[s.pair[i].a] * s.pair[i].x;
	for (i = 0; i < p->m && rc == 0; i++)
		if (left[i] < -1e-9)
			ok(false, "%s: type %zu has %g GPUs left", policy->name, i,
			    left[i]);
	if (rc == 0)
		found = s.objective;
	gv_error_clear(&e);
	free(left);
	free(s.x);
	free(s.late);
	free(s.pair);
	return found;
}

/* Two kinds of jobs, each on one GPU, that can share it. */
static void
draw_pairs(struct gv_problem *p, struct gv_together *with)
{
	struct gv_together_entry entry[3];
	size_t i;

	p->kind = gv_xcalloc(p->n, sizeof(*p->kind));
	for (i = 0; i < p->n; i++) {
		p->kind[i] = i % 2;
		p->scale[i] = 1;
	}
	for (i = 0; i < 3; i++)
		entry[i] = (struct gv_together_entry){.b = 1,
		    .type = (uint32_t)i,
		    .rate_a = .4 + uniform(),
		    .rate_b = .4 + uniform()};
	gv_together_make(with, 2, 3, entry, 3);
	p->together = with;
}

/*
 * GLPK fails from some call on: until the first objective is found there is no answer, afterwards
 * there is, and it is as good, without the second sum where that is the last program.
 */
static void
test_pairs(const struct gv_policy *policy, size_t n, bool needs, bool last)
{
	struct gv_together with;
	struct gv_problem p = draw(n, needs);
	double best, found;
	int calls, pass;
	bool any = false;

	draw_pairs(&p, &with);
	all_work();
	best = shared_objective(policy, &p);
	calls = glpk_solved;
	for (pass = 0; pass < calls; pass++) {
		all_work();
		glpk_pass = pass;
		glpk_rows = 0;
		found = shared_objective(policy, &p);
		ok(isnan(found) ? !any : pass > 0 && near(found, best, 1e-9),
		    "%s of pairs: GLPK fails after %d of %d", policy->name, pass, calls);
		any = !isnan(found);
	}
	ok(any == last, "%s of pairs: the last program %s", policy->name,
	    last ? "is a second sum" : "is what is asked for");
	gv_problem_free(&p);
	gv_together_free(&with);
}

/* From job to job, until GLPK fails: then by phases. */
static void
test_steps(size_t n, int solved)
{
	struct gv_together with;
	struct gv_problem p = draw(n, false);
	double *best, *v;
	size_t i, bad = 0;

	draw_pairs(&p, &with);
	gv_problem_ask(&p, 1u << GV_NUMBER_POSITION);
	for (i = 0; i < n; i++)
		p.number[GV_NUMBER_POSITION][i] = (double)i;
	all_work();
	best = queue_levels(&p);
	all_work();
	glpk_dual = solved;
	v = queue_levels(&p);
	ok(glpk_failed > 0, "%zu jobs in a queue: GLPK failed", n);
	for (i = 0; i < n; i++)
		bad += !(fabs(v[i] - best[i]) <= 1e-8 * fmax(1, best[i]));
	ok(bad == 0, "%zu jobs in a queue: phases where steps fail after %d", n, solved);
	free(best);
	free(v);
	gv_problem_free(&p);
	gv_together_free(&with);
}

/*
 * So many attempts of programs fail: then those of all that may count, or last, jobs that share
 * nothing go step by step.
 */
static void
test_steps_alone(size_t n, int failed)
{
	struct gv_problem p = draw(n, false);
	double *best, *v;
	size_t i, bad = 0;

	gv_problem_ask(&p, 1u << GV_NUMBER_POSITION);
	for (i = 0; i < n; i++)
		p.number[GV_NUMBER_POSITION][i] = (double)i;
	all_work();
	best = queue_levels(&p);
	all_work();
	prices_fail = 1000;
	interior_fails = true;
	glpk_first = failed;
	v = queue_levels(&p);
	ok(glpk_failed == failed && glpk_solved > 0, "a queue of %zu: %d attempts failed",
	    n, failed);
	for (i = 0; i < n; i++)
		bad += !(fabs(v[i] - best[i]) <= 1e-8 * fmax(1, best[i]));
	ok(bad == 0, "a queue of %zu: others where phases fail", n);
	free(best);
	free(v);
	gv_problem_free(&p);
}

/* Where the bounds of levels leave a gap they are filled once more, with all that may count. */
static void
test_loose(size_t n)
{
	struct gv_problem p = draw(n, false);
	const struct gv_policy_options opt = {0};
	double *x = gv_xcalloc(n, p.m * sizeof(*x));
	struct gv_solution s = {.x = x};
	struct gv_error e = {0};
	double objective;
	int calls;

	all_work();
	ok(gv_policy_water_filling.solve(&p, &opt, &s, &e) == 0 && s.gap <= 1e-9,
	    "%zu jobs: proved", n);
	objective = s.objective;
	calls = price_calls;
	all_work();
	prices_loose = calls;
	s = (struct gv_solution){.x = x};
	ok(gv_policy_water_filling.solve(&p, &opt, &s, &e) == 0 && s.gap <= 1e-9 &&
		near(s.objective, objective, 1e-9) &&
		near(gv_problem_level(&p, x), objective, 1e-9) &&
		near(s.bound, objective, 1e-9) && price_calls > calls,
	    "%zu jobs: and where the bounds of the first are loose", n);
	all_work();
	prices_loose = INT_MAX;
	s = (struct gv_solution){.x = x};
	ok(gv_policy_water_filling.solve(&p, &opt, &s, &e) == 0 &&
		near(s.objective, objective, 1e-5) && s.gap > 1e-7 && s.gap < 1e-5,
	    "%zu jobs: where all are it says so", n);
	gv_error_clear(&e);
	free(x);
	gv_problem_free(&p);
}

/*
 * Of many jobs, each of which there is 64 times, a sample of one in 64 has the ratio of all,
 * so that two programs of all are left.
 */
static void
test_sample(size_t n)
{
	struct gv_problem p = draw(n, false);
	double best, other;
	size_t i;

	for (i = 0; i < n; i++) {
		p.number[GV_NUMBER_ELAPSED][i] = 10 * uniform();
		p.number[GV_NUMBER_ISOLATED][i] = 10 * uniform();
		p.number[GV_NUMBER_STEPS][i] = 10 + 100 * uniform();
		if (i % 64 > 0)
			copy_job(&p, i, i - 1);
	}
	for (i = 0; i < p.m; i++)
		p.capacity[i] = ceil(p.capacity[i] / 20);
	all_work();
	best = objective(&gv_policy_finish_time, &p, GV_SOLVER_AUTO, false);
	ok(price_calls_of_many == 2 && price_calls > 2,
	    "%zu jobs: two programs of all after a sample", n);
	all_work();
	prices_fail = 1; /* the search for prices of the sample */
	interior_fails = true;
	glpk_rows = 100;
	other = objective(&gv_policy_finish_time, &p, GV_SOLVER_AUTO, false);
	ok(near(other, best, 1e-9) && price_calls_of_many > 2 &&
		price_calls == price_calls_of_many + 1,
	    "%zu jobs: more where that of the sample fails", n);
	all_work();
	p.number[GV_NUMBER_NEED][7] = 1e-9;
	other = objective(&gv_policy_finish_time, &p, GV_SOLVER_AUTO, false);
	ok(near(other, best, 1e-9) && price_calls_of_many == price_calls,
	    "%zu jobs: no sample where some have needs", n);
	gv_problem_free(&p);
}

/* n jobs on m types, each type worth so many times the one before it to all; GPUs for 8 on each. */
static struct gv_problem
draw_types(size_t n, size_t m, double times)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++) {
		p.capacity[j] = 8;
		p.price[j] = 1;
	}
	for (i = 0; i < n; i++) {
		p.scale[i] = p.weight[i] = p.count[i] = 1;
		for (j = 0; j < m; j++)
			p.rate[i * m + j] = pow(times, (double)j) * (1 + uniform()) +
					    (j == i % m ? 1 : 0);
	}
	return p;
}

/* Few jobs on many types: who comes first where none is short, and second where some are. */
static void
test_many_types(void)
{
	struct gv_problem apart = draw_types(24, 24, 1), alike = draw_types(32, 64, 1.1);

	all_work();
	objective(&gv_policy_water_filling, &apart, GV_SOLVER_AUTO, false);
	is_int(glpk_solved, 0, "where GPUs are plenty water-filling needs prices alone");
	all_work();
	objective(&gv_policy_max_sum, &apart, GV_SOLVER_AUTO, false);
	is_int(glpk_solved + interior_calls, 0, "and max-sum, too");
	all_work();
	objective(&gv_policy_max_sum, &alike, GV_SOLVER_AUTO, false);
	is_int(interior_calls, 0, "where they are not and jobs are few GLPK is second");
	ok(glpk_solved > 0, "and solves it");
	all_work();
	glpk_rows = 1;
	objective(&gv_policy_max_sum, &alike, GV_SOLVER_AUTO, false);
	ok(interior_calls > 0, "where it fails the interior point is third");
	gv_problem_free(&apart);
	gv_problem_free(&alike);
}

int
main(void)
{
	draws_begin(41, 0, 0);
	test_policy(&gv_policy_max_min, 8, false, false);
	test_policy(&gv_policy_max_min, 150, false, true);
	test_policy(&gv_policy_max_sum, 12, false, false);
	test_policy(&gv_policy_max_sum, 150, false, true);
	test_policy(&gv_policy_max_sum, 150, true, true);
	test_policy(&gv_policy_min_cost, 12, false, false);
	test_policy(&gv_policy_min_cost, 12, true, false);
	test_policy(&gv_policy_min_cost, 150, true, true);
	test_policy(&gv_policy_finish_time, 8, false, false);
	test_policy(&gv_policy_finish_time, 12, true, false);
	test_policy(&gv_policy_finish_time, 150, false, true);
	test_reach(8, false, false);
	test_reach(60, false, true);
	test_reach(60, true, false);
	test_steps_alone(12, 3);
	test_steps_alone(60, 3);
	test_steps_alone(60, 9);
	test_steps_alone(60, 18);
	test_loose(60);
	test_loose(150);
	test_steps(20, 0);
	test_steps(40, 10);
	test_pairs(&gv_policy_max_min, 12, false, true);
	test_pairs(&gv_policy_max_sum, 12, false, true);
	test_pairs(&gv_policy_max_sum, 12, true, true);
	test_pairs(&gv_policy_min_cost, 12, true, true);
	test_pairs(&gv_policy_finish_time, 12, true, true);
	test_pairs(&gv_policy_water_filling, 12, false, false);
	test_many_types();
	test_sample(MANY + 64);
	return done_testing();
}
