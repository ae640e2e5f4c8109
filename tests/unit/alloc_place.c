/*
 * Placements and mixtures of them (place/): each part against all placements of small
 * problems, one by one, or against the plainest way of doing the same.
 */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "lp/lp.h"
#include "alloc/place/branching.h"
#include "alloc/place/domain.h"
#include "alloc/place/greedy.h"
#include "alloc/place/groups.h"
#include "alloc/place/hull_pricing.h"
#include "alloc/place/turns.h"

enum { MOST = 30000, CELLS = 15 };

/* Rows of up to most jobs; gangs of 1 to 4 GPUs, on types that may have half a GPU more. */
static struct gv_problem
draw(size_t n, size_t m, size_t most)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++) {
		p.capacity[j] = (double)(2 + below(4)) + .5 * (double)below(2);
		p.price[j] = .25 * (double)(1 + below(8));
	}
	for (i = 0; i < n; i++) {
		p.weight[i] = 1;
		p.count[i] = (double)(1 + below(most));
		p.scale[i] = (double)(1 + below(i == 0 ? 2 : 4));
		for (j = 0; j < m; j++)
			if (j == i % m || below(4) > 0)
				p.rate[i * m + j] = .5 + 2 * uniform();
	}
	return p;
}

/* ---- every placement there is ---- */

struct all {
	const struct gv_problem *p;
	size_t n;
	double point[MOST][CELLS];
};

static struct all all; /* of the problem at hand */

static void
enumerate(double *now, double *jobs, double *gpus, size_t at)
{
	const struct gv_problem *p = all.p;
	size_t i = at / p->m, j = at % p->m;
	double k;

	if (at == p->n * p->m) {
		if (all.n == MOST)
			abort();
		memcpy(all.point[all.n++], now, sizeof(all.point[0]));
		return;
	}
	for (k = 0; k <= jobs[i] && k * p->scale[i] <= gpus[j]; k++) {
		if (k > 0 && p->rate[at] == 0)
			break;
		now[at] = k;
		jobs[i] -= k;
		gpus[j] -= k * p->scale[i];
		enumerate(now, jobs, gpus, at + 1);
		jobs[i] += k;
		gpus[j] += k * p->scale[i];
	}
	now[at] = 0;
}

static void
find_all(const struct gv_problem *p)
{
	double now[CELLS] = {0}, jobs[CELLS], gpus[CELLS];

	memcpy(jobs, p->count, p->n * sizeof(*jobs));
	memcpy(gpus, p->capacity, p->m * sizeof(*gpus));
	all.p = p;
	all.n = 0;
	enumerate(now, jobs, gpus, 0);
}

static double
value_of(const struct gv_problem *p, const double *gain, const double *point)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		sum += gain[i] * point[i];
	return sum;
}

static double
largest(const double *gain)
{
	double most = 0;
	size_t k;

	for (k = 0; k < all.n; k++)
		most = fmax(most, value_of(all.p, gain, all.point[k]));
	return most;
}

static bool
is_one(const double *point)
{
	size_t k;

	for (k = 0; k < all.n; k++)
		if (memcmp(all.point[k], point, all.p->n * all.p->m * sizeof(*point)) ==
		    0)
			return true;
	return false;
}

static void
draw_gains(const struct gv_problem *p, double *gain)
{
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		gain[i] = below(5) == 0 ? .5 * (double)below(2) : uniform() - .2;
}

/* ---- the domain ---- */

static void
test_domain(void)
{
	const double v[] = {1, -3, 2}, mean[] = {1, .5, 0, 3};
	double *scaled = gv_domain_scaled(v, 3, 4), x[4] = {7, 7, 7, 7};
	struct gv_problem p = draw(3, 2, 3);
	struct gv_domain w;
	size_t i, wrong = 0;

	ok(gv_domain_largest(v, 3) == 3 && gv_domain_largest(v, 1) == 1 &&
		gv_domain_largest(v, 0) == 0,
	    "the largest absolute value");
	ok(scaled[0] == .25 && scaled[1] == -.75 && scaled[2] == .5, "numbers scaled");
	free(scaled);
	gv_domain_init(&w, &p, false);
	gv_domain_seed(&w, v);
	ok(w.p == &p && w.hull == NULL && w.cost == NULL && w.unit == 1,
	    "no budget, no placements");
	gv_domain_free(&w);
	p.budget = 5.5;
	gv_domain_init(&w, &p, true);
	ok(w.unit == 4 && w.hull == &w.own_hull, "a budget in units of a power of two");
	for (i = 0; i < 6; i++)
		wrong += w.cost[i] * 4 != p.scale[i / 2] * p.price[i % 2];
	is_int(wrong, 0, "what jobs cost, in the same");
	gv_domain_free(&w);
	gv_problem_free(&p);
	gv_problem_alloc(&p, 2, 2);
	p.count[0] = 2;
	p.count[1] = 6;
	p.scale[0] = p.scale[1] = 1;
	p.capacity[0] = p.capacity[1] = 9;
	for (i = 0; i < 4; i++)
		p.rate[i] = 1;
	gv_domain_shares(&p, mean, x);
	ok(x[0] == .5 && x[1] == .25 && x[2] == 0 && x[3] == .5,
	    "jobs of a class take turns");
	gv_problem_free(&p);
}

/* Two placements for each cell, up to a thousand, and few more for who had none. */
static void
test_seed(void)
{
	static const size_t rows[] = {3, 249, 251, 400};
	size_t k, i, wrong = 0;

	for (k = 0; k < 4; k++) {
		struct gv_problem p = draw(rows[k], 2, 1);
		size_t cells = 2 * rows[k], want = cells < 500 ? 2 * cells : 1000;
		double *x = gv_xcalloc(cells, sizeof(*x));
		struct gv_domain w;

		gv_domain_init(&w, &p, true);
		x[0] = 1; /* alone */
		gv_domain_seed(&w, x);
		wrong += w.hull->n_placements != want;
		for (i = 0; i < w.hull->n_placements * cells; i++)
			wrong += w.hull->point[i] !=
				 (i % cells == 0 && p.capacity[0] >= p.scale[0]);
		gv_domain_free(&w);
		free(x);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "rounds to begin with");
}

/* ---- by steps ---- */

/* As many of a cell as may be. */
static double
place(const struct gv_problem *p, size_t at, double most, double *jobs, double *gpus,
    double *point)
{
	size_t i = at / p->m, j = at % p->m;
	double now = 0;

	while (now < most && jobs[i] >= 1 && gpus[j] >= p->scale[i]) {
		now++;
		jobs[i]--;
		gpus[j] -= p->scale[i];
		point[at]++;
	}
	return now;
}

/* One pass over cells with shares, the largest rank first, the first of equal ones. */
static void
pass(const struct gv_problem *p, const double *x, const double *rank, bool owed,
    double *rounds, double *jobs, double *gpus, double *point)
{
	bool done[CELLS] = {false};
	size_t cells = p->n * p->m, k, i;

	for (k = 0; k < cells; k++) {
		size_t best = SIZE_MAX;

		for (i = 0; i < cells; i++)
			if (x[i] > 0 && !done[i] &&
			    (best == SIZE_MAX || rank[i] > rank[best]))
				best = i;
		if (best == SIZE_MAX)
			return;
		done[best] = true;
		rounds[best] -= place(
		    p, best, owed ? ceil(rounds[best]) : INFINITY, jobs, gpus, point);
	}
}

/* Shares are of sixteenths, so that all sums are exact. */
static void
test_rounds(void)
{
	enum { ROUNDS = 7 };
	size_t k, i, r, wrong = 0;

	for (k = 0; k < 300; k++) {
		struct gv_problem p = draw(1 + below(4), 1 + below(3), 3);
		size_t cells = p.n * p.m;
		double x[CELLS] = {0}, rounds[CELLS] = {0}, rank[CELLS];
		double point[ROUNDS * CELLS] = {0}, want[ROUNDS * CELLS] = {0};

		for (i = 0; i < cells; i++)
			if (p.rate[i] > 0 && below(3) > 0)
				x[i] = (double)(1 + below(12)) / 16;
		for (r = 0; r < ROUNDS; r++) {
			double jobs[CELLS], gpus[CELLS];

			memcpy(jobs, p.count, p.n * sizeof(*jobs));
			memcpy(gpus, p.capacity, p.m * sizeof(*gpus));
			for (i = 0; i < cells; i++) {
				rounds[i] += x[i] * p.count[i / p.m];
				rank[i] = rounds[i] * sqrt(p.scale[i / p.m]);
			}
			pass(&p, x, rank, true, rounds, jobs, gpus, want + r * cells);
			pass(&p, x, rank, false, rounds, jobs, gpus, want + r * cells);
		}
		gv_greedy_rounds(&p, x, ROUNDS, point);
		wrong += memcmp(point, want, sizeof(want)) != 0;
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "rounds as deficits have it, by hand");
}

static void
test_by_gain(void)
{
	size_t k, i, wrong = 0;

	for (k = 0; k < 300; k++) {
		struct gv_problem p = draw(1 + below(5), 1 + below(3), 3);
		size_t cells = p.n * p.m;
		double gain[CELLS], rank[CELLS], may[CELLS], none[CELLS] = {0};
		double point[CELLS] = {0}, want[CELLS] = {0}, jobs[CELLS], gpus[CELLS];

		draw_gains(&p, gain);
		memcpy(jobs, p.count, p.n * sizeof(*jobs));
		memcpy(gpus, p.capacity, p.m * sizeof(*gpus));
		for (i = 0; i < cells; i++) {
			rank[i] = gain[i] / p.scale[i / p.m];
			may[i] = p.rate[i] > 0 && gain[i] > 0;
		}
		pass(&p, may, rank, false, none, jobs, gpus, want);
		gv_greedy_by_gain(&p, gain, point);
		wrong += memcmp(point, want, sizeof(want)) != 0;
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "the largest gains of a GPU first, by hand");
}

/* The most that a type may have with jobs that run nowhere or elsewhere: others lose them. */
static double
best_of_type(const double *gain, const double *point, size_t j)
{
	const struct gv_problem *p = all.p;
	double most = -INFINITY;
	size_t k, i;

	for (k = 0; k < all.n; k++) {
		bool others = true;

		for (i = 0; i < p->n * p->m; i++)
			others = others && (i % p->m == j || all.point[k][i] <= point[i]);
		if (others)
			most = fmax(most, value_of(p, gain, all.point[k]));
	}
	return most;
}

static void
test_improve(void)
{
	size_t k, i, j, wrong = 0, steps = 0;
	double worst = 0;

	for (k = 0; k < 300; k++) {
		struct gv_problem p = draw(1 + below(3), 1 + below(3), 2);
		double gain[CELLS], point[CELLS] = {0}, before, more;

		find_all(&p);
		draw_gains(&p, gain);
		if (k % 2 == 0) /* of one that there is, without losses */
			memcpy(point, all.point[below(all.n)], sizeof(point));
		for (i = 0; i < p.n * p.m; i++)
			if (gain[i] <= 0)
				point[i] = 0;
		before = value_of(&p, gain, point);
		more = gv_greedy_improve(&p, gain, point);
		steps += more > 0;
		wrong += !is_one(point) || more < 0;
		worst = gv_worse(worst, fabs(value_of(&p, gain, point) - before - more));
		for (j = 0; j < p.m; j++)
			worst = gv_worse(worst,
			    best_of_type(gain, point, j) - value_of(&p, gain, point));
		gv_problem_free(&p);
	}
	ok(wrong == 0 && steps > 150, "%zu of 300 improved, all are placements", steps);
	ok(worst <= 1e-12, "no type could be worth %g more", worst);
}

/* Two rows of single jobs and one of gangs of two on one type; what is gained there. */
static double
improved(double gpus, double singles, double others, double gangs)
{
	const double gain[] = {1, 1, 3};
	double point[3] = {0}, more;
	struct gv_problem p;
	size_t i;

	gv_problem_alloc(&p, 3, 1);
	p.capacity[0] = gpus;
	p.count[0] = singles;
	p.count[1] = others;
	p.count[2] = gangs;
	for (i = 0; i < 3; i++)
		p.scale[i] = p.weight[i] = p.rate[i] = 1;
	p.scale[2] = 2;
	more = gv_greedy_improve(&p, gain, point);
	gv_problem_free(&p);
	return more;
}

static void
test_improve_bounds(void)
{
	ok(improved(512, 2, 0, 2) == 8 && improved(513, 2, 0, 2) == 0,
	    "types up to 512 GPUs");
	ok(improved(511, 511, 0, 1) == 512 && improved(511, 511, 0, 2) == 0,
	    "and so many numbers at once");
	ok(improved(511, 300, 300, 1) == 512,
	    "of each size only as many as there are GPUs");
	ok(improved(.5, 1, 0, 0) == 0 && improved(1, 1, 0, 1) == 1 &&
		improved(2, 2, 0, 1) == 3,
	    "and few");
}

/* ---- the best one ---- */

/* ---- patterns ---- */

/* Whether a search for what is worth more than enough ends as it may, where most is the most. */
static bool
searches_well(const struct gv_problem *p, const double *gain, double enough, double most)
{
	double point[CELLS] = {0}, bound, value;

	if (!gv_placement_best(p, gain, enough, INFINITY, point, &bound))
		return false;
	value = value_of(p, gain, point);
	if (most > enough + 1e-12 || value > 0) /* found, and known as the best */
		return is_one(point) && fabs(value - most) <= 1e-12 &&
		       fabs(bound - most) <= 1e-9;
	return most <= enough + 1e-12 && bound >= most - 1e-12 &&
	       bound <= fmax(enough, most) + 1e-9 * fmax(1, most);
}

/* Whether one that is given up has told a bound, and found no more than there is. */
static bool
gives_up_well(const struct gv_problem *p, const double *gain, double work, double most)
{
	double point[CELLS] = {0}, bound;

	return gv_placement_best(p, gain, most * .9, work, point, &bound) &&
	       bound >= most - 1e-12 && is_one(point);
}

static void
test_patterns(void)
{
	size_t k, wrong = 0, hasty = 0;

	for (k = 0; k < 1500; k++) {
		size_t n = 1 + below(5);
		struct gv_problem p = draw(n, 1 + below(3), n < 4 ? 3 : 1);
		double gain[CELLS], most;

		find_all(&p);
		draw_gains(&p, gain);
		most = largest(gain);
		wrong += !searches_well(&p, gain, most * .3, most);
		wrong += !searches_well(&p, gain, most * .97, most);
		wrong += !searches_well(&p, gain, most, most);
		wrong += !searches_well(&p, gain, most * 1.04 + .01, most);
		hasty += !gives_up_well(&p, gain, uniform() * 2000, most);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "patterns make the best placement, or prove that there is none");
	is_int(hasty, 0, "and without time enough what they prove is still so");
}

/* So many jobs of one GPU on so many GPUs. */
static bool
packs(double jobs, double gpus)
{
	const double gain = 1;
	double point = 0, most;
	struct gv_problem p;
	bool found;

	gv_problem_alloc(&p, 1, 1);
	p.count[0] = jobs;
	p.scale[0] = p.weight[0] = p.rate[0] = 1;
	p.capacity[0] = gpus;
	found = gv_placement_best(&p, &gain, 0, INFINITY, &point, &most) &&
		point == fmin(jobs, gpus) && fabs(most - point) < 1e-9 * point;
	gv_problem_free(&p);
	return found;
}

static void
test_patterns_bounds(void)
{
	ok(packs(16, 0xfffff) && !packs(17, 0xfffff),
	    "as many jobs times GPUs as there may be");
}

/* ---- pricing ---- */

/* All that is added is there, and worth more than enough. */
static size_t
wrong_priced(const struct gv_hull *h, const double *gain, double enough)
{
	size_t cells = all.p->n * all.p->m, k, i, wrong = 0;

	for (k = 0; k < h->n_placements; k++) {
		const double *point = &h->point[k * cells];

		wrong += !is_one(point) || !(gv_hull_value(h, point, gain) > enough);
		for (i = 0; i < k; i++)
			wrong += memcmp(point, &h->point[i * cells],
				     cells * sizeof(*point)) == 0;
	}
	return wrong + (h->n_placements > 16);
}

static void
test_price(void)
{
	size_t k, wrong = 0, by_steps = 0, there = 0;

	for (k = 0; k < 300; k++) {
		struct gv_problem p = draw(1 + below(3), 1 + below(3), 2);
		double gain[CELLS], enough, most, bound;
		struct gv_hull h;

		find_all(&p);
		draw_gains(&p, gain);
		most = largest(gain);
		enough = most * (.7 + .4 * uniform());
		gv_hull_init(&h, &p);
		bound = gv_hull_price(&h, gain, enough, INFINITY);
		wrong += bound < most - 1e-12 || bound > fmax(enough, most) + 1e-9;
		wrong += h.n_placements != (most > enough);
		wrong += wrong_priced(&h, gain, enough);
		there += most > enough;
		gv_hull_free(&h);
		gv_hull_init(&h, &p);
		by_steps += gv_hull_price_by_steps(&h, gain, enough);
		wrong += h.n_placements > 1 || wrong_priced(&h, gain, enough);
		gv_hull_free(&h);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "what is priced is a placement worth enough");
	ok(by_steps * 10 >= there * 9, "steps find %zu of %zu", by_steps, there);
}

/* Too many GPUs to count: gangs of 3 that gain 4, of 2 that gain 2.5; 3 k + 2 GPUs. */
static void
test_branch(void)
{
	const double gain[] = {4, 2.5}, none[] = {0, -1}, most = 4 * 4e5 + 2.5;
	struct gv_problem p;
	struct gv_hull h;

	gv_problem_alloc(&p, 2, 1);
	p.count[0] = p.count[1] = 1e6;
	p.scale[0] = 3;
	p.scale[1] = 2;
	p.rate[0] = p.rate[1] = p.weight[0] = p.weight[1] = 1;
	p.capacity[0] = 1.2e6 + 2;
	gv_hull_init(&h, &p);
	ok(isinf(gv_hull_price(&h, gain, most - 1, INFINITY)) && h.n_placements == 1 &&
		gv_hull_value(&h, h.point, gain) == most,
	    "branch and cut finds what is worth more");
	is_near(gv_hull_price(&h, gain, most + 1, INFINITY), most + 1, 1e-7,
	    "and that nothing is");
	ok(h.n_placements == 1 && gv_hull_price(&h, none, 1, INFINITY) == 0 &&
		h.n_placements == 1,
	    "nor without gains");
	gv_hull_free(&h);
	gv_problem_free(&p);
}

/* ---- mixtures ---- */

/* A drawn mixture of few placements; which ones. */
static void
mix(size_t some, size_t *which, double *mean)
{
	double left = 1;
	size_t k, i;

	memset(mean, 0, CELLS * sizeof(*mean));
	for (k = 0; k < some; k++) {
		double part = k + 1 < some ? left * uniform() : left;

		which[k] = below(all.n);
		left -= part;
		for (i = 0; i < all.p->n * all.p->m; i++)
			mean[i] += part * all.point[which[k]][i];
	}
}

/* A program of placements, its numbers, and a mixture that is feasible in it. */
struct program {
	struct gv_placement_program g;
	double gain[CELLS], throughput[CELLS], demand[CELLS], lower[CELLS], each[CELLS];
	double first[CELLS], cost[CELLS], mean[CELLS];
	size_t some, which[4];
};

static double
reached(
    const struct gv_problem *p, const double *throughput, const double *mean, size_t i)
{
	double sum = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		sum += throughput[i * p->m + j] * mean[i * p->m + j];
	return sum;
}

static void
draw_program(struct program *w, bool fractional)
{
	const struct gv_problem *p = all.p;
	size_t i;

	gv_placement_program_init(&w->g, p);
	w->some = 1 + below(4);
	mix(w->some, w->which, w->mean);
	draw_gains(p, w->gain);
	draw_gains(p, w->first);
	for (i = 0; i < p->n * p->m; i++) {
		w->throughput[i] = p->rate[i];
		w->cost[i] = p->scale[i / p->m] * p->price[i % p->m];
		w->each[i] = .5 * w->mean[i];
	}
	for (i = 0; i < p->n; i++) {
		double now = reached(p, w->throughput, w->mean, i);

		w->lower[i] = below(2) == 0 ? .8 * now : 0;
		w->demand[i] = below(3) > 0 ? .3 + uniform() : 0;
	}
	w->g.level = below(2) == 0;
	w->g.throughput = w->throughput;
	w->g.gain = !w->g.level || below(2) == 0 ? w->gain : NULL;
	w->g.lower = below(2) == 0 ? w->lower : NULL;
	w->g.demand = w->g.level ? w->demand : NULL;
	w->demand[0] = .5;
	w->lower[0] = 0;
	w->g.each = w->g.level && !fractional && below(4) == 0 ? w->each : NULL;
	w->g.first = below(2) == 0 ? w->first : NULL;
	w->g.first_value = .9 * value_of(p, w->first, w->mean) - .01;
	w->g.cost = below(2) == 0 ? w->cost : NULL;
	w->g.budget = 1.1 * value_of(p, w->cost, w->mean) + .1;
}

/* A column of a placement's or a cell's numbers into the rows of by_lp(). */
static void
add_column(struct gv_lp *lp, const struct program *w, const double *point)
{
	const struct gv_placement_program *g = &w->g;
	const struct gv_problem *p = g->p;
	size_t row = 2, i;
	size_t col = gv_lp_add_col(
	    lp, 0, INFINITY, g->gain != NULL ? value_of(p, g->gain, point) : 0);

	gv_lp_set(lp, 0, col, g->cost != NULL ? value_of(p, g->cost, point) : 0);
	gv_lp_set(lp, 1, col, g->first != NULL ? value_of(p, g->first, point) : 0);
	for (i = 0; i < p->n; i++)
		gv_lp_set(lp, row++, col, reached(p, g->throughput, point, i));
	for (i = 0; i < p->n * p->m; i++)
		gv_lp_set(lp, row++, col, point[i]);
}

/* The best over all mixtures, or over all fractional placements: all of it at once. */
static double
by_lp(const struct program *w, bool whole)
{
	const struct gv_placement_program *g = &w->g;
	const struct gv_problem *p = g->p;
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution s;
	struct gv_error e = {0};
	double best;
	size_t i, k, last, t;

	gv_lp_add_row(&lp, -INFINITY, g->cost != NULL ? g->budget : 1);
	gv_lp_add_row(&lp, g->first != NULL ? g->first_value : -1, INFINITY);
	for (i = 0; i < p->n; i++)
		gv_lp_add_row(&lp, g->lower != NULL ? g->lower[i] : 0, INFINITY);
	for (i = 0; i < p->n * p->m; i++)
		gv_lp_add_row(&lp, 0, INFINITY);
	t = gv_lp_add_col(&lp, 0, g->level ? INFINITY : 0, 1);
	for (i = 0; i < p->n; i++)
		gv_lp_set(&lp, 2 + i, t, g->demand != NULL ? -g->demand[i] : 0);
	for (i = 0; i < p->n * p->m; i++)
		gv_lp_set(&lp, 2 + p->n + i, t, g->each != NULL ? -g->each[i] : 0);
	last = lp.n_rows;
	if (whole)
		gv_lp_add_row(&lp, -INFINITY, 1);
	for (i = 0; !whole && i < p->n; i++)
		gv_lp_add_row(&lp, -INFINITY, p->count[i]);
	for (i = 0; !whole && i < p->m; i++)
		gv_lp_add_row(&lp, -INFINITY, p->capacity[i]);
	for (k = 0; whole && k < all.n; k++) {
		add_column(&lp, w, all.point[k]);
		gv_lp_set(&lp, last, t + 1 + k, 1);
	}
	for (k = 0; !whole && k < p->n * p->m; k++) {
		double point[CELLS] = {0};

		point[k] = 1;
		add_column(&lp, w, point);
		lp.col_hi[t + 1 + k] = p->rate[k] > 0 ? INFINITY : 0;
		gv_lp_set(&lp, last + k / p->m, t + 1 + k, 1);
		gv_lp_set(&lp, last + p->n + k % p->m, t + 1 + k, p->scale[k / p->m]);
	}
	if (gv_lp_solve(&lp, NULL, NULL, &s, &e) != 0 || s.status != GV_LP_OPTIMAL)
		abort();
	best = s.check.objective;
	gv_lp_solution_free(&s);
	gv_lp_free(&lp);
	return best;
}

/* By how much what came out breaks a row, or is not what it is said to be worth. */
static double
off(const struct program *w)
{
	const struct gv_placement_program *g = &w->g;
	const struct gv_problem *p = g->p;
	double level = INFINITY, off = 0, gain, bound;
	size_t i;

	for (i = 0; i < p->n; i++) {
		double now = reached(p, g->throughput, g->mean, i);
		double lower = g->lower != NULL ? g->lower[i] : 0;

		off = gv_worse(off, lower - now);
		if (g->demand != NULL && g->demand[i] > 0)
			level = fmin(level, (now - lower) / g->demand[i]);
	}
	for (i = 0; g->each != NULL && i < p->n * p->m; i++)
		if (g->each[i] > 0)
			level = fmin(level, g->mean[i] / g->each[i]);
	if (g->first != NULL)
		off = gv_worse(off, g->first_value - value_of(p, g->first, g->mean));
	if (g->cost != NULL)
		off = gv_worse(off, value_of(p, g->cost, g->mean) - g->budget);
	gain = g->gain != NULL ? value_of(p, g->gain, g->mean) : 0;
	off = gv_worse(off, g->value - gain - (g->level ? level : 0));
	/* weak duality, where duals are of all rows that come into the bound */
	bound = g->lagrangian_max + g->budget_dual * g->budget;
	for (i = 0; g->lower != NULL && i < p->n; i++)
		bound -= g->dual[i] * g->lower[i];
	if (g->first == NULL && !g->level)
		off = gv_worse(off, fabs(bound - g->value));
	return off;
}

static void
test_mixtures(void)
{
	size_t k, i, failed = 0;
	double worst = 0, apart = 0;

	for (k = 0; k < 200; k++) {
		struct gv_problem p = draw(1 + below(3), 1 + below(2), 2);
		struct gv_error e = {0};
		struct program w;
		struct gv_hull h;

		find_all(&p);
		draw_program(&w, false);
		gv_hull_init(&h, &p);
		h.point = gv_xgrow(h.point, &h.cap, w.some * p.n * p.m, sizeof(*h.point));
		for (i = 0; i < w.some; i++)
			memcpy(&h.point[i * p.n * p.m], all.point[w.which[i]],
			    p.n * p.m * sizeof(*h.point));
		h.n_placements = w.some;
		failed += gv_hull_solve(&h, &w.g, "test", &e) != 0;
		apart = gv_worse(apart, fabs(w.g.value - by_lp(&w, true)));
		worst = gv_worse(worst, off(&w));
		gv_hull_free(&h);
		gv_placement_program_free(&w.g);
		failed +=
		    w.g.p != NULL || w.g.mean != NULL || w.g.value != 0 || w.g.level;
		gv_problem_free(&p);
	}
	is_int(failed, 0, "programs over mixtures");
	ok(apart <= 1e-8, "are as good as with all placements at once: %g", apart);
	ok(worst <= 3e-8, "and are what they say: %g", worst);
}

static void
test_fractional(void)
{
	size_t k, failed = 0;
	double worst = 0, apart = 0;

	for (k = 0; k < 300; k++) {
		struct gv_problem p = draw(1 + below(3), 1 + below(2), 3);
		struct gv_error e = {0};
		struct program w;

		find_all(&p);
		draw_program(&w, true);
		failed += gv_placement_program_solve(&w.g, "test", &e) != 0;
		apart = gv_worse(apart, fabs(w.g.value - by_lp(&w, false)));
		worst = gv_worse(worst, off(&w));
		gv_placement_program_free(&w.g);
		gv_problem_free(&p);
	}
	is_int(failed, 0, "programs over fractional placements");
	ok(apart <= 1e-8, "are as good as all at once: %g", apart);
	ok(worst <= 3e-8, "and are what they say: %g", worst);
}

/* ---- turns ---- */

/* The largest part of the mean that a mixture gives in all cells. */
static double
part_given(const double *mean)
{
	struct program w = {.g.p = all.p, .g.level = true};

	w.g.throughput = w.throughput;
	memcpy(w.each, mean, sizeof(w.each));
	w.g.each = w.each;
	if (gv_domain_largest(mean, all.p->n * all.p->m) == 0)
		return 1;
	return by_lp(&w, true);
}

static void
test_turns(void)
{
	size_t k, i, lies = 0, unseen = 0, groups = 0, no = 0;

	for (k = 0; k < 300; k++) {
		struct gv_problem p =
		    draw(2 + below(k % 2 == 0 ? 3 : 2), 1 + below(3), 1 + k % 2);
		double mean[CELLS], x[CELLS] = {0};
		size_t which[4];

		find_all(&p);
		mix(4, which, mean);
		for (i = 0; i < p.n * p.m; i++)
			x[i] = mean[i] / p.count[i / p.m];
		unseen += !gv_turns_exist(&p, x);
		groups += gv_groups_fit(&p, x);
		for (i = 0; i < p.n * p.m; i++) /* more, where there is more */
			x[i] = p.rate[i] > 0 ? 1.3 * x[i] + .1 * (double)below(2) : 0;
		gv_problem_clean(&p, x);
		for (i = 0; i < p.n * p.m; i++)
			mean[i] = x[i] * p.count[i / p.m];
		if (part_given(mean) < 1 - 1e-7) {
			no++;
			lies += gv_turns_by_stairs(&p, x) || gv_groups_fit(&p, x);
		}
		gv_problem_free(&p);
	}
	ok(unseen == 0, "all but %zu of 300 mixtures are seen to be such", unseen);
	ok(groups == 300, "%zu by groups alone", groups);
	ok(lies == 0 && no > 30, "%zu that are none, %zu taken for such", no, lies);
}

int
main(void)
{
	draws_begin(64, 0, 0);
	test_domain();
	test_seed();
	test_rounds();
	test_by_gain();
	test_improve();
	test_improve_bounds();
	test_patterns();
	test_patterns_bounds();
	test_price();
	test_branch();
	test_mixtures();
	test_fractional();
	test_turns();
	return done_testing();
}
