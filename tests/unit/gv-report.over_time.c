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

/* What was added in all. */
static double
total(const struct bins *b)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < BINS; i++)
		sum += b->sum[i];
	return sum;
}

static void
test_edges(void)
{
	struct bins *b = gv_xcalloc(1, sizeof(*b));
	struct moments m = {0};
	double width;
	size_t gpu;

	bins_add(b, 3, 3, 1);
	bins_add(b, 4, 3, 1);
	bins_add(b, 0, HUGE_VAL, 1);
	bins_add(b, 0, NAN, 1);
	ok(b->width_s == 0 && bins_n(b, 3) == 0, "no time at all, or no end of it");
	bins_add(b, 0, 1.0 / 1024, 5);
	width = b->width_s;
	ok(b->sum[0] == 5 * width && b->sum[1] == 0, "up to where the first part ends");
	bins_add(b, (BINS - 1) * width, BINS * width, 3);
	ok(b->width_s == width && b->sum[BINS - 1] == 3 * width,
	    "up to where the last part ends");
	is_int(bins_n(b, BINS * width), BINS, "with all parts");
	is_int(bins_n(b, width), 1, "with one part");
	ok(bins_mean(b, BINS - 1, (BINS - .5) * width) == 6,
	    "the mean of the time that there was");
	bins_add(b, 0, BINS * width * 2, 0);
	ok(b->width_s == 2 * width && b->sum[0] == 5 * width &&
		b->sum[BINS / 2 - 1] == 3 * width && b->sum[BINS / 2] == 0,
	    "two parts are one where there is more time");
	ok(total(b) == 8 * width, "which keeps all");
	moments_add(&m, 0, 0, 3, 3);
	moments_add(&m, 0, 0, 0, HUGE_VAL);
	ok(m.n_gpus == 0, "nobody has a GPU for no time, or for ever");
	moments_add(&m, 0, 6, width, 2 * width);
	ok(m.who[0][0] == 0 && m.who[0][1] == 7 && m.who[0][2] == 0,
	    "from its moment to the next");
	moments_add(&m, 1, 0, 0, BINS * m.width_s);
	ok(m.who[1][BINS - 1] == 1 && m.who[0][1] == 7, "up to the last moment");
	moments_add(&m, 0, 4, 0, m.width_s);
	moments_add(&m, 0, 8, 2 * m.width_s, 3 * m.width_s);
	moments_add(&m, 1, 0, 0, 2 * BINS * m.width_s);
	ok(m.who[0][0] == 5 && m.who[0][1] == 9 && m.who[0][2] == 0 &&
		m.who[0][BINS / 2] == 0 && m.who[1][BINS / 2] == 1,
	    "every second one is left where there is more time");
	for (gpu = 2; gpu < 40; gpu++)
		moments_add(&m, gpu, 0, 0, 1);
	ok(m.n_gpus == 40 && m.who[0][0] == 5 && m.who[39][0] == 1, "of many GPUs");
	moments_free(&m);
	ok(m.who == NULL && m.n_gpus == 0 && m.width_s == 0, "nothing is left");
	free(b);
}

/* Of jobs, entities and gangs, each by itself, up to how many are told apart. */
static void
test_runs(void)
{
	struct over_time *o = gv_xcalloc(1, sizeof(*o));
	const size_t lane[] = {2, 0};

	over_time_run(o, 0, 2, 0, 1, 3, lane, 2);
	over_time_run(o, FIRST_JOBS - 1, 0, 1, 3, 1, NULL, 0);
	over_time_run(o, FIRST_JOBS, MOST_ENTITIES - 1, 0, 1, 1, NULL, 0);
	over_time_run(o, FIRST_JOBS + 1, MOST_ENTITIES, 0, 1, (size_t)1 << 40, NULL, 0);
	ok(total(&o->running) == 5, "jobs run");
	ok(total(&o->of_job[0]) == 3 && total(&o->of_job[FIRST_JOBS - 1]) == 2,
	    "the first jobs have their GPUs");
	ok(o->n_entities == MOST_ENTITIES && total(&o->of_entity[2]) == 3 &&
		total(&o->of_entity[0]) == 2 && total(&o->of_entity[1]) == 0 &&
		total(&o->of_entity[MOST_ENTITIES - 1]) == 1,
	    "entities have theirs");
	ok(total(&o->of_size[0]) == 3 && total(&o->of_size[1]) == 0 &&
		total(&o->of_size[2]) == 3 &&
		total(&o->of_size[GANG_SIZES - 1]) == (double)((size_t)1 << 40),
	    "gangs by their sizes, the largest together");
	ok(o->moments.n_gpus == 3 && o->moments.who[2][0] == 1 &&
		o->moments.who[1][0] == 0 && o->moments.who[0][0] == 1,
	    "who has which GPU");
	over_time_busy(o, 1, 0, 2, 2);
	ok(o->n_types == 2 && total(&o->busy[1]) == 4 && total(&o->busy[0]) == 0 &&
		total(&o->available[1]) == 0,
	    "GPUs are busy");
	over_time_available(o, 2, 0, 2, 3);
	ok(o->n_types == 3 && total(&o->available[2]) == 6 && total(&o->busy[2]) == 0 &&
		total(&o->busy[1]) == 4,
	    "GPUs are there");
	over_time_free(o);
	ok(o->busy == NULL && o->n_types == 0 && o->n_entities == 0 &&
		o->running.width_s == 0,
	    "and nothing is left");
	free(o);
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
	ok(gang_size((size_t)1 << (GANG_SIZES - 1)) == GANG_SIZES - 1 &&
		gang_size((size_t)1 << (GANG_SIZES - 2)) == GANG_SIZES - 2 &&
		gang_size((size_t)1 << GANG_SIZES) == GANG_SIZES - 1,
	    "up to the largest");
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
	ok(s.sum == 10 && s.mean == 2.5 && s.median == 2.5 && s.p99 == 4,
	    "of four: between the middle two");
	for (i = 0; i < 200; i++)
		many[i] = (double)(200 - i);
	s = spread_of(many, 200);
	ok(s.p95 == 190 && s.p99 == 198, "percentiles of 1 to 200");
	s = spread_of(many, 1);
	ok(s.n == 1 && s.median == 1 && s.p95 == 1 && s.p99 == 1 && s.max == 1, "of one");
	s = spread_of(v, 0);
	ok(s.sum == 0 && isnan(s.mean) && isnan(s.p99), "of nothing");
}

/* As many as there is room for, and more. */
static void
test_many(void)
{
	struct over_time o = {0};
	size_t i, bad = 0;

	for (i = 0; i < 64; i++) {
		over_time_busy(&o, i, 0, 1, (double)i);
		over_time_run(&o, i, i, 0, 1, 1, NULL, 0);
	}
	for (i = 0; i < 64; i++)
		bad += o.busy[i].sum[0] != (double)i * o.busy[i].width_s ||
		       o.of_entity[i].sum[0] != o.of_entity[i].width_s;
	is_int((long long)bad, 0, "of many types and entities, each its own");
	over_time_free(&o);
}

int
main(void)
{
	test_bins();
	test_moments();
	test_edges();
	test_runs();
	test_many();
	test_sizes();
	test_spread();
	return done_testing();
}
