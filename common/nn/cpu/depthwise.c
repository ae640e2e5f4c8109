/*
 * conv with a group to each channel: as a product it would be one column wide, so
 * the channels of a place, which lie next to each other, are the vector.  The
 * chains are those of conv.c without the terms that padding makes 0.
 */
#include <string.h>

#include "nn/cpu/depthwise.h"
#include "nn/cpu/gemm.h"

enum { TAPS = 64, CHANNELS = 64 }; /* at most; of a piece of the gradient */

bool
gv_cpu_is_depthwise(const struct gv_nn_row *r)
{
	const struct gv_layer *l = &r->l;

	return l->op == GV_OP_CONV && l->g > 1 && l->in_shape.channels == l->g &&
	       r->columns == 1 && l->k * l->k <= TAPS;
}

/* [C][taps] -> [taps][C] */
void
gv_cpu_depthwise_pack(gv_real *packed, const gv_real *w, const struct gv_nn_row *r)
{
	size_t channels = r->l.g, taps = r->l.k * r->l.k, c, t;

	for (c = 0; c < channels; c++)
		for (t = 0; t < taps; t++)
			packed[t * channels + c] = w[c * taps + t];
}

/*
 * The taps that reach from one place to another side: where they are there.  The same taps
 * reach from places that follow, each a step on, to what there is a step on.
 */
struct reach {
	size_t n;
	size_t tap[TAPS], at[TAPS]; /* its number; the place there */
	size_t places;              /* the first one counted */
};

/* Output place (oy, ox): the places of the input under its taps, in order. */
static void
taps_of_output(const struct gv_layer *l, size_t oy, size_t ox, struct reach *r)
{
	size_t ky, kx, first = ox * l->s, width = l->in_shape.width + l->p;

	r->n = 0;
	for (ky = 0; ky < l->k; ky++) {
		size_t y = oy * l->s + ky - l->p; /* wraps above the padding */

		if (y >= l->in_shape.height)
			continue;
		for (kx = 0; kx < l->k; kx++) {
			size_t x = first + kx - l->p;

			if (x >= l->in_shape.width)
				continue;
			r->tap[r->n] = ky * l->k + kx;
			r->at[r->n++] = y * l->in_shape.width + x;
		}
	}
	r->places = first >= l->p && first + l->k <= width
			? (width - l->k - first) / l->s + 1
			: 1;
}

/* Input places whose taps along a line are all there: from ix on, a stride apart. */
static size_t
inner_inputs(const struct gv_layer *l, size_t ix)
{
	size_t at = ix + l->p, rest = at % l->s, end;

	if (rest >= l->k || at < rest + (l->k - 1 - rest) / l->s * l->s)
		return 1;
	end = gv_cpu_lesser(l->in_shape.width + l->p, l->out_shape.width * l->s + rest);
	return at < end ? (end - at + l->s - 1) / l->s : 1;
}

/* Input place (iy, ix): the output places that it reaches, taps from the last. */
static void
taps_of_input(const struct gv_layer *l, size_t iy, size_t ix, struct reach *r)
{
	size_t ky, kx, oy, ox;

	r->n = 0;
	for (ky = l->k; ky-- > 0;) {
		if (iy + l->p < ky || (iy + l->p - ky) % l->s != 0)
			continue;
		oy = (iy + l->p - ky) / l->s;
		for (kx = l->k; kx-- > 0 && oy < l->out_shape.height;) {
			if (ix + l->p < kx || (ix + l->p - kx) % l->s != 0)
				continue;
			ox = (ix + l->p - kx) / l->s;
			if (ox >= l->out_shape.width)
				continue;
			r->tap[r->n] = ky * l->k + kx;
			r->at[r->n++] = oy * l->out_shape.width + ox;
		}
	}
	r->places = inner_inputs(l, ix);
}

/*
 * Some places of all samples of a block: chains over what they reach of src, whose
 * samples are src_size apart, into dst.
 */
static void
some_places(const struct reach *reach, struct gv_cpu_chain c, const gv_real *w,
    const gv_real *src, size_t src_size, gv_real *dst, size_t dst_size, size_t samples)
{
	const gv_real *from[TAPS], *weight[TAPS];
	bool add = c.start == dst;
	size_t t;

	c.x = from;
	c.w = weight;
	c.terms = reach->n;
	c.places = reach->places;
	for (t = 0; t < reach->n; t++)
		weight[t] = w + reach->tap[t] * c.n;
	for (; samples > 0; samples--, src += src_size, dst += dst_size) {
		for (t = 0; t < reach->n; t++)
			from[t] = src + reach->at[t] * c.n;
		c.y = dst;
		if (add)
			c.start = dst;
		gv_cpu_chain(&c);
	}
}

void
gv_cpu_depthwise_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *w = gv_cpu_packed(cpu, c, r, s->b, 0);
	size_t oy, ox, n = r->l.g;
	gv_real *y = gv_cpu_y(c, r, s);
	struct gv_cpu_chain chain = {.n = n,
	    .start = gv_nn_bias(c, r, s->b),
	    .relu = r->l.act == GV_ACT_RELU,
	    .x_step = r->l.s * n,
	    .y_step = n};
	struct reach reach;

	for (oy = 0; oy < r->l.out_shape.height; oy++)
		for (ox = 0; ox < r->l.out_shape.width; ox += reach.places) {
			taps_of_output(&r->l, oy, ox, &reach);
			some_places(&reach, chain, w, gv_cpu_x(c, r, s), r->in_size, y,
			    r->out_size, s->n);
			y += reach.places * n;
		}
}

void
gv_cpu_depthwise_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *w = gv_cpu_packed(cpu, c, r, s->b, 0);
	size_t iy, first, ix, n = r->l.g, step = r->l.s, width = r->l.in_shape.width;
	struct gv_cpu_chain chain = {.n = n, .x_step = n, .y_step = step * n};
	struct reach reach;

	for (iy = 0; iy < r->l.in_shape.height; iy++)
		for (first = 0; first < step; first++)
			for (ix = first; ix < width; ix += reach.places * step) {
				gv_real *dx = gv_cpu_dx(c, r, s) + (iy * width + ix) * n;

				chain.start = r->adds[s->input] ? dx : NULL;
				chain.start_step = r->adds[s->input] ? chain.y_step : 0;
				taps_of_input(&r->l, iy, ix, &reach);
				some_places(&reach, chain, w, gv_cpu_dy(c, r, s),
				    r->out_size, dx, r->in_size, s->n);
			}
}

size_t
gv_cpu_depthwise_piece(const struct gv_nn_row *r)
{
	return gv_cpu_lesser(r->l.g, CHANNELS) * r->l.k * r->l.k;
}

size_t
gv_cpu_depthwise_scratch(const struct gv_nn_row *r)
{
	return gv_cpu_gemm_packed(r->l.k * r->l.k, gv_cpu_lesser(r->l.g, CHANNELS));
}

/* Chains over samples and places, in scratch as [taps][channels of the piece, whole vectors]. */
void
gv_cpu_depthwise_gradient(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, gv_real *dw, size_t ldw)
{
	size_t taps = r->l.k * r->l.k, n = (p->last - p->first) / taps, all = r->l.g;
	size_t wide = gv_cpu_gemm_packed(1, n);
	const gv_real *x = gv_cpu_x(c, r, s) + p->group, *from[TAPS];
	gv_real *acc[TAPS];
	struct reach reach;
	struct gv_cpu_spread spread = {.n = n,
	    .x = from,
	    .v = gv_cpu_dy(c, r, s) + p->group,
	    .acc = acc,
	    .x_step = r->l.s * all,
	    .v_step = all};
	size_t i, oy, ox, t, j;

	memset(s->scratch, 0, taps * wide * sizeof(*s->scratch));
	for (i = 0; i < s->n; i++, x += r->in_size)
		for (oy = 0; oy < r->l.out_shape.height; oy++)
			for (ox = 0; ox < r->l.out_shape.width; ox += reach.places) {
				taps_of_output(&r->l, oy, ox, &reach);
				for (t = 0; t < reach.n; t++) {
					from[t] = x + reach.at[t] * all;
					acc[t] = s->scratch + reach.tap[t] * wide;
				}
				spread.terms = reach.n;
				spread.places = reach.places;
				gv_cpu_spread(&spread);
				spread.v += reach.places * all;
			}
	for (j = 0; j < n; j++)
		for (t = 0; t < taps; t++)
			dw[(j * taps + t) * ldw] = s->scratch[t * wide + j];
}
