/*
 * Proportional fairness by prices (price/eisenberg_gale.h): what one job demands against all
 * that it could, Newton's steps against the equations of everything at once, and markets
 * against the conditions of optimality.
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/eg_barrier.h"
#include "alloc/price/eisenberg_gale.h"

enum { M = 5, N = 8, ALL = M + 2 * N };

/* ---- one job ---- */

static double
value_of(const double *a, double scale, const double *p, size_t j, double xj, size_t k,
    double xk)
{
	return log(xj * a[j] + xk * a[k]) - scale * (p[j] * xj + p[k] * xk);
}

/* The most over one type, some or all of the time, and over any two all of the time. */
static double
largest(const double *a, double scale, const double *p, size_t m)
{
	double most = -INFINITY;
	size_t j, k;

	for (j = 0; j < m; j++) {
		double x = fmin(1, 1 / (scale * p[j]));

		if (a[j] == 0)
			continue;
		most = fmax(most, value_of(a, scale, p, j, x, j, 0));
		for (k = 0; k < m; k++) {
			double thr = (a[j] - a[k]) / (scale * (p[j] - p[k]));

			if (a[k] == 0 || !(a[j] > a[k] && p[j] > p[k]))
				continue;
			x = (thr - a[k]) / (a[j] - a[k]);
			if (x > 0 && x < 1)
				most = fmax(most, value_of(a, scale, p, j, x, k, 1 - x));
		}
	}
	return most;
}

/* Few numbers now and then, so that types are alike. */
static size_t
draw_job(double *a, double *p, double *scale, bool few)
{
	size_t m = 1 + below(M), j;

	*scale = (double)(1 << below(3));
	for (j = 0; j < m; j++) {
		a[j] = few ? .25 * (double)below(5) : below(5) == 0 ? 0 : uniform();
		p[j] = few ? .25 * (double)below(7) : 1.5 * uniform();
	}
	a[below(m)] = 1;
	return m;
}

static void
test_demand(void)
{
	size_t k, j, wrong = 0, kinds[3] = {0};
	double worst = 0;

	for (k = 0; k < 6000; k++) {
		double a[M] = {0}, p[M] = {0}, scale, most, thr;
		size_t m = draw_job(a, p, &scale, k % 2 == 0);
		struct gv_eg_demand t = gv_eg_demand_at(a, scale, p, m);

		most = largest(a, scale, p, m);
		worst = gv_worse(worst, fabs(t.value - most));
		worst =
		    fmax(worst, fabs(value_of(a, scale, p, t.j, t.xj, t.k, t.xk) - most));
		kinds[t.vertex]++;
		thr = t.xj * a[t.j] + t.xk * a[t.k];
		wrong += !(a[t.j] > 0 && a[t.k] > 0 && fabs(t.l * thr - 1) <= 1e-12);
		wrong += !(t.time >= 0 && t.xj >= 0 && t.xk >= 0);
		wrong += fabs(t.time - log(t.l) - 1 - t.value) > 1e-12;
		/* no type is worth more than its cost and the time; of alike ones the first */
		for (j = 0; j < t.j; j++)
			wrong += a[j] == a[t.j] && p[j] == p[t.j];
		for (j = 0; j < t.k; j++)
			wrong += a[j] == a[t.k] && p[j] == p[t.k];
		for (j = 0; j < m; j++)
			wrong += t.l * a[j] > scale * p[j] + t.time + 1e-12;
		if (t.vertex == GV_EG_PART_TIME)
			wrong += t.time != 0 || t.j != t.k || t.xk != 0 || t.xj > 1;
		if (t.vertex == GV_EG_ONE_TYPE)
			wrong += t.j != t.k || t.xj != 1 || t.xk != 0;
		if (t.vertex == GV_EG_TWO_TYPES)
			wrong += !(a[t.j] > a[t.k] && p[t.j] > p[t.k] &&
				   fabs(t.xj + t.xk - 1) <= 1e-12);
	}
	ok(worst <= 1e-12, "what a job demands is worth the most, to %g", worst);
	is_int(wrong, 0, "and is proved to be, and of one of three kinds");
	ok(kinds[0] > 500 && kinds[1] > 500 && kinds[2] > 200, "%zu, %zu, %zu of them",
	    kinds[0], kinds[1], kinds[2]);
}

static bool
alike(const struct gv_eg_demand *t, const struct gv_eg_demand *u)
{
	return t->vertex == u->vertex && t->j == u->j && t->k == u->k;
}

/* Prices at a corner of the box: by the bits of a number.  False: one is below 0. */
static bool
corner(const double *p, const double *unit, size_t m, size_t bits, double r, double *to)
{
	bool good = true;
	size_t j;

	for (j = 0; j < m; j++) {
		to[j] = p[j] + (bits >> j & 1 ? r : -r) * unit[j];
		good = good && to[j] > 0;
	}
	return good;
}

static void
test_radius(void)
{
	size_t k, b, j, inside = 0, tight = 0, loose = 0;

	for (k = 0; k < 3000; k++) {
		double a[M] = {0}, p[M], scale, unit[M], other[M];
		size_t m = draw_job(a, p, &scale, false);
		struct gv_eg_demand t = gv_eg_demand_at(a, scale, p, m), u;
		bool changes = false, all = true;
		double r;

		for (j = 0; j < m; j++)
			unit[j] = .1 + uniform();
		r = gv_eg_demand_radius(&t, a, scale, p, unit, m);
		for (b = 0; b < (size_t)1 << m; b++) {
			if (corner(p, unit, m, b, .999 * r, other)) {
				u = gv_eg_demand_at(a, scale, other, m);
				inside += !alike(&t, &u);
			}
			all = corner(p, unit, m, b, 1.001 * r, other) && all;
			u = gv_eg_demand_at(a, scale, other, m);
			changes = changes || !alike(&t, &u);
		}
		tight += all && changes;
		loose += all && !changes;
	}
	is_int(inside, 0, "nearby it is the same types");
	ok(loose == 0 && tight > 1000, "and a little farther it is not (%zu)", tight);
}

/* On the border between two of them there is no room. */
static void
test_no_radius(void)
{
	const double a[] = {1, .5}, p[] = {1, .5}, unit[] = {1, 1};
	struct gv_eg_demand t = gv_eg_demand_at(a, 1, p, 2);

	ok(gv_eg_demand_radius(&t, a, 1, p, unit, 2) == 0 && t.value == -1,
	    "two types for the same");
}

/* The sum over jobs at other prices, whose vertices stay; some leave again. */
static void
test_fixed(void)
{
	size_t k, i, j;
	double worst = 0;

	for (k = 0; k < 500; k++) {
		double slope[M] = {0}, own[M] = {0}, pair[M * M] = {0}, p[M], q[M],
		       unit[M], first[M], want = 0, least = INFINITY;
		double a[N][M] = {{0}}, scale[N], count[N];
		struct gv_eg_fixed f = {slope, own, pair};
		struct gv_eg_demand t[N];
		size_t m = 1 + below(M);

		for (j = 0; j < m; j++) {
			p[j] = .1 + uniform();
			unit[j] = .1 + uniform();
			slope[j] = first[j] = (double)below(4);
		}
		for (i = 0; i < N; i++) {
			scale[i] = (double)(1 << below(3));
			for (j = 0; j < m; j++)
				a[i][j] = below(5) == 0 ? 0 : uniform();
			a[i][below(m)] = 1;
			t[i] = gv_eg_demand_at(a[i], scale[i], p, m);
			least = fmin(least,
			    gv_eg_demand_radius(&t[i], a[i], scale[i], p, unit, m));
			count[i] = (double)(1 + below(3));
			gv_eg_fixed_add(&f, &t[i], a[i], scale[i], count[i] + 2, m);
			gv_eg_fixed_add(&f, &t[i], a[i], scale[i], -2, m);
		}
		for (j = 0; j < m; j++) {
			q[j] = p[j] + .9 * least * unit[j] * (2 * uniform() - 1);
			if (q[j] <= 0)
				q[j] = p[j];
		}
		for (i = 0; i < N; i++)
			want += count[i] * (gv_eg_demand_at(a[i], scale[i], q, m).value -
					       t[i].value);
		for (j = 0; j < m; j++)
			want += first[j] * (q[j] - p[j]);
		worst = gv_worse(worst, fabs(gv_eg_fixed_change(&f, q, p, m) - want));
	}
	ok(worst <= 1e-11, "sums over jobs at other prices, to %g", worst);
}

/* ---- Newton's steps ---- */

/* A point inside of the barrier, with jobs fixed and not. */
static void
draw_barrier(struct gv_eg_barrier *s, double *a, size_t n, size_t m)
{
	size_t i, j, k;

	gv_eg_barrier_alloc(s, n, m);
	s->n = n;
	s->mu = pow(10, -3 * uniform());
	s->bend_mu = below(2) == 0 ? s->mu : 10 * s->mu;
	for (j = 0; j < m; j++) {
		s->has_gpus[j] = j == 0 || below(5) > 0;
		s->price[j] = s->has_gpus[j] ? .2 + uniform() : 0;
		s->low[j] = s->price[j] * uniform() * .9;
		s->high[j] = below(2) == 0 ? INFINITY : s->price[j] + .1 + uniform();
		s->fixed.slope[j] = (double)(1 + below(5));
		s->fixed.own[j] = s->has_gpus[j] ? (double)below(3) : 0;
	}
	for (j = 0; j < m; j++)
		for (k = 0; k < m; k++)
			if (s->price[j] > s->price[k] && s->price[k] > 0)
				s->fixed.pair[j * m + k] = (double)below(2);
	for (i = 0; i < n; i++) {
		size_t *order = s->order[i] = &s->ordered[i * m];
		double most = 0;

		s->a[i] = &a[i * m];
		s->scale[i] = (double)(1 << below(2));
		s->count[i] = (double)(1 + below(3));
		for (j = 0; j < m; j++)
			a[i * m + j] = s->has_gpus[j] && (j == 0 || below(4) > 0)
					   ? .25 * (double)(1 + below(4))
					   : 0;
		s->l[i] = .2 + uniform();
		for (j = 0; j < m; j++) {
			most = fmax(
			    most, s->l[i] * a[i * m + j] - s->scale[i] * s->price[j]);
			for (k = s->n_types[i]++;
			     k > 0 && a[i * m + order[k - 1]] > a[i * m + j]; k--)
				order[k] = order[k - 1];
			order[k] = j;
			if (a[i * m + j] == 0) { /* take it out again */
				s->n_types[i]--;
				memmove(&order[k], &order[k + 1],
				    (s->n_types[i] - k) * sizeof(*order));
			}
		}
		s->time[i] = most + .05 + uniform();
		for (j = 0; j < m; j++)
			s->slack[i * m + j] =
			    a[i * m + j] == 0 ? 1
					      : s->scale[i] * s->price[j] + s->time[i] -
						    s->l[i] * a[i * m + j];
	}
}

/* One term of the barrier of mu: value c log(v . z) with v of three unknowns at most. */
static void
add_log(double h[ALL][ALL], double *g, const size_t *at, const double *v, size_t n,
    double value, double mu, double bend)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		g[at[i]] -= mu * v[i] / value;
		for (j = 0; j < n; j++)
			h[at[i]][at[j]] += bend * v[i] * v[j] / (value * value);
	}
}

/* Gradient and Hessian of all: prices, then l and time of each job. */
static void
all_equations(const struct gv_eg_barrier *s, double h[ALL][ALL], double *g)
{
	size_t m = s->m, i, j, k;

	for (j = 0; j < m; j++) {
		const double up = 1, down = -1, both[] = {1, -1};

		if (!s->has_gpus[j]) {
			h[j][j] = 1;
			continue;
		}
		g[j] += s->fixed.slope[j];
		add_log(h, g, &j, &up, 1, s->price[j], s->fixed.own[j], s->fixed.own[j]);
		add_log(h, g, &j, &up, 1, s->price[j] - s->low[j], s->mu, s->bend_mu);
		if (isfinite(s->high[j]))
			add_log(h, g, &j, &down, 1, s->high[j] - s->price[j], s->mu,
			    s->bend_mu);
		for (k = 0; k < m; k++) {
			const size_t at[] = {j, k};
			double n = s->fixed.pair[j * m + k];

			if (n > 0)
				add_log(
				    h, g, at, both, 2, s->price[j] - s->price[k], n, n);
		}
	}
	for (i = 0; i < s->n; i++) {
		const size_t l = m + 2 * i, time = l + 1;
		double n = s->count[i];
		const double one = 1;

		g[time] += n;
		add_log(h, g, &l, &one, 1, s->l[i], n, n);
		add_log(h, g, &time, &one, 1, s->time[i], n * s->mu, n * s->bend_mu);
		for (j = 0; j < m; j++) {
			const size_t at[] = {j, l, time};
			const double v[] = {s->scale[i], -s->a[i][j], 1};

			if (s->a[i][j] > 0)
				add_log(h, g, at, v, 3, s->slack[i * m + j], n * s->mu,
				    n * s->bend_mu);
		}
	}
}

/* What is left of H d = -g, of the size of its terms, and of the fall, -g d. */
static double
off_newton(const struct gv_eg_barrier *s, double fall)
{
	static double h[ALL][ALL], g[ALL], d[ALL];
	size_t n = s->m + 2 * s->n, i, j;
	double off = 0, falls = 0, size = 0;

	memset(h, 0, sizeof(h));
	memset(g, 0, sizeof(g));
	all_equations(s, h, g);
	memcpy(d, s->d_price, s->m * sizeof(*d));
	for (i = 0; i < s->n; i++) {
		d[s->m + 2 * i] = s->d_l[i];
		d[s->m + 2 * i + 1] = s->d_time[i];
		for (j = 0; j < s->m; j++) {
			double want = s->scale[i] * s->d_price[j] + s->d_time[i] -
				      s->a[i][j] * s->d_l[i];

			if (s->a[i][j] > 0)
				off =
				    gv_worse(off, fabs(s->d_slack[i * s->m + j] - want) /
						      (1 + fabs(want)));
		}
	}
	for (i = 0; i < n; i++) {
		double sum = g[i], terms = 1 + fabs(g[i]);

		for (j = 0; j < n; j++) {
			sum += h[i][j] * d[j];
			terms += fabs(h[i][j] * d[j]);
		}
		off = gv_worse(off, fabs(sum) / terms);
		falls -= g[i] * d[i];
		size += fabs(g[i] * d[i]);
	}
	return fmax(off, fabs(fall - falls) / (1 + size));
}

static void
test_newton(void)
{
	double a[N * M], worst = 0;
	size_t k;

	for (k = 0; k < 1000; k++) {
		struct gv_eg_barrier s;

		draw_barrier(&s, a, below(N + 1), 1 + below(M));
		worst = gv_worse(worst, off_newton(&s, gv_eg_newton(&s)));
		gv_eg_barrier_free(&s);
	}
	ok(worst <= 1e-9, "steps solve the equations of everything at once, to %g",
	    worst);
}

/* At the end of its path there is no step left, and what is inside of the box is told. */
static void
test_barrier(void)
{
	double a[N * M], worst = 0, mean = 0;
	size_t k, i, j, outside = 0, held = 0, unlike = 0;

	for (k = 0; k < 200; k++) {
		struct gv_eg_barrier s;
		size_t n = 1 + below(N), m = 1 + below(M);
		bool box = k % 2 == 0, is_held = false, inside;

		draw_barrier(&s, a, n, m);
		for (j = 0; j < m; j++) {
			if (k % 4 < 2) {
				s.fixed.own[j] = 0;
				memset(&s.fixed.pair[j * m], 0, m * sizeof(double));
			}
			s.low[j] = box ? s.low[j] : 0;
			s.high[j] = box ? s.price[j] + .5 : INFINITY;
		}
		inside = gv_eg_barrier_minimise(&s, .1, 1e-9);
		for (j = 0; j < m; j++) {
			double margin = .01 * (s.high[j] - s.low[j]);

			if (!s.has_gpus[j])
				continue;
			outside += !(s.price[j] > s.low[j] && s.price[j] < s.high[j]);
			is_held =
			    is_held ||
			    (box &&
				(s.price[j] > s.high[j] - margin ||
				    (s.low[j] > 0 && s.price[j] < s.low[j] + margin)));
		}
		unlike += inside == is_held;
		held += is_held;
		if (inside) {
			double fall = gv_eg_newton(&s);

			worst = gv_worse(worst, fall / s.mu);
			unlike += fabs(s.mu / 1e-9 - 1) > 1e-3 || s.bend_mu != s.mu;
			for (i = 0; i < n; i++)
				for (j = 0; j < m; j++)
					if (s.a[i][j] > 0)
						mean +=
						    fmin(1, 1e-9 / s.slack[i * m + j]) /
						    200;
		}
		gv_eg_barrier_free(&s);
		unlike += s.price != NULL || s.a != NULL || s.n != 0;
	}
	is_int(outside, 0, "prices stay in their box");
	ok(unlike == 0 && held > 20 && held < 100,
	    "and where it holds them back, that is said (%zu)", held);
	ok(worst <= 1e-9 && mean > 1, "else Newton's steps come to nothing, to %g",
	    worst);
}

/* ---- markets ---- */

static struct gv_problem
draw_problem(size_t n, size_t m)
{
	struct gv_problem p;
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	for (j = 0; j < m; j++)
		p.capacity[j] = j > 0 && below(6) == 0 ? 0 : (double)(1 + below(n));
	for (i = 0; i < n; i++) {
		p.weight[i] = 1;
		p.count[i] = (double)(1 + below(2));
		p.scale[i] = (double)(1 << below(2));
		for (j = 0; j < m; j++)
			if (p.capacity[j] > 0 && (j == 0 || below(4) > 0))
				p.rate[i * m + j] = exp(2 * uniform());
	}
	return p;
}

/* The sum of logarithms less that of the bound by prices: 0 but for the gap. */
static double
gap_of(const struct gv_problem *p, const double *x, const double *price, double *sum)
{
	double dual = 0;
	size_t i, j;

	*sum = 0;
	for (j = 0; j < p->m; j++)
		dual += price[j] * p->capacity[j];
	for (i = 0; i < p->n; i++) {
		dual +=
		    p->count[i] * largest(&p->rate[i * p->m], p->scale[i], price, p->m);
		*sum += p->count[i] * log(gv_problem_throughput(p, x, i));
	}
	return dual - *sum;
}

static double
best_sum(const struct gv_problem *p, double *gap)
{
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x)), price[M], sum, now;
	struct gv_eg_market *k = gv_eg_market_open(p);

	gv_eg_market_shares(k, x, price);
	now = gap_of(p, x, price, &sum);
	*gap = gv_worse(*gap, fabs(now));
	*gap = gv_worse(*gap, gv_problem_excess(p, x));
	gv_eg_market_free(k);
	free(x);
	return sum;
}

static void
test_markets(void)
{
	double gap = 0, worst = 0;
	size_t k, i;

	for (k = 0; k < 60; k++) {
		size_t n = k % 10 == 9 ? 120 : 2 + below(20);
		struct gv_problem p = draw_problem(n, 1 + below(M));
		struct gv_eg_market *market = gv_eg_market_open(&p);
		double all = best_sum(&p, &gap);

		for (i = 0; i < n; i += 1 + n / 5) {
			double best = gv_row_max(&p.rate[i * p.m], p.m), want;
			bool *keep = gv_xcalloc(n, sizeof(*keep));
			struct gv_problem rest;
			size_t j;

			/* of a row of two jobs one leaves */
			for (j = 0; j < n; j++)
				keep[j] = j != i || p.count[i] > 1;
			gv_problem_pick(&rest, &p, keep);
			if (p.count[i] > 1)
				rest.count[i]--;
			want = all - best_sum(&rest, &gap) - log(best);
			worst =
			    fmax(worst, fabs(gv_eg_market_externality(market, i) - want));
			gv_problem_free(&rest);
			free(keep);
		}
		gv_eg_market_free(market);
		gv_problem_free(&p);
	}
	ok(gap <= 1e-10, "shares and prices of markets prove each other, to %g", gap);
	ok(worst <= 1e-10,
	    "and what is lost to each job is what the others have without it, "
	    "to %g",
	    worst);
}

int
main(void)
{
	draws_begin(1959, 0, 0);
	test_demand();
	test_radius();
	test_no_radius();
	test_fixed();
	test_newton();
	test_barrier();
	test_markets();
	return done_testing();
}
