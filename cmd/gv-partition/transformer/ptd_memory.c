/* What a GPU has to hold. */
#include <math.h>

#include "ptd_parts.h"

/*
 * Bytes of weights, gradients and Adam's state for one parameter, as Megatron keeps
 * them; n: GPUs among which the stage of ZeRO splits its part.
 */
static double
parameter_bytes(const struct ptd_machine *m, size_t zero, size_t n)
{
	static const double state[PRECISIONS] = {12, 16, 8};
	double copies = (double)n;

	return ptd_width(m) / (zero > 2 ? copies : 1) +
	       ptd_gradient_width(m) / (zero > 1 ? copies : 1) +
	       state[m->precision] / (zero > 0 ? copies : 1);
}

/* Activations of one layer and one micro-batch, in the numbers' width; what is saved. */
static double
layer_bytes(const struct transformer *x, const struct ptd_machine *m,
    const struct ptd_plan *k, enum ptd_recompute recompute)
{
	double t = (double)k->t, tokens = ptd_tokens(x, k), half = ptd_width(m) / 2;
	double scores = 5 * x->heads * x->seq / t;

	if (recompute == PTD_FULL)
		return half * 2 * tokens * x->hidden /
		       (m->can[PTD_SEQUENCE_PARALLEL] ? t : 1);
	if (recompute == PTD_SELECTIVE || m->can[PTD_FLASH_ATTENTION])
		scores = 0;
	return half * tokens * (ptd_saved_bytes(x, m, t) + scores);
}

/*
 * Micro-batches whose activations a stage holds, in whole stages; interleaved
 * ones count virtual stages.
 */
static double
in_flight(const struct transformer *x, const struct ptd_plan *k, bool last)
{
	double n = (double)ptd_micro_batches(x, k), p = (double)k->p, v = (double)k->v;

	if (k->schedule == PTD_GPIPE)
		return n;
	if (k->v > 1)
		return fmin(n, last ? ((v - 1) * p + 1) / v : (p * v + p - 1) / v);
	return fmin(n, last ? 1 : p);
}

/*
 * What ZeRO gathers for a while: the gradients of a layer before they are added up;
 * weights of a layer and the next, or of the embedding.
 */
static double
gathered(const struct transformer *x, const struct ptd_machine *m,
    const struct ptd_plan *k, double table)
{
	struct ptd_parts layer = ptd_layer_parts(x, k);
	double each = layer.dense + layer.expert, bytes = 0;

	if (k->zero > 1)
		bytes += ptd_gradient_width(m) * each;
	if (k->zero > 2)
		bytes += ptd_width(m) * fmax(2 * each, table);
	return bytes;
}

double
ptd_memory(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double t = (double)k->t, tokens = ptd_tokens(x, k), half = ptd_width(m) / 2;
	double slice = m->can[PTD_SEQUENCE_PARALLEL] ? t : 1;
	double each = parameter_bytes(m, k->zero, ptd_copies(k));
	struct ptd_parts layer = ptd_layer_parts(x, k);
	double table = x->vocab * x->hidden / t, tables = each * table;
	double weights = each * layer.dense +
			 parameter_bytes(m, k->zero, ptd_expert_copies(k)) * layer.expert;
	double saved = layer_bytes(x, m, k, k->recompute);
	double work = k->recompute == PTD_NONE ? 0 : layer_bytes(x, m, k, PTD_NONE);
	double layers = (double)ptd_stage_layers(x, k), last = (double)k->last;
	double early, output;

	/* tokens of 64 bits, and what dropout behind the embedding left out */
	early = layers * weights + tables +
		each * transformer_position_parameters(x) / t +
		in_flight(x, k, false) *
		    (layers * saved + 8 * tokens + tokens * x->hidden / slice);
	/* scores of 32 bits, and what they are made of */
	output = 4 * tokens * x->vocab / t + half * 2 * tokens * x->hidden / slice +
		 each * transformer_norm_parameters(x) / t;
	if (k->p == 1)
		early += output + (x->untied ? tables : 0);
	else
		early = fmax(early, last * weights + tables +
					in_flight(x, k, true) * last * saved + output);
	return early + work + gathered(x, m, k, table) + PTD_RESERVED_MIB * 1048576.0;
}
