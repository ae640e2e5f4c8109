/* The path of the barrier: Newton steps (eg_newton.c), mu down tenth by tenth. */
#include "eg_barrier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

static const double next_mu = .1;      /* of the last one */
static const double near = .7;         /* steps to its path, by Newton's decrement */
static const double last_guess = 1e-4; /* mu below which prices go nowhere else */

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
	s->before = gv_xcalloc(m, sizeof(double));
	s->slower = gv_xcalloc(m, sizeof(*s->slower));
	s->without = gv_xcalloc(m, sizeof(double));
	s->order = gv_xcalloc(n, sizeof(*s->order));
	s->n_types = gv_xcalloc(n, sizeof(*s->n_types));
	s->ordered = gv_xcalloc(n, m * sizeof(*s->ordered));
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
	free(s->before);
	free(s->slower);
	free(s->without);
	free(s->order);
	free(s->n_types);
	free(s->ordered);
	*s = (struct gv_eg_barrier){0};
}

/* How fast the barrier falls along the step, a part of it away: minus its slope there. */
static double
fall_at(const struct gv_eg_barrier *s, double part)
{
	const struct gv_eg_fixed *f = &s->fixed;
	double fall = 0;
	size_t m = s->m, i, j, k;

	for (j = 0; j < m; j++) {
		if (s->has_gpus[j])
			fall += s->d_price[j] * gv_eg_price_fall(s, j,
						    s->price[j] + part * s->d_price[j]);
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
step_to_zero(double most, double value, double step)
{
	return step < 0 ? fmin(most, -value / step) : most;
}

/* The part of the step at which something is 0, at most 2. */
static double
step_to_boundary(const struct gv_eg_barrier *s)
{
	double most = 2;
	size_t m = s->m, i, j, k;

	for (j = 0; j < m; j++) {
		if (s->has_gpus[j]) {
			most = step_to_zero(most, s->price[j] - s->low[j], s->d_price[j]);
			most =
			    step_to_zero(most, s->high[j] - s->price[j], -s->d_price[j]);
		}
		for (k = 0; k < m; k++)
			if (s->fixed.pair[j * m + k] > 0)
				most = step_to_zero(most, s->price[j] - s->price[k],
				    s->d_price[j] - s->d_price[k]);
	}
	for (i = 0; i < s->n; i++) {
		most = step_to_zero(most, s->l[i], s->d_l[i]);
		most = step_to_zero(most, s->time[i], s->d_time[i]);
		for (j = 0; j < m; j++)
			if (s->a[i][j] > 0)
				most = step_to_zero(
				    most, s->slack[i * m + j], s->d_slack[i * m + j]);
	}
	return most;
}

static void
take_step(struct gv_eg_barrier *s, double part)
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
		double fall = gv_eg_newton(s);
		double part = fmin(1, .95 * step_to_boundary(s));
		bool end = fall <= small * small * s->mu ||
			   (fall < .01 * s->mu && fall > last / 4);

		while (part > GV_TOL_EG_STEP && fall_at(s, part) < -.5 * fall)
			part /= 2;
		take_step(s, part);
		if (end || isnan(fall))
			return;
		last = fall;
	}
}

/* The types of job i, the slower first. */
static void
order_types(struct gv_eg_barrier *s, size_t i)
{
	size_t *order = s->order[i] = &s->ordered[i * s->m], n = 0, j, k;

	for (j = 0; j < s->m; j++) {
		if (s->a[i][j] == 0)
			continue;
		for (k = n++; k > 0 && s->a[i][order[k - 1]] > s->a[i][j]; k--)
			order[k] = order[k - 1];
		order[k] = j;
	}
	s->n_types[i] = n;
}

/* Each job as at its own vertex, but for time. */
static void
start(struct gv_eg_barrier *s)
{
	size_t m = s->m, i, j;

	for (i = 0; i < s->n; i++) {
		struct gv_eg_demand t =
		    gv_eg_demand_at(s->a[i], s->scale[i], s->price, m);

		order_types(s, i);
		s->l[i] = t.l;
		s->time[i] = t.time + s->mu;
		for (j = 0; j < m; j++)
			s->slack[i * m + j] = s->a[i][j] == 0
						  ? 1
						  : s->scale[i] * s->price[j] +
							s->time[i] - t.l * s->a[i][j];
	}
}

/* Whether the box does not hold the prices back. */
static bool
is_inside(const struct gv_eg_barrier *s)
{
	size_t j;

	for (j = 0; j < s->m; j++) {
		double margin = .01 * (s->high[j] - s->low[j]);

		if (s->has_gpus[j] && isfinite(margin) &&
		    (s->price[j] > s->high[j] - margin ||
			(s->low[j] > 0 && s->price[j] < s->low[j] + margin)))
			return false;
	}
	return true;
}

/*
 * From the least barrier of mu along the tangent of the path to where that of the next mu
 * about is: gradients are of the next one, barriers bend as they do here.
 */
static void
follow_tangent(struct gv_eg_barrier *s, double mu)
{
	double fall, part;

	s->mu = mu;
	fall = gv_eg_newton(s);
	part = fmin(1, .95 * step_to_boundary(s));
	while (part > GV_TOL_EG_STEP && fall_at(s, part) < -.5 * fall)
		part /= 2;
	if (!isnan(fall))
		take_step(s, part);
	s->bend_mu = mu;
}

bool
gv_eg_barrier_minimise(struct gv_eg_barrier *s, double first_mu, double mu)
{
	s->mu = s->bend_mu = fmax(first_mu, mu);
	start(s);
	for (;;) {
		bool last = s->mu <= mu * 1.0001;

		descend(s, last ? GV_TOL_EG_NEWTON : near);
		if (last || (s->mu < last_guess && !is_inside(s)))
			return is_inside(s);
		follow_tangent(s, fmax(mu, s->mu * next_mu));
	}
}

void
gv_eg_barrier_widen(struct gv_eg_barrier *s)
{
	static const double times = 1000;
	size_t j;

	for (j = 0; j < s->m; j++) {
		s->low[j] = fmax(0, s->price[j] - times * (s->price[j] - s->low[j]));
		s->high[j] = s->price[j] + times * (s->high[j] - s->price[j]);
	}
	descend(s, GV_TOL_EG_NEWTON);
}
