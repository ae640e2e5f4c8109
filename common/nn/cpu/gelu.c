/*
 * gelu: y = x Phi(x), Phi the normal distribution (Hendrycks and Gimpel, "Gaussian
 * error linear units", 2016), by erf, not by tanh; dx = dy (Phi(x) + x phi(x)).
 */
#include "nn/cpu/exp.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

#define ROOT_HALF    ((gv_real)0.70710678118654752)
#define DENSITY_AT_0 ((gv_real)0.39894228040143268) /* 1 / sqrt(2 pi) */

enum { CHUNK = 256 };

GV_HOT static void
scale(gv_real *restrict to, const gv_real *restrict x, gv_real by, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = x[i] * by;
}

GV_HOT static void
halves(gv_real *restrict to, const gv_real *restrict x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = (gv_real)-0.5 * x[i] * x[i];
}

/* to = x Phi(x), of erf */
GV_HOT static void
value(gv_real *to, const gv_real *x, const gv_real *restrict erf, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = x[i] * ((gv_real)0.5 * (1 + erf[i]));
}

/* to = Phi(x) + x phi(x), of erf and e^(-x^2 / 2) */
GV_HOT static void
slope(gv_real *restrict to, const gv_real *restrict x, const gv_real *restrict erf,
    const gv_real *restrict e, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = (gv_real)0.5 * (1 + erf[i]) + x[i] * (DENSITY_AT_0 * e[i]);
}

void
gv_cpu_gelu(gv_real *y, const gv_real *x, size_t n)
{
	gv_real erf[CHUNK];
	size_t at, some;

	for (at = 0; at < n; at += some) {
		some = gv_cpu_lesser(n - at, CHUNK);
		scale(erf, x + at, ROOT_HALF, some);
		gv_cpu_erf(erf, some);
		value(y + at, x + at, erf, some);
	}
}

/* The slope at x [n], n <= CHUNK. */
static void
slope_at(gv_real *to, const gv_real *x, size_t n)
{
	gv_real erf[CHUNK], e[CHUNK];

	scale(erf, x, ROOT_HALF, n);
	gv_cpu_erf(erf, n);
	halves(e, x, n);
	gv_cpu_exp(e, n);
	slope(to, x, erf, e, n);
}

GV_HOT static void
multiply(gv_real *to, const gv_real *dy, const gv_real *restrict by, size_t n, bool add)
{
	size_t i;

	if (add)
		for (i = 0; i < n; i++)
			to[i] += dy[i] * by[i];
	else
		for (i = 0; i < n; i++)
			to[i] = dy[i] * by[i];
}

void
gv_cpu_gelu_back(gv_real *dx, const gv_real *dy, const gv_real *x, size_t n, bool add)
{
	gv_real by[CHUNK];
	size_t at, some;

	for (at = 0; at < n; at += some) {
		some = gv_cpu_lesser(n - at, CHUNK);
		slope_at(by, x + at, some);
		multiply(dx + at, dy + at, by, some, add);
	}
}

void
gv_cpu_gelu_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	gv_cpu_gelu(gv_cpu_y(c, r, s), gv_cpu_x(c, r, s), s->n * r->out_size);
}

void
gv_cpu_gelu_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	gv_cpu_gelu_back(gv_cpu_dx(c, r, s), gv_cpu_dy(c, r, s), gv_cpu_x(c, r, s),
	    s->n * r->out_size, r->adds[s->input]);
}
