/*
 * ln: the channels of every place normalised over themselves,
 *
 *	y = (x - mean) * rstd * gamma + beta,  rstd = 1 / sqrt(variance + 1e-5)
 *
 * (Ba, Kiros and Hinton, "Layer normalization", 2016).  Statistics are not kept: that
 * of a place is made again where it is needed, from numbers that are in cache then.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "nn/cpu/exp.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

#define EPSILON 1e-5

enum { STRIP = 32 }; /* places that gamma's gradient is summed over in gv_real */

/* One place: x - mean times rstd, to xhat; returns rstd. */
GV_HOT static gv_real
normalise(const gv_real *restrict x, gv_real *restrict xhat, size_t n)
{
	gv_real count = (gv_real)n, mean = gv_cpu_sum(x, n) / count, rstd;
	size_t j;

	for (j = 0; j < n; j++)
		xhat[j] = x[j] - mean;
	rstd = (gv_real)(1 / sqrt((double)(gv_cpu_dot(xhat, xhat, n) / count) + EPSILON));
	for (j = 0; j < n; j++)
		xhat[j] *= rstd;
	return rstd;
}

GV_HOT static void
scale(gv_real *restrict y, size_t n, const gv_real *restrict gamma,
    const gv_real *restrict beta)
{
	size_t j;

	for (j = 0; j < n; j++)
		y[j] *= gamma[j];
	for (j = 0; j < n && beta != NULL; j++)
		y[j] += beta[j];
}

void
gv_cpu_ln_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *gamma = gv_nn_weight(c, r, s->b), *beta = gv_nn_bias(c, r, s->b);
	const gv_real *x = gv_cpu_x(c, r, s);
	gv_real *y = gv_cpu_y(c, r, s);
	size_t n = r->l.in_shape.channels, at;

	(void)cpu;
	for (at = 0; at < s->n * r->in_size; at += n) {
		(void)normalise(x + at, y + at, n);
		scale(y + at, n, gamma, beta);
	}
}

/* dx = rstd * (g - mean of g - xhat * mean of g xhat), g = dy * gamma, which is in room. */
GV_HOT static void
back(gv_real *restrict dx, const gv_real *restrict g, const gv_real *restrict xhat,
    size_t n, gv_real rstd, bool add)
{
	gv_real count = (gv_real)n, shift = gv_cpu_sum(g, n) / count;
	gv_real slope = gv_cpu_dot(g, xhat, n) / count;
	size_t j;

	if (add)
		for (j = 0; j < n; j++)
			dx[j] += rstd * (g[j] - shift - xhat[j] * slope);
	else
		for (j = 0; j < n; j++)
			dx[j] = rstd * (g[j] - shift - xhat[j] * slope);
}

GV_HOT static void
multiply(gv_real *restrict v, const gv_real *restrict by, size_t n)
{
	size_t j;

	for (j = 0; j < n; j++)
		v[j] *= by[j];
}

void
gv_cpu_ln_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *gamma = gv_nn_weight(c, r, s->b), *x = gv_cpu_x(c, r, s);
	const gv_real *dy = gv_cpu_dy(c, r, s);
	gv_real *dx = gv_cpu_dx(c, r, s), rstd;
	size_t n = r->l.in_shape.channels, at;
	gv_real *xhat = s->scratch, *g = s->scratch + n;

	(void)cpu;
	for (at = 0; at < s->n * r->in_size; at += n) {
		rstd = normalise(x + at, xhat, n);
		memcpy(g, dy + at, n * sizeof(*g));
		multiply(g, gamma, n);
		back(dx + at, g, xhat, n, rstd, r->adds[s->input]);
	}
}

/* A strip of dy * xhat, the sums of its columns, those of all strips in double. */
size_t
gv_cpu_ln_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed)
{
	(void)packed;
	return (STRIP + 1 + sizeof(double) / sizeof(gv_real)) * r->l.in_shape.channels +
	       1;
}

/* Of gamma: dy * xhat summed over the places; the piece is all of it. */
void
gv_cpu_ln_gradient(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, gv_real *dw, size_t ldw)
{
	const gv_real *x = gv_cpu_x(c, r, s), *dy = gv_cpu_dy(c, r, s);
	size_t n = r->l.in_shape.channels, places = s->n * r->in_size / n, at, i, j, some;
	/* the room before may be an odd number of floats */
	size_t odd = (uintptr_t)s->scratch % sizeof(double) != 0;
	double *total = (double *)(void *)(s->scratch + odd);
	gv_real *part = (gv_real *)(void *)(total + n), *strip = part + n;

	(void)p;
	(void)ldw;
	for (j = 0; j < n; j++)
		total[j] = 0;
	for (at = 0; at < places; at += some) {
		some = gv_cpu_lesser(places - at, STRIP);
		for (i = 0; i < some; i++) {
			(void)normalise(x + (at + i) * n, strip + i * n, n);
			multiply(strip + i * n, dy + (at + i) * n, n);
		}
		gv_cpu_sum_columns(strip, some, n, part);
		for (j = 0; j < n; j++)
			total[j] += (double)part[j];
	}
	for (j = 0; j < n; j++)
		dw[j] = (gv_real)total[j];
}
