/* gv-alloc --placeable: against all placements, and against the rounds themselves. */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"
#include "lp/lp.h"
#include "sched/rounds.h"

/* Gangs about as large as the types; n jobs, some alike if kinds < n. */
static struct gv_problem
random_problem(size_t n, size_t m, size_t most_gpus, size_t kinds)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	gv_problem_ask(&p, 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_NEED);
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(2 + below(most_gpus - 1));
	for (i = 0; i < n; i++) {
		size_t like = i < kinds ? i : below(kinds);

		p.count[i] = p.weight[i] = 1;
		p.scale[i] = (double)(1 + below(3));
		p.number[GV_NUMBER_STEPS][i] = exp(4 * uniform());
		for (j = 0; j < m; j++)
			if (p.scale[i] <= p.capacity[j] && (j == 0 || uniform() < .8))
				p.rate[i * m + j] = exp(2 * uniform());
		if (p.scale[i] > p.capacity[0]) {
			p.scale[i] = 1;
			p.rate[i * m] = 1;
		}
		if (like < i)
			copy_job(&p, i, like);
	}
	return p;
}

static struct gv_solution
solve(const struct gv_policy *policy, const struct gv_problem *p, bool placeable)
{
	const struct gv_policy_options opt = {.solve.placeable = placeable};

	return shares(policy, p, &opt, true);
}

/* ---- every placement there is ---- */

enum { MOST_PLACES = 20000 };

struct all {
	const struct gv_problem *p;
	size_t n;
	unsigned char place[MOST_PLACES][8]; /* type + 1 of each job, 0 = none */
};

static void
enumerate(struct all *all, unsigned char *now, size_t i)
{
	const struct gv_problem *p = all->p;
	size_t j, k;

	if (i == p->n) {
		if (all->n < MOST_PLACES)
			memcpy(all->place[all->n++], now, 8);
		return;
	}
	for (j = 0; j <= p->m; j++) {
		double used = 0;

		for (k = 0; j > 0 && k < i; k++)
			used += now[k] == j ? p->scale[k] : 0;
		if (j > 0 && (gv_problem_rate(p, i, j - 1) == 0 ||
				 used + p->scale[i] > p->capacity[j - 1]))
			continue;
		now[i] = (unsigned char)j;
		enumerate(all, now, i + 1);
	}
	now[i] = 0;
}

/* Steps a second per step to do: 1 / makespan of the best mixture of them all. */
static double
best_of_all(const struct all *all)
{
	const struct gv_problem *p = all->p;
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution s = {0};
	struct gv_error e = {0};
	double value;
	size_t i, k;

	gv_lp_add_col(&lp, 0, INFINITY, 1);
	gv_lp_add_row(&lp, -INFINITY, 1);
	for (i = 0; i < p->n; i++) {
		gv_lp_add_row(&lp, 0, INFINITY);
		gv_lp_set(&lp, 1 + i, 0, -1);
	}
	for (k = 0; k < all->n; k++) {
		size_t col = gv_lp_add_col(&lp, 0, INFINITY, 0);

		gv_lp_set(&lp, 0, col, 1);
		for (i = 0; i < p->n; i++)
			if (all->place[k][i] > 0)
				gv_lp_set(&lp, 1 + i, col,
				    gv_problem_rate(p, i, (size_t)all->place[k][i] - 1) /
					p->number[GV_NUMBER_STEPS][i]);
	}
	if (gv_lp_solve(&lp, NULL, NULL, &s, &e) != 0)
		gv_die_error(&e);
	value = s.check.objective;
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
	return value;
}

static double
largest_sum(const struct all *all)
{
	double most = 0;
	size_t i, k;

	for (k = 0; k < all->n; k++) {
		double sum = 0;

		for (i = 0; i < all->p->n; i++)
			if (all->place[k][i] > 0)
				sum += gv_problem_rate(
				    all->p, i, (size_t)all->place[k][i] - 1);
		most = fmax(most, sum);
	}
	return most;
}

static void
test_all_placements(void)
{
	static struct all all;
	double worst = 0, worst_sum = 0, gap = 0;
	size_t binds = 0;
	int k;

	for (k = 0; k < 150; k++) {
		struct gv_problem p =
		    random_problem(2 + below(4), 1 + below(2), 4, 1 + below(6));
		unsigned char now[8] = {0};
		struct gv_solution s, free_s;
		double best;

		all.p = &p;
		all.n = 0;
		enumerate(&all, now, 0);
		best = 1 / best_of_all(&all);
		s = solve(&gv_policy_makespan, &p, true);
		free_s = solve(&gv_policy_makespan, &p, false);
		worst = fmax(worst, fabs(s.objective / best - 1));
		gap = fmax(gap, s.gap);
		binds += free_s.objective < best * (1 - 1e-6);
		free(s.x);
		free(free_s.x);
		s = solve(&gv_policy_max_sum, &p, true);
		worst_sum = fmax(worst_sum, fabs(s.objective / largest_sum(&all) - 1));
		free(s.x);
		gv_problem_free(&p);
	}
	ok(worst <= 1e-8, "the best mixture of all placements: %g", worst);
	ok(worst_sum <= 1e-8, "the largest sum is of one placement: %g", worst_sum);
	ok(gap <= 2e-8, "proved: %g", gap);
	ok(binds >= 30, "programs without --placeable promise more in %zu of 150", binds);
}

/* ---- the rounds of gv-run ---- */

enum { MAX_TYPES = 3, MAX_GPUS = 64 };

/* The worst part of its time that a job lacks after so many rounds on a type. */
static double
shortfall(const struct gv_problem *p, const double *x, int rounds)
{
	struct gv_gpu_type type[MAX_TYPES] = {{0}};
	struct gv_pool pool[MAX_TYPES] = {{0}};
	struct gv_cluster c = {
	    .n_types = p->m, .type = type, .n_pools = p->m, .pool = pool};
	ptrdiff_t owner[MAX_GPUS];
	struct gv_rounds r;
	double worst = 0;
	size_t i, j, g;
	int k;

	for (j = 0; j < p->m; j++) {
		type[j].name = "type";
		type[j].gpus = pool[j].gpus = (size_t)p->capacity[j];
		pool[j].type = j;
		pool[j].node = "";
	}
	gv_rounds_init(&r, &c, 360);
	for (i = 0; i < p->n; i++) {
		gv_rounds_add(&r, (size_t)p->scale[i]);
		gv_rounds_set_active(&r, i, true);
		r.job[i].ready = true;
		for (j = 0; j < p->m; j++) {
			gv_rounds_claim(&r, i, j)->rate = gv_problem_rate(p, i, j);
			gv_rounds_claim(&r, i, j)->share = x[i * p->m + j];
		}
	}
	for (g = 0; g < r.n_gpus; g++)
		owner[g] = GV_GPU_IDLE;
	for (k = 0; k < rounds; k++) {
		gv_rounds_plan(&r, GV_ROUND_NEW, owner, owner);
		for (i = 0; i < p->n; i++)
			for (g = 0; g < r.n_gpus; g++)
				if (owner[g] == (ptrdiff_t)i) {
					gv_rounds_credit(
					    &r, i, gv_rounds_type(&r, g), 360);
					break;
				}
		gv_rounds_pass(&r, 360);
	}
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			worst = fmax(worst,
			    x[i * p->m + j] -
				gv_rounds_claim(&r, i, j)->received_s / (360. * rounds));
	gv_rounds_free(&r);
	return worst;
}

static void
test_rounds(void)
{
	double with = 0, without = 0;
	size_t missed = 0;
	int k;

	for (k = 0; k < 60; k++) {
		struct gv_problem p =
		    random_problem(4 + below(9), 1 + below(MAX_TYPES), 6, 12);
		struct gv_solution s = solve(&gv_policy_max_min, &p, true);
		struct gv_solution free_s = solve(&gv_policy_max_min, &p, false);

		with = fmax(with, shortfall(&p, s.x, 200));
		without = fmax(without, shortfall(&p, free_s.x, 200));
		missed += shortfall(&p, free_s.x, 200) > .05;
		free(s.x);
		free(free_s.x);
		gv_problem_free(&p);
	}
	ok(with <= .05, "200 rounds give all shares but for %.1f points", 100 * with);
	ok(without > .1 && missed >= 10,
	    "without --placeable they lack up to %.0f points, over 5 in %zu of 60",
	    100 * without, missed);
}

int
main(void)
{
	gv_init("placeable");
	draws_begin(31, 0, 0);
	test_all_placements();
	test_rounds();
	return done_testing();
}
