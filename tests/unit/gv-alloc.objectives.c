/*
 * gv-alloc's policies that are programs, against programs written down here from
 * their definitions, job by job and unscaled, and against searches.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"

/* How many problems: more when there is time. */
static int
many(int n)
{
	return getenv("GV_LONG") != NULL ? 30 * n : n;
}

/*
 * Jobs with all their numbers, some of them equal; without deadlines.  scarce: the
 * GPUs are, not the time.
 */
static struct gv_problem
random_problem(size_t n, size_t m, bool scarce)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, (1u << GV_N_NUMBERS) - 1);
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(1 + below(scarce ? 3 : 12));
		p.price[j] = .1 + 3 * uniform();
	}
	for (i = 0; i < n; i++) {
		size_t like = uniform() < .3 ? below(i + 1) : i;

		p.count[i] = 1;
		p.weight[i] = 1;
		p.number[GV_NUMBER_POSITION][i] = (double)i;
		if (like < i) {
			copy_job(&p, i, like);
			continue;
		}
		p.scale[i] = (double)(1 << below(3));
		p.number[GV_NUMBER_STEPS][i] = exp(6 * uniform());
		p.number[GV_NUMBER_ELAPSED][i] = uniform() < .3 ? 0 : 30 * uniform();
		p.number[GV_NUMBER_ISOLATED][i] = uniform() < .3 ? 0 : 30 * uniform();
		for (j = 0; j < m; j++)
			if (uniform() < .8 && p.scale[i] <= p.capacity[j])
				p.rate[i * m + j] = exp(3 * uniform());
		make_runnable(&p, i);
	}
	return p;
}

static bool relax; /* --relax-slo */

/* 0 solved, else what the policy returned; *s.x per job. */
static int
solve_by(enum gv_solver solver, const struct gv_policy *policy,
    const struct gv_problem *p, struct gv_solution *s)
{
	struct gv_policy_options opt = {.solve.solver = solver, .relax_slo = relax};
	struct gv_error e = {0};
	int rc = answer(s, policy, p, &opt, solver != GV_SOLVER_GLPK, &e);

	if (rc < 0)
		printf("# %s: %s\n", policy->name, e.text[0]);
	return rc;
}

/* ---- a program of shares, from the definition ---- */

/* x_ij is column i m + j; time and GPUs are its first n + m rows. */
static void
base_program(const struct gv_problem *p, struct gv_lp *lp)
{
	size_t i, j;

	*lp = (struct gv_lp){.maximise = true};
	for (i = 0; i < p->n; i++)
		gv_lp_add_row(lp, -INFINITY, 1);
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			bool runs = gv_problem_rate(p, i, j) > 0;
			size_t col = gv_lp_add_col(lp, 0, runs ? 1 : 0, 0);

			gv_lp_set(lp, i, col, 1);
			gv_lp_set(lp, p->n + j, col, p->scale[i]);
		}
}

/* Its best value; NAN when there is none. */
static double
best_value(struct gv_lp *lp)
{
	struct gv_lp_solution sol;
	struct gv_error e = {0};
	double v = NAN;

	if (gv_lp_solve(lp, NULL, NULL, &sol, &e) == 0 && sol.status == GV_LP_OPTIMAL)
		v = sol.check.objective;
	gv_lp_solution_free(&sol);
	gv_lp_free(lp);
	return v;
}

/* max t with thr_i >= t share_i */
static double
best_level(const struct gv_problem *p, const double *share)
{
	struct gv_lp lp;
	size_t i, j, t;

	base_program(p, &lp);
	t = gv_lp_add_col(&lp, 0, INFINITY, 1);
	for (i = 0; i < p->n; i++) {
		size_t row = gv_lp_add_row(&lp, 0, INFINITY);

		gv_lp_set(&lp, row, t, -share[i]);
		for (j = 0; j < p->m; j++)
			gv_lp_set(&lp, row, i * p->m + j, gv_problem_rate(p, i, j));
	}
	return best_value(&lp);
}

/* ---- what must hold ---- */

struct count {
	int failed, wrong, gap, excess, second;
};

/* The second objective: the sum of throughputs, normalised or (min-cost) as they are. */
static double
second_of(const struct gv_policy *policy, const struct gv_problem *p, const double *x)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double sum = 0;
	size_t i;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++)
		sum += gv_problem_throughput(p, x, i) *
		       (policy == &gv_policy_min_cost ? 1 : p->scale[i] / equal[i]);
	free(equal);
	return sum;
}

/* The policy's answer by all its solvers against the value that is right. */
static void
compare(struct count *c, const struct gv_policy *policy, const struct gv_problem *p,
    double right)
{
	static const enum gv_solver solvers[] = {
	    GV_SOLVER_AUTO, GV_SOLVER_GLPK, GV_SOLVER_PRICE};
	double second = 0;
	size_t k;

	for (k = 0; k < 3; k++) {
		struct gv_solution s;

		if (solve_by(solvers[k], policy, p, &s) != 0) {
			c->failed++;
		} else {
			c->wrong += !near(s.objective, right, 1e-9);
			c->gap += !(s.gap <= 1e-9 && s.has_bound &&
				    (policy->minimises ? s.bound <= right * (1 + 1e-9)
						       : s.bound >= right * (1 - 1e-9)));
			c->excess += !(gv_problem_excess(p, s.x) <= 1e-12);
			if (k == 0)
				second = second_of(policy, p, s.x);
			/* of many single jobs GLPK alone may miss it */
			c->second += !(solvers[k] == GV_SOLVER_GLPK && p->n > 256) &&
				     !near(second_of(policy, p, s.x), second, 1e-7);
		}
		free(s.x);
		free(s.late);
	}
}

static void
judge(const struct count *c, const char *name, int n)
{
	is_int(c->failed, 0, "%s: %d problems are solved by every solver", name, n);
	is_int(c->wrong, 0, "%s: to the optimum of the definition", name);
	is_int(c->gap, 0, "%s: with a bound that holds", name);
	is_int(c->second, 0, "%s: with the same second objective", name);
	is_int(c->excess, 0, "%s: within the constraints", name);
}

static void
test_makespan(void)
{
	struct count c = {0};
	int i;

	for (i = 0; i < many(300); i++) {
		struct gv_problem p =
		    random_problem(1 + below(25), 1 + below(4), uniform() < .5);

		compare(&c, &gv_policy_makespan, &p,
		    1 / best_level(&p, p.number[GV_NUMBER_STEPS]));
		gv_problem_free(&p);
	}
	judge(&c, "makespan", many(300));
}

/* Jobs without steps get nothing and change nothing. */
static void
test_done(void)
{
	struct gv_problem p = random_problem(6, 2, true);
	struct gv_problem q;
	bool keep[6] = {false, true, true, true, true, true};
	struct gv_solution s, r;

	p.number[GV_NUMBER_STEPS][0] = 0;
	gv_problem_pick(&q, &p, keep);
	solve_by(GV_SOLVER_AUTO, &gv_policy_makespan, &p, &s);
	solve_by(GV_SOLVER_AUTO, &gv_policy_makespan, &q, &r);
	is_near(s.objective, r.objective, 0, "a job that is done does not count");
	ok(s.x[0] == 0 && s.x[1] == 0, "and gets nothing");
	free(s.x);
	free(r.x);
	gv_problem_free(&q);
	keep[1] = keep[2] = keep[3] = keep[4] = keep[5] = false;
	memset(p.number[GV_NUMBER_STEPS], 0, 6 * sizeof(double));
	is_int(solve_by(GV_SOLVER_AUTO, &gv_policy_makespan, &p, &s), 0,
	    "nothing is left to do");
	ok(s.objective == 0 && s.bound == 0 && s.gap == 0, "in no time");
	free(s.x);
	gv_problem_free(&p);
}

/* The best ratio by bisection: at theta all can have thr_i >= n_i / (theta D_i - e_i). */
static double
best_ratio(const struct gv_problem *p)
{
	double *alone = gv_xcalloc(p->n, sizeof(*alone));
	double *share = gv_xcalloc(p->n, sizeof(*share));
	double low = 0, high = 1000;
	size_t i, j;
	int k;

	for (i = 0; i < p->n; i++) {
		double sum = 0, thr = 0;

		for (j = 0; j < p->m; j++)
			if (gv_problem_rate(p, i, j) > 0)
				sum += p->capacity[j] / ((double)p->n * p->scale[i]);
		for (j = 0; j < p->m; j++)
			thr += gv_problem_rate(p, i, j) * p->capacity[j] /
			       ((double)p->n * p->scale[i]) / fmax(1, sum);
		alone[i] = p->number[GV_NUMBER_ISOLATED][i] +
			   p->number[GV_NUMBER_STEPS][i] / thr;
	}
	for (k = 0; k < 50; k++) {
		double theta = (low + high) / 2;
		bool possible = true;

		for (i = 0; i < p->n; i++) {
			double left = theta * alone[i] - p->number[GV_NUMBER_ELAPSED][i];

			possible = possible && left > 0;
			share[i] = p->number[GV_NUMBER_STEPS][i] / left;
		}
		if (possible && best_level(p, share) >= 1)
			high = theta;
		else
			low = theta;
	}
	free(alone);
	free(share);
	return low;
}

static void
test_finish_time(void)
{
	struct count c = {0};
	int i;

	for (i = 0; i < many(100); i++) {
		struct gv_problem p =
		    random_problem(1 + below(15), 1 + below(4), uniform() < .5);

		compare(&c, &gv_policy_finish_time, &p, best_ratio(&p));
		gv_problem_free(&p);
	}
	judge(&c, "finish-time", many(100));
}

/* Half of the jobs have a deadline, all of which can be met with room of 1 / level. */
static void
give_deadlines(struct gv_problem *p, double level)
{
	double *share = gv_xcalloc(p->n, sizeof(*share));
	double best;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double most = 0;

		for (j = 0; j < p->m; j++)
			most = fmax(most, gv_problem_rate(p, i, j));
		if (uniform() < .5)
			share[i] = most * (.1 + uniform());
	}
	best = best_level(p, share);
	for (i = 0; i < p->n && isfinite(best) && best < 1e9; i++)
		p->number[GV_NUMBER_NEED][i] = share[i] * best * level;
	free(share);
}

/* Rows thr_i >= need_i u, u being column u or the number 1. */
static void
add_needs(struct gv_lp *lp, const struct gv_problem *p, size_t u)
{
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		size_t row = gv_lp_add_row(
		    lp, u == SIZE_MAX ? p->number[GV_NUMBER_NEED][i] : 0, INFINITY);

		for (j = 0; j < p->m; j++)
			gv_lp_set(lp, row, i * p->m + j, gv_problem_rate(p, i, j));
		if (u != SIZE_MAX)
			gv_lp_set(lp, row, u, -p->number[GV_NUMBER_NEED][i]);
	}
}

/* max sum of T_ij x_ij / unit_j */
static double
best_sum(const struct gv_problem *p, const double *unit)
{
	struct gv_lp lp;
	size_t i;

	base_program(p, &lp);
	add_needs(&lp, p, SIZE_MAX);
	for (i = 0; i < p->n * p->m; i++)
		lp.cost[i] = p->rate[i] / (unit != NULL ? unit[i % p->m] / 3600 : 1);
	return best_value(&lp);
}

/* The best steps per dollar, by the program of Charnes and Cooper. */
static double
best_steps_per_usd(const struct gv_problem *p)
{
	struct gv_lp lp;
	size_t i, u, row;

	base_program(p, &lp);
	u = gv_lp_add_col(&lp, 0, INFINITY, 0);
	for (i = 0; i < p->n + p->m; i++) {
		gv_lp_set(&lp, i, u, -lp.row_hi[i]);
		lp.row_hi[i] = 0;
	}
	row = gv_lp_add_row(&lp, 1, 1);
	for (i = 0; i < p->n * p->m; i++) {
		lp.col_hi[i] = p->rate[i] > 0 ? INFINITY : 0;
		lp.cost[i] = p->rate[i];
		gv_lp_set(&lp, row, i, p->scale[i / p->m] * p->price[i % p->m]);
	}
	add_needs(&lp, p, u);
	return 3600 * best_value(&lp);
}

/* Deadlines that cannot be met: without --relax-slo the answer is no. */
static void
test_relaxed(void)
{
	static const struct gv_policy *const policy[] = {
	    &gv_policy_max_sum, &gv_policy_per_dollar, &gv_policy_min_cost};
	int i, unasked = 0, factor = 0, late = 0, unmet = 0, gap = 0;

	for (i = 0; i < many(100); i++) {
		struct gv_problem p = random_problem(1 + below(20), 1 + below(4), true);
		struct gv_solution s;
		bool any = false;
		size_t k, q;

		give_deadlines(&p, 1.25);
		for (k = 0; k < p.n; k++)
			any = any || p.number[GV_NUMBER_NEED][k] > 0;
		for (q = 0; q < 3; q++) {
			bool named = false;

			unasked += solve_by(GV_SOLVER_AUTO, policy[q], &p, &s) != any;
			free(s.x);
			free(s.late);
			relax = true;
			solve_by(GV_SOLVER_AUTO, policy[q], &p, &s);
			relax = false;
			factor += any && !near(s.relaxation, 1.25, 1e-9);
			gap += !(s.gap <= 1e-9);
			for (k = 0; k < p.n; k++) {
				unmet += gv_problem_throughput(&p, s.x, k) <
					 p.number[GV_NUMBER_NEED][k] / 1.25 * (1 - 1e-9);
				named = named || (any && s.late[k]);
			}
			late += named != any;
			free(s.x);
			free(s.late);
		}
		gv_problem_free(&p);
	}
	is_int(unasked, 0, "deadlines that cannot be met: no, unless relaxed");
	is_int(factor, 0, "the least relaxation");
	is_int(late, 0, "somebody is named");
	is_int(unmet, 0, "the relaxed deadlines are met");
	is_int(gap, 0, "the optimum is proved");
}

static void
test_sums(void)
{
	struct count sum = {0}, cost = {0}, per_dollar = {0};
	int i;

	for (i = 0; i < many(300); i++) {
		struct gv_problem p =
		    random_problem(1 + below(20), 1 + below(4), uniform() < .5);

		if (i % 3 > 0)
			give_deadlines(&p, i % 3 == 1 ? 1 - 1e-6 : .7);
		compare(&sum, &gv_policy_max_sum, &p, best_sum(&p, NULL));
		compare(&per_dollar, &gv_policy_per_dollar, &p, best_sum(&p, p.price));
		compare(&cost, &gv_policy_min_cost, &p, best_steps_per_usd(&p));
		gv_problem_free(&p);
	}
	judge(&sum, "max-sum", many(300));
	judge(&per_dollar, "min-cost+per-dollar", many(300));
	judge(&cost, "min-cost", many(300));
}

static double
best_fifo(const struct gv_problem *p)
{
	struct gv_lp lp;
	size_t i, j;

	base_program(p, &lp);
	for (i = 0; i < p->n; i++) {
		double most = 0;

		for (j = 0; j < p->m; j++)
			most = fmax(most, gv_problem_rate(p, i, j));
		for (j = 0; j < p->m; j++)
			lp.cost[i * p->m + j] =
			    ((double)p->n - p->number[GV_NUMBER_POSITION][i]) *
			    gv_problem_rate(p, i, j) / most;
	}
	return best_value(&lp);
}

/* Hundreds of jobs that all differ: by prices, without being asked; with deadlines, too. */
static void
test_many(void)
{
	struct count fifo = {0}, sum = {0}, cost = {0}, span = {0}, slo = {0};
	int i;

	for (i = 0; i < many(6); i++) {
		struct gv_problem p = random_problem(400, 2 + below(3), true);
		size_t k, j;

		for (j = 0; j < p.m; j++)
			p.capacity[j] *= (double)(1 + below(100));
		for (k = 0; k < p.n * p.m; k++)
			p.rate[k] *= 1 + .1 * uniform();
		compare(&fifo, &gv_policy_fifo, &p, best_fifo(&p));
		compare(&sum, &gv_policy_max_sum, &p, best_sum(&p, NULL));
		compare(&cost, &gv_policy_min_cost, &p, best_steps_per_usd(&p));
		compare(&span, &gv_policy_makespan, &p,
		    1 / best_level(&p, p.number[GV_NUMBER_STEPS]));
		give_deadlines(&p, i % 2 == 0 ? 1 - 1e-6 : .7);
		compare(&slo, &gv_policy_max_sum, &p, best_sum(&p, NULL));
		compare(&slo, &gv_policy_per_dollar, &p, best_sum(&p, p.price));
		compare(&slo, &gv_policy_min_cost, &p, best_steps_per_usd(&p));
		gv_problem_free(&p);
	}
	judge(&slo, "sums of 400 with deadlines", many(6));
	judge(&fifo, "fifo of 400", many(6));
	judge(&sum, "max-sum of 400", many(6));
	judge(&cost, "min-cost of 400", many(6));
	judge(&span, "makespan of 400", many(6));
}

static void
test_fifo(void)
{
	struct count c = {0};
	int i, above = 0;

	for (i = 0; i < many(200); i++) {
		struct gv_problem p =
		    random_problem(1 + below(25), 1 + below(4), uniform() < .5);
		double best = best_fifo(&p);
		struct gv_solution s;

		compare(&c, &gv_policy_fifo, &p, best);
		solve_by(GV_SOLVER_AUTO, &gv_policy_fifo_greedy, &p, &s);
		above += !(s.objective <= best * (1 + 1e-9)) ||
			 !(gv_problem_excess(&p, s.x) <= 1e-12);
		free(s.x);
		free(s.pair);
		gv_problem_free(&p);
	}
	judge(&c, "fifo", many(200));
	is_int(above, 0, "fifo-greedy is no better");
}

/* The most steps per second that job i alone can make of what is left of the types. */
static double
most_of_left(const struct gv_problem *p, size_t i, const double *left)
{
	struct gv_lp lp;
	size_t j;

	base_program(p, &lp);
	for (j = 0; j < p->m; j++) {
		lp.row_hi[p->n + j] = left[j];
		lp.cost[i * p->m + j] = gv_problem_rate(p, i, j);
	}
	return best_value(&lp);
}

/* Shortest job first by looking at every job in every round. */
static void
test_sjf(void)
{
	int i, wrong = 0, order = 0;

	for (i = 0; i < many(100); i++) {
		struct gv_problem p = random_problem(1 + below(8), 1 + below(3), true);
		bool done[8] = {false};
		double left[3];
		struct gv_solution s;
		size_t k, j, round;

		for (k = 0; k < p.n; k++) /* all differ */
			p.number[GV_NUMBER_STEPS][k] *= 1 + uniform();
		memcpy(left, p.capacity, p.m * sizeof(*left));
		solve_by(GV_SOLVER_AUTO, &gv_policy_sjf, &p, &s);
		for (round = 0; round < p.n; round++) {
			double best = INFINITY, thr = 0;
			size_t first = p.n;

			for (k = 0; k < p.n; k++) {
				double most = done[k] ? 0 : most_of_left(&p, k, left);

				if (most > 1e-9 &&
				    p.number[GV_NUMBER_STEPS][k] / most < best) {
					best = p.number[GV_NUMBER_STEPS][k] / most;
					thr = most;
					first = k;
				}
			}
			if (first == p.n)
				break;
			done[first] = true;
			wrong += !near(gv_problem_throughput(&p, s.x, first), thr, 1e-9);
			order += round == 0 && !near(s.objective, best, 1e-9);
			for (j = 0; j < p.m; j++)
				left[j] = fmax(
				    0, left[j] - p.scale[first] * s.x[first * p.m + j]);
		}
		free(s.x);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "sjf: each gets the most of what the earlier leave");
	is_int(order, 0, "sjf: the objective is the first job's time");
}

int
main(void)
{
	draws_begin(12, 0, 0);
	test_fifo();
	test_many();
	test_sjf();
	test_sums();
	test_relaxed();
	test_makespan();
	test_finish_time();
	test_done();
	return done_testing();
}
