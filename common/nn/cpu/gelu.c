/*
 * gelu: y = x Phi(x), Phi the normal distribution (Hendrycks and Gimpel, "Gaussian
 * error linear units", 2016), by erf, not by tanh; dx = dy (Phi(x) + x phi(x)).
 * Some 10 ns a number and direction: the C library's erf and exp.
 */
#include <math.h>

#include "nn/cpu/parts.h"

#ifdef GV_REAL_DOUBLE
#define ERF erf
#define EXP exp
#else
#define ERF erff
#define EXP expf
#endif

#define ROOT_HALF    ((gv_real)0.70710678118654752)
#define DENSITY_AT_0 ((gv_real)0.39894228040143268) /* 1 / sqrt(2 pi) */

static gv_real
distribution(gv_real x)
{
	return (gv_real)0.5 * (1 + ERF(x * ROOT_HALF));
}

gv_real
gv_cpu_gelu(gv_real x)
{
	return x * distribution(x);
}

gv_real
gv_cpu_gelu_slope(gv_real x)
{
	gv_real density = DENSITY_AT_0 * EXP((gv_real)-0.5 * x * x);

	return distribution(x) + x * density;
}

void
gv_cpu_gelu_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *x = gv_cpu_x(c, r, s);
	gv_real *y = gv_cpu_y(c, r, s);
	size_t i;

	(void)cpu;
	for (i = 0; i < s->n * r->out_size; i++)
		y[i] = gv_cpu_gelu(x[i]);
}

void
gv_cpu_gelu_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *x = gv_cpu_x(c, r, s), *dy = gv_cpu_dy(c, r, s);
	gv_real *dx = gv_cpu_dx(c, r, s);
	bool add = r->adds[s->input];
	size_t i;

	(void)cpu;
	for (i = 0; i < s->n * r->out_size; i++) {
		gv_real v = dy[i] * gv_cpu_gelu_slope(x[i]);

		dx[i] = add ? dx[i] + v : v;
	}
}
