/*
 * The oracle of prices (price/oracle.h), job by job: the demand that gains most against all
 * vertices, what is fixed in a box of prices against prices from that box, and jobs that are
 * sampled and picked.
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/oracle.h"
#include "alloc/problem/problem.h"

enum { N = 40, M = 7 };

/* Few numbers now and then, so that vertices are worth the same. */
static void
draw(struct gv_oracle_jobs *c, size_t n, size_t m, bool few)
{
	double a[N * M] = {0}, gain[N * M] = {0}, use[N];
	size_t i, j;

	for (i = 0; i < n; i++) {
		use[i] = (double)(1 << below(3));
		for (j = 0; j < m; j++) {
			a[i * m + j] = below(5) == 0 ? 0
				       : few         ? .5 * (double)(1 + below(6))
						     : .2 + 3 * uniform();
			gain[i * m + j] =
			    few ? .5 * (double)below(5) : 3 * uniform() - .3;
		}
		a[i * m + below(m)] = few ? 3.5 : 3.2 + uniform();
	}
	gv_oracle_jobs_fill(c, n, m, a, use, gain);
}

static double
level_of(const struct gv_oracle_jobs *c, size_t i, size_t j)
{
	return c->a[j * c->stride + i];
}

/* ---- the largest gain ---- */

/* What shares of a job gain after cost; -INFINITY: they cost too much at the face. */
static double
net(const struct gv_oracle_jobs *c, const struct gv_dual_point *o, double limit, size_t j,
    double xj, size_t k, double xk)
{
	const size_t at[] = {j, k};
	const double x[] = {xj, xk};
	double sum = 0, face = 0;
	size_t e;

	for (e = 0; e < 2; e++) {
		sum += x[e] * (c->gain[at[e] * c->stride] - o->price[at[e]] * c->use[0]);
		face += o->face != NULL ? x[e] * o->face[at[e]] : 0;
	}
	return face <= limit ? sum : -INFINITY;
}

/* The part of type j's time where j and the slower k just reach the level; NAN: never. */
static double
part_of(const struct gv_oracle_jobs *c, double level, size_t j, size_t k)
{
	double fast = level_of(c, 0, j), slow = level_of(c, 0, k);

	return fast >= level && slow < level && slow > 0 ? (level - slow) / (fast - slow)
							 : NAN;
}

/* The least cost at the face's prices, of one job. */
static double
least_at_face(const struct gv_oracle_jobs *c, const struct gv_dual_point *o)
{
	double least = INFINITY;
	size_t j, k;

	for (j = 0; j < c->m; j++) {
		if (level_of(c, 0, j) > 0 && level_of(c, 0, j) >= o->level)
			least = fmin(least, o->face[j] * o->level / level_of(c, 0, j));
		for (k = 0; k < c->m; k++) {
			double x = part_of(c, o->level, j, k);

			if (!isnan(x))
				least =
				    fmin(least, o->face[j] * x + o->face[k] * (1 - x));
		}
	}
	return least;
}

static double
largest_net(const struct gv_oracle_jobs *c, const struct gv_dual_point *o)
{
	double limit = o->face != NULL ? least_at_face(c, o) * (1 + 1e-9) : INFINITY;
	double most = o->level == 0 ? 0 : -INFINITY;
	size_t j, k;

	for (j = 0; j < c->m; j++) {
		double a = level_of(c, 0, j);

		if (a > 0 && a >= o->level) {
			most = fmax(most, net(c, o, limit, j, 1, j, 0));
			most = fmax(most, net(c, o, limit, j, o->level / a, j, 0));
		}
		for (k = 0; k < c->m; k++) {
			double x = part_of(c, o->level, j, k);

			if (!isnan(x))
				most = fmax(most, net(c, o, limit, j, x, k, 1 - x));
		}
	}
	return most;
}

/* At face prices of 0 anything that reaches the level is on the face. */
static void
test_gains(void)
{
	size_t k, j, cases = 0, wrong = 0;
	double worst = 0;

	for (k = 0; k < 6000; k++) {
		double price[M], face[M], used[M], slope[M], x[M] = {0}, y[M], lambda[1];
		size_t m = 1 + below(M);
		struct gv_demand t = {used, slope, 0, 0};
		struct gv_dual_point o = {.price = price, .gains = true};
		struct gv_oracle_jobs c;
		double most, got, reached = 0, time = 0;

		draw(&c, 1, m, k % 2 == 0);
		for (j = 0; j < m; j++) {
			price[j] = k % 2 == 0 ? .5 * (double)below(4) : uniform();
			face[j] = .5 * (double)below(3);
		}
		o.level = k % 5 == 0 ? 0 : .5 * (double)(1 + below(6));
		o.face = k % 3 == 0 && o.level > 0 ? face : NULL;
		most = largest_net(&c, &o);
		gv_oracle_demand(&c, &o, &t);
		got = t.gain;
		gv_oracle_add_shares(&c, &o, 1, x, lambda);
		memset(y, 1, sizeof(y));
		gv_oracle_set_shares(&c, &o, .5, y, NULL);
		for (j = 0; j < m; j++) {
			got -= price[j] * used[j];
			time += x[j];
			reached += x[j] * level_of(&c, 0, j);
			wrong += x[j] < 0 || fabs(used[j] - c.use[0] * x[j]) > 1e-12;
			wrong += y[j] != .5 * x[j];
		}
		cases++;
		worst = gv_worse(worst, fabs(got - most));
		wrong += !(time <= 1 + 1e-12 && reached >= o.level * (1 - 1e-12));
		gv_oracle_jobs_free(&c);
	}
	ok(worst <= 1e-12, "what gains most of all vertices, to %g", worst);
	is_int(wrong, 0, "%zu shares reach the level in their time", cases);
}

/* Who can have any level at once asks for nothing, unless that gains. */
static void
test_rest(void)
{
	const double a[] = {INFINITY, 1, INFINITY, 1}, gain[] = {1, 1, 3, 1};
	const double use[] = {1, 1}, price[] = {2, 2};
	double used[2], slope[2];
	struct gv_demand t = {used, slope, 0, 0};
	const struct gv_dual_point o = {.price = price, .gains = true, .level = .5};
	struct gv_oracle_jobs c;

	gv_oracle_jobs_fill(&c, 2, 2, a, use, gain);
	gv_oracle_demand(&c, &o, &t);
	ok(used[0] == 1 && used[1] == 0 && t.gain == 3, "who has its level may rest");
	gv_oracle_jobs_free(&c);
}

/* ---- fixing ---- */

/* A box around prices, and the levels that are near. */
struct box {
	double price[M], lo[M], hi[M], part, level;
	bool gains;
};

static void
draw_box(struct box *b, size_t m, bool gains)
{
	double width = pow(10, -3 * uniform());
	size_t j;

	b->gains = gains;
	b->level = gains && below(4) == 0 ? 0 : .3 + 2.5 * uniform();
	b->part = gains ? 0 : width * .1 * (double)below(3);
	for (j = 0; j < m; j++) {
		b->price[j] = below(6) == 0 ? 0 : uniform();
		b->lo[j] = fmax(0, b->price[j] - width * uniform());
		b->hi[j] = b->price[j] + width * uniform();
	}
}

/* The shares of all jobs at drawn or outermost prices and levels of the box. */
static double
shares_in(const struct gv_oracle_jobs *c, const struct box *b, double *x)
{
	double price[M];
	struct gv_dual_point o = {.price = price, .gains = b->gains, .level = b->level};
	bool corner = below(2) == 0;
	size_t j;

	for (j = 0; j < c->m; j++)
		price[j] = b->lo[j] + (b->hi[j] - b->lo[j]) *
					  (corner ? (double)below(2) : uniform());
	o.level *= 1 + b->part * (corner ? (double)below(3) - 1 : 2 * uniform() - 1);
	gv_oracle_set_shares(c, &o, 1, x, NULL);
	return o.level;
}

static bool
in_list(const size_t *list, size_t n, size_t i)
{
	size_t k;

	for (k = 0; k < n; k++)
		if (list[k] == i)
			return true;
	return false;
}

/*
 * Fixed jobs demand the same everywhere in the box but for their slope by the level, and
 * are summed up as that; of those that are free many do not.
 */
static void
test_fix(bool gains)
{
	size_t k, i, j, times, wrong = 0, fixed = 0, freed = 0, moved = 0;
	double worst = 0;

	for (k = 0; k < 600; k++) {
		size_t n = 1 + below(N), m = 1 + below(M), open[N], n_open;
		double used[M], slope[M], x[N * M], sum[M] = {0}, gain = 0;
		struct gv_demand t = {used, slope, 0, 0};
		struct gv_oracle_jobs c;
		struct gv_dual_point o;
		bool moves[N] = {false};
		struct box b;

		draw(&c, n, m, false);
		draw_box(&b, m, gains);
		o = (struct gv_dual_point){b.price, NULL, b.level, gains};
		n_open = gv_oracle_fix(&c, &o, b.lo, b.hi, b.part, &t, open);
		for (i = 1; i < n_open; i++)
			wrong += open[i - 1] >= open[i];
		gv_oracle_set_shares(&c, &o, 1, x, NULL);
		for (i = 0; i < n * m; i++)
			if (!in_list(open, n_open, i / m)) {
				sum[i % m] += c.use[i / m] * x[i];
				gain += x[i] * c.gain[i % m * c.stride + i / m];
			}
		for (j = 0; j < m; j++)
			worst = gv_worse(worst, fabs(sum[j] - used[j]));
		if (gains)
			worst = gv_worse(worst, fabs(gain - t.gain));
		for (times = 0; times < 12; times++) {
			double y[N * M], more = shares_in(&c, &b, y) - b.level;

			memset(sum, 0, sizeof(sum));
			for (i = 0; i < n * m; i++) {
				if (in_list(open, n_open, i / m))
					moves[i / m] =
					    moves[i / m] || (y[i] > 0) != (x[i] > 0);
				else {
					wrong += (y[i] > 0) != (x[i] > 0);
					sum[i % m] += c.use[i / m] * y[i];
				}
			}
			for (j = 0; j < m; j++)
				worst = gv_worse(
				    worst, fabs(sum[j] - used[j] - more * slope[j]));
		}
		fixed += n - n_open;
		freed += n_open;
		for (i = 0; i < n; i++)
			moved += moves[i];
		gv_oracle_jobs_free(&c);
	}
	is_int(wrong, 0, "fixed jobs stay at their types in the whole box");
	ok(worst <= 1e-10, "and are summed up, to %g", worst);
	ok(fixed > 5000 && moved * 100 > freed * (gains ? 57 : 80),
	    "%zu are fixed, of %zu free ones %zu move", fixed, freed, moved);
}

/* ---- columns ---- */

static void
test_columns(void)
{
	struct gv_oracle_jobs c, few, fewer, sample;
	double x[N * 3] = {0};
	const double price[] = {.1, .2, .3};
	const struct gv_dual_point o = {.price = price, .level = 1};
	size_t *of = gv_xcalloc(3, sizeof(*of)), *of_those = gv_xcalloc(2, sizeof(*of));
	size_t i, j, wrong = 0, job;
	double least;

	for (i = 7; i <= 8; i++) {
		draw(&c, i, 3, false);
		wrong += c.stride != 8;
		gv_oracle_jobs_free(&c);
	}
	draw(&c, 37, 3, false);
	ok(c.stride == 40 && c.use[37] == 0 && c.a[39] == 0 && c.gain[2 * 40 + 38] == 0,
	    "rows of eight, zeros behind them");
	of[0] = 5;
	of[1] = 7;
	of[2] = 36;
	gv_oracle_jobs_pick(&few, &c, of, 3);
	of_those[0] = 0;
	of_those[1] = 2;
	gv_oracle_jobs_pick(&fewer, &few, of_those, 2);
	gv_oracle_jobs_sample(&sample, &c, 4, 8);
	for (j = 0; j < 3; j++) {
		wrong += fewer.a[j * 8 + 1] != c.a[j * 40 + 36] ||
			 fewer.gain[j * 8] != c.gain[j * 40 + 5];
		for (i = 0; i < 5; i++)
			wrong += sample.a[j * 8 + i] != c.a[j * 40 + 4 + 8 * i] ||
				 sample.gain[j * 8 + i] != c.gain[j * 40 + 4 + 8 * i] ||
				 sample.use[i] != c.use[4 + 8 * i];
	}
	ok(wrong == 0 && sample.n == 5 && sample.of == NULL, "samples");
	ok(fewer.n == 2 && fewer.of[0] == 5 && fewer.of[1] == 36 &&
		fewer.use[1] == c.use[36],
	    "picked from those picked");
	gv_oracle_add_shares(&fewer, &o, 2, x, NULL);
	for (i = 0; i < N; i++)
		wrong +=
		    (x[3 * i] + x[3 * i + 1] + x[3 * i + 2] > 0) != (i == 5 || i == 36);
	is_int(wrong, 0, "shares go where jobs were picked from");
	for (least = INFINITY, job = i = 0; i < c.n; i++) {
		double most = fmax(
		    level_of(&c, i, 0), fmax(level_of(&c, i, 1), level_of(&c, i, 2)));

		if (most < least) {
			least = most;
			job = i;
		}
	}
	ok(gv_oracle_time_bound(&c, &i) == least && i == job, "whom time bounds");
	gv_oracle_jobs_free(&sample);
	gv_oracle_jobs_sample(&sample, &few, 3, 8);
	is_int(sample.n, 0, "there may be none");
	gv_oracle_jobs_free(&sample);
	gv_oracle_jobs_free(&fewer);
	gv_oracle_jobs_free(&few);
	gv_oracle_jobs_free(&c);
	ok(c.n == 0 && c.a == NULL && few.of == NULL, "freed");
}

int
main(void)
{
	draws_begin(33, 0, 0);
	test_gains();
	test_rest();
	test_fix(false);
	test_fix(true);
	test_columns();
	return done_testing();
}
