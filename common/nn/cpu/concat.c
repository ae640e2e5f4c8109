/* concat: the channels of each place of one input behind those of the other. */
#include <string.h>

#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

static size_t
places(const struct gv_nn_row *r)
{
	return r->l.out_shape.height * r->l.out_shape.width;
}

/* Channels of input k, and where in the output they begin. */
static size_t
channels(
    const struct gv_nn_call *c, const struct gv_nn_row *r, size_t input, size_t *first)
{
	size_t k, some = 0;

	*first = 0;
	for (k = 0; k <= input; k++) {
		*first += some;
		some = gv_nn_input_size(c, r, k) / places(r);
	}
	return some;
}

GV_HOT static void
move(gv_real *restrict to, size_t to_apart, const gv_real *restrict from,
    size_t from_apart, size_t n, size_t times)
{
	size_t i, j;

	for (i = 0; i < times; i++, to += to_apart, from += from_apart)
		for (j = 0; j < n; j++)
			to[j] = from[j];
}

void
gv_cpu_concat_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	size_t all = r->l.out_shape.channels, k, first, n;

	(void)cpu;
	for (k = 0; k < r->l.inputs; k++) {
		n = channels(c, r, k, &first);
		move(gv_cpu_y(c, r, s) + first, all, gv_nn_x(c, r, k, s->b, s->i), n, n,
		    s->n * places(r));
	}
	if (r->l.act == GV_ACT_RELU)
		gv_cpu_relu(gv_cpu_y(c, r, s), s->n * r->out_size);
}

void
gv_cpu_concat_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	size_t all = r->l.out_shape.channels, first, n = channels(c, r, s->input, &first);
	const gv_real *dy = gv_cpu_dy(c, r, s) + first;

	(void)cpu;
	if (r->adds[s->input])
		gv_cpu_sum_two(gv_cpu_dx(c, r, s), n, dy, all, s->n * places(r), n);
	else
		move(gv_cpu_dx(c, r, s), n, dy, all, n, s->n * places(r));
}
