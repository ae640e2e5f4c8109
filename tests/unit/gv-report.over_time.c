/* gv-report: levels over time and moments, against sums over all that was added. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gv-report/history/over_time.h"
#include "gv-report/history/spread.h"

static uint64_t drawn;

static double
uniform(void)
{
	return gv_random_uniform(11, 0, 0, drawn++);
}

enum { ADDED = 200, CASES = 60 };

struct piece {
	double from_s, to_s, level;
};

/* The integral of all pieces over [from, to). */
static double
integral(const struct piece *p, size_t n, double from, double to)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		double a = fmax(p[i].from_s, from), b = fmin(p[i].to_s, to);

		if (b > a)
			sum += p[i].level * (b - a);
	}
	return sum;
}

static void
test_bins(void)
{
	struct bins *b = gv_xcalloc(1, sizeof(*b));
	struct piece p[ADDED];
	double worst = 0;
	int c, bad = 0;
	size_t i, k;

	for (c = 0; c < CASES; c++) {
		double end = 0, scale = pow(10, c % 9 - 2);

		*b = (struct bins){0};
		for (i = 0; i < ADDED; i++) {
			p[i].from_s = uniform() * scale * (double)(i + 1);
			p[i].to_s = p[i].from_s + uniform() * scale;
			p[i].level = floor(uniform() * 5);
			end = fmax(end, p[i].to_s);
			bins_add(b, p[i].from_s, p[i].to_s, p[i].level);
		}
		bad += bins_n(b, end) < BINS / 2 || bins_n(b, end) > BINS;
		for (k = 0; k < bins_n(b, end); k++) {
			double from = (double)k * b->width_s;
			double to = fmin(from + b->width_s, end);
			double want = integral(p, ADDED, from, to) / (to - from);

			worst = fmax(worst, fabs(bins_mean(b, k, end) - want));
		}
	}
	is_int(bad, 0, "between half of the parts and all of them are used");
	ok(worst < 1e-6, "each part has the mean of what was added");
	free(b);
}

static void
test_moments(void)
{
	struct moments m = {0};
	struct piece p[ADDED];
	double now = 0, end;
	int bad = 0;
	size_t i, k;

	for (i = 0; i < ADDED; i++) { /* one after the other, with gaps */
		p[i].from_s = now + (i % 3 == 0 ? uniform() : 0);
		now = p[i].to_s = p[i].from_s + uniform() * 20;
		moments_add(&m, 2, (uint32_t)i, p[i].from_s, p[i].to_s);
	}
	end = now;
	is_int((long long)m.n_gpus, 3, "as many GPUs as were named");
	for (k = 0; k < BINS; k++) {
		double at = (double)k * m.width_s;
		uint32_t want = 0;

		for (i = 0; i < ADDED; i++)
			if (p[i].from_s <= at && at < p[i].to_s)
				want = (uint32_t)i + 1;
		bad += m.who[2][k] != want || m.who[0][k] != 0;
	}
	is_int(bad, 0, "at each moment the GPU is whose it was");
	ok(end <= m.width_s * BINS && end > m.width_s * BINS / 4,
	    "moments over all of the time");
	moments_free(&m);
}

static void
test_sizes(void)
{
	size_t g;
	int bad = 0;

	for (g = 1; g < 3000; g++)
		bad += gang_size_most(gang_size(g)) < g ||
		       (g > 1 && gang_size_most(gang_size(g)) >= 2 * g);
	is_int(bad, 0, "gangs by powers of two");
}

static void
test_spread(void)
{
	double v[] = {5, 1, 4, 2, 3};
	double many[200];
	struct spread s = spread_of(v, 5);
	size_t i;

	ok(s.n == 5 && s.mean == 3 && s.median == 3 && s.p95 == 5 && s.max == 5,
	    "of five");
	s = spread_of(v, 4);
	ok(s.median == 2.5 && s.p99 == 4, "of four: between the middle two");
	for (i = 0; i < 200; i++)
		many[i] = (double)(200 - i);
	s = spread_of(many, 200);
	ok(s.p95 == 190 && s.p99 == 198, "percentiles of 1 to 200");
	s = spread_of(v, 0);
	ok(s.sum == 0 && isnan(s.mean) && isnan(s.p99), "of nothing");
}

int
main(void)
{
	test_bins();
	test_moments();
	test_sizes();
	test_spread();
	return done_testing();
}
