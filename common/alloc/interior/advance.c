#include "advance.h"

#include <math.h>

static const double closest = .9995; /* part of the way to where a variable is 0 */
static const double enough = .1;     /* less of a step is short */

/* Corrections of one step, at most; each is worth it where the next matrix costs more. */
enum { CORRECTIONS = 6 };
static const double target_most = .3; /* of the mean product, where steps are corrected */
static const double far_off = 10;   /* products so many times above or below the target */
static const double further = .3;   /* how much longer a corrected step is to be ... */
static const double gained = .03;   /* ... and has to be, of both lengths together */
static const double long_step = .9; /* needs no correction */

void
gv_interior_residuals(struct gv_interior_state *s)
{
	const struct gv_interior_program *p = s->p;
	const struct gv_interior_vector *at = &s->at;
	struct gv_interior_vector *r = &s->rest;
	size_t i, j, e;

	for (j = 0; j < s->m; j++)
		r->price[j] = p->capacity[j] > 0 ? p->capacity[j] - at->left[j] : 0;
	s->rest_t = s->level ? 1 : 0;
	for (i = 0; i < s->n; i++) {
		double want = s->level ? at->t : p->need != NULL ? p->need[i] : 0;

		r->time[i] = 1 - at->idle[i];
		r->lambda[i] =
		    s->wants[i] ? want + at->over[i] - gv_interior_level_of(s, at->x, i)
				: 0;
		s->rest_t -= s->level ? at->lambda[i] : 0;
		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			r->time[i] -= at->x[e];
			r->price[s->type[e]] -= p->use[i] * at->x[e];
			r->z[e] = p->use[i] * at->price[s->type[e]] + at->time[i] -
				  at->lambda[i] * s->a[e] - s->g[e] - at->z[e];
		}
	}
}

double
gv_interior_mean_product(const struct gv_interior_state *s, double *pairs)
{
	const struct gv_interior_vector *at = &s->at;
	double sum = 0;
	size_t i;

	*pairs = (double)(s->n_columns + s->n + s->m);
	for (i = 0; i < s->n_columns; i++)
		sum += at->x[i] * at->z[i];
	for (i = 0; i < s->n; i++) {
		sum += at->idle[i] * at->time[i];
		sum += s->wants[i] ? at->over[i] * at->lambda[i] : 0;
		*pairs += s->wants[i];
	}
	for (i = 0; i < s->m; i++)
		sum += at->left[i] * at->price[i];
	return sum / *pairs;
}

double
gv_interior_bound(const struct gv_interior_state *s, double *objective)
{
	const struct gv_interior_program *p = s->p;
	const struct gv_interior_vector *at = &s->at;
	double sum = 0, all = 0;
	size_t i, j, e;

	*objective = s->level ? INFINITY : 0;
	for (j = 0; j < s->m; j++)
		sum += p->capacity[j] > 0 ? p->capacity[j] * at->price[j] : 0;
	for (i = 0; i < s->n; i++) {
		double most = 0, reached = 0;

		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			double net = at->lambda[i] * s->a[e] + s->g[e] -
				     p->use[i] * at->price[s->type[e]];

			most = fmax(most, net);
			reached += (s->level ? s->a[e] : s->g[e]) * at->x[e];
		}
		sum += most;
		all += at->lambda[i];
		if (!s->level && s->wants[i])
			sum -= at->lambda[i] * p->need[i];
		if (!s->level)
			*objective += reached;
		else if (s->wants[i])
			*objective = fmin(*objective, reached);
	}
	return s->level ? sum / all : sum;
}

/* ---- steps ---- */

/* Runs of numbers that belong together, of the point and of the step. */
struct run {
	size_t n;
	const bool *only;
	double *a, *b, *da, *db, *rest; /* a variable and its multiplier */
};

enum { RUNS = 4 };

static void
runs_of(struct gv_interior_state *s, struct run run[RUNS])
{
	struct gv_interior_vector *at = &s->at, *d = &s->step, *r = &s->rest;

	run[0] = (struct run){s->n_columns, NULL, at->x, at->z, d->x, d->z, r->x};
	run[1] = (struct run){s->n, NULL, at->idle, at->time, d->idle, d->time, r->idle};
	run[2] = (struct run){
	    s->n, s->wants, at->over, at->lambda, d->over, d->lambda, r->over};
	run[3] =
	    (struct run){s->m, NULL, at->left, at->price, d->left, d->price, r->left};
}

/*
 * What is left of products: target - a b, less that part of what the last step makes of
 * second order.
 */
static void
products(struct gv_interior_state *s, double target, double second_order)
{
	struct run run[RUNS];
	size_t k, i;

	runs_of(s, run);
	for (k = 0; k < RUNS; k++)
		for (i = 0; i < run[k].n; i++) {
			const struct run *r = &run[k];

			if (r->only != NULL && !r->only[i])
				continue;
			r->rest[i] = target - r->a[i] * r->b[i];
			if (second_order > 0)
				r->rest[i] -= second_order * (r->da[i] * r->db[i]);
		}
}

/* How far the step may go until a variable, and a multiplier, is 0; at most 1 */
static void
lengths(struct gv_interior_state *s, double *primal, double *dual)
{
	struct run run[RUNS];
	size_t k, i;

	runs_of(s, run);
	*primal = *dual = INFINITY;
	for (k = 0; k < RUNS; k++)
		for (i = 0; i < run[k].n; i++) {
			const struct run *r = &run[k];

			if (r->only != NULL && !r->only[i])
				continue;
			if (r->da[i] < 0 && r->a[i] < -*primal * r->da[i])
				*primal = -r->a[i] / r->da[i];
			if (r->db[i] < 0 && r->b[i] < -*dual * r->db[i])
				*dual = -r->b[i] / r->db[i];
		}
}

/* The mean product after that part of the step. */
static double
product_after(struct gv_interior_state *s, double primal, double dual, double pairs)
{
	struct run run[RUNS];
	double sum = 0;
	size_t k, i;

	runs_of(s, run);
	for (k = 0; k < RUNS; k++)
		for (i = 0; i < run[k].n; i++) {
			const struct run *r = &run[k];

			if (r->only == NULL || r->only[i])
				sum += (r->a[i] + primal * r->da[i]) *
				       (r->b[i] + dual * r->db[i]);
		}
	return sum / pairs;
}

static void
go(struct gv_interior_state *s, double primal, double dual)
{
	struct run run[RUNS];
	size_t k, i;

	runs_of(s, run);
	for (k = 0; k < RUNS; k++)
		for (i = 0; i < run[k].n; i++) {
			run[k].a[i] += primal * run[k].da[i];
			run[k].b[i] += dual * run[k].db[i];
		}
	s->at.t += primal * s->step.t;
}

/* The predictor; how far it goes. */
static void
predict(struct gv_interior_state *s, double *primal, double *dual)
{
	products(s, 0, 0);
	gv_interior_step(s, &s->step);
	lengths(s, primal, dual);
	*primal = fmin(1, *primal);
	*dual = fmin(1, *dual);
}

/*
 * The corrector; how far it goes.  Of the second order a whole predictor makes, where
 * little of it can be gone, more than there is: where that stands in the way it counts by
 * as much as can be gone (Colombo and Gondzio 2008).
 */
static void
correct(struct gv_interior_state *s, double target, double *primal, double *dual)
{
	double gone = *primal * *dual, p, d;

	products(s, target, 1);
	gv_interior_step(s, &s->step);
	lengths(s, primal, dual);
	if (fmin(*primal, *dual) >= enough)
		return;
	predict(s, &p, &d);
	products(s, target, gone);
	gv_interior_step(s, &s->step);
	lengths(s, primal, dual);
}

/*
 * What a step of these lengths would leave far below the target is to be brought up to what is
 * far; what it would leave far above, down to it, but by no more than that much.
 */
static void
bring_near(struct gv_interior_state *s, double target, double primal, double dual)
{
	const double low = target / far_off, high = target * far_off;
	struct run run[RUNS];
	size_t k, i;

	runs_of(s, run);
	for (k = 0; k < RUNS; k++)
		for (i = 0; i < run[k].n; i++) {
			const struct run *r = &run[k];
			double v;

			if (r->only != NULL && !r->only[i])
				continue;
			v = (r->a[i] + primal * r->da[i]) * (r->b[i] + dual * r->db[i]);
			if (v < low)
				r->rest[i] += low - v;
			else if (v > high)
				r->rest[i] += fmax(high - v, -high);
		}
}

static void
swap_steps(struct gv_interior_state *s)
{
	struct gv_interior_vector step = s->step;

	s->step = s->trial;
	s->trial = step;
}

/*
 * With many types pairs are so many that some are always in a step's way: it is corrected, by
 * the same matrix, as long as it becomes longer (Gondzio 1996, multiple centrality
 * corrections, section 4).
 */
static void
lengthen(struct gv_interior_state *s, double target, double *primal, double *dual)
{
	int k;

	for (k = 0; k < CORRECTIONS && fmin(*primal, *dual) < long_step; k++) {
		double p = fmin(1, *primal), d = fmin(1, *dual);

		bring_near(s, target, fmin(1, p + further), fmin(1, d + further));
		swap_steps(s);
		gv_interior_step(s, &s->step);
		lengths(s, primal, dual);
		if (fmin(1, *primal) + fmin(1, *dual) >= p + d + gained)
			continue;
		swap_steps(s);
		lengths(s, primal, dual);
		break;
	}
}

double
gv_interior_advance(struct gv_interior_state *s)
{
	double pairs, mu = gv_interior_mean_product(s, &pairs), primal, dual, target,
		      part;

	if (!gv_interior_factorise(s))
		return 0;
	gv_interior_residuals(s);
	predict(s, &primal, &dual);
	/* not pow(), whose last bits differ from one processor to another */
	part = product_after(s, primal, dual, pairs) / mu;
	target = part * part * part * mu;
	if (s->corrects)
		target = fmin(target, target_most * mu);
	correct(s, target, &primal, &dual);
	if (s->corrects)
		lengthen(s, target, &primal, &dual);
	primal = fmin(1, closest * primal);
	dual = fmin(1, closest * dual);
	if (!(primal > 0 && dual > 0))
		return 0;
	go(s, primal, dual);
	return fmin(primal, dual);
}
