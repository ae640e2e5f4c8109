/*
 * tconv: a conv the other way round.  Its y is that conv's dx of its x, its dx that
 * conv's y of its dy, and in the gradient of the weights x and dy change places
 * (Dumoulin and Visin, "A guide to convolution arithmetic", 2016, section 4).
 */
#include "nn/cpu/conv.h"

void
gv_cpu_tconv_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	struct gv_nn_row conv = gv_cpu_conv_of(r);
	struct gv_cpu_conv there = {.r = &conv,
	    .at = &cpu->row[r - cpu->plan->row],
	    .from = gv_cpu_x(c, r, s),
	    .packed = gv_cpu_packed_t(cpu, c, r, s->b, 0),
	    .to = gv_cpu_y(c, r, s),
	    .n = s->n,
	    .bias = gv_nn_bias(c, r, s->b),
	    .relu = r->l.act == GV_ACT_RELU,
	    .scratch = s->scratch};

	gv_cpu_convolve_back(&there);
}

void
gv_cpu_tconv_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	struct gv_nn_row conv = gv_cpu_conv_of(r);
	struct gv_cpu_conv back = {.r = &conv,
	    .at = &cpu->row[r - cpu->plan->row],
	    .from = gv_cpu_dy(c, r, s),
	    .packed = gv_cpu_packed(cpu, c, r, s->b, 0),
	    .to = gv_cpu_dx(c, r, s),
	    .n = s->n,
	    .add = r->adds[s->input],
	    .scratch = s->scratch};

	gv_cpu_convolve(&back);
}

void
gv_cpu_tconv_gradient(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, gv_real *dw, size_t ldw)
{
	struct gv_nn_row conv = gv_cpu_conv_of(r);

	gv_cpu_convolve_gradient(
	    &conv, p, gv_cpu_dy(c, r, s), gv_cpu_x(c, r, s), s->n, s->scratch, dw, ldw);
}
