#include "interior.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"
#include "newton.h"
#include "outer.h"

enum { MOST_STEPS = 120, PATIENCE = 25, LAST = 4 };

static const double closest = .9995; /* part of the way to where a variable is 0 */

/* ---- the state ---- */

static void
vector_alloc(struct gv_interior_vector *v, size_t columns, size_t n, size_t m)
{
	double *d = gv_xcalloc(2 * columns + 4 * n + 2 * m, sizeof(*d));

	*v = (struct gv_interior_vector){
	    .memory = d, .size = 2 * columns + 4 * n + 2 * m, .x = d, .z = d + columns};
	v->idle = v->z + columns;
	v->time = v->idle + n;
	v->over = v->time + n;
	v->lambda = v->over + n;
	v->left = v->lambda + n;
	v->price = v->left + m;
}

static void
find_columns(struct gv_interior_state *s)
{
	const struct gv_interior_program *p = s->p;
	size_t i, j, k = 0;

	s->begin = gv_xcalloc(s->n + 1, sizeof(*s->begin));
	for (i = 0; i < s->n; i++)
		for (j = 0; j < s->m; j++)
			s->n_columns += gv_interior_has_column(p, i, j);
	s->type = gv_xcalloc(s->n_columns, sizeof(*s->type));
	s->a = gv_xcalloc(s->n_columns, sizeof(*s->a));
	s->g = gv_xcalloc(s->n_columns, sizeof(*s->g));
	for (i = 0; i < s->n; i++) {
		for (j = 0; j < s->m; j++) {
			if (!gv_interior_has_column(p, i, j))
				continue;
			s->type[k] = j;
			s->a[k] = p->level[i * s->m + j];
			s->g[k++] = p->gain != NULL ? p->gain[i * s->m + j] : 0;
		}
		s->begin[i + 1] = k;
	}
}

static void
state_init(struct gv_interior_state *s, const struct gv_interior_program *p)
{
	size_t n = p->n, m = p->m, i;

	*s = (struct gv_interior_state){.p = p, .n = n, .m = m, .level = p->gain == NULL};
	find_columns(s);
	s->wants = gv_xcalloc(n, sizeof(*s->wants));
	for (i = 0; i < n; i++)
		s->wants[i] = s->begin[i + 1] > s->begin[i] &&
			      (s->level || (p->need != NULL && p->need[i] > 0));
	vector_alloc(&s->at, s->n_columns, n, m);
	vector_alloc(&s->step, s->n_columns, n, m);
	vector_alloc(&s->best, s->n_columns, n, m);
	vector_alloc(&s->rest, s->n_columns, n, m);
	s->weight = gv_xcalloc(3 * s->n_columns, sizeof(*s->weight));
	s->half0 = s->weight + s->n_columns;
	s->half1 = s->half0 + s->n_columns;
	s->root = gv_xcalloc(5 * n, sizeof(*s->root));
	s->right_job = s->root + 3 * n;
	s->stride = gv_interior_stride(m);
	s->schur =
	    gv_xcalloc(s->stride + GV_INTERIOR_ASIDE + 2, s->stride * sizeof(*s->schur));
	s->aside = s->schur + s->stride * s->stride;
	s->border = s->aside + GV_INTERIOR_ASIDE * s->stride;
	s->right = s->border + m;
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
	free(s->best.memory);
	free(s->rest.memory);
	free(s->weight);
	free(s->root);
	free(s->schur);
}

/* ---- where to begin ---- */

static double
level_of(const struct gv_interior_state *s, const double *x, size_t i)
{
	double sum = 0;
	size_t e;

	for (e = s->begin[i]; e < s->begin[i + 1]; e++)
		sum += s->a[e] * x[e];
	return sum;
}

/*
 * Equal shares of half of the GPUs and half of the time, or those given; what is left and
 * over.  False: that is not inside.
 */
static bool
start_shares(struct gv_interior_state *s, const double *start)
{
	const struct gv_interior_program *p = s->p;
	struct gv_interior_vector *at = &s->at;
	const double part = start != NULL ? .01 : .1;
	double load = 0, gpus = 0, least = INFINITY;
	bool inside = true;
	size_t i, j, e;

	for (i = 0; i < s->n; i++)
		load += p->use[i];
	for (j = 0; j < s->m; j++) {
		gpus += p->capacity[j];
		at->left[j] = p->capacity[j];
	}
	for (i = 0; i < s->n; i++) {
		at->idle[i] = 1;
		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			j = s->type[e];
			at->x[e] = .5 * p->capacity[j] / fmax(load, gpus);
			if (start != NULL && start[i * s->m + j] > 0)
				at->x[e] = start[i * s->m + j];
			at->idle[i] -= at->x[e];
			at->left[j] -= p->use[i] * at->x[e];
		}
		if (s->wants[i])
			least = fmin(least, level_of(s, at->x, i));
	}
	at->t = s->level ? .5 * least : 0;
	for (i = 0; i < s->n; i++) {
		double want = s->level ? at->t : p->need != NULL ? p->need[i] : 0;

		at->over[i] =
		    s->wants[i] ? fmax(level_of(s, at->x, i) - want, part * want) : 1;
		inside = inside && at->idle[i] > 0;
	}
	for (j = 0; j < s->m; j++)
		inside = inside && (at->left[j] > 0 || p->capacity[j] <= 0);
	return inside;
}

/*
 * Reduced costs as the multipliers make them, but where those are small, or below 0: a job's
 * columns together weigh as much as one other product, for if each did, those of many types
 * would be far above all that follows, and first have to come down.
 */
static void
start_reduced_costs(struct gv_interior_state *s, double mu)
{
	const struct gv_interior_vector *at = &s->at;
	double least = mu * (double)s->n / (double)s->n_columns;
	size_t i, e;

	for (i = 0; i < s->n; i++)
		for (e = s->begin[i]; e < s->begin[i + 1]; e++)
			at->z[e] = fmax(least / at->x[e],
			    s->p->use[i] * at->price[s->type[e]] + at->time[i] -
				at->lambda[i] * s->a[e] - s->g[e]);
}

/* Multipliers whose products with those are all the same. */
static void
start_multipliers(struct gv_interior_state *s)
{
	struct gv_interior_vector *at = &s->at;
	double mu = 0;
	size_t i;

	s->size = 0;
	if (s->level) {
		for (i = 0; i < s->n; i++)
			mu += s->wants[i] ? 1 / at->over[i] : 0;
		mu = 1 / mu;
	} else {
		for (i = 0; i < s->n_columns; i++)
			mu += fabs(s->g[i]) * at->x[i];
		s->size = GV_TOL_INTERIOR_SUM * mu;
		mu /= (double)s->n;
	}
	if (!(mu > 0))
		mu = 1;
	for (i = 0; i < s->n; i++) {
		at->time[i] = mu / at->idle[i];
		at->lambda[i] = s->wants[i] ? mu / at->over[i] : 0;
	}
	for (i = 0; i < s->m; i++) {
		if (!(at->left[i] > 0))
			at->left[i] = 1; /* no GPUs, and nobody on them */
		at->price[i] = mu / at->left[i];
	}
	start_reduced_costs(s, mu);
}

/* ---- how far it is ---- */

/* What is left of each constraint, into rest; not of the products of pairs. */
static void
residuals(struct gv_interior_state *s)
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
		    s->wants[i] ? want + at->over[i] - level_of(s, at->x, i) : 0;
		s->rest_t -= s->level ? at->lambda[i] : 0;
		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			r->time[i] -= at->x[e];
			r->price[s->type[e]] -= p->use[i] * at->x[e];
			r->z[e] = p->use[i] * at->price[s->type[e]] + at->time[i] -
				  at->lambda[i] * s->a[e] - s->g[e] - at->z[e];
		}
	}
}

/* The objective, and the bound that the multipliers prove. */
static double
bound_of(const struct gv_interior_state *s, double *objective)
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

/* Mean of the products of pairs. */
static double
mean_product(const struct gv_interior_state *s, double *pairs)
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

/* What is left of products: target - a b, less what the last step makes of second order. */
static void
products(struct gv_interior_state *s, double target, bool second_order)
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
			if (second_order)
				r->rest[i] -= r->da[i] * r->db[i];
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

/* One step; the length of its shorter part, 0: none can be made. */
static double
advance(struct gv_interior_state *s)
{
	double pairs, mu = mean_product(s, &pairs), primal, dual, after;

	if (!gv_interior_factorise(s))
		return 0;
	residuals(s);
	products(s, 0, false);
	gv_interior_step(s, &s->step);
	lengths(s, &primal, &dual);
	after = product_after(s, fmin(1, primal), fmin(1, dual), pairs);
	products(s, mu * pow(after / mu, 3), true);
	gv_interior_step(s, &s->step);
	lengths(s, &primal, &dual);
	primal = fmin(1, closest * primal);
	dual = fmin(1, closest * dual);
	if (!(primal > 0 && dual > 0))
		return 0;
	go(s, primal, dual);
	return fmin(primal, dual);
}

/* ---- the end ---- */

/* The largest residual of the constraints on shares, relative. */
static double
infeasibility(struct gv_interior_state *s)
{
	double worst = 0;
	size_t i;

	residuals(s);
	for (i = 0; i < s->m; i++)
		if (s->p->capacity[i] > 0)
			worst = fmax(worst, fabs(s->rest.price[i]) / s->p->capacity[i]);
	for (i = 0; i < s->n; i++) {
		double want = s->level ? s->at.t : s->wants[i] ? s->p->need[i] : 1;

		worst = fmax(worst, fabs(s->rest.time[i]));
		worst = fmax(worst, fabs(s->rest.lambda[i]) / want);
	}
	return worst;
}

/* What the reduced cost of a job's column is made of. */
static double
size_of(const struct gv_interior_state *s, size_t i, size_t e)
{
	return s->p->use[i] * s->at.price[s->type[e]] + s->at.time[i] +
	       s->at.lambda[i] * s->a[e] + fabs(s->g[e]);
}

static void
take(struct gv_interior_state *s, struct gv_interior_point *to)
{
	size_t i, e;

	*to = (struct gv_interior_point){.n_columns = s->n_columns,
	    .begin = s->begin,
	    .type = s->type,
	    .objective = to->objective,
	    .gap = to->gap,
	    .middle = to->middle,
	    .steps = to->steps};
	to->x = gv_xcalloc(3 * s->n_columns + s->m + 2 * s->n, sizeof(*to->x));
	to->z = to->x + s->n_columns;
	to->size = to->z + s->n_columns;
	to->price = to->size + s->n_columns;
	to->time = to->price + s->m;
	to->lambda = to->time + s->n;
	memcpy(to->x, s->at.x, s->n_columns * sizeof(*to->x));
	memcpy(to->z, s->at.z, s->n_columns * sizeof(*to->z));
	memcpy(to->price, s->at.price, s->m * sizeof(*to->price));
	memcpy(to->time, s->at.time, s->n * sizeof(*to->time));
	memcpy(to->lambda, s->at.lambda, s->n * sizeof(*to->lambda));
	for (i = 0; i < s->n; i++)
		for (e = to->begin[i]; e < to->begin[i + 1]; e++)
			to->size[e] = size_of(s, i, e);
	s->begin = s->type = NULL; /* handed over */
}

/* The shares [n][m], the caller's. */
static double *
spread(const struct gv_interior_state *s)
{
	double *x = gv_xcalloc(s->n, s->m * sizeof(*x));
	size_t i, e;

	for (i = 0; i < s->n; i++)
		for (e = s->begin[i]; e < s->begin[i + 1]; e++)
			x[i * s->m + s->type[e]] = s->at.x[e];
	return x;
}

/*
 * Leaves out columns whose reduced costs are a large part of what they are made of, and whose
 * shares a small part of their job's largest.
 */
static void
leave_out(struct gv_interior_state *s)
{
	struct gv_interior_vector *at = &s->at;
	size_t i, e, k = 0, from = 0;

	for (i = 0; i < s->n; i++) {
		size_t end = s->begin[i + 1];
		double most = 0;

		for (e = from; e < end; e++)
			most = fmax(most, at->x[e]);
		for (e = from; e < end; e++) {
			if (at->z[e] > GV_TOL_INTERIOR_LEFT_OUT * size_of(s, i, e) &&
			    at->x[e] < GV_TOL_INTERIOR_SMALL * most)
				continue;
			s->type[k] = s->type[e];
			s->a[k] = s->a[e];
			s->g[k] = s->g[e];
			at->x[k] = at->x[e];
			at->z[k++] = at->z[e];
		}
		from = end;
		s->begin[i + 1] = k;
	}
	s->n_columns = k;
}

/* What there is none of: for how many steps. */
struct progress {
	double gap, product;
	int since;
};

/* The best point so far, and how long ago that was. */
static void
note_progress(struct gv_interior_state *s, struct gv_interior_point *to, double gap,
    double objective, struct progress *was)
{
	double pairs, product = mean_product(s, &pairs);

	was->since++;
	if (gap < .9 * was->gap ||
	    (to->gap > GV_TOL_INTERIOR_NEAR && product < .9 * was->product))
		was->since = 0;
	was->gap = fmin(was->gap, gap);
	was->product = fmin(was->product, product);
	if (to->middle == NULL && gap < GV_TOL_INTERIOR_MIDDLE)
		to->middle = spread(s);
	if (!(gap < to->gap))
		return;
	to->gap = gap;
	to->objective = objective;
	memcpy(s->best.memory, s->at.memory, s->at.size * sizeof(double));
}

void
gv_interior_solve(const struct gv_interior_program *p, struct gv_interior_point *to)
{
	struct gv_interior_state s;
	struct progress was = {INFINITY, INFINITY, 0};
	bool narrowed = false;
	int k;

	state_init(&s, p);
	if (!start_shares(&s, p->start))
		start_shares(&s, NULL);
	start_multipliers(&s);
	*to = (struct gv_interior_point){.gap = INFINITY};
	for (k = 0; k < MOST_STEPS &&
		    was.since < (to->gap < GV_TOL_INTERIOR_NEAR ? LAST : PATIENCE);
	     k++) {
		double length = advance(&s), bound, objective, gap;

		bound = bound_of(&s, &objective);
		gap = fabs(bound - objective) / fmax(fmax(fabs(bound), s.size), DBL_MIN);
		gap = fmax(gap, infeasibility(&s));
		note_progress(&s, to, gap, objective, &was);
		if (p->narrow && !narrowed && gap < GV_TOL_INTERIOR_NARROW) {
			leave_out(&s);
			narrowed = true;
			to->gap = INFINITY; /* the best point is of all columns */
		}
		to->steps = k + 1;
		if (gap <= GV_TOL_INTERIOR || length == 0)
			break;
	}
	if (isfinite(to->gap))
		memcpy(s.at.memory, s.best.memory, s.at.size * sizeof(double));
	take(&s, to);
	state_free(&s);
}

void
gv_interior_free(struct gv_interior_point *s)
{
	free(s->begin);
	free(s->type);
	free(s->x);
	free(s->middle);
	*s = (struct gv_interior_point){0};
}
