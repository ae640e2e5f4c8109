#include "interior.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"
#include "advance.h"
#include "newton.h"
#include "outer.h"
#include "start.h"

enum { MOST_STEPS = 120, PATIENCE = 25, LAST = 4 };

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
	s->corrects = m >= GV_INTERIOR_CORRECTS;
	if (s->corrects)
		vector_alloc(&s->trial, s->n_columns, n, m);
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
	free(s->trial.memory);
	free(s->best.memory);
	free(s->rest.memory);
	free(s->weight);
	free(s->root);
	free(s->schur);
}

/* ---- the end ---- */

/* The largest residual of the constraints on shares, relative. */
static double
infeasibility(struct gv_interior_state *s)
{
	double worst = 0;
	size_t i;

	gv_interior_residuals(s);
	for (i = 0; i < s->m; i++)
		if (s->p->capacity[i] > 0)
			worst = fmax(worst, fabs(s->rest.price[i]) / s->p->capacity[i]);
	for (i = 0; i < s->n; i++) {
		double want = s->level ? s->at.t : s->wants[i] ? s->p->need[i] : 1;

		worst = fmax(worst, fabs(s->rest.time[i]));
		worst = fmax(worst, fabs(s->rest.lambda[i]) / fmax(want, s->at.over[i]));
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
 * Whether a column's reduced cost is a large part of what it is made of, and its share a small
 * part of its job's largest.
 */
static bool
hardly_counts(const struct gv_interior_state *s, size_t i, size_t e, double most)
{
	return s->at.z[e] > GV_TOL_INTERIOR_LEFT_OUT * size_of(s, i, e) &&
	       s->at.x[e] < GV_TOL_INTERIOR_SMALL * most;
}

static double
largest_share(const struct gv_interior_state *s, size_t from, size_t end)
{
	double most = 0;
	size_t e;

	for (e = from; e < end; e++)
		most = fmax(most, s->at.x[e]);
	return most;
}

/* Whether most columns hardly count: each one less makes a few steps more. */
static bool
most_hardly_count(const struct gv_interior_state *s)
{
	size_t i, e, n = 0;

	for (i = 0; i < s->n; i++) {
		double most = largest_share(s, s->begin[i], s->begin[i + 1]);

		for (e = s->begin[i]; e < s->begin[i + 1]; e++)
			n += hardly_counts(s, i, e, most);
	}
	return n > s->n_columns / 2;
}

/* Leaves those out. */
static void
leave_out(struct gv_interior_state *s)
{
	struct gv_interior_vector *at = &s->at;
	size_t i, e, k = 0, from = 0;

	for (i = 0; i < s->n; i++) {
		size_t end = s->begin[i + 1];
		double most = largest_share(s, from, end);

		for (e = from; e < end; e++) {
			if (hardly_counts(s, i, e, most))
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

/* How far it was when it last came on, and for how many steps it has not. */
struct progress {
	double gap, product;
	int since;
};

/* The best point so far, and how long ago that was. */
static void
note_progress(struct gv_interior_state *s, struct gv_interior_point *to, double gap,
    double objective, struct progress *was)
{
	double pairs, product = gv_interior_mean_product(s, &pairs);

	was->since++;
	if (gap < .9 * was->gap) {
		was->since = 0;
		was->gap = gap;
	}
	if (to->gap > GV_TOL_INTERIOR_NEAR && product < .9 * was->product) {
		was->since = 0;
		was->product = product;
	}
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
	gv_interior_start(&s);
	*to = (struct gv_interior_point){.gap = INFINITY};
	for (k = 0; k < MOST_STEPS &&
		    was.since < (to->gap < GV_TOL_INTERIOR_NEAR ? LAST : PATIENCE);
	     k++) {
		double length = gv_interior_advance(&s), bound, objective, gap;

		bound = gv_interior_bound(&s, &objective);
		gap = fabs(bound - objective) / fmax(fmax(fabs(bound), s.size), DBL_MIN);
		gap = fmax(gap, infeasibility(&s));
		note_progress(&s, to, gap, objective, &was);
		if (p->narrow && !narrowed && gap < GV_TOL_INTERIOR_NARROW &&
		    most_hardly_count(&s)) {
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
