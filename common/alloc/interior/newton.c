/*
 * The Newton equations, eliminated from the inside: shares, then each job's time and
 * level, then the types' prices, which are left in a matrix of m x m.
 *
 * With D = x / z of each share, S_i = s_i, and A_i = (1, a_ij) the two rows of a job's
 * column, a step in its multipliers y_i = (d time_i, -d lambda_i) solves
 *
 *	B_i y_i + sum_j s_i D_ij A_ij d price_j + (0, 1) d t = e_i
 *	B_i = sum_j D_ij A_ij A_ij' + diag(idle_i / time_i, over_i / lambda_i)
 *
 * and the prices
 *
 *	(left_j / price_j + sum_i s_i^2 D_ij) d price_j + sum_i s_i D_ij A_ij' y_i = f_j
 *	sum_i d lambda_i = rest_t
 */
#include "newton.h"

#include <math.h>
#include <string.h>

#include "outer.h"

/*
 * B_i = root root', lower triangle (root0 0; root1 root2).  Idle time is like a share that
 * adds nothing to the level; so root2^2 is a sum of squares around a mean.
 */
static void
factorise_job(struct gv_interior_state *s, size_t i)
{
	const struct gv_interior_vector *at = &s->at;
	size_t from = s->begin[i], end = s->begin[i + 1];
	double idle = at->idle[i] / at->time[i], all = idle, mean = 0, b11 = 1;
	double *root = &s->root[3 * i];
	double use = s->p->use[i];
	size_t e;

	for (e = from; e < end; e++)
		all += s->weight[e];
	if (s->wants[i]) {
		for (e = from; e < end; e++)
			mean += s->weight[e] * s->a[e];
		mean /= all;
		b11 = at->over[i] / at->lambda[i] + idle * mean * mean;
		for (e = from; e < end; e++)
			b11 += s->weight[e] * ((s->a[e] - mean) * (s->a[e] - mean));
	}
	root[0] = sqrt(all);
	root[1] = mean * root[0];
	root[2] = sqrt(b11);
	for (e = from; e < end; e++) {
		double c = use * s->weight[e];

		s->half0[e] = c / root[0];
		s->half1[e] = s->wants[i] ? c * (s->a[e] - mean) / root[2] : 0;
	}
}

/* Takes the two equations of a job of few columns off the matrix. */
static void
eliminate_few(struct gv_interior_state *s, size_t i)
{
	size_t from = s->begin[i], k = s->begin[i + 1] - from;
	const size_t *type = &s->type[from];
	const double *u = &s->half0[from], *v = &s->half1[from];
	size_t e, f;

	for (e = 0; e < k; e++) {
		double *row = &s->schur[type[e] * s->stride];

		for (f = 0; f <= e; f++)
			row[type[f]] -= u[e] * u[f] + v[e] * v[f];
	}
}

/* Of a job of many: later, with others. */
static void
put_aside(struct gv_interior_state *s, size_t i)
{
	double *u = &s->aside[s->n_aside++ * s->stride];
	double *v = &s->aside[s->n_aside++ * s->stride];
	size_t e;

	memset(u, 0, s->m * sizeof(*u));
	memset(v, 0, s->m * sizeof(*v));
	for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
		u[s->type[e]] = s->half0[e];
		v[s->type[e]] = s->half1[e];
	}
}

static void
eliminate_aside(struct gv_interior_state *s)
{
	gv_interior_outer(s->schur, s->stride, 0, s->m, s->aside, s->n_aside);
	s->n_aside = 0;
}

/* Takes all jobs' equations off the matrix. */
static void
eliminate_jobs(struct gv_interior_state *s)
{
	size_t i, e;

	for (i = 0; i < s->n; i++) {
		double use = s->p->use[i];

		factorise_job(s, i);
		for (e = s->begin[i]; e < s->begin[i + 1]; e++)
			s->schur[s->type[e] * (s->stride + 1)] +=
			    use * use * s->weight[e];
		if (GV_INTERIOR_DENSE * (s->begin[i + 1] - s->begin[i]) < s->m)
			eliminate_few(s, i);
		else
			put_aside(s, i);
		if (s->n_aside == GV_INTERIOR_ASIDE)
			eliminate_aside(s);
	}
	eliminate_aside(s);
}

/* sum of half (0, 1 / root2) of jobs that the level lifts */
static void
add_border(struct gv_interior_state *s)
{
	size_t i, e;

	memset(s->border, 0, s->m * sizeof(*s->border));
	s->border_t = 0;
	if (!s->level)
		return;
	for (i = 0; i < s->n; i++) {
		double one = 1 / s->root[3 * i + 2];

		if (!s->wants[i])
			continue;
		s->border_t += one * one;
		for (e = s->begin[i]; e < s->begin[i + 1]; e++)
			s->border[s->type[e]] += s->half1[e] * one;
	}
}

bool
gv_interior_factorise(struct gv_interior_state *s)
{
	const struct gv_interior_vector *at = &s->at;
	size_t i, j, k;

	for (i = 0; i < s->n_columns; i++)
		s->weight[i] = at->x[i] / at->z[i];
	memset(s->schur, 0, s->stride * s->stride * sizeof(*s->schur));
	eliminate_jobs(s);
	add_border(s);
	for (j = 0; j < s->m; j++) {
		double scale = s->level ? s->border[j] / s->border_t : 0;

		s->schur[j * (s->stride + 1)] += at->left[j] / at->price[j];
		for (k = 0; k <= j; k++)
			s->schur[j * s->stride + k] += scale * s->border[k];
	}
	return gv_interior_cholesky(s->schur, s->stride, s->m);
}

/* Solves with the factor, into b. */
static void
solve_types(const struct gv_interior_state *s, double *b)
{
	size_t m = s->m, i, k;

	for (i = 0; i < m; i++) {
		const double *row = &s->schur[i * s->stride];

		for (k = 0; k < i; k++)
			b[i] -= row[k] * b[k];
		b[i] /= row[i];
	}
	for (i = m; i-- > 0;) {
		const double *row = &s->schur[i * s->stride];

		b[i] /= row[i];
		for (k = 0; k < i; k++)
			b[k] -= row[k] * b[i];
	}
}

/* What is left of a share's residuals when z is eliminated: x's step at y = 0. */
static double
share_rest(const struct gv_interior_state *s, size_t e)
{
	return s->rest.x[e] / s->at.z[e] - s->weight[e] * s->rest.z[e];
}

/*
 * right_job: root^-1 e_i; right: f_j less what the jobs' equations take.  Returns what they
 * leave of the level's.
 */
static double
right_sides(struct gv_interior_state *s)
{
	const struct gv_interior_vector *at = &s->at, *r = &s->rest;
	double right_t = s->rest_t;
	size_t i, j, e;

	for (j = 0; j < s->m; j++)
		s->right[j] = -(r->price[j] - r->left[j] / at->price[j]);
	for (i = 0; i < s->n; i++) {
		const double *root = &s->root[3 * i];
		double *b = &s->right_job[2 * i];
		double use = s->p->use[i];

		b[0] = -(r->time[i] - r->idle[i] / at->time[i]);
		b[1] = s->wants[i] ? -(r->lambda[i] + r->over[i] / at->lambda[i]) : 0;
		for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
			double h = share_rest(s, e);

			b[0] += h;
			b[1] += s->wants[i] ? s->a[e] * h : 0;
			s->right[s->type[e]] += use * h;
		}
		b[0] /= root[0];
		b[1] = (b[1] - root[1] * b[0]) / root[2];
		for (e = s->begin[i]; e < s->begin[i + 1]; e++)
			s->right[s->type[e]] -= s->half0[e] * b[0] + s->half1[e] * b[1];
		if (s->level && s->wants[i])
			right_t += b[1] / root[2];
	}
	return right_t;
}

/* A job's multipliers, then its shares. */
static void
step_job(struct gv_interior_state *s, struct gv_interior_vector *step, size_t i)
{
	const struct gv_interior_vector *at = &s->at, *r = &s->rest;
	const double *root = &s->root[3 * i];
	double b0 = s->right_job[2 * i], b1 = s->right_job[2 * i + 1], time, lambda;
	size_t e;

	for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
		b0 -= s->half0[e] * step->price[s->type[e]];
		b1 -= s->half1[e] * step->price[s->type[e]];
	}
	if (s->level && s->wants[i])
		b1 -= step->t / root[2];
	lambda = -b1 / root[2];
	time = (b0 + root[1] * lambda) / root[0];
	step->time[i] = time;
	step->idle[i] = (r->idle[i] - at->idle[i] * time) / at->time[i];
	step->lambda[i] = s->wants[i] ? lambda : 0;
	step->over[i] =
	    s->wants[i] ? (r->over[i] - at->over[i] * lambda) / at->lambda[i] : 0;
	for (e = s->begin[i]; e < s->begin[i + 1]; e++) {
		step->z[e] = s->p->use[i] * step->price[s->type[e]] + time -
			     step->lambda[i] * s->a[e] + r->z[e];
		step->x[e] = (r->x[e] - at->x[e] * step->z[e]) / at->z[e];
	}
}

void
gv_interior_step(struct gv_interior_state *s, struct gv_interior_vector *step)
{
	const struct gv_interior_vector *at = &s->at;
	double right_t = right_sides(s);
	size_t i, j;

	for (j = 0; j < s->m; j++)
		step->price[j] =
		    s->right[j] + (s->level ? s->border[j] * right_t / s->border_t : 0);
	solve_types(s, step->price);
	step->t = 0;
	if (s->level) {
		step->t = right_t;
		for (j = 0; j < s->m; j++)
			step->t -= s->border[j] * step->price[j];
		step->t /= s->border_t;
	}
	for (j = 0; j < s->m; j++)
		step->left[j] =
		    (s->rest.left[j] - at->left[j] * step->price[j]) / at->price[j];
	for (i = 0; i < s->n; i++)
		step_job(s, step, i);
}

double
gv_interior_level_of(const struct gv_interior_state *s, const double *x, size_t i)
{
	double sum = 0;
	size_t e;

	for (e = s->begin[i]; e < s->begin[i + 1]; e++)
		sum += s->a[e] * x[e];
	return sum;
}
