/*
 * A step of the interior-point method (interior/newton.h, advance.h, outer.h, start.h): it
 * solves the Newton equations as they are written down, residuals shrink as it is long, and
 * the bound and what it begins at are what the headers say.
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/interior/advance.h"
#include "alloc/interior/outer.h"
#include "alloc/interior/start.h"
#include "alloc/problem/problem.h"
#include "lp/tolerance.h"

enum { N = 80, M = 130, TRIALS = 120 };

/* ---- matrices ---- */

static void
test_stride(void)
{
	size_t m, wrong = 0;

	for (m = 1; m < 100; m++) {
		size_t s = gv_interior_stride(m);

		wrong += s < m || s >= m + GV_INTERIOR_TILE || s % GV_INTERIOR_TILE != 0;
	}
	is_int(wrong, 0, "rows have room for whole tiles");
}

static void
test_outer(void)
{
	size_t k, i, j, r;
	double worst = 0;

	for (k = 0; k < 60; k++) {
		size_t m = 1 + below(40), rows = below(9), stride = gv_interior_stride(m);
		size_t from = GV_INTERIOR_TILE * below(m / GV_INTERIOR_TILE + 1);
		double *c = gv_xcalloc(stride * stride, sizeof(*c));
		double *was = gv_xcalloc(stride * stride, sizeof(*was));
		double *v = gv_xcalloc(rows + 1, stride * sizeof(*v));

		for (i = 0; i < stride * stride; i++)
			c[i] = was[i] = uniform();
		for (i = 0; i < rows * stride; i++)
			v[i] = uniform() - .5;
		gv_interior_outer(c, stride, from, m, v, rows);
		for (i = 0; i < m; i++)
			for (j = 0; j <= i; j++) {
				double want = was[i * stride + j];

				for (r = 0; r < rows && j >= from; r++)
					want -= v[r * stride + i] * v[r * stride + j];
				worst = gv_worse(worst, fabs(c[i * stride + j] - want));
			}
		free(c);
		free(was);
		free(v);
	}
	ok(worst <= 1e-14, "sums of outer products, to %g", worst);
}

static void
test_cholesky(void)
{
	size_t k, i, j, r;
	double worst = 0;
	int failed = 0;

	for (k = 0; k < 60; k++) {
		size_t m = k < 3 ? 32 * (k + 1) : 1 + below(100);
		size_t stride = gv_interior_stride(m);
		double *a = gv_xcalloc(stride * stride, sizeof(*a));
		double *was = gv_xcalloc(stride * stride, sizeof(*was));
		double *v = gv_xcalloc(m, m * sizeof(*v));

		for (i = 0; i < m * m; i++)
			v[i] = uniform() - .5;
		for (i = 0; i < m; i++)
			for (j = 0; j <= i; j++) {
				for (r = 0; r < m; r++)
					a[i * stride + j] += v[i * m + r] * v[j * m + r];
				a[i * stride + j] += i == j;
				was[i * stride + j] = a[i * stride + j];
			}
		failed += !gv_interior_cholesky(a, stride, m);
		for (i = 0; i < m; i++)
			for (j = 0; j <= i; j++) {
				double sum = 0;

				for (r = 0; r <= j; r++)
					sum += a[i * stride + r] * a[j * stride + r];
				worst = gv_worse(worst, fabs(sum - was[i * stride + j]));
			}
		a[0] = NAN;
		failed += gv_interior_cholesky(a, stride, m);
		free(a);
		free(was);
		free(v);
	}
	ok(failed == 0 && worst <= 1e-12, "factors of matrices, to %g", worst);
}

/* A pivot of nothing makes its variable stay as it is. */
static void
test_pivots(void)
{
	double a[8 * 8] = {0};

	a[0] = 4;
	a[8] = 2;
	a[9] = 1; /* less 1 */
	a[2 * 8 + 2] = 1e-20;
	ok(gv_interior_cholesky(a, 8, 3) && a[0] == 2 && a[8] == 1 && a[9] == 1e128 &&
		a[2 * 8 + 2] == 1e-10,
	    "pivots that are rounding, and that are small");
}

/* ---- a state ---- */

static struct {
	double level[N * M], use[N], gain[N * M], need[N], capacity[M];
	struct gv_interior_program p;
} w;

static void
draw_program(size_t n, size_t m, double columns, bool sum)
{
	size_t i, j;

	memset(&w, 0, sizeof(w));
	w.p = (struct gv_interior_program){.n = n,
	    .m = m,
	    .level = w.level,
	    .use = w.use,
	    .gain = sum ? w.gain : NULL,
	    .need = sum && below(2) == 0 ? w.need : NULL,
	    .capacity = w.capacity};
	for (j = 0; j < m; j++)
		w.capacity[j] =
		    j > 0 && below(6) == 0 ? 0 : 1 + uniform() * (double)n / 2;
	for (i = 0; i < n; i++) {
		w.use[i] = (double)(1 << below(3));
		for (j = 0; j < m; j++)
			if (j == 0 || uniform() < columns)
				w.level[i * m + j] = .5 + 3 * uniform();
		for (j = 0; j < m; j++)
			w.gain[i * m + j] =
			    w.level[i * m + j] * (below(8) == 0 ? -.1 : uniform());
		w.need[i] = i % 3 == 0 ? .01 : 0;
	}
}

static void
vector_init(struct gv_interior_vector *v, size_t columns, size_t n, size_t m)
{
	v->size = 2 * columns + 4 * n + 2 * m;
	v->memory = gv_xcalloc(v->size, sizeof(double));
	v->x = v->memory;
	v->z = v->x + columns;
	v->idle = v->z + columns;
	v->time = v->idle + n;
	v->over = v->time + n;
	v->lambda = v->over + n;
	v->left = v->lambda + n;
	v->price = v->left + m;
}

static void
state_init(struct gv_interior_state *s)
{
	size_t n = w.p.n, m = w.p.m, i, j, k = 0;

	*s = (struct gv_interior_state){
	    .p = &w.p, .n = n, .m = m, .level = w.p.gain == NULL};
	s->begin = gv_xcalloc(n + 1, sizeof(*s->begin));
	s->type = gv_xcalloc(n, m * sizeof(*s->type));
	s->a = gv_xcalloc(n, m * sizeof(*s->a));
	s->g = gv_xcalloc(n, m * sizeof(*s->g));
	s->wants = gv_xcalloc(n, sizeof(*s->wants));
	for (i = 0; i < n; i++) {
		for (j = 0; j < m; j++)
			if (gv_interior_has_column(&w.p, i, j)) {
				s->type[k] = j;
				s->g[k] = s->level ? 0 : w.gain[i * m + j];
				s->a[k++] = w.level[i * m + j];
			}
		s->begin[i + 1] = k;
		s->wants[i] = s->level || (w.p.need != NULL && w.need[i] > 0);
	}
	s->n_columns = k;
	vector_init(&s->at, k, n, m);
	vector_init(&s->step, k, n, m);
	vector_init(&s->rest, k, n, m);
	vector_init(&s->trial, k, n, m);
	s->corrects = m >= GV_INTERIOR_CORRECTS;
	s->weight = gv_xcalloc(k, sizeof(double));
	s->half0 = gv_xcalloc(k, sizeof(double));
	s->half1 = gv_xcalloc(k, sizeof(double));
	s->root = gv_xcalloc(n, 3 * sizeof(double));
	s->right_job = gv_xcalloc(n, 2 * sizeof(double));
	s->stride = gv_interior_stride(m);
	s->schur = gv_xcalloc(s->stride, s->stride * sizeof(double));
	s->aside = gv_xcalloc(GV_INTERIOR_ASIDE, s->stride * sizeof(double));
	s->border = gv_xcalloc(m, sizeof(double));
	s->right = gv_xcalloc(m, sizeof(double));
}

static void
state_free(struct gv_interior_state *s)
{
	free(s->begin);
	free(s->type);
	free(s->a);
	free(s->g);
	free(s->wants);
	free(s->at.memory);
	free(s->step.memory);
	free(s->rest.memory);
	free(s->trial.memory);
	free(s->weight);
	free(s->half0);
	free(s->half1);
	free(s->root);
	free(s->right_job);
	free(s->schur);
	free(s->aside);
	free(s->border);
	free(s->right);
}

/* A program, and numbers above 0 for its point. */
static void
draw_state(struct gv_interior_state *s, size_t k)
{
	size_t i, m = k % 10 == 9 ? GV_INTERIOR_CORRECTS + below(30) : 1 + below(20);

	draw_program(1 + below(N), m, m > 20 ? .1 : k % 3 == 0 ? .15 : .8, k % 2 == 1);
	state_init(s);
	for (i = 0; i < s->at.size; i++)
		s->at.memory[i] = .1 + uniform();
	for (i = 0; i < s->n; i++)
		if (!s->wants[i])
			s->at.lambda[i] = 0;
	s->at.t = s->level ? uniform() : 0;
}

/* ---- the equations ---- */

/* Of the products of pairs: a db + b da = rest. */
static double
off_pairs(size_t n, const bool *only, const double *a, const double *b, const double *da,
    const double *db, const double *rest)
{
	double off = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (only == NULL || only[i])
			off =
			    fmax(off, fabs(a[i] * db[i] + b[i] * da[i] - rest[i]) /
					  (1 + fabs(a[i] * db[i]) + fabs(b[i] * da[i])));
	return off;
}

/* What the step leaves of any equation, of the largest number in it. */
static double
off_step(const struct gv_interior_state *s)
{
	const struct gv_interior_vector *at = &s->at, *d = &s->step, *r = &s->rest;
	double gpus[M] = {0}, size[M] = {0}, off, lambdas = 0, lambda_size = 1;
	size_t i, j, e;

	off = off_pairs(s->n_columns, NULL, at->x, at->z, d->x, d->z, r->x);
	off = gv_worse(
	    off, off_pairs(s->n, NULL, at->idle, at->time, d->idle, d->time, r->idle));
	off = gv_worse(off,
	    off_pairs(s->n, s->wants, at->over, at->lambda, d->over, d->lambda, r->over));
	off = gv_worse(
	    off, off_pairs(s->m, NULL, at->left, at->price, d->left, d->price, r->left));
	for (i = 0; i < s->n; i++) {
		double time = d->idle[i], time_size = 1 + fabs(d->idle[i]);
		double level = -d->over[i] - (s->level ? d->t : 0);
		double level_size = 1 + fabs(d->over[i]) + fabs(d->t);

		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			double cost = s->p->use[i] * d->price[s->type[e]];
			double paid = s->wants[i] ? d->lambda[i] * s->a[e] : 0;

			time += d->x[e];
			time_size += fabs(d->x[e]);
			level += s->a[e] * d->x[e];
			level_size += fabs(s->a[e] * d->x[e]);
			gpus[s->type[e]] += s->p->use[i] * d->x[e];
			size[s->type[e]] += fabs(s->p->use[i] * d->x[e]);
			off = gv_worse(
			    off, fabs(cost + d->time[i] - paid + r->z[e] - d->z[e]) /
				     (1 + fabs(cost) + fabs(d->time[i]) + fabs(paid)));
		}
		off = gv_worse(off, fabs(time - r->time[i]) / time_size);
		if (s->wants[i])
			off = gv_worse(off, fabs(level - r->lambda[i]) / level_size);
		lambdas += d->lambda[i];
		lambda_size += fabs(d->lambda[i]);
	}
	for (j = 0; j < s->m; j++)
		off = gv_worse(off, fabs(gpus[j] + d->left[j] - r->price[j]) /
					(1 + size[j] + fabs(d->left[j])));
	if (s->level)
		off = gv_worse(off, fabs(lambdas - s->rest_t) / lambda_size);
	return off;
}

static void
test_step(void)
{
	size_t k, i, failed = 0;
	double worst = 0;

	for (k = 0; k < TRIALS; k++) {
		struct gv_interior_state s;

		draw_state(&s, k);
		for (i = 0; i < s.rest.size; i++)
			s.rest.memory[i] = uniform() - .5;
		for (i = 0; i < s.n; i++)
			if (!s.wants[i])
				s.rest.lambda[i] = s.rest.over[i] = 0;
		s.rest_t = uniform() - .5;
		/* twice: of the first time nothing is left */
		failed += !gv_interior_factorise(&s) || !gv_interior_factorise(&s);
		s.step.t = 7;
		gv_interior_step(&s, &s.step);
		failed += !s.level && s.step.t != 0;
		worst = gv_worse(worst, off_step(&s));
		state_free(&s);
	}
	ok(failed == 0 && worst <= 1e-9, "steps solve Newton's equations, to %g", worst);
}

/* ---- residuals and bounds ---- */

/* Those of the constraints, written down: GPUs, time, levels, reduced costs, the mean. */
static double
off_residuals(struct gv_interior_state *s)
{
	const struct gv_interior_vector *at = &s->at, *r = &s->rest;
	double gpus[M], off = 0, t = s->level;
	size_t i, j, e;

	for (j = 0; j < s->m; j++)
		gpus[j] = w.capacity[j] > 0 ? w.capacity[j] - at->left[j] : 0;
	for (i = 0; i < s->n; i++) {
		double time = 1 - at->idle[i], level = at->over[i];

		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			double z = w.use[i] * at->price[s->type[e]] + at->time[i] -
				   at->lambda[i] * s->a[e] - s->g[e];

			time -= at->x[e];
			level -= s->a[e] * at->x[e];
			gpus[s->type[e]] -= w.use[i] * at->x[e];
			off = gv_worse(off, fabs(r->z[e] - (z - at->z[e])));
		}
		level += s->level ? at->t : w.p.need != NULL ? w.need[i] : 0;
		off = gv_worse(off, fabs(r->time[i] - time));
		off = gv_worse(off, fabs(r->lambda[i] - (s->wants[i] ? level : 0)));
		t -= s->level ? at->lambda[i] : 0;
	}
	for (j = 0; j < s->m; j++)
		off = gv_worse(off, fabs(r->price[j] - gpus[j]));
	return fmax(off, fabs(s->rest_t - t));
}

/* The bound by these prices and multipliers, and what the shares reach. */
static double
bound_of(const struct gv_interior_state *s, double *objective)
{
	double bound = 0, lambdas = 0, least = INFINITY, sum = 0;
	size_t i, j, e;

	for (j = 0; j < s->m; j++)
		bound += w.capacity[j] * s->at.price[j];
	for (i = 0; i < s->n; i++) {
		double most = 0, level = 0;

		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			most = fmax(most, s->at.lambda[i] * s->a[e] + s->g[e] -
					      w.use[i] * s->at.price[s->type[e]]);
			level += s->a[e] * s->at.x[e];
			sum += s->g[e] * s->at.x[e];
		}
		bound += most;
		if (w.p.need != NULL)
			bound -= s->at.lambda[i] * w.need[i];
		lambdas += s->at.lambda[i];
		least = fmin(least, level);
	}
	*objective = s->level ? least : sum;
	return s->level ? bound / lambdas : bound;
}

static double
mean_product(const struct gv_interior_state *s, double *pairs)
{
	const struct gv_interior_vector *at = &s->at;
	double sum = 0;
	size_t i;

	*pairs = 0;
	for (i = 0; i < s->n_columns; i++, ++*pairs)
		sum += at->x[i] * at->z[i];
	for (i = 0; i < s->n; i++, ++*pairs)
		sum += at->idle[i] * at->time[i];
	for (i = 0; i < s->n; i++)
		if (s->wants[i]) {
			sum += at->over[i] * at->lambda[i];
			++*pairs;
		}
	for (i = 0; i < s->m; i++, ++*pairs)
		sum += at->left[i] * at->price[i];
	return sum / *pairs;
}

static void
test_sums(void)
{
	size_t k, i;
	double worst = 0, apart = 0, means = 0;

	for (k = 0; k < TRIALS; k++) {
		struct gv_interior_state s;
		double objective, want, bound, pairs, n;

		draw_state(&s, k);
		for (i = 0; i < s.rest.size; i++)
			s.rest.memory[i] = 7;
		gv_interior_residuals(&s);
		worst = gv_worse(worst, off_residuals(&s));
		bound = bound_of(&s, &want);
		apart =
		    gv_worse(apart, fabs(gv_interior_bound(&s, &objective) / bound - 1));
		apart = gv_worse(apart, fabs(objective - want) / (1 + fabs(want)));
		want = mean_product(&s, &n);
		means =
		    fmax(means, fabs(gv_interior_mean_product(&s, &pairs) / want - 1) +
				    fabs(pairs - n));
		state_free(&s);
	}
	ok(worst <= 1e-12, "residuals are those of the constraints, to %g", worst);
	ok(apart <= 1e-12, "bounds and objectives, to %g", apart);
	ok(means <= 1e-12, "mean products, to %g", means);
}

/* ---- where it begins ---- */

static void
test_start(void)
{
	size_t k, i, e, wrong = 0, uneven = 0, apart = 0;

	for (k = 0; k < TRIALS; k++) {
		struct gv_interior_state s;
		double mu, lambdas = 0;

		draw_state(&s, k);
		memset(s.at.memory, 0, s.at.size * sizeof(double));
		gv_interior_start(&s);
		for (i = 0; i < s.at.size; i++)
			wrong += !(s.at.memory[i] >= 0 && isfinite(s.at.memory[i]));
		mu = s.at.left[0] * s.at.price[0];
		mu /= s.level ? 1 : fmax(1, (double)s.n / (double)s.m);
		gv_interior_residuals(&s);
		for (i = 0; i < s.n; i++) {
			lambdas += s.at.lambda[i];
			wrong += fabs(s.rest.time[i]) > 1e-12 || s.at.idle[i] < .45;
			uneven += s.wants[i] &&
				  fabs(s.at.over[i] * s.at.lambda[i] / mu - 1) > 1e-9;
			uneven += s.level
				      ? fabs(s.at.idle[i] * s.at.time[i] / mu - 1) > 1e-9
				      : s.at.idle[i] * s.at.time[i] < mu * (1 - 1e-9);
			for (e = s.begin[i]; e < s.begin[i + 1]; e++) {
				/* z is the reduced cost, or larger where that is small */
				double least = mu * (double)s.n / (double)s.n_columns;
				double made = s.rest.z[e] + s.at.z[e];

				apart += fabs(s.at.z[e] - fmax(made, least / s.at.x[e])) >
					 1e-9 * s.at.z[e];
				if (!s.level)
					apart +=
					    made < (s.g[e] + s.at.lambda[i] * s.a[e] -
						       w.use[i] * s.at.price[s.type[e]]) *
						       .0999999;
			}
		}
		for (i = 0; i < s.m; i++) {
			double part = s.level ? 1 : fmax(1, (double)s.n / (double)s.m);

			wrong += fabs(s.rest.price[i]) > 1e-9 * (1 + w.capacity[i]) ||
				 s.at.left[i] < .45 * w.capacity[i];
			uneven +=
			    fabs(s.at.left[i] * s.at.price[i] / (mu * part) - 1) > 1e-9;
		}
		if (s.level)
			wrong += fabs(lambdas - 1) > 1e-9;
		state_free(&s);
	}
	is_int(wrong, 0, "it begins inside, at half of all time and GPUs");
	is_int(uneven, 0, "with products that are alike");
	is_int(apart, 0, "and reduced costs of what they are made of");
}

/* Shares given are begun at, where they are inside; else none of them. */
static void
test_start_given(void)
{
	struct gv_interior_state s;
	static double start[N * M];
	size_t i, e, given = 0, right = 0;
	double *plain;

	draw_program(30, 4, 1, false);
	state_init(&s);
	for (i = 0; i < 30 * 4; i++)
		start[i] = i % 5 == 0 ? 0 : 1e-3 * (1 + uniform());
	w.p.start = start;
	gv_interior_start(&s);
	for (i = 0; i < s.n; i++)
		for (e = s.begin[i]; e < s.begin[i + 1]; e++)
			if (start[i * 4 + s.type[e]] > 0) {
				given++;
				right += s.at.x[e] == start[i * 4 + s.type[e]];
			}
	ok(right == given && given >= 48, "%zu shares are those given", right);
	plain = gv_xcalloc(s.at.size, sizeof(*plain));
	w.p.start = NULL;
	gv_interior_start(&s);
	memcpy(plain, s.at.memory, s.at.size * sizeof(*plain));
	start[9 * 4] = 1; /* all its time, and some */
	w.p.start = start;
	gv_interior_start(&s);
	ok(memcmp(plain, s.at.memory, s.at.size * sizeof(*plain)) == 0,
	    "none of them where a job would have too much time");
	start[9 * 4] = 0;
	for (i = 0; i < 30; i++)
		start[i * 4] = 1.01 * w.capacity[0] / (30 * w.use[i]);
	gv_interior_start(&s);
	ok(memcmp(plain, s.at.memory, s.at.size * sizeof(*plain)) == 0,
	    "nor where a type has too few GPUs");
	free(plain);
	state_free(&s);
}

/* ---- a step forth ---- */

static double
largest(const double *v, size_t n)
{
	double most = 0;
	size_t i;

	for (i = 0; i < n; i++)
		most = fmax(most, fabs(v[i]));
	return most;
}

/* The largest residuals: of shares, and of multipliers. */
static void
residuals(struct gv_interior_state *s, double *shares, double *multipliers)
{
	gv_interior_residuals(s);
	*shares = fmax(largest(s->rest.time, s->n), largest(s->rest.lambda, s->n));
	*multipliers = largest(s->rest.z, s->n_columns);
}

static void
test_advance(void)
{
	size_t k, i, short_steps = 0, outside = 0, uneven = 0, larger = 0;

	for (k = 0; k < TRIALS; k++) {
		struct gv_interior_state s;
		double shares, multipliers, p, d, length, pairs, mu;

		draw_state(&s, k);
		residuals(&s, &shares, &multipliers);
		mu = gv_interior_mean_product(&s, &pairs);
		length = gv_interior_advance(&s);
		short_steps += !(length > .05);
		for (i = 0; i < s.at.size; i++)
			outside += !(s.at.memory[i] > 0) &&
				   !(s.at.memory + i >= s.at.lambda &&
				       s.at.memory + i < s.at.lambda + s.n);
		residuals(&s, &p, &d);
		p = 1 - p / shares;
		d = 1 - d / multipliers;
		uneven += fabs(fmin(p, d) - length) > 1e-6;
		larger += gv_interior_mean_product(&s, &pairs) > 1.5 * mu;
		state_free(&s);
	}
	is_int(outside, 0, "a step stays inside");
	is_int(uneven, 0, "residuals shrink by as much as it is long");
	ok(short_steps <= TRIALS / 8 && larger <= TRIALS / 8,
	    "%zu of %d are short, %zu go away from the middle", short_steps, TRIALS,
	    larger);
}

int
main(void)
{
	draws_begin(92, 0, 0);
	test_stride();
	test_outer();
	test_cholesky();
	test_pivots();
	test_step();
	test_sums();
	test_start();
	test_start_given();
	test_advance();
	return done_testing();
}
