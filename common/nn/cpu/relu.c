/* What works number by number: relu as a row and as the act of another, and add. */
#include <string.h>

#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

/* y is 0 where x < 0; a NaN stays and lets its gradient through, as in PyTorch. */
GV_HOT static void
relu(gv_real *restrict y, const gv_real *restrict x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		y[i] = 0 > x[i] ? 0 : x[i];
}

GV_HOT static void
relu_back(
    gv_real *restrict dx, const gv_real *restrict dy, const gv_real *restrict y, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dx[i] = y[i] <= 0 ? 0 : dy[i];
}

GV_HOT static void
relu_back_add(
    gv_real *restrict dx, const gv_real *restrict dy, const gv_real *restrict y, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dx[i] += y[i] <= 0 ? 0 : dy[i];
}

GV_HOT void
gv_cpu_relu(gv_real *y, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		y[i] = 0 > y[i] ? 0 : y[i];
}

GV_HOT void
gv_cpu_relu_mask(gv_real *restrict dy, const gv_real *restrict y, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dy[i] = y[i] <= 0 ? 0 : dy[i];
}

void
gv_cpu_relu_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	relu(gv_cpu_y(c, r, s), gv_cpu_x(c, r, s), s->n * r->out_size);
}

void
gv_cpu_relu_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	(void)cpu;
	(r->adds[s->input] ? relu_back_add : relu_back)(gv_cpu_dx(c, r, s),
	    gv_cpu_dy(c, r, s), gv_cpu_y(c, r, s), s->n * r->out_size);
}

/* ---- add: y = (x0 + x1) + x2 ... ---- */

GV_HOT static void
add(gv_real *restrict y, const gv_real *restrict x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		y[i] += x[i];
}

/* y may be a */
GV_HOT static void
add_two(gv_real *y, const gv_real *a, const gv_real *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}

GV_HOT static void
add_two_relu(gv_real *y, const gv_real *a, const gv_real *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		gv_real v = a[i] + b[i];

		y[i] = 0 > v ? 0 : v;
	}
}

void
gv_cpu_add_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	size_t n = s->n * r->out_size, last = r->l.inputs - 1, k;
	gv_real *y = gv_cpu_y(c, r, s);
	const gv_real *sum = gv_nn_x(c, r, 0, s->b, s->i);

	(void)cpu;
	for (k = 1; k < last; k++, sum = y)
		add_two(y, sum, gv_nn_x(c, r, k, s->b, s->i), n);
	(r->l.act == GV_ACT_RELU ? add_two_relu : add_two)(
	    y, sum, gv_nn_x(c, r, last, s->b, s->i), n);
}

void
gv_cpu_add_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	size_t n = s->n * r->out_size;

	(void)cpu;
	if (r->adds[s->input])
		add(gv_cpu_dx(c, r, s), gv_cpu_dy(c, r, s), n);
	else
		memcpy(gv_cpu_dx(c, r, s), gv_cpu_dy(c, r, s), n * sizeof(gv_real));
}
