/*
 * What multipliers prove of levels and sums, and the small sums around it, against the
 * same in long double: no bound is below the exact one, and none is above it by more than
 * rounding, whatever the multipliers.
 */
#include "tap.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/program/level.h"
#include "alloc/program/linear.h"
#include "alloc/program/multipliers.h"
#include "alloc/program/reach.h"
#include "alloc/simplex/simplex.h"

/* Of any size within some; 0 now and then. */
static double
any(double zero)
{
	return uniform() < zero ? 0 : exp(6 * uniform() - 3);
}

/* Many jobs now and then: sums go by blocks. */
static struct gv_problem
draw_problem(size_t k)
{
	struct gv_problem p;
	size_t i, j, n = k % 20 == 0 ? 1020 + below(2000) : 1 + below(12);

	gv_problem_alloc(&p, n, 1 + below(4));
	gv_problem_ask(&p, 1u << GV_NUMBER_NEED);
	for (j = 0; j < p.m; j++) {
		p.capacity[j] = (double)(j == 0 ? 4 + below(9) : below(9));
		p.price[j] = any(0);
	}
	p.budget = uniform() < .5 ? 0 : any(0);
	for (i = 0; i < p.n; i++) {
		p.count[i] = (double)(1 + below(3));
		p.scale[i] = (double)(1 + below(4));
		p.weight[i] = any(0);
		for (j = 0; j < p.m; j++)
			p.rate[i * p.m + j] = j == 0 ? any(0) : any(.3);
		p.number[GV_NUMBER_NEED][i] = any(.5);
	}
	return p;
}

/* [n][m] numbers where there are rates. */
static double *
draw_where_rates(const struct gv_problem *p, bool below_zero)
{
	double *a = gv_xcalloc(p->n, p->m * sizeof(*a));
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		a[i] = p->rate[i] > 0 ? any(0) - (below_zero ? any(.5) : 0) : 0;
	return a;
}

static double *
draw_list(size_t n, double zero)
{
	double *v = gv_xcalloc(n, sizeof(*v));
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = any(zero);
	return v;
}

/* got is no less than want, and no more than rounding allows. */
static bool
is_just_above(double got, long double want, long double size, const struct gv_problem *p)
{
	long double room = size * ((double)(p->n + p->m) + 40) * 8 * DBL_EPSILON;

	return got >= want && got <= want + room;
}

static bool
is_close(double got, long double want)
{
	return fabsl(got - want) <= 1e-12L * fmaxl(1e-6L, fabsl(want)) ||
	       (isinf(got) && isinf((double)want));
}

/* ---- levels ---- */

/* sum p N + b B + sum max(0, max_j (lambda a - n s (p + b c))) */
static long double
most_of_levels(const struct gv_problem *p, const double *a, const double *lambda,
    const double *price, double budget)
{
	long double sum = (long double)budget * p->budget;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += (long double)price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		long double most = 0;

		for (j = 0; j < p->m; j++)
			if (a[i * p->m + j] > 0)
				most = fmaxl(
				    most, (long double)lambda[i] * a[i * p->m + j] -
					      p->count[i] * (long double)p->scale[i] *
						  (price[j] +
						      (long double)budget * p->price[j]));
		sum += most;
	}
	return sum;
}

/* Equal shares, made smaller until they fit. */
static long double
equal_level(const struct gv_problem *p, const double *a)
{
	long double gpus = 0, gangs = 0, least = INFINITY;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		gpus += p->capacity[j];
	for (i = 0; i < p->n; i++) {
		long double own = 0;

		for (j = 0; j < p->m; j++)
			own += a[i * p->m + j] * p->capacity[j] / gpus;
		least = fminl(least, own);
		gangs += p->count[i] * (long double)p->scale[i];
	}
	return least * fminl(1, gpus / gangs);
}

static long double
lowest(const struct gv_problem *p, const double *a, const double *x)
{
	long double least = INFINITY;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		long double own = 0;

		for (j = 0; j < p->m; j++)
			own += (long double)a[i * p->m + j] * x[i * p->m + j];
		least = fminl(least, own);
	}
	return least;
}

/*
 * The same with what is allowed for rounding of each job's terms and of the sum; *size: of all
 * terms.
 */
static long double
bound_with_rounding(const struct gv_problem *p, const double *a, const double *lambda,
    const double *price, double budget, long double *size)
{
	const long double eps = DBL_EPSILON;
	long double gain_error = ((long double)p->m + 8) * eps / 2;
	long double cost_error = (budget > 0 ? 4 : 2) * eps;
	long double sum = (long double)budget * p->budget, lambdas = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += (long double)price[j] * p->capacity[j];
	*size = sum;
	for (i = 0; i < p->n; i++) {
		long double most = 0, large = 0;

		lambdas += lambda[i];
		for (j = 0; j < p->m; j++) {
			long double gain = (long double)lambda[i] * a[i * p->m + j];
			long double cost = p->count[i] * (long double)p->scale[i] *
					   (price[j] + (long double)budget * p->price[j]);
			long double net =
			    gain * (1 + gain_error) - cost * (1 - cost_error);

			if (gain > 0 && net > most) {
				most = net;
				large = gain + cost;
			}
		}
		sum += most;
		*size += large;
	}
	*size /= lambdas;
	return sum / lambdas *
	       (1 + 2 * (fminl(1024, p->n) + p->n / 1024 + p->m + 16) * eps);
}

static void
test_levels(void)
{
	size_t k, wrong_bound = 0, wrong_limit = 0, wrong_sums = 0, wrong_rounding = 0;

	for (k = 0; k < 2000; k++) {
		struct gv_problem p = draw_problem(k);
		double *a = draw_where_rates(&p, false);
		double *lambda = draw_list(p.n, .2), *price = draw_list(p.m, .3);
		double *x = draw_list(p.n * p.m, .2);
		double budget = p.budget > 0 && k % 3 > 0 ? any(.3) : 0;
		double unit = ldexp(1, (int)below(9) - 4);
		struct gv_level l = {.lambda = lambda, .price = price};
		long double sum = 0, exact, size;
		size_t i;

		lambda[0] = any(0);
		for (i = 0; i < p.n; i++)
			sum += lambda[i];
		exact = bound_with_rounding(&p, a, lambda, price, budget, &size);
		wrong_rounding +=
		    p.n <= 12 && fabsl(gv_level_bound(&p, a, 1, lambda, price, budget) -
				       exact) > 6 * DBL_EPSILON * size;
		exact = most_of_levels(&p, a, lambda, price, budget) / sum;
		for (i = 0; i < p.n * p.m; i++)
			a[i] *= unit; /* of which the multipliers are: exactly */
		wrong_bound +=
		    !is_just_above(gv_level_bound(&p, a, unit, lambda, price, budget),
			unit * exact, unit * exact, &p);
		for (i = 0; i < p.n * p.m; i++)
			a[i] /= unit;
		exact = most_of_levels(&p, a, lambda, price, 0);
		wrong_limit +=
		    !is_just_above(gv_level_limit(&p, a, &l), exact, exact + sum, &p);
		l.limit = any(0);
		wrong_limit +=
		    !is_just_above(gv_level_limit(&p, a, &l), l.limit, l.limit, &p);
		wrong_sums += !is_close(gv_level_unit(&p, a), equal_level(&p, a));
		wrong_sums += !is_close(gv_level_reached(&p, a, x), lowest(&p, a, x));
		free(a);
		free(lambda);
		free(price);
		free(x);
		gv_problem_free(&p);
	}
	is_int(wrong_bound, 0, "bounds of levels are just above the exact ones");
	is_int(wrong_rounding, 0, "by what rounding of gains, costs and sums may be");
	is_int(wrong_limit, 0, "so are the limits of what levels weigh");
	is_int(wrong_sums, 0, "levels of equal shares, and of any");
}

/* What rounding of a sum over n jobs of one number each may take is allowed for. */
static void
test_rounding(void)
{
	size_t k, low = 0, high = 0;

	for (k = 0; k < 200; k++) {
		size_t n = 1 + below(5000), i;
		struct gv_problem p = {.n = n, .m = 1 + below(5)};
		double sum = 0;
		long double exact = 0;

		for (i = 0; i < n; i++) {
			double v = exp(20 * uniform());

			sum += v;
			exact += v;
		}
		low += fabsl(sum - exact) > gv_level_rounding(&p) * exact;
		low += gv_level_rounding(&p) < 24 * DBL_EPSILON / 3;
		low += gv_reach_rounding(&p) < (double)(n + p.m) * DBL_EPSILON;
		high += gv_level_rounding(&p) > 2 * (double)(n + p.m + 8) * DBL_EPSILON;
		high += gv_reach_rounding(&p) > (double)(n + p.m + 16) * DBL_EPSILON;
	}
	ok(fabs(gv_level_rounding(&(struct gv_problem){.n = 1, .m = 1}) /
		    (10 * DBL_EPSILON) -
		1) <= 1e-9 &&
		fabs(gv_level_rounding(&(struct gv_problem){.n = 10000, .m = 3}) /
			 1.19e-13 -
		     1) <= 1e-9,
	    "of few numbers all roundings, of many their root");
	is_int(low, 0, "rounding of sums is allowed for");
	is_int(high, 0, "and not much more");
	ok(gv_level_gap(&(struct gv_problem){.m = 3}, 2, 1) >= .5 &&
		gv_level_gap(&(struct gv_problem){.m = 3}, 2, 1) < .5 + 1e-14 &&
		gv_level_gap(&(struct gv_problem){.m = 3}, 2, 2) > 0,
	    "the gap of a level is a part of the bound, with rounding");
}

/* ---- sums ---- */

static long double
most_of_sums(const struct gv_linear *l, long double *size)
{
	const struct gv_problem *p = l->p;
	long double sum = (long double)l->budget * p->budget;
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += (long double)l->price[j] * p->capacity[j];
	*size = sum;
	for (i = 0; i < p->n; i++) {
		long double most = 0, large = 0, need = l->need != NULL ? l->need[i] : 0;

		for (j = 0; j < p->m; j++) {
			long double more = l->mu[i] * (long double)p->rate[i * p->m + j];
			long double less =
			    p->scale[i] *
			    (l->price[j] + (long double)l->budget * p->price[j]);

			if (p->rate[i * p->m + j] == 0)
				continue;
			most = fmaxl(most, l->gain[i * p->m + j] + more - less);
			if (l->gain[i * p->m + j] + more - less > 0)
				large = fmaxl(
				    large, fabsl(l->gain[i * p->m + j]) + more + less);
		}
		sum += p->count[i] * (most - l->mu[i] * need);
		*size += p->count[i] * (large + l->mu[i] * need);
	}
	return sum;
}

/* In a unit of a power of two all is the same, also what is allowed for rounding. */
static bool
is_scaled(struct gv_linear *l, double bound)
{
	const struct gv_problem *p = l->p;
	const double *was = l->gain;
	double *gain = gv_xcalloc(p->n, p->m * sizeof(*gain));
	size_t i;

	for (i = 0; i < p->n * p->m; i++)
		gain[i] = ldexp(l->gain[i], -40);
	for (i = 0; i < p->n; i++)
		l->mu[i] = ldexp(l->mu[i], -40);
	for (i = 0; i < p->m; i++)
		l->price[i] = ldexp(l->price[i], -40);
	l->budget = ldexp(l->budget, -40);
	l->gain = gain;
	gv_linear_prove(l);
	l->gain = was;
	free(gain);
	return l->s->bound == ldexp(bound, -40);
}

static void
test_sums(void)
{
	size_t k, wrong_bound = 0, wrong_gap = 0, wrong_sum = 0, wrong_scale = 0;

	for (k = 0; k < 2000; k++) {
		struct gv_problem p = draw_problem(k);
		double *gain = draw_where_rates(&p, true);
		double *x = draw_list(p.n * p.m, .2);
		struct gv_solution s = {.objective = any(0)};
		struct gv_linear l;
		long double exact, size, sum = 0;
		size_t i;

		gv_linear_init(&l, &p, &s);
		l.gain = gain;
		l.need = uniform() < .5 ? NULL : p.number[GV_NUMBER_NEED];
		l.budget = p.budget > 0 ? any(.3) : 0;
		for (i = 0; i < p.n; i++)
			l.mu[i] = any(.3);
		for (i = 0; i < p.m; i++)
			l.price[i] = any(.3);
		gv_linear_prove(&l);
		exact = most_of_sums(&l, &size);
		size *= DBL_EPSILON * (16 + (long double)p.m + sqrtl((long double)p.n));
		wrong_bound +=
		    !(fabsl(s.bound - exact - size) <= (p.n <= 12 ? .2L : .6L) * size);
		wrong_gap += !is_close(s.gap, (s.bound - s.objective) / fabs(s.bound));
		wrong_scale += !is_scaled(&l, s.bound);
		for (i = 0; i < p.n * p.m; i++)
			sum += (long double)gain[i] * x[i] * p.count[i / p.m];
		wrong_sum += fabsl(gv_linear_sum(&p, gain, x) - sum) > 1e-9;
		gv_linear_free(&l);
		free(gain);
		free(x);
		gv_problem_free(&p);
	}
	is_int(wrong_bound, 0,
	    "bounds of sums are above the exact ones by what rounding may be");
	is_int(wrong_gap, 0, "their gap is a part of the bound");
	is_int(wrong_scale, 0, "in any unit the same");
	is_int(wrong_sum, 0, "what shares gain");
}

/* Gains of the normalised sum: of a share, and of a step/s. */
static void
test_normalised(void)
{
	size_t k, wrong = 0;

	for (k = 0; k < 100; k++) {
		struct gv_problem p = draw_problem(k);
		double *equal = gv_xcalloc(p.n, sizeof(*equal));
		double *g = gv_linear_normalised(&p);
		double *normal = gv_linear_normal(&p), *ones = gv_linear_ones(&p);
		size_t i;

		gv_problem_equal_throughput(&p, equal);
		for (i = 0; i < p.n * p.m; i++) {
			double per = p.scale[i / p.m] / equal[i / p.m];

			wrong += !is_close(g[i], (long double)per * p.rate[i]) ||
				 !is_close(normal[i / p.m], per) || ones[i / p.m] != 1;
		}
		free(equal);
		free(g);
		free(normal);
		free(ones);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "the normalised sum");
}

/* ---- multipliers ---- */

/*
 * The multipliers of a level are of one job and of its steps/s; those of rows, of which
 * only some are in the program, go to their places.
 */
static void
test_of_level(void)
{
	size_t k, wrong = 0;

	for (k = 0; k < 200; k++) {
		struct gv_problem p = draw_problem(1 + k % 19);
		double *scale = draw_list(p.n, 0);
		double *a = gv_xcalloc(p.n, p.m * sizeof(*a));
		size_t *of = gv_xcalloc(p.n, sizeof(*of));
		struct gv_multipliers to = {0};
		struct gv_solution s = {0};
		struct gv_level l;
		size_t i;

		for (i = 0; i < p.n * p.m; i++)
			a[i] = scale[i / p.m] * p.rate[i];
		for (i = 0; i < p.n; i++)
			of[i] = 2 * (p.n - 1 - i) + 1;
		gv_level_init(&l, &p, &s, true);
		l.time = draw_list(p.n, 0);
		l.budget = any(.5);
		for (i = 0; i < p.n; i++)
			l.lambda[i] = any(.3);
		for (i = 0; i < p.m; i++)
			l.price[i] = any(.3);
		gv_multipliers_of_level(&to, &p, of, a, &l);
		wrong += to.known;
		gv_multipliers_alloc(&to, 2 * p.n, p.m);
		gv_multipliers_of_level(&to, &p, of, a, &l);
		wrong += !to.known || to.budget != l.budget || !l.lexicographic;
		for (i = 0; i < p.m; i++)
			wrong += to.gpu[i] != l.price[i];
		for (i = 0; i < p.n; i++)
			wrong += to.job[2 * i] != 0 || to.time[of[i]] != l.time[i] ||
				 !is_close(to.job[of[i]],
				     (long double)l.lambda[i] * scale[i] / p.count[i]);
		gv_multipliers_of_level(&to, &p, NULL, a, &l);
		for (i = 0; i < p.n; i++)
			wrong += to.time[i] != l.time[i] ||
				 !is_close(to.job[i],
				     (long double)l.lambda[i] * scale[i] / p.count[i]);
		gv_multipliers_free(&to);
		gv_level_free(&l);
		free(scale);
		free(a);
		free(of);
		gv_problem_free(&p);
	}
	is_int(wrong, 0, "multipliers of levels as those of jobs");
}

/* A level is the same part of a step on all types that a job has, whichever those are. */
static void
test_per_step(void)
{
	struct gv_problem p;
	size_t j, only, wrong = 0;

	gv_problem_alloc(&p, 2, 3);
	for (only = 0; only < 3; only++) {
		double a[6] = {0};

		for (j = 0; j < 3; j++)
			p.rate[3 + j] = j == only ? 5 : 0;
		a[3 + only] = 15;
		wrong += gv_level_per_step(&p, a, 1) != 3;
	}
	gv_problem_free(&p);
	is_int(wrong, 0, "levels per step, of the type that there is");
}

static void
test_of_linear(void)
{
	struct gv_problem p = draw_problem(1);
	struct gv_solution s = {0};
	struct gv_multipliers to = {0};
	struct gv_linear l;
	size_t i, wrong = 0;

	gv_linear_init(&l, &p, &s);
	l.time = draw_list(p.n, 0);
	l.budget = 3;
	for (i = 0; i < p.n; i++)
		l.mu[i] = any(0);
	for (i = 0; i < p.m; i++)
		l.price[i] = any(0);
	gv_multipliers_of_linear(&to, &l);
	ok(!to.known && to.gpu == NULL, "where nobody asked there are none");
	to.known = true;
	gv_multipliers_alloc(&to, p.n, p.m);
	ok(!to.known, "nor where nothing was found yet");
	gv_multipliers_of_linear(&to, &l);
	for (i = 0; i < p.n; i++)
		wrong += to.job[i] != l.mu[i] || to.time[i] != l.time[i];
	for (i = 0; i < p.m; i++)
		wrong += to.gpu[i] != l.price[i];
	ok(wrong == 0 && to.budget == 3 && to.known, "those of sums are the same");
	gv_multipliers_free(&to);
	ok(to.gpu == NULL && to.job == NULL && to.time == NULL && to.budget == 0,
	    "none are left of those that are freed");
	gv_linear_free(&l);
	gv_problem_free(&p);
}

/* Multipliers of the jobs' time where jobs share GPUs, and nowhere else. */
static void
test_time(void)
{
	struct gv_problem p = draw_problem(1);
	struct gv_together t = {0};
	struct gv_solution s = {0};
	size_t k, i, wrong = 0;

	for (k = 0; k < 2; k++) {
		struct gv_level level;
		struct gv_linear linear;

		p.together = k ? &t : NULL;
		gv_level_init(&level, &p, &s, false);
		gv_linear_init(&linear, &p, &s);
		wrong += (level.time != NULL) != k || (linear.time != NULL) != k ||
			 level.lexicographic || level.s != &s || linear.s != &s ||
			 linear.p != &p;
		for (i = 0; i < p.n && k; i++)
			wrong += level.time[i] != 0 || linear.time[i] != 0 ||
				 level.lambda[i] != 0 || linear.mu[i] != 0;
		gv_level_free(&level);
		gv_linear_free(&linear);
	}
	p.together = NULL;
	gv_problem_free(&p);
	is_int(wrong, 0, "time has multipliers where jobs share GPUs");
}

/* Jobs that want nothing: just what their GPUs' prices pay for on every type. */
static void
test_lift(void)
{
	size_t k, wrong = 0, tight = 0, lifted = 0;

	for (k = 0; k < 300; k++) {
		struct gv_problem p = draw_problem(1 + k % 19);
		double *a = draw_where_rates(&p, false);
		double *want = draw_list(p.n, .5);
		struct gv_reach r;
		size_t i, j;

		gv_reach_alloc(&r, &p);
		for (i = 0; i < p.m; i++)
			r.price[i] = any(.2);
		for (i = 0; i < p.n; i++)
			r.lambda[i] = 7;
		if (want[p.n - 1] == 0) /* it can have nothing */
			memset(&a[(p.n - 1) * p.m], 0, p.m * sizeof(*a));
		gv_reach_lift(&r, &p, a, want);
		for (i = 0; i < p.n; i++) {
			bool paid = false;

			if (want[i] > 0) {
				wrong += r.lambda[i] != 7;
				continue;
			}
			if (i == p.n - 1) {
				wrong += r.lambda[i] != 0;
				continue;
			}
			lifted++;
			for (j = 0; j < p.m; j++) {
				double worth = r.lambda[i] * a[i * p.m + j];
				double cost = r.price[j] * p.count[i] * p.scale[i];

				wrong += worth > cost * (1 + 1e-12);
				paid =
				    paid || (a[i * p.m + j] > 0 && is_close(worth, cost));
			}
			tight += paid;
		}
		gv_reach_free(&r);
		wrong += r.x != NULL || r.lambda != NULL || r.price != NULL;
		free(a);
		free(want);
		gv_problem_free(&p);
	}
	ok(wrong == 0 && tight == lifted && lifted > 100,
	    "an inequality is lifted as far as prices pay (%zu of %zu)", tight, lifted);
}

/* ---- the programs of --dump-lp ---- */

/* The index of a row or column of that name; SIZE_MAX = none, or several. */
static size_t
named(gv_lp_namer *name, void *ctx, size_t n, const char *format, size_t i, size_t j)
{
	char want[GV_LP_NAME_LEN], is[GV_LP_NAME_LEN];
	size_t k, at = SIZE_MAX, found = 0;

	if (j == SIZE_MAX)
		snprintf(want, sizeof(want), "%s(%zu)", format, i + 1);
	else
		snprintf(want, sizeof(want), "%s(%zu,%zu)", format, i + 1, j + 1);
	for (k = 0; k < n; k++) {
		name(ctx, k, is);
		if (strcmp(is, want) == 0) {
			at = k;
			found++;
		}
	}
	return found == 1 ? at : SIZE_MAX;
}

static double
coefficient(const struct gv_lp *lp, size_t row, size_t col)
{
	size_t k;

	for (k = 0; k < lp->n_entries; k++)
		if (lp->entry[k].row == row && lp->entry[k].col == col)
			return lp->entry[k].value;
	return 0;
}

/* Job i's columns in the rows that all programs have, and in its own row, where it has a[]. */
static size_t
job_wrong(const struct gv_lp *lp, const struct gv_lp_names *names,
    const struct gv_problem *p, size_t i, const char *own, const double *a,
    double own_scale)
{
	size_t time = named(names->row, names->ctx, lp->n_rows, "time", i, SIZE_MAX);
	size_t row = named(names->row, names->ctx, lp->n_rows, own, i, SIZE_MAX);
	size_t j, k, n = time == SIZE_MAX || lp->row_hi[time] != 1;

	for (j = 0; j < p->m; j++) {
		size_t col = named(names->col, names->ctx, lp->n_cols, "x", i, j);

		n += (col == SIZE_MAX) != (p->rate[i * p->m + j] == 0);
		if (col == SIZE_MAX)
			continue;
		n += lp->col_lo[col] != 0 || lp->col_hi[col] != INFINITY;
		for (k = 0; k < lp->n_rows; k++) {
			size_t gpus = named(
			    names->row, names->ctx, lp->n_rows, "gpus", j, SIZE_MAX);
			double want = k == gpus   ? p->count[i] * p->scale[i]
				      : k == time ? 1
				      : k == row  ? a[i * p->m + j] * own_scale
						  : 0;

			n += !is_close(coefficient(lp, k, col), want);
		}
	}
	return n;
}

static void
test_programs(void)
{
	size_t k, wrong_level = 0, wrong_linear = 0;

	for (k = 0; k < 60; k++) {
		struct gv_problem p = draw_problem(1 + k % 19);
		double *a = draw_where_rates(&p, false),
		       *gain = draw_where_rates(&p, true);
		const double *need = k % 2 ? p.number[GV_NUMBER_NEED] : NULL;
		struct gv_lp_names names;
		struct gv_lp lp;
		size_t i, j;

		gv_level_lp(&p, a, &lp, &names);
		wrong_level +=
		    !lp.maximise || lp.n_rows != p.m + 2 * p.n || lp.has_integer;
		for (j = 0; j < p.m; j++) {
			size_t row =
			    named(names.row, names.ctx, lp.n_rows, "gpus", j, SIZE_MAX);

			wrong_level += row == SIZE_MAX ||
				       lp.row_hi[row] != p.capacity[j] ||
				       lp.row_lo[row] != -INFINITY;
		}
		for (i = 0; i < p.n; i++) {
			size_t row =
			    named(names.row, names.ctx, lp.n_rows, "level", i, SIZE_MAX);

			wrong_level += job_wrong(&lp, &names, &p, i, "level", a, 1);
			wrong_level += row == SIZE_MAX || lp.row_lo[row] != 0 ||
				       lp.row_hi[row] != INFINITY ||
				       coefficient(&lp, row, 0) != -1;
		}
		for (i = 0; i < lp.n_cols; i++)
			wrong_level += lp.cost[i] != (i == 0);
		gv_lp_free(&lp);
		free(names.ctx);

		gv_linear_lp(&p, gain, need, &lp, &names);
		wrong_linear += !lp.maximise || lp.has_integer;
		for (i = 0; i < p.n; i++) {
			double q = need != NULL && need[i] > 0 ? need[i] : 0;
			size_t row =
			    named(names.row, names.ctx, lp.n_rows, "need", i, SIZE_MAX);

			wrong_linear += job_wrong(
			    &lp, &names, &p, i, "need", p.rate, q > 0 ? 1 / q : 0);
			wrong_linear += (row == SIZE_MAX) != (q == 0);
			if (row != SIZE_MAX)
				wrong_linear += fabs(lp.row_lo[row] - 1) > 1e-6;
			for (j = 0; j < p.m; j++) {
				size_t col =
				    named(names.col, names.ctx, lp.n_cols, "x", i, j);

				wrong_linear += col != SIZE_MAX &&
						!is_close(lp.cost[col],
						    p.count[i] * gain[i * p.m + j]);
			}
		}
		gv_lp_free(&lp);
		free(names.ctx);
		free(a);
		free(gain);
		gv_problem_free(&p);
	}
	is_int(wrong_level, 0, "programs of levels as they are written down");
	is_int(wrong_linear, 0, "and those of sums");
}

int
main(void)
{
	draws_begin(91, 0, 0);
	test_levels();
	test_rounding();
	test_sums();
	test_normalised();
	test_of_level();
	test_per_step();
	test_of_linear();
	test_time();
	test_lift();
	test_programs();
	return done_testing();
}
