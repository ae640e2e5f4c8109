/*
 * Parts of common/alloc by themselves: pairs of classes dealt to jobs, placements that
 * follow shares, prices that hold for the jobs that were left aside.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc/answer/disaggregate.h"
#include "alloc/place/hull.h"
#include "alloc/price/dual_state.h"
#include "base/mem.h"
#include "draws.h"

/* ---- a ring of neighbours ---- */

/* Pairs dealt to a class of n jobs, ranked from the last: those that are not as they should be. */
static size_t
ring_faults(size_t n)
{
	struct gv_classes c = {.p = {.n = 1}, .of = gv_xcalloc(n, sizeof(*c.of))};
	size_t *rank = gv_xcalloc(n, sizeof(*rank));
	const struct gv_pair pair = {.a = 0, .b = 0, .x = .5};
	struct gv_pair *dealt;
	size_t i, k, n_dealt, faults;

	for (i = 0; i < n; i++)
		rank[i] = n - 1 - i;
	dealt = gv_disaggregate_pairs(&c, n, rank, &pair, 1, &n_dealt);
	faults = n_dealt != (n == 2 ? 1 : n);
	for (i = 0; i < n_dealt; i++) {
		size_t next = (n_dealt == 1 ? 1 : i + 1) % n;

		faults += rank[dealt[i].a] != i || rank[dealt[i].b] != next;
		faults += !(fabs(dealt[i].x - .5 / (double)n_dealt) <= 1e-16);
		for (k = 0; k < i; k++) /* the same two are named once */
			faults += dealt[i].a == dealt[k].b && dealt[i].b == dealt[k].a;
	}
	free(dealt);
	free(rank);
	free(c.of);
	return faults;
}

static void
test_ring(void)
{
	size_t n;

	for (n = 2; n <= 9; n++)
		is_int(ring_faults(n), 0, "%zu jobs of a class: each with the next", n);
}

/* ---- pairs of two classes ---- */

enum { MOST_DEALT = 12, CLASSES = 4 };

/* The jobs of a class by their ranks; how many. */
static size_t
members(const size_t *of, const size_t *rank, size_t n, size_t class, size_t *job)
{
	size_t r, i, k = 0;

	for (r = 0; r < n; r++)
		for (i = 0; i < n; i++)
			if (rank[i] == r && of[i] == class)
				job[k++] = i;
	return k;
}

/* What two classes share is dealt in equal parts along both: where a dealt pair should be next. */
static size_t
dealt_faults(const struct gv_pair *from, const size_t *of, const size_t *rank, size_t n,
    const struct gv_pair *dealt, size_t *at)
{
	size_t a[MOST_DEALT], b[MOST_DEALT], i, k, faults = 0;
	size_t n_a = members(of, rank, n, from->a, a);
	size_t n_b = members(of, rank, n, from->b, b);

	for (i = 0; i < n_a; i++)
		for (k = 0; k < n_b; k++) {
			double low = fmax((double)(i * n_b), (double)(k * n_a));
			double high =
			    fmin((double)((i + 1) * n_b), (double)((k + 1) * n_a));
			const struct gv_pair *d = &dealt[*at];
			double x = from->x * (high - low) / (double)(n_a * n_b);

			if (high <= low)
				continue;
			(*at)++;
			faults += d->a != a[i] || d->b != b[k] ||
				  !(fabs(d->x - x) <= 1e-15) || d->type != from->type ||
				  d->rate_a != from->rate_a || d->rate_b != from->rate_b;
		}
	return faults;
}

static void
test_dealt(void)
{
	size_t faults = 0, n_dealt, i, k, at;
	int turn;

	for (turn = 0; turn < 300; turn++) {
		size_t n = CLASSES + below(MOST_DEALT - CLASSES + 1);
		size_t of[MOST_DEALT], rank[MOST_DEALT];
		struct gv_classes c = {.p = {.n = CLASSES}, .of = of};
		struct gv_pair pair[3], *dealt;

		for (i = 0; i < n; i++) {
			of[i] = i < CLASSES ? i : below(CLASSES);
			k = below(i + 1);
			rank[i] = rank[k];
			rank[k] = i;
		}
		for (i = 0; i < 3; i++) {
			k = below(CLASSES);
			pair[i] = (struct gv_pair){.a = k,
			    .b = (k + 1 + below(CLASSES - 1)) % CLASSES,
			    .type = below(3),
			    .rate_a = uniform(),
			    .rate_b = uniform(),
			    .x = uniform()};
		}
		dealt = gv_disaggregate_pairs(&c, n, rank, pair, 3, &n_dealt);
		for (i = 0, at = 0; i < 3; i++)
			faults += dealt_faults(&pair[i], of, rank, n, dealt, &at);
		faults += at != n_dealt;
		free(dealt);
	}
	is_int(faults, 0, "pairs of two classes are dealt in equal parts along both");
}

/* ---- who is placed, of those that are owed as much ---- */

/* Which of n jobs has the one GPU in each of the rounds, as digits. */
static const char *
followed(const double *x, size_t n, size_t rounds)
{
	static char said[32];
	struct gv_problem p;
	struct gv_hull h;
	size_t i, k;

	gv_problem_alloc(&p, n, 1);
	p.capacity[0] = 1;
	for (i = 0; i < n; i++)
		p.count[i] = p.scale[i] = p.weight[i] = p.rate[i] = 1;
	gv_hull_init(&h, &p);
	gv_hull_add_rounds(&h, x, rounds);
	for (k = 0; k < rounds; k++) {
		said[k] = '-';
		for (i = 0; i < n; i++)
			if (h.point[k * n + i] > 0)
				said[k] = (char)(said[k] == '-' ? '0' + (int)i : '?');
	}
	said[rounds] = '\0';
	gv_hull_free(&h);
	gv_problem_free(&p);
	return said;
}

static void
test_ties(void)
{
	static const double three[] = {.25, .5, .25}, two[] = {.5, .75}, one[] = {.5, 0};

	is_str(followed(three, 3, 8), "10211021", "of two owed as much, the first");
	is_str(followed(two, 2, 4), "1010", "also after the other one was before it");
	is_str(followed(one, 2, 4), "0000", "a GPU that nobody else is owed is not idle");
}

/* ---- prices that hold ---- */

/* Two jobs on one type of gpus GPUs, both fixed: whether a bound at price 1 holds. */
static bool
holds(
    bool gains, double gpus, double price_level, double level, double bound, double *real)
{
	static const double a[] = {1, 1}, use[] = {1, 1}, gain[] = {3, 2};
	struct gv_dual_problem problem = {
	    .capacity = &gpus, .gains = gains, .gap = 1e-12};
	double price = 1, number[5] = {0, 0, 7, 7, 0}; /* of the fixed ones: not so */
	struct gv_dual d = {.m = 1,
	    .price = &price,
	    .price_level = price_level,
	    .level = level,
	    .bound = bound};
	struct gv_oracle_jobs jobs;
	struct gv_dual_state w = {.d = &d,
	    .all = &jobs,
	    .problem = &problem,
	    .demand = {.used = number, .used_slope = number + 1},
	    .fixed_used = number + 2,
	    .fixed_slope = number + 3,
	    .part = number + 4,
	    .fixed_gain = 9,
	    .least_level = .4};
	bool yes;

	gv_oracle_jobs_fill(&jobs, 2, 1, a, use, gain);
	yes = gv_dual_holds(&w);
	gv_oracle_jobs_free(&jobs);
	*real = d.bound;
	return yes;
}

/*
 * Gains 3 and 2, one GPU at price 1: D = (3 - 1) + (2 - 1) + 1 = 4.  Levels: each costs t,
 * together 2 t = 1.
 */
static void
test_holds(void)
{
	static const double off[] = {1e-3, -1e-3, 1e-9, -1e-9};
	double real;
	size_t k;

	ok(holds(true, 1, 0, 0, 4, &real), "all jobs at the best prices: as bounded");
	is_near(real, 4, 1e-15, "the sum of gains");
	for (k = 0; k < 4; k++) {
		ok(!holds(true, 1, 0, 0, 4 * (1 + off[k]), &real),
		    "gains: a bound that is off by %g is not theirs", off[k]);
		is_near(real, 4, 1e-15, "what they bound is kept");
		ok(!holds(false, 1, .45, .5, .5 * (1 + off[k]), &real),
		    "levels: a bound that is off by %g is not theirs", off[k]);
		is_near(real, .5, 1e-15, "what they bound is kept");
	}
	ok(holds(true, 1, 0, 0, 4 * (1 + 1e-14), &real), "but for rounding");
	ok(holds(false, 1, .45, .5, .5, &real), "a level that holds");
	ok(!holds(false, 1, .45, .39, .5, &real),
	    "a level below that down to which jobs were fixed");
	ok(holds(false, 1, 0, .39, .7, &real), "time bounds, whatever the prices");
}

int
main(void)
{
	draws_begin(5, 0, 0);
	test_ring();
	test_dealt();
	test_ties();
	test_holds();
	return done_testing();
}
