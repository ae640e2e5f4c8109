/*
 * Needs beside what a policy aims for (min_steps_per_s, deadlines): against linear programs
 * written from the definitions, with nothing of ours but the simplex method's frame.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/prove/certificate.h"
#include "lp/lp.h"

static struct gv_problem
random_problem(size_t n, size_t m)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_ELAPSED |
			       1u << GV_NUMBER_ISOLATED | 1u << GV_NUMBER_POSITION |
			       GV_NEEDS);
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(1 + below(6));
	for (i = 0; i < n; i++) {
		p.count[i] = 1;
		p.scale[i] = (double)(1 << below(3));
		p.weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
		for (j = 0; j < m; j++)
			if (uniform() < .7 && p.scale[i] <= p.capacity[j])
				p.rate[i * m + j] = exp(3 * uniform());
		make_runnable(&p, i);
		draw_numbers(&p, i, 0);
		if (i > 0 && uniform() < .3)
			copy_job(&p, i, i - 1);
	}
	return p;
}

static bool
asks(const struct gv_policy *policy, const struct gv_problem *p, size_t i)
{
	return policy == &gv_policy_max_min || p->number[GV_NUMBER_STEPS][i] > 0;
}

/* ---- the programs ---- */

/* Columns x_ij and one more, rows of types and of times; the columns of x. */
static size_t *
frame(struct gv_lp *lp, const struct gv_problem *p)
{
	size_t *col = gv_xcalloc(p->n, p->m * sizeof(*col));
	size_t i, j;

	*lp = (struct gv_lp){.maximise = true};
	gv_lp_add_col(lp, 0, INFINITY, 0);
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++) {
		size_t time = gv_lp_add_row(lp, -INFINITY, 1);

		for (j = 0; j < p->m; j++) {
			if (gv_problem_rate(p, i, j) == 0)
				continue;
			col[i * p->m + j] = gv_lp_add_col(lp, 0, INFINITY, 0);
			gv_lp_set(lp, time, col[i * p->m + j], 1);
			gv_lp_set(lp, j, col[i * p->m + j], p->scale[i]);
		}
	}
	return col;
}

/* thr_i >= least + times the first column */
static void
add_least(struct gv_lp *lp, const struct gv_problem *p, const size_t *col, size_t i,
    double least, double times)
{
	size_t row = gv_lp_add_row(lp, least, INFINITY);
	size_t j;

	gv_lp_set(lp, row, 0, -times);
	for (j = 0; j < p->m; j++)
		if (gv_problem_rate(p, i, j) > 0)
			gv_lp_set(lp, row, col[i * p->m + j], gv_problem_rate(p, i, j));
}

/* The optimum, NAN: none was found. */
static double
optimum(struct gv_lp *lp, size_t *col)
{
	struct gv_lp_solution sol = {0};
	struct gv_error e = {0};
	double found;

	if (gv_lp_solve(lp, NULL, NULL, &sol, &e) != 0)
		gv_die_error(&e);
	found = sol.status == GV_LP_OPTIMAL ? sol.check.objective : NAN;
	gv_lp_solution_free(&sol);
	gv_lp_free(lp);
	free(col);
	return found;
}

/* By what all of want can be multiplied. */
static double
part_of(const struct gv_problem *p, const double *want)
{
	struct gv_lp lp;
	size_t *col = frame(&lp, p);
	size_t i;

	lp.cost[0] = 1;
	for (i = 0; i < p->n; i++)
		if (want[i] > 0)
			add_least(&lp, p, col, i, 0, want[i]);
	return optimum(&lp, col);
}

/* The largest t with thr_i >= max(t per_i, need_i); per_i 0: it asks for nothing. */
static double
level(const struct gv_problem *p, const double *per, const double *need)
{
	struct gv_lp lp;
	size_t *col = frame(&lp, p);
	size_t i;

	lp.cost[0] = 1;
	for (i = 0; i < p->n; i++) {
		if (per[i] > 0)
			add_least(&lp, p, col, i, 0, per[i]);
		if (need[i] > 0)
			add_least(&lp, p, col, i, need[i], 0);
	}
	return optimum(&lp, col);
}

/* The largest sum of gain_i thr_i with thr_i >= least_i. */
static double
largest_sum(const struct gv_problem *p, const double *gain, const double *least)
{
	struct gv_lp lp;
	size_t *col = frame(&lp, p);
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		if (least[i] > 0)
			add_least(&lp, p, col, i, least[i], 0);
		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0)
				lp.cost[col[i * p->m + j]] =
				    gain[i] * gv_problem_rate(p, i, j);
	}
	return optimum(&lp, col);
}

/* What each asks for at an objective of 1 of levels, of the inverse of seconds. */
static void
per_level(const struct gv_policy *policy, const struct gv_problem *p, double *per)
{
	size_t i;

	gv_problem_equal_throughput(p, per);
	for (i = 0; i < p->n; i++)
		per[i] = policy == &gv_policy_max_min
			     ? per[i] * p->weight[i] / p->scale[i]
			     : p->number[GV_NUMBER_STEPS][i];
}

/* Whether all can have the finish-time ratio. */
static bool
has_ratio(const struct gv_problem *p, const double *alone, const double *need, double r)
{
	double *want = gv_xcalloc(p->n, sizeof(*want));
	bool possible = true;
	size_t i;

	for (i = 0; i < p->n; i++) {
		double left = r * alone[i] - p->number[GV_NUMBER_ELAPSED][i];

		want[i] = need[i];
		if (!(p->number[GV_NUMBER_STEPS][i] > 0))
			continue;
		possible = possible && left > 0;
		want[i] = fmax(need[i], p->number[GV_NUMBER_STEPS][i] / left);
	}
	possible = possible && part_of(p, want) >= 1;
	free(want);
	return possible;
}

static double
best_ratio(const struct gv_problem *p, const double *need)
{
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	double *alone = gv_xcalloc(p->n, sizeof(*alone));
	double low = 0, high = 1e6;
	size_t i;
	int k;

	gv_problem_isolated(p, x);
	for (i = 0; i < p->n; i++)
		alone[i] = p->number[GV_NUMBER_ISOLATED][i] +
			   p->number[GV_NUMBER_STEPS][i] / gv_problem_throughput(p, x, i);
	for (k = 0; k < 70; k++) {
		double r = (low + high) / 2;

		if (has_ratio(p, alone, need, r))
			high = r;
		else
			low = r;
	}
	free(x);
	free(alone);
	return high;
}

/* The policy's best objective. */
static double
best(const struct gv_policy *policy, const struct gv_problem *p, const double *need)
{
	double *per = gv_xcalloc(p->n, sizeof(*per));
	double found, jobs = (double)p->n;
	size_t i;

	if (policy == &gv_policy_finish_time) {
		found = best_ratio(p, need);
	} else if (policy == &gv_policy_fifo) {
		for (i = 0; i < p->n; i++)
			per[i] = (jobs - p->number[GV_NUMBER_POSITION][i]) /
				 gv_problem_own_fastest(p, i);
		found = largest_sum(p, per, need);
	} else {
		per_level(policy, p, per);
		found = level(p, per, need);
		found = policy == &gv_policy_makespan ? 1 / found : found;
	}
	free(per);
	return found;
}

/* The second aim of levels: at the objective, the largest sum of s_i thr_i / P_i. */
static double
second(const struct gv_policy *policy, const struct gv_problem *p, const double *need,
    double objective)
{
	double *least = gv_xcalloc(p->n, sizeof(*least));
	double *gain = gv_xcalloc(p->n, sizeof(*gain));
	double found;
	size_t i;

	per_level(policy, p, least);
	gv_problem_equal_throughput(p, gain);
	for (i = 0; i < p->n; i++) {
		least[i] *= policy == &gv_policy_makespan ? 1 / objective : objective;
		least[i] = fmax(need[i], least[i]) * (1 - 1e-10);
		gain[i] = asks(policy, p, i) ? p->scale[i] / gain[i] : 0;
	}
	found = largest_sum(p, gain, least);
	free(least);
	free(gain);
	return found;
}

/* ---- the test ---- */

/*
 * Needs that leave so little are met, and nobody fails; what the best then is no program
 * in double precision says.
 */
static const double thin = 1 - 1e-9;

struct tally {
	int asked, lost, impossible, wrong_no, wrong_yes, wrong, short_of, excess,
	    unproved, second, uncertified;
	double worst, worst_second;
};

/* Needs of some jobs: as much of what all can have at once. */
static void
draw_needs(struct gv_problem *p, double part, double *need)
{
	double most;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double fastest = 0;

		for (j = 0; j < p->m; j++)
			fastest = fmax(fastest, gv_problem_rate(p, i, j));
		need[i] = uniform() < .5 ? fastest * (.05 + uniform()) : 0;
		if (!(p->number[GV_NUMBER_STEPS][i] > 0))
			need[i] = 0;
	}
	most = part_of(p, need);
	for (i = 0; i < p->n; i++) {
		bool deadline = uniform() < .5;

		need[i] *= isfinite(most) ? part * most : 0;
		p->number[GV_NUMBER_NEED][i] = deadline ? need[i] : need[i] / 2;
		p->number[GV_NUMBER_MINIMUM][i] = deadline ? need[i] / 2 : need[i];
	}
}

static double
sum_of(const struct gv_policy *policy, const struct gv_problem *p, const double *x)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double sum = 0;
	size_t i;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++)
		if (asks(policy, p, i))
			sum += p->scale[i] * gv_problem_throughput(p, x, i) / equal[i];
	free(equal);
	return sum;
}

/* A certificate of the rows as they are, with the needs that were met. */
static bool
certified(const struct gv_policy *policy, struct gv_problem *p, const double *need,
    enum gv_solver solver)
{
	struct gv_problem seen = seen_by(policy, p);
	struct gv_solution s = solve_rows(policy, &seen, solver);
	struct gv_certificate c;

	memcpy(p->number[GV_NUMBER_NEED], need, p->n * sizeof(*need));
	gv_problem_trim(p, s.x);
	gv_certificate_make(&c, &seen, policy->measure, &s);
	solution_free(&s);
	return c.excess == 0 && c.shortfall <= 1e-9 && c.gap <= 1e-8;
}

static void
check(struct tally *t, const struct gv_policy *policy, struct gv_problem *p,
    const double *need, double want, enum gv_solver solver)
{
	const struct gv_policy_options opt = {.solve.solver = solver};
	struct gv_error e = {0};
	struct gv_solution s;
	double off, missing = 0;
	size_t i;
	int rc = answer(&s, policy, p, &opt, solver != GV_SOLVER_GLPK, &e);

	if (rc == -1)
		gv_die_error(&e);
	t->wrong_no += rc == 1;
	if (rc == 0) {
		off = fabs(s.objective - want) / fmax(fabs(want), 1e-3);
		t->worst = fmax(t->worst, off);
		t->wrong +=
		    off > 3e-8; /* the program's tolerance over 1e-5 that needs leave */
		for (i = 0; i < p->n; i++)
			if (need[i] > 0)
				missing = fmax(missing,
				    1 - gv_problem_throughput(p, s.x, i) / need[i]);
		t->short_of += !(missing <= 1e-9);
		t->excess += !(gv_problem_excess(p, s.x) <= 1e-12);
	}
	if (rc == 0 && !isnan(want)) {
		t->unproved += !(s.gap <= 3e-9); /* roundings over what needs leave */
		if (policy == &gv_policy_max_min || policy == &gv_policy_makespan) {
			double most = second(policy, p, need, s.objective);

			off = 1 - sum_of(policy, p, s.x) / most;
			t->worst_second = fmax(t->worst_second, off);
			t->second += off > 1e-6;
		}
		if (want > 1e-6 && want < 1e3)
			t->uncertified += !certified(policy, p, need, solver);
	}
	free(s.x);
	free(s.late);
}

static void
test(const struct gv_policy *policy, enum gv_solver solver, int rounds)
{
	static const double parts[] = {.1, .5, .9, .999, 1 - 1e-5, thin, 1.001, 2};
	static const char *const names[] = {"auto", "glpk", "price"};
	struct tally t = {0};
	int k;

	for (k = 0; k < rounds; k++) {
		double part = parts[below(8)];
		struct gv_problem p = random_problem(1 + below(10), 1 + below(4));
		double *need = gv_xcalloc(p.n, sizeof(*need));
		double *most;
		double want;
		size_t i;
		bool any = false, works = false;

		draw_needs(&p, part, need);
		for (i = 0; i < p.n; i++) {
			any = any || need[i] > 0;
			works = works || asks(policy, &p, i);
		}
		most = need;
		t.asked++;
		if (any && part > 1) {
			const struct gv_policy_options opt = {.solve.solver = solver};
			struct gv_error e = {0};
			struct gv_solution s;
			int rc = answer(&s, policy, &p, &opt, true, &e);

			t.impossible++;
			t.wrong_yes += rc != 1 || !near(s.relaxation, part, 1e-8);
			free(s.x);
			free(s.late);
		} else if (works) {
			want = best(policy, &p, most);
			if (isfinite(want))
				check(&t, policy, &p, need, part == thin ? NAN : want,
				    solver);
			else
				t.lost++;
		}
		free(need);
		gv_problem_free(&p);
	}
	printf("# %s by %s: %d asked, %d lost, %d impossible; worst %.2g, second %.2g\n",
	    policy->name, names[solver], t.asked, t.lost, t.impossible, t.worst,
	    t.worst_second);
	ok(t.lost <= rounds / 20, "%s: the program of all ends", policy->name);
	is_int(t.wrong_yes, 0, "%s: what is too much is said, and by how much",
	    policy->name);
	is_int(t.wrong_no, 0, "%s: what is possible is given", policy->name);
	is_int(t.wrong, 0, "%s: the objective is the best", policy->name);
	is_int(t.short_of, 0, "%s: needs are met", policy->name);
	is_int(t.excess, 0, "%s: rows at most 1, types at most full", policy->name);
	is_int(t.unproved, 0, "%s: the bound holds it", policy->name);
	is_int(t.uncertified, 0, "%s: and is proved without rounding", policy->name);
	is_int(t.second, 0, "%s: of the best one with the largest sum", policy->name);
}

int
main(void)
{
	int rounds = getenv("GV_LONG") != NULL ? 3000 : 150;

	draws_begin(22, 0, 0);
	test(&gv_policy_max_min, GV_SOLVER_AUTO, rounds);
	test(&gv_policy_max_min, GV_SOLVER_PRICE, rounds);
	test(&gv_policy_max_min, GV_SOLVER_GLPK, rounds);
	test(&gv_policy_makespan, GV_SOLVER_AUTO, rounds);
	test(&gv_policy_makespan, GV_SOLVER_PRICE, rounds);
	test(&gv_policy_finish_time, GV_SOLVER_AUTO, rounds / 3);
	test(&gv_policy_finish_time, GV_SOLVER_PRICE, rounds / 3);
	test(&gv_policy_fifo, GV_SOLVER_AUTO, rounds);
	return done_testing();
}
