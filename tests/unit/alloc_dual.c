/*
 * The search for prices (price/dual.h): that it ends, at the best level and sum, with
 * shares that keep the constraints, from wherever it begins, and without looking at the
 * jobs more often than it did when this was written.  Whoever only asks for answers does
 * not see the last: other solvers step in.
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/oracle.h"
#include "alloc/price/price.h"

/* What the searches below took when this was written, and a little more. */
enum {
	CANONICAL = 54,
	COLD = 910,
	WARM = 634,
	FAR = 846,
	COLD_EFFORT = 8620000,
	GAIN_EFFORT = 71700000
};

struct jobs {
	struct gv_oracle_jobs jobs;
	size_t n, m;
	double *a, *use, *gain; /* [n][m], [n], [n][m] */
	double capacity[8];
};

/* n jobs on m types; empty: the last has no GPUs, plenty: the first has enough for all. */
static struct jobs
draw(size_t n, size_t m, bool empty, bool plenty)
{
	struct jobs k = {.n = n, .m = m};
	double all = 0;
	size_t i, j;

	k.a = gv_xcalloc(n, m * sizeof(*k.a));
	k.use = gv_xcalloc(n, sizeof(*k.use));
	k.gain = gv_xcalloc(n, m * sizeof(*k.gain));
	for (i = 0; i < n; i++) {
		k.use[i] = (double)(1 << below(4));
		all += k.use[i];
		for (j = 0; j < m; j++) {
			double fast = uniform();

			k.a[i * m + j] = .6 + (1 + 6 * fast * fast) * (.3 + uniform());
			k.gain[i * m + j] =
			    k.a[i * m + j] * (.5 + uniform()) / (double)n * k.use[i];
		}
	}
	for (j = 0; j < m; j++)
		k.capacity[j] = floor(1 + all * (.05 + .1 * uniform()));
	if (plenty)
		k.capacity[0] = 2 * all;
	if (empty)
		k.capacity[m - 1] = 0;
	for (i = 0; i < n && empty; i++)
		k.a[i * m + m - 1] = 0;
	gv_oracle_jobs_fill(&k.jobs, n, m, k.a, k.use, k.gain);
	return k;
}

static void
jobs_free(struct jobs *k)
{
	gv_oracle_jobs_free(&k->jobs);
	free(k->a);
	free(k->use);
	free(k->gain);
}

/* The least cost at which job i reaches the level, by all its vertices. */
static double
least_cost(const struct jobs *k, size_t i, const double *price, double level)
{
	const double *a = &k->a[i * k->m];
	double least = INFINITY;
	size_t j, q;

	for (j = 0; j < k->m; j++) {
		if (a[j] >= level)
			least = fmin(least, price[j] * k->use[i] * level / a[j]);
		for (q = 0; q < k->m; q++) {
			double x;

			if (!(a[j] >= level && a[q] < level && a[q] > 0))
				continue;
			x = (level - a[q]) / (a[j] - a[q]);
			least =
			    fmin(least, k->use[i] * (price[j] * x + price[q] * (1 - x)));
		}
	}
	return least;
}

/*
 * One job on many types, whose numbers are few, so that types and pairs of them often cost
 * the same: it demands what costs least, and the slope is that from the left.
 */
static void
test_many_types(void)
{
	enum { TYPES = 8, DRAWS = 4000 };
	int right = 0, slopes = 0, reaching = 0, i;

	for (i = 0; i < DRAWS; i++) {
		const double level = .5 * (double)(1 + below(6)), near = 1e-4 * level;
		double a[TYPES], price[TYPES], use = 2, room[2 * TYPES], reached = 0,
					       time = 0;
		struct jobs k = {.n = 1, .m = 5 + below(4), .a = a, .use = &use};
		struct gv_dual_point o = {.price = price, .level = level};
		struct gv_demand t = {.used = room, .used_slope = room + TYPES};
		double least, cost = 0;
		size_t j;

		for (j = 0; j < k.m; j++) {
			a[j] = .5 * (double)below(8);
			price[j] = (double)below(5);
		}
		least = least_cost(&k, 0, price, level);
		if (isinf(least))
			continue;
		gv_oracle_jobs_fill(&k.jobs, 1, k.m, a, &use, a);
		gv_oracle_demand(&k.jobs, &o, &t);
		for (j = 0; j < k.m; j++) {
			cost += price[j] * t.used[j];
			time += t.used[j] / use;
			reached += a[j] * t.used[j] / use;
		}
		reaching++;
		right += fabs(cost - least) <= 1e-14 * least && time <= 1 + 1e-15 &&
			 reached >= level * (1 - 1e-15);
		slopes += fabs(least - least_cost(&k, 0, price, level - near) -
			       t.lambda * near) <= 1e-12;
		gv_oracle_jobs_free(&k.jobs);
	}
	ok(right == reaching && reaching > DRAWS / 2,
	    "%d of %d jobs demand what costs least", right, reaching);
	ok(slopes == reaching, "%d of %d slopes are those from the left", slopes,
	    reaching);
}

/* Twice the types take about twice as long, by its own account. */
static void
test_effort_of_types(void)
{
	struct gv_oracle_jobs c = {.n = 1000, .m = 32}, more = {.n = 1000, .m = 64};
	const struct gv_dual_point o = {.level = 1};

	ok(gv_oracle_effort(&more, &o) < 2.1 * gv_oracle_effort(&c, &o),
	    "types are looked at once, not pairs of them");
}

/* The level that the prices allow: by halves, since costs grow with it. */
static double
level_at(const struct jobs *k, const double *price)
{
	double low = 0, high = INFINITY, worth = 0;
	size_t i, j;
	int t;

	for (j = 0; j < k->m; j++)
		worth += price[j] * k->capacity[j];
	for (i = 0; i < k->n; i++) {
		double most = 0;

		for (j = 0; j < k->m; j++)
			most = fmax(most, k->a[i * k->m + j]);
		high = fmin(high, most);
	}
	for (t = 0; t < 60; t++) {
		double level = (low + high) / 2, cost = 0;

		for (i = 0; i < k->n; i++)
			cost += least_cost(k, i, price, level);
		if (cost <= worth)
			low = level;
		else
			high = level;
	}
	return low;
}

/* By how much shares break a constraint or miss the level. */
static double
worst(const struct jobs *k, const double *x, double level)
{
	double used[8] = {0}, off = 0;
	size_t i, j;

	for (i = 0; i < k->n; i++) {
		double time = 0, reached = 0;

		for (j = 0; j < k->m; j++) {
			double share = x[i * k->m + j];

			off = fmax(off, -share);
			time += share;
			reached += share * k->a[i * k->m + j];
			used[j] += share * k->use[i];
		}
		off = fmax(off, fmax(time - 1, (level - reached) / level));
	}
	for (j = 0; j < k->m; j++)
		off = fmax(off, (used[j] - k->capacity[j]) / fmax(1, k->capacity[j]));
	return off;
}

/* What a search found. */
struct found {
	struct gv_price_solution s;
	int rc;
};

static struct found
search(const struct jobs *k, struct gv_price_memory *memory, double *effort)
{
	struct found f = {.s = {.effort = effort}};

	f.s.x = gv_xcalloc(k->n, k->m * sizeof(double));
	f.s.lambda = gv_xcalloc(k->n, sizeof(double));
	f.s.price = gv_xcalloc(k->m, sizeof(double));
	f.rc = gv_price_level(&k->jobs, k->capacity, &f.s, memory);
	return f;
}

static void
found_free(struct found *f)
{
	free(f->s.x);
	free(f->s.lambda);
	free(f->s.price);
}

static bool
same(const struct jobs *k, const struct found *a, const struct found *b)
{
	return a->s.level == b->s.level && a->s.bound == b->s.bound &&
	       memcmp(a->s.price, b->s.price, k->m * sizeof(double)) == 0 &&
	       memcmp(a->s.x, b->s.x, k->n * k->m * sizeof(double)) == 0;
}

/* The dual of gains at prices of GPUs. */
static double
gains_at(const struct jobs *k, const double *price, double level)
{
	const struct gv_dual_point o = {.price = price, .level = level, .gains = true};
	double room[16] = {0}, sum;
	struct gv_demand t = {.used = room, .used_slope = room + 8};
	size_t j;

	gv_oracle_demand(&k->jobs, &o, &t);
	sum = t.gain;
	for (j = 0; j < k->m; j++)
		sum += price[j] * (k->capacity[j] - t.used[j]);
	return sum;
}

/* Counts of a series of searches. */
struct counts {
	int cases, right, warm, same, canonical, gains;
	long cold_evaluations, warm_evaluations, far_evaluations;
	double cold_effort, gain_effort;
};

static void
one(const struct jobs *k, struct counts *c)
{
	struct gv_price_memory memory = {0}, none = {0};
	double effort = 1e15, price[8], low;
	struct found cold = search(k, &memory, &effort), again;
	bool canonical = memory.capacity_price != NULL;
	size_t j;

	c->cases++;
	c->cold_effort += 1e15 - effort;
	c->cold_evaluations += cold.s.n_evaluations;
	c->right += cold.rc == 0 && worst(k, cold.s.x, cold.s.level) <= 1e-9 &&
		    cold.s.bound - cold.s.level <= 1e-11 * cold.s.bound &&
		    fabs(level_at(k, cold.s.price) / cold.s.bound - 1) <= 1e-9;
	c->canonical += canonical;
	if (canonical) {
		again = search(k, &memory, NULL);
		c->same += same(k, &cold, &again);
		c->warm_evaluations += again.s.n_evaluations;
		c->warm++;
		found_free(&again);
		memory.change = 1e-6; /* and nearby alone */
		again = search(k, &memory, NULL);
		c->same += same(k, &cold, &again);
		c->warm_evaluations += again.s.n_evaluations;
		found_free(&again);
		memory.change = 0;
		for (j = 0; j < k->m; j++)
			memory.capacity_price[j] *= j % 2 == 0 ? 1.3 : .8;
		again = search(k, &memory, NULL);
		c->same += same(k, &cold, &again);
		c->far_evaluations += again.s.n_evaluations;
		found_free(&again);
	}
	/* half of the level, and the largest sum of gains */
	low = .5 * cold.s.level;
	effort = 1e15;
	if (gv_price_sum(
		&k->jobs, k->capacity, NULL, 0, low, NULL, price, &effort, &none) == 0) {
		double best = gains_at(k, price, low);
		bool least = true;

		for (j = 0; j < 2 * k->m; j++) {
			double other[8];

			memcpy(other, price, sizeof(other));
			other[j / 2] =
			    fmax(0, other[j / 2] * (j % 2 == 0 ? 1.002 : .998));
			least = least && gains_at(k, other, low) >= best * (1 - 1e-12);
		}
		c->gains += least;
	}
	c->gain_effort += 1e15 - effort;
	gv_price_forget(&memory);
	gv_price_forget(&none);
	found_free(&cold);
}

/* No effort: it says so soon. */
static void
test_effort(void)
{
	struct jobs k = draw(3000, 4, false, false);
	double effort = 1e15, all, half;
	struct found f = search(&k, NULL, &effort);

	all = 1e15 - effort;
	ok(f.rc == 0 && all > 1e5, "a search takes %.0f operations", all);
	found_free(&f);
	half = all / 2;
	f = search(&k, NULL, &half);
	ok(f.rc == 1 && half < 0, "half of them are not enough");
	ok(half > -.2 * all, "and it ends about there: %.0f more", -half);
	found_free(&f);
	half = 1.01 * all;
	f = search(&k, NULL, &half);
	ok(f.rc == 0 && half > 0, "as many are");
	found_free(&f);
	jobs_free(&k);
}

/* The least part of what a search takes, in hundredths, with which it comes to its end. */
static int
least_part(size_t n, size_t m)
{
	struct jobs k = draw(n, m, false, false);
	double all = 1e15;
	struct found f;
	int least = 100, part;
	size_t j;

	for (j = 0; j < m; j++)
		k.capacity[j] = ceil(.3 * k.capacity[j]);
	f = search(&k, NULL, &all);
	all = 1e15 - all;
	found_free(&f);
	for (part = 70; part < least; part++) {
		double effort = part * .01 * all;

		f = search(&k, NULL, &effort);
		if (f.rc == 0)
			least = part;
		found_free(&f);
	}
	jobs_free(&k);
	return least;
}

static void
test_near_end(void)
{
	size_t sooner = 0, i;

	for (i = 0; i < 8; i++)
		sooner += least_part(1000, 8) < 98;
	ok(sooner >= 4, "near its end a search takes a little more: %zu of 8", sooner);
}

int
main(void)
{
	static const size_t jobs[] = {5, 40, 300, 700, 2500, 6000, 20000};
	struct counts c = {0};
	size_t i, m;
	int k;

	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		for (m = 1; m <= 5; m += 1 + (jobs[i] > 2500))
			for (k = 0; k < 3; k++) {
				struct jobs w;

				draws_begin(77, (uint32_t)jobs[i],
				    (uint32_t)(m * 3) + (uint32_t)k);
				w = draw(jobs[i], m, k == 1 && m > 1, k == 2 && m > 1);
				one(&w, &c);
				jobs_free(&w);
			}
	printf("# %d cases: cold %ld, warm %ld, far %ld evaluations; %.4g, %.4g "
	       "operations\n",
	    c.cases, c.cold_evaluations, c.warm_evaluations, c.far_evaluations,
	    c.cold_effort, c.gain_effort);
	ok(c.right == c.cases, "%d of %d levels are right", c.right, c.cases);
	ok(c.gains == c.cases, "%d of %d sums are", c.gains, c.cases);
	ok(c.canonical >= CANONICAL, "%d end at a grid", c.canonical);
	ok(c.same == 3 * c.warm, "from where they came back to from other prices");
	ok(c.cold_evaluations <= COLD, "evaluations from nothing: %ld",
	    c.cold_evaluations);
	ok(c.warm_evaluations <= WARM, "from the prices: %ld", c.warm_evaluations);
	ok(c.far_evaluations <= FAR, "from others: %ld", c.far_evaluations);
	ok(c.cold_effort <= COLD_EFFORT, "operations: %.0f", c.cold_effort);
	ok(c.gain_effort <= GAIN_EFFORT, "of sums: %.0f", c.gain_effort);
	test_effort();
	test_near_end();
	test_many_types();
	test_effort_of_types();
	return done_testing();
}
