/*
 * gv_lp_check() against a slow reference that follows the formulas of lp.h on a dense
 * matrix in long double, and at the edges of its rules: everything that is proved
 * rests on it.
 */
#include "tap.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "lp/lp.h"

enum { MOST = 8 };

struct dense {
	size_t n, m;
	long double a[MOST][MOST];
};

static void
dense_of(struct dense *d, const struct gv_lp *lp)
{
	size_t i;

	memset(d, 0, sizeof(*d));
	d->n = lp->n_cols;
	d->m = lp->n_rows;
	for (i = 0; i < lp->n_entries; i++)
		d->a[lp->entry[i].row][lp->entry[i].col] = lp->entry[i].value;
}

static long double
beyond(long double v, double lo, double hi)
{
	if (v < lo)
		return (lo - v) / (fabs(lo) > 1 ? fabs(lo) : 1);
	if (v > hi)
		return (v - hi) / (fabs(hi) > 1 ? fabs(hi) : 1);
	return 0;
}

static long double
infeasibility(const struct gv_lp *lp, const struct dense *d, const double *x)
{
	long double worst = 0;
	size_t i, j;

	for (i = 0; i < d->m; i++) {
		long double v = 0, b;

		for (j = 0; j < d->n; j++)
			v += d->a[i][j] * x[j];
		b = beyond(v, lp->row_lo[i], lp->row_hi[i]);
		worst = b > worst ? b : worst;
	}
	for (j = 0; j < d->n; j++) {
		long double b = beyond(x[j], lp->col_lo[j], lp->col_hi[j]);
		long double whole = fabsl(x[j] - roundl(x[j]));

		worst = b > worst ? b : worst;
		if (lp->integer[j])
			worst = whole > worst ? whole : worst;
	}
	return worst;
}

/* The largest (up) or least that row i of d can be without column j, of the bounds. */
static long double
others(const struct dense *d, size_t i, size_t j, const double *lo, const double *hi,
    bool up)
{
	long double s = 0;
	size_t k;

	for (k = 0; k < d->n; k++)
		if (k != j && d->a[i][k] != 0)
			s += d->a[i][k] * ((d->a[i][k] > 0) == up ? hi[k] : lo[k]);
	return s;
}

/* A bound found to hold, a hair wider. */
static long double
wider(long double v)
{
	return v + 1e-12L * (fabsl(v) > 1 ? fabsl(v) : 1);
}

/* One round: for a column without a bound, the tightest that a row implies. */
static void
imply(const struct gv_lp *lp, const struct dense *d, double *lo, double *hi)
{
	double new_lo[MOST], new_hi[MOST];
	size_t i, j;

	memcpy(new_lo, lo, d->n * sizeof(*lo));
	memcpy(new_hi, hi, d->n * sizeof(*hi));
	for (j = 0; j < d->n; j++)
		for (i = 0; i < d->m; i++) {
			long double a = d->a[i][j];
			long double top =
			    wider(lp->row_hi[i] - others(d, i, j, lo, hi, false));
			long double low =
			    -wider(others(d, i, j, lo, hi, true) - lp->row_lo[i]);
			long double above = a > 0 ? top / a : low / a;
			long double below = a > 0 ? low / a : top / a;

			if (a == 0)
				continue;
			if (isinf(hi[j]) && isfinite(above) && above < new_hi[j])
				new_hi[j] = (double)above;
			if (isinf(lo[j]) && isfinite(below) && below > new_lo[j])
				new_lo[j] = (double)below;
		}
	memcpy(lo, new_lo, d->n * sizeof(*lo));
	memcpy(hi, new_hi, d->n * sizeof(*hi));
}

static long double
best(long double v, double lo, double hi)
{
	double at = v > 0 ? hi : lo;

	if (v == 0 || (isinf(at) && fabsl(v) <= 1e-8L))
		return 0;
	return v * at;
}

static long double
bound(const struct gv_lp *lp, const struct dense *d, const double *y)
{
	double sign = lp->maximise ? 1 : -1;
	double lo[MOST], hi[MOST], z[MOST];
	long double sum = 0;
	size_t i, j;
	int k;

	memcpy(lo, lp->col_lo, d->n * sizeof(*lo));
	memcpy(hi, lp->col_hi, d->n * sizeof(*hi));
	for (k = 0; k < 3; k++)
		imply(lp, d, lo, hi);
	for (i = 0; i < d->m; i++) {
		double at = sign * y[i] > 0 ? lp->row_hi[i] : lp->row_lo[i];

		z[i] = isfinite(y[i]) && isfinite(at) ? sign * y[i] : 0;
		sum += best(z[i], lp->row_lo[i], lp->row_hi[i]);
	}
	for (j = 0; j < d->n; j++) {
		long double v = sign * lp->cost[j];

		for (i = 0; i < d->m; i++)
			v -= (long double)z[i] * d->a[i][j];
		sum += best(v, lo[j], hi[j]);
	}
	return sign * sum;
}

static uint64_t drawn;

static double
uniform(void)
{
	return gv_random_uniform(6, 0, 0, drawn++);
}

static bool
chance(double p)
{
	return uniform() < p;
}

/* Numbers of all sizes, of both signs, whole ones and 0 among them. */
static double
number(void)
{
	double v = chance(.5) ? uniform() * 2 - 1 : floor(uniform() * 7) - 3;

	return chance(.2) ? v * pow(10, floor(uniform() * 9) - 4) : v;
}

static void
bounds(double *lo, double *hi)
{
	double a = number(), b = number();

	*lo = chance(.35) ? -INFINITY : fmin(a, b);
	*hi = chance(.35) ? INFINITY : fmax(a, b);
}

static void
draw(struct gv_lp *lp)
{
	size_t n = 1 + (size_t)(uniform() * (MOST - 1)), m = (size_t)(uniform() * MOST);
	double lo, hi;
	size_t i, j;

	*lp = (struct gv_lp){.maximise = chance(.5)};
	for (j = 0; j < n; j++) {
		bounds(&lo, &hi);
		gv_lp_add_col(lp, lo, hi, chance(.2) ? 0 : number());
		if (chance(.2))
			gv_lp_set_integer(lp, j);
	}
	for (i = 0; i < m; i++) {
		bounds(&lo, &hi);
		gv_lp_add_row(lp, lo, hi);
		for (j = 0; j < n; j++)
			if (chance(.5))
				gv_lp_set(lp, i, j, number());
	}
}

static bool
same(double got, long double want)
{
	if (isinf(got) || isinf((double)want) || isnan((double)want))
		return got == (double)want || (isnan(got) && isnan((double)want));
	return fabsl(got - want) <= 1e-9L * fmaxl(1, fabsl(want));
}

static void
test_reference(void)
{
	int k, infeasible = 0, objective = 0, bad_bound = 0, gap = 0, finite = 0;

	for (k = 0; k < 20000; k++) {
		struct gv_lp lp;
		struct gv_lp_check c;
		struct dense d;
		double x[MOST], y[MOST];
		long double value = 0;
		size_t i;

		draw(&lp);
		dense_of(&d, &lp);
		for (i = 0; i < d.n; i++) {
			x[i] = number();
			value += (long double)lp.cost[i] * x[i];
		}
		for (i = 0; i < d.m; i++)
			y[i] = chance(.05) ? INFINITY : chance(.2) ? 0 : number();
		gv_lp_check(&lp, x, y, &c);
		infeasible += !same(c.infeasibility, infeasibility(&lp, &d, x));
		objective += !same(c.objective, value);
		bad_bound += !same(c.bound, bound(&lp, &d, y));
		finite += isfinite(c.bound);
		gap += !same(
		    c.gap, fabsl(c.bound - c.objective) / fmaxl(1, fabsl(c.objective)));
		gv_lp_free(&lp);
	}
	is_int(infeasible, 0, "infeasibility as the formula has it");
	is_int(objective, 0, "objective");
	is_int(bad_bound, 0, "bound, with those that rows imply");
	is_int(gap, 0, "gap");
	ok(finite > 2000, "many bounds are finite (%d)", finite);
}

/* x_1 <= 1 and x_(k+1) <= x_k: what three rounds of implied bounds reach. */
static void
test_rounds(void)
{
	size_t n;

	for (n = 1; n <= 6; n++) {
		struct gv_lp lp = {.maximise = true};
		struct gv_lp_check c;
		double x[6] = {0}, y[5] = {0};
		size_t k;

		for (k = 0; k < n; k++)
			gv_lp_add_col(&lp, 0, k == 0 ? 1 : INFINITY, k + 1 == n ? 1 : 0);
		for (k = 0; k + 1 < n; k++) {
			gv_lp_add_row(&lp, 0, INFINITY);
			gv_lp_set(&lp, k, k, 1);
			gv_lp_set(&lp, k, k + 1, -1);
		}
		gv_lp_check(&lp, x, y, &c);
		if (n <= 4)
			is_near(c.bound, 1, 1e-11, "bound through %d rows", (int)n - 1);
		else
			ok(isinf(c.bound), "none through %d rows", (int)n - 1);
		gv_lp_free(&lp);
	}
}

/* The bound of max x over a x <= hi (up) or lo <= a x, from the row alone. */
static double
implied(double a, double limit, bool up)
{
	struct gv_lp lp = {.maximise = a > 0 ? up : !up};
	struct gv_lp_check c;
	double x = 0, y = 0;

	gv_lp_add_col(&lp, -INFINITY, INFINITY, 1);
	gv_lp_add_row(&lp, up ? -INFINITY : limit, up ? limit : INFINITY);
	gv_lp_set(&lp, 0, 0, a);
	gv_lp_check(&lp, &x, &y, &c);
	gv_lp_free(&lp);
	return c.bound;
}

/* An implied bound is a hair outside of what was computed, never inside. */
static void
test_wider(void)
{
	static const double limit[] = {0, .25, 1, 5, 1e6, -.25, -5, -1e6};
	size_t k;

	for (k = 0; k < sizeof(limit) / sizeof(*limit); k++) {
		double v = limit[k], hair = 1e-12 * fmax(1, fabs(v));

		ok(implied(1, v, true) == v + hair, "x <= %g", v);
		ok(implied(1, v, false) == v - hair, "x >= %g", v);
		ok(implied(-1, v, true) == -(v + hair), "-x <= %g", v);
		ok(implied(-1, v, false) == -(v - hair), "-x >= %g", v);
		ok(implied(.5, v, true) == (v + hair) / .5, ".5 x <= %g", v);
		ok(implied(-.5, v, true) == -(v + hair) / .5, "-.5 x <= %g", v);
	}
}

/* A reduced cost of rounding meets no infinite bound, a larger one does, on both sides. */
static void
test_nearly_zero(void)
{
	const double d[] = {1e-8, nextafter(1e-8, 1), 9e-9, 1.1e-8, 1e-6};
	size_t k;

	for (k = 0; k < 4 * sizeof(d) / sizeof(*d); k++) {
		double v = d[k / 4] * (k & 1 ? -1 : 1);
		bool bounded = k & 2;
		struct gv_lp lp = {.maximise = true};
		struct gv_lp_check c;
		double x = 0, want = 0;

		gv_lp_add_col(&lp, v < 0 && !bounded ? -INFINITY : -3,
		    v > 0 && !bounded ? INFINITY : 7, v);
		gv_lp_check(&lp, &x, &x, &c);
		if (bounded)
			want = v > 0 ? v * 7 : v * -3;
		else if (d[k / 4] > 1e-8)
			want = INFINITY;
		ok(c.bound == want, "d = %g, %s", v, bounded ? "bounded" : "not");
		gv_lp_free(&lp);
	}
}

/* Sums of terms that cancel: exact where plain addition has nothing left. */
static void
test_sums(void)
{
	static const double x[] = {1e17, 1, -1e17, .1, 3e16, -3e16, 1e-3};
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_check c;
	double y = 1;
	size_t k;

	gv_lp_add_row(&lp, -INFINITY, 1);
	for (k = 0; k < sizeof(x) / sizeof(*x); k++) {
		gv_lp_add_col(&lp, -1e18, 1e18, 1);
		gv_lp_set(&lp, 0, k, 1);
	}
	gv_lp_check(&lp, x, &y, &c);
	ok(c.objective == 1.101, "1e17 + 1 - 1e17 + ... is 1.101 to the last bit");
	is_near(c.infeasibility, .101, 1e-15, "and passes the row by .101");
	ok(c.bound == 1, "the row's dual proves 1");
	gv_lp_free(&lp);

	/* a product's own rounding: (1 + e)(1 - e) - 1 = -e^2 */
	lp = (struct gv_lp){0};
	gv_lp_add_col(&lp, 0, 2, 1 + 0x1p-30);
	gv_lp_add_col(&lp, 0, 2, -1);
	gv_lp_check(&lp, (double[]){1 - 0x1p-30, 1}, NULL, &c);
	ok(c.objective == -0x1p-60, "products keep their rounding errors");
	ok(c.bound == -INFINITY && c.gap == INFINITY, "no duals, no bound");
	gv_lp_check(&lp, (double[]){NAN, 1}, NULL, &c);
	ok(c.infeasibility == INFINITY, "no number is not feasible");
	ok(c.gap == INFINITY, "nor near a bound");
	gv_lp_free(&lp);
}

int
main(void)
{
	test_reference();
	test_rounds();
	test_wider();
	test_nearly_zero();
	test_sums();
	return done_testing();
}
