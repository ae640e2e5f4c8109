/*
 * Newton's method on the barrier.  Divided by mu it is self-concordant.  A job's l and
 * time are coupled with those of others only by the prices, so they are eliminated
 * one job after another; written as sums of numbers >= 0, what is left keeps its
 * digits however small mu is.  Slacks go along with the steps: their differences
 * would lose them.
 */
#include "eg_barrier.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

static const double first_mu = .1;
static const double next_mu = .1; /* of the last one */

void
gv_eg_barrier_alloc(struct gv_eg_barrier *s, size_t n, size_t m)
{
	*s = (struct gv_eg_barrier){.m = m};
	s->a = gv_xcalloc(n, sizeof(*s->a));
	s->scale = gv_xcalloc(n, sizeof(double));
	s->count = gv_xcalloc(n, sizeof(double));
	s->fixed.slope = gv_xcalloc(m, sizeof(double));
	s->fixed.own = gv_xcalloc(m, sizeof(double));
	s->fixed.pair = gv_xcalloc(m, m * sizeof(double));
	s->has_gpus = gv_xcalloc(m, sizeof(bool));
	s->price = gv_xcalloc(m, sizeof(double));
	s->low = gv_xcalloc(m, sizeof(double));
	s->high = gv_xcalloc(m, sizeof(double));
	s->l = gv_xcalloc(n, sizeof(double));
	s->time = gv_xcalloc(n, sizeof(double));
	s->slack = gv_xcalloc(n, m * sizeof(double));
	s->d_price = gv_xcalloc(m, sizeof(double));
	s->d_l = gv_xcalloc(n, sizeof(double));
	s->d_time = gv_xcalloc(n, sizeof(double));
	s->d_slack = gv_xcalloc(n, m * sizeof(double));
	s->schur = gv_xcalloc(m, m * sizeof(double));
	s->bend = gv_xcalloc(m, sizeof(double));
}

void
gv_eg_barrier_free(struct gv_eg_barrier *s)
{
	free(s->a);
	free(s->scale);
	free(s->count);
	free(s->fixed.slope);
	free(s->fixed.own);
	free(s->fixed.pair);
	free(s->has_gpus);
	free(s->price);
	free(s->low);
	free(s->high);
	free(s->l);
	free(s->time);
	free(s->slack);
	free(s->d_price);
	free(s->d_l);
	free(s->d_time);
	free(s->d_slack);
	free(s->schur);
	free(s->bend);
	*s = (struct gv_eg_barrier){0};
}

/* ---- one job ---- */

/*
 * The Newton equations of a job, per job of its row, in the steps of l and of the
 * slack of its type r, whose share bends the barrier most: in those of l and time the
 * others would drown.
 */
struct own {
	size_t r;
	double l, slack;     /* gradient */
	double ll, ls, ss;   /* Hessian */
	double curve, clock; /* what l and time alone add to it */
	double det;
};

static struct own
own_of(struct gv_eg_barrier *s, size_t i)
{
	const double *a = s->a[i];
	double time = s->mu / s->time[i]; /* left */
	struct own o = {.r = s->m, .slack = 1 - time};
	double all = 0, plain = 0; /* of a^2 y, of y */
	double *bend = s->bend;
	size_t j, k;

	for (j = 0; j < s->m; j++) {
		double slack = s->slack[i * s->m + j];

		bend[j] = a[j] > 0 ? s->mu / slack / slack : 0;
		if (a[j] > 0 && (o.r == s->m || bend[j] > bend[o.r]))
			o.r = j;
	}
	o.curve = 1 / (s->l[i] * s->l[i]);
	o.clock = time / s->time[i];
	o.l = a[o.r] * (1 - time) - 1 / s->l[i];
	for (j = 0; j < s->m; j++) {
		double y = s->bend[j];
		double x = s->mu / s->slack[i * s->m + j];
		double slower = a[o.r] - a[j];

		if (a[j] == 0)
			continue;
		o.l -= x * slower;
		o.slack -= x;
		o.ll += y * slower * slower;
		o.ls += y * slower;
		all += y * a[j] * a[j];
		plain += y;
		for (k = 0; k < j; k++)
			if (a[k] > 0)
				o.det += y * s->bend[k] * ((a[j] - a[k]) * (a[j] - a[k]));
	}
	o.det += o.curve * (plain + o.clock) + all * o.clock;
	o.ll += o.curve + o.clock * a[o.r] * a[o.r];
	o.ls += o.clock * a[o.r];
	o.ss = plain + o.clock;
	return o;
}

/* The job's step when prices go by d_price; NULL: they stay. */
static void
respond(struct gv_eg_barrier *s, size_t i, const struct own *o, const double *d_price)
{
	const double *a = s->a[i];
	double *d_slack = &s->d_slack[i * s->m];
	double first = d_price != NULL ? s->scale[i] * d_price[o->r] : 0;
	double l = o->clock * a[o->r] * first - o->l;
	double slack = o->clock * first - o->slack;
	size_t j;

	for (j = 0; j < s->m; j++) {
		d_slack[j] = d_price != NULL && a[j] > 0
				 ? s->scale[i] * (d_price[j] - d_price[o->r])
				 : 0;
		l -= s->bend[j] * (a[o->r] - a[j]) * d_slack[j];
		slack -= s->bend[j] * d_slack[j];
	}
	s->d_l[i] = (o->ss * l - o->ls * slack) / o->det;
	slack = (o->ll * slack - o->ls * l) / o->det;
	s->d_time[i] = slack - first + a[o->r] * s->d_l[i];
	for (j = 0; j < s->m; j++)
		d_slack[j] =
		    a[j] > 0 ? d_slack[j] + slack + (a[o->r] - a[j]) * s->d_l[i] : 0;
}

/* What is left of det when type j is not there. */
static double
det_without(const struct gv_eg_barrier *s, size_t i, const struct own *o, size_t j)
{
	const double *a = s->a[i];
	double det = o->curve * o->clock;
	size_t k, q;

	for (k = 0; k < s->m; k++) {
		double y = s->bend[k];

		if (k == j || a[k] == 0)
			continue;
		det += y * (o->curve + o->clock * a[k] * a[k]);
		for (q = 0; q < k; q++)
			if (q != j && a[q] > 0)
				det += y * s->bend[q] * ((a[k] - a[q]) * (a[k] - a[q]));
	}
	return det;
}

/*
 * The Schur complement of the job: with z its own unknowns, H_pp - H_pz H_zz^-1 H_zp into
 * schur, the gradient g_p - H_pz H_zz^-1 g_z into d_price.
 */
static void
add_job(struct gv_eg_barrier *s, size_t i)
{
	const double *a = s->a[i];
	struct own o = own_of(s, i);
	double both = s->scale[i] * s->scale[i] * s->count[i];
	size_t j, k, q;

	respond(s, i, &o, NULL);
	for (j = 0; j < s->m; j++) {
		double slack = s->slack[i * s->m + j];
		double y = s->bend[j];

		if (a[j] == 0)
			continue;
		s->d_price[j] += s->count[i] * s->scale[i] * (s->mu / slack) *
				 (1 - s->d_slack[i * s->m + j] / slack);
		s->schur[j * s->m + j] += both * y * (det_without(s, i, &o, j) / o.det);
		for (k = 0; k < j; k++) {
			double sum = o.curve + o.clock * a[j] * a[k];

			if (a[k] == 0)
				continue;
			for (q = 0; q < s->m; q++)
				if (a[q] > 0)
					sum += s->bend[q] * (a[j] - a[q]) * (a[k] - a[q]);
			s->schur[j * s->m + k] -= both * y * (s->bend[k] * (sum / o.det));
		}
	}
}

/* The job's part of the step, from that of the prices; returns how fast it makes the barrier fall. */
static double
step_job(struct gv_eg_barrier *s, size_t i)
{
	struct own o = own_of(s, i);
	double fall;
	size_t j;

	respond(s, i, &o, s->d_price);
	fall = s->d_l[i] / s->l[i] - s->d_time[i] * (1 - s->mu / s->time[i]);
	for (j = 0; j < s->m; j++)
		if (s->a[i][j] > 0)
			fall += s->d_slack[i * s->m + j] * s->mu / s->slack[i * s->m + j];
	return s->count[i] * fall;
}

/* ---- all ---- */

/* How fast the fixed and its own barrier make the sum fall with price p of type j. */
static double
price_fall(const struct gv_eg_barrier *s, size_t j, double p)
{
	return s->fixed.own[j] / p - s->fixed.slope[j] + s->mu / (p - s->low[j]) -
	       s->mu / (s->high[j] - p);
}

/* The part of fixed jobs and of the borders of prices in the equations. */
static void
add_fixed(struct gv_eg_barrier *s)
{
	const struct gv_eg_fixed *f = &s->fixed;
	size_t m = s->m, j, k;

	for (j = 0; j < m; j++) {
		double p = s->price[j];

		s->d_price[j] = 0;
		memset(&s->schur[j * m], 0, m * sizeof(*s->schur));
		if (!s->has_gpus[j])
			continue;
		s->d_price[j] = price_fall(s, j, p);
		s->schur[j * m + j] = f->own[j] / p / p +
				      s->mu / (p - s->low[j]) / (p - s->low[j]) +
				      s->mu / (s->high[j] - p) / (s->high[j] - p);
	}
	for (j = 0; j < m; j++)
		for (k = 0; k < m; k++) {
			double n = f->pair[j * m + k];
			double d = s->price[j] - s->price[k];

			if (n == 0)
				continue;
			s->d_price[j] += n / d;
			s->d_price[k] -= n / d;
			s->schur[j * m + j] += n / d / d;
			s->schur[k * m + k] += n / d / d;
			s->schur[(j > k ? j : k) * m + (j > k ? k : j)] -= n / d / d;
		}
}

/* The fall along the prices' step by the fixed and their own barrier. */
static double
fall_of_fixed(const struct gv_eg_barrier *s)
{
	const struct gv_eg_fixed *f = &s->fixed;
	double fall = 0;
	size_t m = s->m, j, k;

	for (j = 0; j < m; j++) {
		if (s->has_gpus[j])
			fall += s->d_price[j] * price_fall(s, j, s->price[j]);
		for (k = 0; k < m; k++)
			if (f->pair[j * m + k] > 0)
				fall += f->pair[j * m + k] *
					(s->d_price[j] - s->d_price[k]) /
					(s->price[j] - s->price[k]);
	}
	return fall;
}

/* Solves the lower triangle of schur for d_price, by Cholesky's factors. */
static void
solve_prices(struct gv_eg_barrier *s)
{
	double *h = s->schur, *b = s->d_price;
	size_t m = s->m, i, j, k;

	for (j = 0; j < m; j++) {
		double first = h[j * m + j];

		if (!s->has_gpus[j])
			first = h[j * m + j] = 1;
		for (i = j; i < m; i++) {
			double sum = h[i * m + j];

			for (k = 0; k < j; k++)
				sum -= h[i * m + k] * h[j * m + k];
			h[i * m + j] = i == j ? sqrt(fmax(sum, first * DBL_EPSILON))
					      : sum / h[j * m + j];
		}
	}
	for (i = 0; i < m; i++) {
		for (k = 0; k < i; k++)
			b[i] -= h[i * m + k] * b[k];
		b[i] /= h[i * m + i];
	}
	for (i = m; i-- > 0;) {
		for (k = i + 1; k < m; k++)
			b[i] -= h[k * m + i] * b[k];
		b[i] /= h[i * m + i];
	}
}

/* The step; returns how fast the barrier falls along it. */
static double
newton(struct gv_eg_barrier *s)
{
	double fall;
	size_t i;

	add_fixed(s);
	for (i = 0; i < s->n; i++)
		add_job(s, i);
	solve_prices(s);
	fall = fall_of_fixed(s);
	for (i = 0; i < s->n; i++)
		fall += step_job(s, i);
	return fall;
}

/* How fast it falls at the point a part of the step away. */
static double
fall_at(const struct gv_eg_barrier *s, double part)
{
	const struct gv_eg_fixed *f = &s->fixed;
	double fall = 0;
	size_t m = s->m, i, j, k;

	for (j = 0; j < m; j++) {
		if (s->has_gpus[j])
			fall += s->d_price[j] *
				price_fall(s, j, s->price[j] + part * s->d_price[j]);
		for (k = 0; k < m; k++) {
			double d = s->d_price[j] - s->d_price[k];

			if (f->pair[j * m + k] > 0)
				fall += f->pair[j * m + k] * d /
					(s->price[j] - s->price[k] + part * d);
		}
	}
	for (i = 0; i < s->n; i++) {
		const double *slack = &s->slack[i * m], *d = &s->d_slack[i * m];
		double own = s->d_l[i] / (s->l[i] + part * s->d_l[i]) - s->d_time[i] +
			     s->mu * s->d_time[i] / (s->time[i] + part * s->d_time[i]);

		for (j = 0; j < m; j++)
			if (s->a[i][j] > 0)
				own += s->mu * d[j] / (slack[j] + part * d[j]);
		fall += s->count[i] * own;
	}
	return fall;
}

static double
room(double most, double value, double step)
{
	return step < 0 ? fmin(most, -value / step) : most;
}

/* The part of the step at which something is 0, at most 2. */
static double
to_the_wall(const struct gv_eg_barrier *s)
{
	double most = 2;
	size_t m = s->m, i, j, k;

	for (j = 0; j < m; j++) {
		if (s->has_gpus[j]) {
			most = room(most, s->price[j] - s->low[j], s->d_price[j]);
			most = room(most, s->high[j] - s->price[j], -s->d_price[j]);
		}
		for (k = 0; k < m; k++)
			if (s->fixed.pair[j * m + k] > 0)
				most = room(most, s->price[j] - s->price[k],
				    s->d_price[j] - s->d_price[k]);
	}
	for (i = 0; i < s->n; i++) {
		most = room(most, s->l[i], s->d_l[i]);
		most = room(most, s->time[i], s->d_time[i]);
		for (j = 0; j < m; j++)
			if (s->a[i][j] > 0)
				most = room(
				    most, s->slack[i * m + j], s->d_slack[i * m + j]);
	}
	return most;
}

static void
go(struct gv_eg_barrier *s, double part)
{
	size_t i;

	for (i = 0; i < s->m; i++)
		s->price[i] += s->has_gpus[i] ? part * s->d_price[i] : 0;
	for (i = 0; i < s->n; i++) {
		s->l[i] += part * s->d_l[i];
		s->time[i] += part * s->d_time[i];
	}
	for (i = 0; i < s->n * s->m; i++)
		s->slack[i] += part * s->d_slack[i];
}

/*
 * To the least barrier of the present mu, until steps are as small as that, or as
 * rounding makes them.  Along a step its fall decreases: a step at whose end it rises
 * half as fast as it fell at first is too long.
 */
static void
descend(struct gv_eg_barrier *s, double small)
{
	double last = INFINITY;
	int k;

	for (k = 0; k < 100; k++) {
		double fall = newton(s);
		double part = fmin(1, .95 * to_the_wall(s));
		bool end = fall <= small * small * s->mu ||
			   (fall < .01 * s->mu && fall > last / 4);

		while (part > GV_TOL_EG_STEP && fall_at(s, part) < -.5 * fall)
			part /= 2;
		go(s, part);
		if (end || isnan(fall))
			return;
		last = fall;
	}
}

/* Each job as at its own vertex, but for time. */
static void
start(struct gv_eg_barrier *s)
{
	size_t m = s->m, i, j;

	for (i = 0; i < s->n; i++) {
		struct gv_eg_demand t =
		    gv_eg_demand_at(s->a[i], s->scale[i], s->price, m);

		s->l[i] = t.l;
		s->time[i] = t.time + first_mu;
		for (j = 0; j < m; j++)
			s->slack[i * m + j] = s->a[i][j] == 0
						  ? 1
						  : s->scale[i] * s->price[j] +
							s->time[i] - t.l * s->a[i][j];
	}
}

void
gv_eg_barrier_minimise(struct gv_eg_barrier *s, double mu)
{
	s->mu = first_mu;
	start(s);
	for (;;) {
		bool last = s->mu <= mu * 1.0001;

		descend(s, last ? GV_TOL_EG_NEWTON : .7);
		if (last)
			return;
		s->mu = fmax(mu, s->mu * next_mu);
	}
}
