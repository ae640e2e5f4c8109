/*
 * A search for prices whose jobs were fixed at what they do not demand (price/fixing.c)
 * must find out and go on without: here gv_oracle_fix() says too much or too little of
 * one of its calls.  gv_dual_holds() is what finds out.
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/oracle.h"

static size_t wrong_fix(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
    const double *lo, const double *hi, double part, struct gv_demand *t,
    size_t *free_jobs);

#define gv_oracle_fix wrong_fix
#include "../../common/alloc/price/fixing.c"
#undef gv_oracle_fix

#include "alloc/price/price.h"

static int calls, wrong_call;
static double times; /* what is fixed, by that call */

static size_t
wrong_fix(const struct gv_oracle_jobs *c, const struct gv_dual_point *o, const double *lo,
    const double *hi, double part, struct gv_demand *t, size_t *free_jobs)
{
	size_t n = gv_oracle_fix(c, o, lo, hi, part, t, free_jobs);
	size_t j;

	if (calls++ != wrong_call)
		return n;
	for (j = 0; j < c->m; j++) {
		t->used[j] *= times;
		t->used_slope[j] *= times;
	}
	t->gain *= times;
	return n;
}

enum { TYPES = 3 };

struct jobs {
	struct gv_oracle_jobs c;
	double capacity[TYPES];
};

static struct jobs
draw(size_t n)
{
	struct jobs k;
	double *a = gv_xcalloc(n, TYPES * sizeof(*a));
	double *use = gv_xcalloc(n, sizeof(*use));
	double *gain = gv_xcalloc(n, TYPES * sizeof(*gain));
	double all = 0;
	size_t i, j;

	for (i = 0; i < n; i++) {
		use[i] = (double)(1 << below(4));
		all += use[i];
		for (j = 0; j < TYPES; j++) {
			a[i * TYPES + j] = .6 + 3 * uniform() * (.3 + uniform());
			gain[i * TYPES + j] =
			    a[i * TYPES + j] * (.5 + uniform()) * use[i] / (double)n;
		}
	}
	for (j = 0; j < TYPES; j++)
		k.capacity[j] = floor(1 + all * (.05 + .1 * uniform()));
	gv_oracle_jobs_fill(&k.c, n, TYPES, a, use, gain);
	free(a);
	free(use);
	free(gain);
	return k;
}

/* The level that a search proves, with its shares reaching it; NAN where it gives up. */
static double
level(const struct jobs *k)
{
	struct gv_price_solution s = {0};
	double found = NAN, used[TYPES] = {0}, off = 0;
	size_t i, j;

	s.x = gv_xcalloc(k->c.n, TYPES * sizeof(double));
	s.lambda = gv_xcalloc(k->c.n, sizeof(double));
	s.price = gv_xcalloc(TYPES, sizeof(double));
	calls = 0;
	if (gv_price_level(&k->c, k->capacity, &s, NULL) == 0) {
		for (i = 0; i < k->c.n; i++) {
			double reached = 0;

			for (j = 0; j < TYPES; j++) {
				reached +=
				    s.x[i * TYPES + j] * k->c.a[j * k->c.stride + i];
				used[j] += s.x[i * TYPES + j] * k->c.use[i];
			}
			off = fmax(off, (s.level - reached) / s.level);
		}
		for (j = 0; j < TYPES; j++)
			off = fmax(off, used[j] / k->capacity[j] - 1);
		found =
		    off <= 1e-9 ? s.bound : NAN; /* as gv_level_by_prices() looks at it */
	}
	free(s.x);
	free(s.lambda);
	free(s.price);
	return found;
}

/* The largest sum of gains at no level, by the dual; NAN where it gives up. */
static double
sum(const struct jobs *k)
{
	double price[TYPES], best = NAN;
	double room[2 * TYPES] = {0};
	struct gv_demand t = {.used = room, .used_slope = room + TYPES};
	const struct gv_dual_point o = {.price = price, .gains = true};
	size_t j;

	calls = 0;
	if (gv_price_sum(&k->c, k->capacity, NULL, 0, 0, NULL, price, NULL, NULL) == 0) {
		gv_oracle_demand(&k->c, &o, &t);
		best = t.gain;
		for (j = 0; j < TYPES; j++)
			best += price[j] * (k->capacity[j] - t.used[j]);
	}
	return best;
}

/*
 * One call after the other is wrong.  What is wrong before the last part of a search it
 * cannot know, and whoever asked finds out; in the last part it begins anew.
 */
static void
test(size_t n, double (*what)(const struct jobs *), int least, const char *name)
{
	static const double wrong[] = {.9, 1.1, 1 - 1e-7, 1 + 1e-7};
	struct jobs k = draw(n);
	double best;
	size_t i;
	int all, found = 0;

	wrong_call = -1;
	best = what(&k);
	all = calls;
	ok(best > 0 && all > 0, "%s of %zu jobs: %d calls fix some", name, n, all);
	for (wrong_call = 0; wrong_call < all; wrong_call++)
		for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			times = wrong[i];
			found += fabs(what(&k) / best - 1) <= 1e-9;
		}
	ok(found >= least, "%d of %d find it all the same", found, 4 * all);
	gv_oracle_jobs_free(&k.c);
}

int
main(void)
{
	draws_begin(78, 0, 0);
	test(700, level, 6, "level");
	test(6000, level, 3, "level");
	test(700, sum, 8, "sum");
	test(6000, sum, 24, "sum");
	return done_testing();
}
