/* How long one layer takes for one micro-batch. */
#include <math.h>

#include "ptd_parts.h"

/* All that the functions below look at. */
struct layer {
	const struct transformer *x;
	const struct ptd_machine *m;
	const struct ptd_plan *k;
	double t, tokens;
};

static double
peak(const struct ptd_machine *m)
{
	return m->gpu->flops_per_s[m->precision] * m->gpu->gemm_share;
}

static double
memory_rate(const struct ptd_machine *m)
{
	return m->gpu->memory_bytes_per_s * m->gpu->memory_share;
}

double
ptd_product_s(const struct ptd_machine *m, double rows, double columns, double inner)
{
	double bytes = ptd_width(m) * (rows * columns + rows * inner + inner * columns);

	return 2 * rows * columns * inner / peak(m) + bytes / memory_rate(m);
}

/* The products of a feed-forward part of this width. */
static double
ffn_s(const struct layer *l, double tokens, double width)
{
	double h = l->x->hidden, slice = width / l->t;

	return ptd_product_s(l->m, tokens, (l->x->gated ? 2 : 1) * slice, h) +
	       ptd_product_s(l->m, tokens, h, slice);
}

static double
products_s(const struct layer *l)
{
	const struct transformer *x = l->x;
	double h = x->hidden, each, s;

	s = ptd_product_s(l->m, l->tokens, transformer_qkv_width(x) / l->t, h) +
	    ptd_product_s(l->m, l->tokens, h, transformer_q_width(x) / l->t);
	if (x->experts == 0)
		return s + ffn_s(l, l->tokens, x->ffn);
	/* the tokens of e GPUs, each to some of the experts, on those of this GPU */
	each = l->tokens * (double)l->k->e * x->top / x->experts;
	s += ptd_product_s(l->m, l->tokens, x->experts, h) +
	     x->experts / (double)l->k->e * ffn_s(l, each, x->ffn);
	return x->shared > 0 ? s + ffn_s(l, l->tokens, x->shared) : s;
}

double
ptd_saved_bytes(const struct transformer *x, const struct ptd_machine *m, double t)
{
	double slice = m->can[PTD_SEQUENCE_PARALLEL] ? t : 1, act = x->gated ? 6 : 4;
	double whole = 10 / slice * x->hidden;
	double heads = 4 * (x->heads + x->kv_heads) * x->head_size / t;

	if (x->experts == 0)
		return whole + heads + act * x->ffn / t;
	return whole + heads + x->top * (4 / slice * x->hidden + act * x->ffn / t) +
	       act * x->shared / t;
}

/* Communication of the t GPUs that share the layer, and of the experts; of each pass. */
static double
reduce_s(const struct layer *l)
{
	const struct transformer *x = l->x;
	const struct ptd_machine *m = l->m;
	double bytes = ptd_width(m) * l->tokens * x->hidden, s;
	double half = ptd_half_reduce_s(m, bytes, l->k->t, 1);
	double parts = x->experts == 0 || x->shared > 0 ? 2 : 1;

	s = 2 * parts * half;
	/* in pieces beside the products that need them, which hides about half */
	if (m->can[PTD_OVERLAP] && m->can[PTD_SEQUENCE_PARALLEL])
		s /= 2;
	if (x->experts > 0)
		s += 2 * x->top * half +
		     2 * ptd_all_to_all_s(m, x->top * bytes / l->t, l->k->e, l->k->t);
	return s;
}

/* Keys and values of the others, one after the other, beside the core of attention. */
static double
ring_s(const struct layer *l, double times, double core_s)
{
	const struct transformer *x = l->x;
	double bytes = ptd_width(l->m) * l->tokens * 2 * x->kv_heads * x->head_size;
	double s = ptd_half_reduce_s(
	    l->m, times * bytes / l->t * (double)l->k->c, l->k->c, l->k->t);

	return l->m->can[PTD_OVERLAP] ? fmax(0, s - core_s) : s;
}

struct ptd_layer
ptd_layer_time(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	const struct layer l = {x, m, k, (double)k->t, ptd_tokens(x, k)};
	double half = ptd_width(m) / 2; /* saved bytes are those of 16 bits */
	double products = products_s(&l), core, core_back, elements, scores;
	struct ptd_layer r = {0};

	core = 4 * l.tokens * x->seq * transformer_q_width(x) / l.t / peak(m);
	elements = half * l.tokens * ptd_saved_bytes(x, m, l.t);
	scores = half * 5 * x->heads * x->seq * l.tokens / l.t;
	if (m->can[PTD_FLASH_ATTENTION])
		scores = 0;
	/* flash attention computes the scores once more */
	core_back = (m->can[PTD_FLASH_ATTENTION] ? 2.5 : 2) * core;
	r.core_s = core + 2 * scores / memory_rate(m);
	r.forward_s = products + 2 * elements / memory_rate(m) + r.core_s;
	r.weight_s = products;
	r.backward_s =
	    2 * products + core_back + 4 * (elements + scores) / memory_rate(m);
	r.reduce_s = reduce_s(&l);
	if (k->c > 1) {
		r.ring_s = ring_s(&l, 1, core);
		r.ring_back_s = ring_s(&l, 2, core_back);
	}
	return r;
}
