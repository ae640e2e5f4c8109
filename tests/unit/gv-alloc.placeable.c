/* gv-alloc --placeable: against all placements, and against the rounds themselves. */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"
#include "alloc/place/branching.h"
#include "alloc/place/greedy.h"
#include "alloc/place/turns.h"
#include "alloc/program/linear.h"
#include "alloc/solve/apart.h"
#include "lp/lp.h"
#include "sched/rounds/rounds.h"

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

/* ---- placements of large gain ---- */

static double
gain_of(const struct gv_problem *p, const double *gain, const double *point)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		sum += gain[i] * point[i];
	return sum;
}

/* The largest of all; some gains are below 0. */
static double
largest_gain(const struct all *all, const double *gain)
{
	double most = 0;
	size_t i, k;

	for (k = 0; k < all->n; k++) {
		double sum = 0;

		for (i = 0; i < all->p->n; i++)
			if (all->place[k][i] > 0)
				sum += gain[i * all->p->m + (size_t)all->place[k][i] - 1];
		most = fmax(most, sum);
	}
	return most;
}

static bool
is_placement(const struct gv_problem *p, const double *point)
{
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		double gpus = 0;

		for (i = 0; i < p->n; i++)
			gpus += p->scale[i] * point[i * p->m + j];
		if (gpus > p->capacity[j])
			return false;
	}
	for (i = 0; i < p->n; i++) {
		double jobs = 0;

		for (j = 0; j < p->m; j++) {
			double here = point[i * p->m + j];

			if (here != floor(here) || here < 0 ||
			    (here > 0 && gv_problem_rate(p, i, j) == 0))
				return false;
			jobs += here;
		}
		if (jobs > p->count[i])
			return false;
	}
	return true;
}

static void
test_gains(void)
{
	static struct all all;
	double worst = 0, wrong = 0, behind = 0;
	size_t placed = 0, falls = 0, k, i;

	for (k = 0; k < 400; k++) {
		struct gv_problem p = random_problem(2 + below(5), 1 + below(3), 5, 6);
		double gain[8 * 3], best[8 * 3] = {0}, by_steps[8 * 3] = {0};
		unsigned char now[8] = {0};
		double most, before, more, bound;

		all.p = &p;
		all.n = 0;
		enumerate(&all, now, 0);
		for (i = 0; i < p.n * p.m; i++)
			gain[i] = uniform() - .2;
		most = largest_gain(&all, gain);
		if (!gv_placement_best(&p, gain, 0, INFINITY, best, &bound))
			falls++;
		gv_greedy_by_gain(&p, gain, by_steps);
		before = gain_of(&p, gain, by_steps);
		more = gv_greedy_improve(&p, gain, by_steps);
		placed += is_placement(&p, best) && is_placement(&p, by_steps);
		worst = fmax(worst, fabs(gain_of(&p, gain, best) - most));
		wrong = fmax(wrong, fabs(gain_of(&p, gain, by_steps) - before - more));
		falls += more < 0 || gain_of(&p, gain, by_steps) > most + 1e-9;
		behind +=
		    (most - gain_of(&p, gain, by_steps)) / (most + (most == 0)) / 400;
		gv_problem_free(&p);
	}
	ok(placed == 400, "%zu of 400 placements fit", placed);
	ok(worst <= 1e-12, "the best of all by patterns: %g", worst);
	ok(wrong <= 1e-12 && falls == 0, "steps add what they say: %g, %zu fall", wrong,
	    falls);
	ok(behind <= .017, "and are behind the best by %g of it in the mean", behind);
}

/* Jobs of a class are one for each. */
static void
test_gains_of_classes(void)
{
	struct gv_problem p;
	const double gain[4] = {3, 2, 5, 0};
	double best[4] = {0}, by_steps[4] = {0, 0, 1, 0}, most;

	gv_problem_alloc(&p, 2, 2);
	p.rate[0] = p.rate[1] = p.rate[2] = p.weight[0] = p.weight[1] = 1;
	p.scale[0] = 2;
	p.scale[1] = 4;
	p.count[0] = 3;
	p.count[1] = 1;
	p.capacity[0] = 4;
	p.capacity[1] = 3;
	ok(gv_placement_best(&p, gain, 0, INFINITY, best, &most) && best[0] == 2 &&
		best[1] == 1 && best[2] == 0,
	    "two gangs here, the third there");
	ok(gv_greedy_improve(&p, gain, by_steps) == 3 && by_steps[0] == 2 &&
		by_steps[1] == 1 && by_steps[2] == 0,
	    "and by steps");
	p.capacity[0] = p.capacity[1] = 1e6;
	p.count[0] = 1e6;
	ok(!gv_placement_best(&p, gain, 0, INFINITY, best, &most),
	    "too many GPUs to count");
	gv_problem_free(&p);
}

/* ---- shares that are the mean of placements ---- */

/* The largest t such that a mixture of all placements gives every job t of its share of every type. */
static double
part_given(const struct all *all, const double *x)
{
	const struct gv_problem *p = all->p;
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution s = {0};
	struct gv_error e = {0};
	double value;
	size_t i, k;

	gv_lp_add_col(&lp, 0, 2, 1);
	gv_lp_add_row(&lp, -INFINITY, 1);
	for (i = 0; i < p->n * p->m; i++) {
		gv_lp_add_row(&lp, 0, INFINITY);
		if (x[i] > 0)
			gv_lp_set(&lp, 1 + i, 0, -x[i]);
	}
	for (k = 0; k < all->n; k++) {
		size_t col = gv_lp_add_col(&lp, 0, INFINITY, 0);

		gv_lp_set(&lp, 0, col, 1);
		for (i = 0; i < p->n; i++)
			if (all->place[k][i] > 0)
				gv_lp_set(&lp,
				    1 + i * p->m + (size_t)all->place[k][i] - 1, col, 1);
	}
	if (gv_lp_solve(&lp, NULL, NULL, &s, &e) != 0)
		gv_die_error(&e);
	value = s.check.objective;
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
	return value;
}

/* Shares of the mean of some placements, so drawn. */
static void
mix(const struct all *all, double *x)
{
	const struct gv_problem *p = all->p;
	size_t some = 1 + below(6), i, k;
	double left = 1;

	memset(x, 0, p->n * p->m * sizeof(*x));
	for (k = 0; k < some; k++) {
		const unsigned char *place = all->place[below(all->n)];
		double part = k + 1 < some ? left * uniform() : left;

		left -= part;
		for (i = 0; i < p->n; i++)
			if (place[i] > 0)
				x[i * p->m + (size_t)place[i] - 1] += part;
	}
}

static void
test_turns(void)
{
	static struct all all;
	size_t lies = 0, no = 0, seen = 0, unseen = 0, stairs = 0;
	int k;

	for (k = 0; k < 400; k++) {
		struct gv_problem p = random_problem(2 + below(5), 1 + below(3), 5, 6);
		unsigned char now[8] = {0};
		double x[8 * 3];

		all.p = &p;
		all.n = 0;
		enumerate(&all, now, 0);
		if (k % 2 == 0) {
			mix(&all, x);
			stairs += gv_turns_by_stairs(&p, x);
			seen += gv_turns_exist(&p, x);
			unseen += !gv_turns_exist(&p, x);
		} else {
			struct gv_solution s = solve(&gv_policy_max_min, &p, false);
			double part = part_given(&all, s.x);

			no += part < 1 - 1e-7;
			lies += part < 1 - 1e-7 && gv_turns_exist(&p, s.x);
			free(s.x);
		}
		gv_problem_free(&p);
	}
	ok(no >= 40 && lies == 0, "%zu shares that no mixture gives, %zu taken for such",
	    no, lies);
	ok(stairs >= 190, "%zu of 200 mixtures by stairs alone", stairs);
	ok(seen == 200 && unseen == 0, "%zu mixtures are seen to be such, %zu are not",
	    seen, unseen);
}

/* A row for four equal jobs is as good as four rows. */
static void
test_turns_of_classes(void)
{
	struct gv_problem p;
	double x[2] = {.75, .25};

	gv_problem_alloc(&p, 1, 2);
	p.rate[0] = p.rate[1] = p.weight[0] = 1;
	p.scale[0] = 2;
	p.count[0] = 4;
	p.capacity[0] = 6;
	p.capacity[1] = 2;
	ok(gv_turns_exist(&p, x), "three of four equal gangs here, one there");
	p.capacity[0] = 7;
	p.capacity[1] = 1;
	ok(!gv_turns_exist(&p, x), "half a gang does not run");
	x[1] = 0;
	p.count[0] = 5;
	x[0] = .6;
	ok(gv_turns_exist(&p, x), "five take turns on three places");
	x[0] = .7;
	ok(!gv_turns_exist(&p, x), "there are no more places than whole gangs");
	gv_problem_free(&p);
}

/* A row of so many jobs of a size on two types, and whether stairs show that they take turns. */
static bool
two_types(double jobs, double gang, double here, double there, double x, double y)
{
	struct gv_problem p;
	double share[2] = {x, y};
	bool seen;

	gv_problem_alloc(&p, 1, 2);
	p.rate[0] = p.rate[1] = p.weight[0] = 1;
	p.scale[0] = gang;
	p.count[0] = jobs;
	p.capacity[0] = here;
	p.capacity[1] = there;
	seen = gv_turns_by_stairs(&p, share);
	gv_problem_free(&p);
	return seen;
}

static void
test_stairs(void)
{
	ok(two_types(3, 2, 4, 4, .5, .5),
	    "three gangs: one here, one there, one on both");
	ok(!two_types(3, 2, 4, 2, .5, .5), "three gangs that need a place more there");
	ok(two_types(5, 1, 2, 3, .4, .6), "five jobs that just fit");
	ok(!two_types(5, 1, 2, 2, .4, .6), "five jobs, one too many");
	ok(two_types(4, 2, 2, 4, .2, .4),
	    "four gangs with time to spare, parted in proportion");
	ok(!two_types(4, 2, 1, 8, .1, .4), "half a place is none");
	ok(two_types(1, 2, 2, 2, .7, .3) && two_types(1, 1, 1, 1, .7, .3),
	    "one after the other");
	ok(!two_types(1, 2, 2, 1, .7, .3), "not where a gang has too few GPUs");
	ok(two_types(7, 4, 12, 16, 3 / 7., 4 / 7.), "seven gangs all the time");
}

/* Two gangs each half of the time on the one type that both share with single jobs. */
static void
test_stays(void)
{
	struct gv_problem p;
	double x[] = {.5, .5, .5, .5, .5, 0, .5, 0, 0, .5, 0, .5};
	size_t i;

	gv_problem_alloc(&p, 6, 2);
	for (i = 0; i < 12; i++)
		p.rate[i] = 1;
	for (i = 0; i < 6; i++)
		p.weight[i] = p.count[i] = 1, p.scale[i] = i < 2 ? 2 : 1;
	p.capacity[0] = p.capacity[1] = 3;
	ok(gv_turns_by_stairs(&p, x), "gangs pass each other, single jobs fill the rest");
	x[4] = x[6] = .9;
	ok(!gv_turns_by_stairs(&p, x), "there is no more than that");
	gv_problem_free(&p);
}

/*
 * A gang of 2 is half of the time on the 3 GPUs of the first type, where single jobs have 1
 * place then and 3 later: 2 jobs' time there can be done by many that take turns, not by 2
 * that are there all the time.
 */
static bool
beside_gang(double jobs, double first, double second)
{
	struct gv_problem p;
	double x[] = {.5, 0, first / jobs, second / jobs};
	size_t i;
	bool seen;

	gv_problem_alloc(&p, 2, 2);
	for (i = 0; i < 4; i++)
		p.rate[i] = 1;
	for (i = 0; i < 2; i++)
		p.weight[i] = 1, p.scale[i] = 2 - (double)i;
	p.count[0] = 1;
	p.count[1] = jobs;
	p.capacity[0] = p.capacity[1] = 3;
	seen = gv_turns_by_stairs(&p, x);
	gv_problem_free(&p);
	return seen;
}

static void
test_in_proportion(void)
{
	ok(beside_gang(5, 2, .1), "4 of 5 jobs take turns beside a gang, 1 is elsewhere");
	ok(beside_gang(4, 2, .1), "3 of 4 do");
	ok(!beside_gang(3, 2, .1), "not 2 of 3");
	ok(!beside_gang(5, 2.1, .1), "nor is there more than 2 GPUs' time");
	ok(!beside_gang(5, 2, 3), "nor while 3 of 5 are elsewhere all the time");
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
	ok(with <= .02, "200 rounds give all shares but for %.1f points", 100 * with);
	ok(without > .1 && missed >= 10,
	    "without --placeable they lack up to %.0f points, over 5 in %zu of 60",
	    100 * without, missed);
}

static double
second_sum(const struct gv_problem *p, const double *x)
{
	double *gain = gv_linear_normalised(p);
	double sum = gv_linear_sum(p, gain, x);

	free(gain);
	return sum;
}

/* More jobs than all mixtures are looked at for: the level is that of the program without. */
static void
test_many(void)
{
	double worst = 0, lower = 0, bound = 0, second = 1;
	int k;

	for (k = 0; k < 40; k++) {
		struct gv_problem p =
		    random_problem(40 + below(20), 1 + below(2), 30, 60);
		struct gv_solution s, free_s;
		size_t i, j;

		for (j = 0; j < p.m; j++)
			p.capacity[j] = 10 + floor(2 * p.capacity[j] / 3);
		for (i = 0; i < p.n; i++)
			p.scale[i] = i % 3 > 0 ? 1 : p.scale[i];
		s = solve(&gv_policy_max_min, &p, true);
		free_s = solve(&gv_policy_max_min, &p, false);
		worst = fmax(worst, shortfall(&p, s.x, 400));
		lower = fmax(lower, 1 - s.objective / free_s.objective);
		bound = fmax(bound, s.gap);
		second = fmin(second, second_sum(&p, s.x) / second_sum(&p, free_s.x));
		free(s.x);
		free(free_s.x);
		gv_problem_free(&p);
	}
	ok(second >= .995, "the second sum is at least %.3f of that without", second);
	ok(worst <= .01, "40 to 60 jobs: 400 rounds give all shares but for %.1f points",
	    100 * worst);
	ok(lower <= 1e-9 && bound <= 2e-8, "at the level without: %g lower, proved to %g",
	    lower, bound);
}

/* Sizes of gangs with GPUs of their own, where there are about enough. */
static void
test_apart(void)
{
	const struct gv_solver_options opt = {0};
	size_t found = 0, wrong = 0, k, i;
	double second = 1, mean = 0;

	for (k = 0; k < 100; k++) {
		struct gv_problem p = random_problem(60, 1 + below(3), 40, 60);
		struct gv_solution s;
		double *a, *x = gv_xcalloc(p.n, p.m * sizeof(*x));

		for (i = 0; i < p.m; i++)
			p.capacity[i] = 30 + floor(20 * uniform());
		for (i = 0; i < p.n; i++)
			p.weight[i] = exp(2 * uniform());
		s = solve(&gv_policy_max_min, &p, false);
		a = gv_linear_normalised(&p);
		for (i = 0; i < p.n * p.m; i++)
			a[i] /= p.weight[i / p.m];
		if (gv_level_apart(&p, a, &opt, s.objective, s.x, x)) {
			double part = second_sum(&p, x) / second_sum(&p, s.x);

			found++;
			mean += part;
			second = fmin(second, part);
			wrong += gv_level_reached(&p, a, x) < s.objective * (1 - 1e-10) ||
				 gv_problem_excess(&p, x) > 1e-9 ||
				 !gv_turns_exist(&p, x);
		}
		free(a);
		free(x);
		free(s.x);
		gv_problem_free(&p);
	}
	ok(found >= 96 && wrong == 0,
	    "%zu of 100 levels are reached by each size on its own, %zu are not such",
	    found, wrong);
	ok(second >= .97 && mean / (double)found >= .9965,
	    "the second sum is %.4f of that without in the mean, at least %.4f",
	    mean / (double)found, second);
}

/*
 * Gangs that fill types without a gap: one goes from type to type in its time, the next ones,
 * turned by one type each, are where it is not.  So many such rings, each parted otherwise.
 */
static void
test_rings(size_t m, size_t rings)
{
	enum { CASES = 20 };
	size_t n = m * rings, i, j, k, r, seen = 0, fewer = 0;

	for (k = 0; k < CASES; k++) {
		struct gv_problem p;
		double *x = gv_xcalloc(n, m * sizeof(*x)), gang = 0;

		gv_problem_alloc(&p, n, m);
		for (r = 0; r < rings; r++) {
			double part[4], sum = 0, size = (double)(2 + below(3));

			for (j = 0; j < m; j++)
				sum += part[j] = .2 + uniform();
			for (i = 0; i < m; i++)
				for (j = 0; j < m; j++)
					x[(r * m + i) * m + (i + j) % m] = part[j] / sum;
			for (i = 0; i < m; i++)
				p.scale[r * m + i] = size;
			gang += size;
		}
		for (i = 0; i < n; i++) {
			p.weight[i] = p.count[i] = 1;
			for (j = 0; j < m; j++)
				p.rate[i * m + j] = 1;
		}
		for (j = 0; j < m; j++)
			p.capacity[j] = gang;
		seen += gv_turns_by_stairs(&p, x);
		p.capacity[below(m)] -= 1;
		fewer += gv_turns_by_stairs(&p, x);
		free(x);
		gv_problem_free(&p);
	}
	ok(seen == CASES && fewer == 0,
	    "rings of gangs, %zu times %zu: %zu of %d fill the types, %zu one GPU less",
	    rings, m, seen, CASES, fewer);
}

int
main(void)
{
	gv_init("placeable");
	draws_begin(31, 0, 0);
	test_all_placements();
	test_gains();
	test_gains_of_classes();
	test_turns();
	test_turns_of_classes();
	test_stairs();
	test_stays();
	test_in_proportion();
	test_rings(2, 4);
	test_rings(3, 2);
	test_rings(4, 3);
	test_rounds();
	test_many();
	test_apart();
	return done_testing();
}
