/*
 * The interior-point method (interior/interior.h) and what is made of its points: levels and
 * sums, on their own, against the linear program of everything; rates over many decades,
 * gangs, GPUs in plenty and few jobs, which make degenerate programs.  And the matrices
 * below it, against loops that anybody can read.
 *
 *	alloc_interior [SEED [FROM TO]]
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "alloc_help.h"
#include "alloc/interior/interior.h"
#include "alloc/interior/level_interior.h"
#include "alloc/interior/newton.h"
#include "alloc/interior/outer.h"
#include "alloc/price/linear_prices.h"
#include "alloc/simplex/simplex.h"

/* Sifting, of programs that are not so large. */
#undef GV_INTERIOR_FEW
#undef GV_INTERIOR_MANY
#define GV_INTERIOR_FEW  300
#define GV_INTERIOR_MANY 1000
#define gv_interior_sift sift_few
#include "../../common/alloc/interior/sift.c"
#undef gv_interior_sift

/* ---- the matrices ---- */

/* A matrix of m x m whose eigenvalues are at least 1. */
static double *
draw_matrix(size_t m, size_t stride)
{
	double *a = gv_xcalloc(stride, stride * sizeof(*a));
	double *row = gv_xcalloc(m, sizeof(*row));
	size_t i, j, k;

	for (k = 0; k < m; k++) {
		for (i = 0; i < m; i++)
			row[i] = uniform() - .5;
		for (i = 0; i < m; i++)
			for (j = 0; j <= i; j++)
				a[i * stride + j] += row[i] * row[j] + (k == 0 && i == j);
	}
	free(row);
	return a;
}

static void
test_cholesky(size_t m)
{
	size_t stride = gv_interior_stride(m), i, j, k;
	double *a = draw_matrix(m, stride), worst = 0;
	double *factor = gv_xcalloc(stride, stride * sizeof(*factor));

	memcpy(factor, a, stride * stride * sizeof(*a));
	ok(stride % GV_INTERIOR_TILE == 0 && stride >= m &&
		gv_interior_cholesky(factor, stride, m),
	    "%zu: factorised", m);
	for (i = 0; i < m; i++)
		for (j = 0; j <= i; j++) {
			double sum = 0;

			for (k = 0; k <= j; k++)
				sum += factor[i * stride + k] * factor[j * stride + k];
			worst = fmax(worst, fabs(sum - a[i * stride + j]));
		}
	ok(worst <= 1e-13 * (double)(m + 8), "the factor's square is the matrix: %g",
	    worst);
	a[0] = NAN;
	ok(!gv_interior_cholesky(a, stride, m), "no number, no factor");
	free(a);
	free(factor);
}

static void
test_outer(size_t m, size_t rows)
{
	size_t stride = gv_interior_stride(m), i, j, k;
	double *c = gv_xcalloc(stride, stride * sizeof(*c));
	double *r = gv_xcalloc(rows + 1, stride * sizeof(*r));
	bool same = true;

	for (i = 0; i < rows; i++)
		for (j = 0; j < m; j++)
			r[i * stride + j] = uniform();
	gv_interior_outer(c, stride, 0, m, r, rows);
	for (i = 0; i < m; i++)
		for (j = 0; j <= i; j++) {
			double sum = 0;

			for (k = 0; k < rows; k++)
				sum -= r[k * stride + i] * r[k * stride + j];
			same = same && sum == c[i * stride + j];
		}
	ok(same, "%zu products of %zu: the same bits as one after another", rows, m);
	free(c);
	free(r);
}

/* A pivot of 0 leaves its variable where it is. */
static void
test_singular(void)
{
	size_t stride = gv_interior_stride(2);
	double *a = gv_xcalloc(stride, stride * sizeof(*a));

	a[0] = a[stride] = a[stride + 1] = 4;
	ok(gv_interior_cholesky(a, stride, 2) && a[0] == 2 && a[stride] == 2 &&
		a[stride + 1] > 1e100,
	    "a singular matrix has a factor");
	free(a);
}

/* ---- programs ---- */

/* Jobs whose rates lie within that many decades. */
static struct gv_problem
draw(size_t n, size_t m, double decades)
{
	struct gv_problem p;
	double plenty = below(4) == 0 ? 8 : 1;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++) {
		p.capacity[j] = floor(8 + plenty * (double)below(1 + 2 * n / m));
		p.price[j] = 1 + uniform();
	}
	for (i = 0; i < n; i++) {
		p.scale[i] = (double)(1 << below(4));
		p.weight[i] = .5 + uniform();
		p.count[i] = below(3) == 0 ? (double)(1 + below(4)) : 1;
		for (j = 0; j < m; j++)
			p.rate[i * m + j] =
			    below(8) == 0 ? 0 : pow(10, decades * uniform());
		make_runnable(&p, i);
	}
	return p;
}

static double *
levels_of(const struct gv_problem *p, bool times)
{
	double *a = gv_xcalloc(p->n, p->m * sizeof(*a));
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	size_t i, j;

	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++) {
		double by = times ? pow(10, 4 * uniform())
				  : p->weight[i] * equal[i] / p->scale[i];

		for (j = 0; j < p->m; j++)
			a[i * p->m + j] = gv_problem_rate(p, i, j) / by;
	}
	free(equal);
	return a;
}

/* A bit less of the level, which may be rounding, may buy so much more of the second sum. */
#define SECOND 1e-5

/* How often each came to a proof; it need not, others follow. */
static struct {
	int all, levels, sums;
} count;

static void
test_level(const struct gv_problem *p, bool times)
{
	double *a = levels_of(p, times), *gain = gv_linear_normalised(p);
	double unit = gv_level_unit(p, a);
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(double))};
	struct gv_solution t = {.x = gv_xcalloc(p->n, p->m * sizeof(double))};
	enum gv_lp_status status;
	struct gv_level l, k;
	struct gv_error e = {0};
	bool done, program_done;

	gv_level_init(&l, p, &s, true);
	gv_level_init(&k, p, &t, true);
	if (gv_level_by_interior(p, a, unit, false, &l, &done, &e) == 0 &&
	    gv_level_by_program(
		p, a, unit, false, false, &k, &status, &program_done, &e) == 0) {
		double ours = gv_linear_sum(p, gain, s.x),
		       theirs = gv_linear_sum(p, gain, t.x);

		count.levels++;
		if (!done || !near(s.objective, t.objective, 1e-9) ||
		    !(s.bound >= s.objective) || !near(s.bound, s.objective, 1e-9) ||
		    gv_problem_excess(p, s.x) > 1e-9 ||
		    (program_done && !near(ours, theirs, SECOND)))
			ok(false,
			    "levels of %zu jobs on %zu types: %.15g %.15g, bound %.15g; "
			    "%.15g %.15g",
			    p->n, p->m, s.objective, t.objective, s.bound, ours, theirs);
	}
	gv_level_free(&l);
	gv_level_free(&k);
	gv_error_clear(&e);
	free(a);
	free(gain);
	free(s.x);
	free(t.x);
}

static void
test_sum(const struct gv_problem *p, bool needs)
{
	double *need = gv_xcalloc(p->n, sizeof(*need));
	double *second = gv_linear_normalised(p);
	struct gv_solution s = {.x = gv_xcalloc(p->n, p->m * sizeof(double))};
	struct gv_solution t = {.x = gv_xcalloc(p->n, p->m * sizeof(double))};
	struct gv_linear l, k;
	struct gv_error e = {0};
	size_t i;

	gv_problem_isolated(p, s.x);
	for (i = 0; i < p->n; i++)
		need[i] = needs && i % 3 == 0
			      ? .3 / p->count[i] * gv_problem_throughput(p, s.x, i)
			      : 0;
	gv_linear_init(&l, p, &s);
	gv_linear_init(&k, p, &t);
	l.gain = k.gain = p->rate;
	l.need = k.need = needs ? need : NULL;
	l.second = k.second = needs ? NULL : second;
	if (gv_linear_by_interior(&l, "a sum", &e) == 0 &&
	    gv_linear_by_program(&k, false, false, "a sum", &e) == 0) {
		count.sums++;
		if (!near(s.objective, t.objective, 1e-9) || s.gap > 1e-9 ||
		    gv_problem_excess(p, s.x) > 1e-9)
			ok(false, "a sum of %zu jobs on %zu types: %.15g %.15g", p->n,
			    p->m, s.objective, t.objective);
		for (i = 0; i < p->n && needs; i++)
			if (gv_problem_throughput(p, s.x, i) < need[i] * (1 - 1e-9))
				ok(false, "job %zu has what it needs", i);
	}
	free(second);
	gv_linear_free(&l);
	gv_linear_free(&k);
	gv_error_clear(&e);
	free(need);
	free(s.x);
	free(t.x);
}

/* Programs that came to it with few columns. */
static int few_columns;

/* Whatever the unit of gains. */
static void
test_unit(struct gv_interior_program *p, const struct gv_interior_point *at)
{
	double *gain = gv_xcalloc(p->n, p->m * sizeof(*gain));
	const double *was = p->gain;
	double unit;
	size_t i;

	for (unit = 1e-6; p->gain != NULL && unit < 1e7; unit *= 1e12) {
		struct gv_interior_point other;

		for (i = 0; i < p->n * p->m; i++)
			gain[i] = unit * was[i];
		p->gain = gain;
		sift_few(p, &other);
		ok(other.gap < 1e-6 && near(other.objective, unit * at->objective, 1e-6),
		    "%g of a unit: %.12g", unit, other.objective / unit);
		gv_interior_free(&other);
	}
	p->gain = was;
	free(gain);
}

/* Columns that are chosen by what some jobs pay come to what all columns come to. */
static void
test_sift(size_t n, size_t m, bool sum, bool needs)
{
	struct gv_problem p = draw(n, m, 2);
	double *a = levels_of(&p, true), *use = gv_xcalloc(n, sizeof(*use));
	double *gain = gv_linear_normalised(&p), *need = gv_xcalloc(n, sizeof(*need));
	struct gv_interior_point all, few;
	struct gv_interior_program ip = {
	    .n = n, .m = m, .level = a, .use = use, .capacity = p.capacity};
	bool *first = gv_xcalloc(n, m * sizeof(*first));
	size_t i;

	for (i = 0; i < n; i++)
		use[i] = p.count[i] * p.scale[i];
	gv_interior_solve(&ip, &all);
	for (i = 0; i < n; i++)
		need[i] = i % 2 == 0 ? .5 * all.objective : 0;
	ip.gain = sum ? gain : NULL;
	ip.need = needs ? need : NULL;
	gv_interior_free(&all);
	gv_interior_solve(&ip, &all);
	sift_few(&ip, &few);
	few_columns += few.n_columns < all.n_columns;
	ok(few.gap < 1e-6 &&
		(!(all.gap < 1e-6) || near(all.objective, few.objective, 1e-6)),
	    "%zu jobs on %zu types%s%s: %.12g by %zu columns, %.12g by %zu", n, m,
	    sum ? ", sum" : "", needs ? ", needs" : "", few.objective, few.n_columns,
	    all.objective, all.n_columns);
	for (i = 0; i < n * m; i++)
		first[i] = below(4) == 0;
	gv_interior_free(&few);
	ip.first = first;
	sift_few(&ip, &few);
	ok(few.gap < 1e-6 &&
		(!(all.gap < 1e-6) || near(all.objective, few.objective, 1e-6)),
	    "and so do a quarter of the columns, taken blindly: %.12g by %zu, %g",
	    few.objective, few.n_columns, few.gap);
	test_unit(&ip, &few);
	gv_interior_free(&all);
	gv_interior_free(&few);
	free(a);
	free(use);
	free(first);
	free(gain);
	free(need);
	gv_problem_free(&p);
}

/* What a level and its time are worth at lambda: lambda q less the time's. */
static double
worth_at(
    const double *a, const double *cost, size_t m, double q, double lambda, double *time)
{
	size_t j;

	*time = 0;
	for (j = 0; j < m; j++)
		*time = fmax(*time, lambda * a[j] - cost[j]);
	return lambda * q - *time;
}

/* The multiplier of a level is where that is the most: at none of the corners it is more. */
static void
test_worth(void)
{
	enum { M = 4 };
	double a[M], cost[M];
	int n, bad = 0;
	size_t j, k;

	for (n = 0; n < 3000; n++) {
		double most = 0, lambda, time, own, best, q;

		for (j = 0; j < M; j++) {
			cost[j] = below(5) == 0 ? INFINITY : (double)below(6) - 2;
			a[j] = (double)below(5);
			if (isfinite(cost[j]))
				most = fmax(most, a[j]);
		}
		q = most * (double)below(5) / 4;
		lambda = worth_of(a, cost, M, q, &time);
		best = worth_at(a, cost, M, q, lambda, &own);
		bad += !(lambda >= 0) || fabs(time - own) > 1e-12;
		for (j = 0; j < M; j++)
			for (k = 0; k <= M; k++) {
				double slope = a[j] - (k < M ? a[k] : 0);
				double at = (cost[j] - (k < M ? cost[k] : 0)) / slope;

				if (isfinite(at) && at > 0 &&
				    worth_at(a, cost, M, q, at, &own) > best + 1e-12)
					bad++;
			}
		if (worth_at(a, cost, M, q, 0, &own) > best + 1e-12)
			bad++;
	}
	is_int(bad, 0, "what a level is worth is the most of all multipliers");
}

/* Of jobs that all are there PART times a sample has the level and prices of all. */
static void
test_sample(size_t n, size_t m, bool sum, bool needs)
{
	struct gv_problem p = draw(n * PART, m, 1);
	double *a = levels_of(&p, false), *gain = gv_linear_normalised(&p);
	double *need = gv_xcalloc(p.n, sizeof(*need));
	double *price = gv_xcalloc(m, sizeof(*price)), level = 0;
	bool *column = gv_xcalloc(p.n, m * sizeof(*column));
	struct gv_interior_program ip = {.n = p.n,
	    .m = m,
	    .level = a,
	    .use = p.scale,
	    .capacity = p.capacity,
	    .column = column,
	    .gain = sum ? gain : NULL,
	    .need = needs ? need : NULL};
	struct gv_interior_point all;
	size_t i, k;

	for (k = 0; k < m; k++)
		p.capacity[k] = (double)(n * (2 + k)) / 4;
	for (i = 0; i < p.n; i++) {
		size_t first = i - i % PART;

		p.scale[i] = p.scale[first];
		need[i] = first % 3 == 0 ? 1e-3 * gv_row_max(&a[first * m], m) : 0;
		memcpy(&a[i * m], &a[first * m], m * sizeof(*a));
		memcpy(&gain[i * m], &gain[first * m], m * sizeof(*gain));
		for (k = 0; k < m; k++)
			column[i * m + k] =
			    a[i * m + k] > 0 && (k + first / PART) % 4 > 0;
	}
	gv_interior_solve(&ip, &all);
	ok(all.gap < 1e-6 && sample_prices(&ip, price, &level) &&
		near(level, sum ? all.objective / PART : all.objective, 1e-4),
	    "%zu jobs on %zu types, %d times: a sample's%s %g", n, m, PART,
	    sum ? " sum" : "", level);
	for (k = 0; k < m; k++)
		ok(near(price[k], all.price[k] * (sum ? 1 : PART), 1e-3), "and price %g",
		    price[k]);
	gv_interior_free(&all);
	gv_problem_free(&p);
	free(a);
	free(gain);
	free(need);
	free(price);
	free(column);
}

/*
 * Most jobs are far above the level, with multipliers that are 0 but for what is left of products: that
 * times a rate decades higher is no reason to take in a column.
 */
static void
test_sift_above(size_t n, size_t m)
{
	struct gv_problem p = draw(n, m, 4);
	double *a = levels_of(&p, false);
	struct gv_interior_program ip = {
	    .n = n, .m = m, .level = a, .use = p.scale, .capacity = p.capacity};
	struct gv_interior_point few;

	sift_few(&ip, &few);
	ok(few.gap < 1e-6 && few.n_columns < n * m / 8,
	    "%zu jobs far above the level, on %zu types: %zu columns, %g", n, m,
	    few.n_columns, few.gap);
	gv_interior_free(&few);
	free(a);
	gv_problem_free(&p);
}

/*
 * Steps are about as many whatever the size: where it begins, the columns of many types do not
 * weigh more than all else.
 */
static void
test_steps(size_t n, size_t m, int most)
{
	struct gv_problem p = draw(n, m, 1);
	double *a = levels_of(&p, true);
	struct gv_interior_program ip = {
	    .n = n, .m = m, .level = a, .use = p.scale, .capacity = p.capacity};
	struct gv_interior_point at;

	gv_interior_solve(&ip, &at);
	ok(at.gap < 1e-6 && at.steps <= most, "%zu jobs on %zu types: %d steps, %g", n, m,
	    at.steps, at.gap);
	gv_interior_free(&at);
	free(a);
	gv_problem_free(&p);
}

/* Rates of each job and type within a factor of four: many columns nearly as good as the best. */
static void
test_near_steps(size_t n, size_t m, int most)
{
	double *level = gv_xcalloc(n, m * sizeof(*level));
	double *use = gv_xcalloc(n, sizeof(*use));
	double *capacity = gv_xcalloc(m, sizeof(*capacity));
	struct gv_interior_program ip = {
	    .n = n, .m = m, .level = level, .use = use, .capacity = capacity};
	struct gv_interior_point at;
	size_t i;

	draws_begin(1, 2, 0);
	for (i = 0; i < m; i++)
		capacity[i] = (double)(1 + below(8));
	for (i = 0; i < n; i++)
		use[i] = 1;
	for (i = 0; i < n * m; i++)
		level[i] = .5 + 1.5 * uniform();
	gv_interior_solve(&ip, &at);
	ok(at.gap < 1e-6 && at.steps <= most,
	    "%zu jobs on %zu types, near each other: %d steps, %g", n, m, at.steps,
	    at.gap);
	gv_interior_free(&at);
	free(level);
	free(use);
	free(capacity);
}

/*
 * So are those of a sum whose gains are far apart, on types some of which are scarce and
 * others not: it does not begin with gains far above what its multipliers ask for.
 */
static void
test_sum_steps(size_t n, size_t m, int most)
{
	double *gain = gv_xcalloc(n, m * sizeof(*gain));
	double *use = gv_xcalloc(n, sizeof(*use));
	double *capacity = gv_xcalloc(m, sizeof(*capacity));
	struct gv_interior_program ip = {.n = n,
	    .m = m,
	    .level = gain,
	    .use = use,
	    .gain = gain,
	    .capacity = capacity};
	struct gv_interior_point at;
	size_t i;

	for (i = 0; i < n * m; i++)
		gain[i] = pow(10, 4 * uniform());
	for (i = 0; i < n; i++)
		use[i] = 1 << below(4);
	for (i = 0; i < m; i++)
		capacity[i] = 1 + floor(8 * uniform() * (double)n / (double)m);
	gv_interior_solve(&ip, &at);
	ok(at.gap < 1e-6 && at.steps <= most,
	    "a sum, %zu jobs on %zu types: %d steps, %g", n, m, at.steps, at.gap);
	gv_interior_free(&at);
	free(gain);
	free(use);
	free(capacity);
}

/* Jobs of kinds, each a little different from its kind, and few GPUs. */
static struct gv_problem
draw_kinds(uint32_t seed, size_t n, size_t m)
{
	enum { KINDS = 26 };
	struct gv_problem p;
	size_t i, j;

	draws_begin(seed, 2, (uint32_t)n);
	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++)
		p.capacity[j] = 8;
	for (i = 0; i < n; i++) {
		double *rate = &p.rate[i * m], *kind = &p.rate[i % KINDS * m];

		p.scale[i] = (double)(1 << below(4));
		p.weight[i] = .5 + uniform();
		p.count[i] = 1;
		for (j = 0; j < m; j++)
			rate[j] = i < KINDS ? pow(10, 1.3 * uniform())
					    : kind[j] * (.85 + .3 * uniform());
	}
	return p;
}

/* The highest level that a job has. */
static double
most_of(const struct gv_problem *p, const double *a, const double *x)
{
	double most = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double sum = 0;

		for (j = 0; j < p->m; j++)
			sum += a[i * p->m + j] * x[i * p->m + j];
		most = fmax(most, sum);
	}
	return most;
}

/* Where no type has a GPU too many all levels are equal, which leaves a second sum no room. */
static void
test_scarce(uint32_t seed, size_t n, size_t m)
{
	struct gv_solution s = {.x = gv_xcalloc(n, m * sizeof(double))};
	struct gv_error e = {0};
	struct gv_problem p;
	struct gv_level l;
	bool done = false;
	double *a;
	int rc;

	p = draw_kinds(seed, n, m);
	a = levels_of(&p, false);
	gv_level_init(&l, &p, &s, true);
	rc = gv_level_by_interior(&p, a, gv_level_unit(&p, a), false, &l, &done, &e);
	ok(rc == 0 && done && near(most_of(&p, a, s.x), s.objective, 1e-9) &&
		near(s.bound, s.objective, 1e-11),
	    "%zu jobs on %zu scarce types have equal levels: %.15g, bound %.15g", n, m,
	    s.objective, s.bound);
	gv_level_free(&l);
	gv_error_clear(&e);
	free(a);
	free(s.x);
	gv_problem_free(&p);
}

/* A budget is what it does not know. */
static void
test_budget(void)
{
	struct gv_problem p = draw(20, 4, 1);
	double *a = levels_of(&p, false);
	struct gv_solution s = {.x = gv_xcalloc(p.n, p.m * sizeof(double))};
	struct gv_error e = {0};
	struct gv_linear k;
	struct gv_level l;
	bool done;

	p.budget = 1;
	gv_level_init(&l, &p, &s, true);
	gv_linear_init(&k, &p, &s);
	k.gain = p.rate;
	is_int(gv_level_by_interior(&p, a, 1, false, &l, &done, &e), 1,
	    "levels under a budget: no");
	is_int(gv_linear_by_interior(&k, "a sum", &e), 1, "nor sums");
	gv_level_free(&l);
	gv_linear_free(&k);
	free(a);
	free(s.x);
	gv_problem_free(&p);
}

int
main(int argc, char **argv)
{
	static const size_t sizes[] = {1, 2, 7, 8, 9, 31, 32, 33, 64, 71};
	uint32_t seed = argc > 1 ? (uint32_t)atol(argv[1]) : 5;
	uint32_t from = argc > 3 ? (uint32_t)atol(argv[2]) : 0;
	uint32_t to = argc > 3 ? (uint32_t)atol(argv[3]) : 150, k;
	size_t i;

	draws_begin(seed, 0, 0);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		test_cholesky(sizes[i]);
		test_outer(sizes[i], sizes[i] / 2);
	}
	test_singular();
	test_budget();
	for (i = 0; i < 12; i++)
		test_scarce(seed + (uint32_t)i, 512, 8 << i % 3);
	for (i = 0; i < 6; i++) {
		test_sift(400 << i % 3, 3 + 4 * i / 3, false, false);
		test_sift(400 << i % 3, 3 + 4 * i / 3, true, false);
		test_sift(400 << i % 3, 3 + 4 * i / 3, true, true);
	}
	ok(few_columns >= 12, "mostly with few columns: %d of 18", few_columns);
	test_worth();
	test_sample(40, 4, false, false);
	test_sample(40, 4, true, false);
	test_sample(40, 4, true, true);
	test_sift_above(2000, 16);
	test_sift_above(4000, 16);
	test_sift_above(2000, 32);
	test_steps(100, 4, 16);
	test_steps(100, 100, 16);
	test_steps(300, 300, 16);
	test_near_steps(200, 200, 20);
	test_sum_steps(100, 4, 30);
	test_sum_steps(400, 32, 30);
	test_sum_steps(300, 100, 30);
	for (k = from; k < to; k++) {
		struct gv_problem p;
		size_t n, m;

		draws_begin(seed, 1, k);
		m = 1 + below(k % 4 == 0 ? 40 : 10);
		n = 1 + below(k % 2 == 0 ? 60 : 12);
		if (k % 30 == 7) { /* of so many types steps are corrected */
			m = GV_INTERIOR_CORRECTS + below(30);
			n = 10 + below(100);
		}
		p = draw(n, m, below(2) == 0 ? 1 : 5);
		count.all++;
		test_level(&p, below(2) == 0);
		test_sum(&p, below(2) == 0);
		gv_problem_free(&p);
	}
	ok(count.levels >= .95 * count.all && count.sums >= .95 * count.all,
	    "it comes to a proof by itself: %d levels, %d sums of %d", count.levels,
	    count.sums, count.all);
	return done_testing();
}
