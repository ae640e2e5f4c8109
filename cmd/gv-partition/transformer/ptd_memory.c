/* What a GPU has to hold. */
#include "ptd.h"

#include <math.h>

/* Bytes of weights, gradients and Adam's state for one parameter, as Megatron keeps them. */
static double
parameter_bytes(const struct ptd_machine *m, const struct ptd_plan *k)
{
	static const double whole[PRECISIONS] = {18, 20, 16};
	static const double kept[PRECISIONS] = {6, 4, 8};

	if (!m->can[PTD_DISTRIBUTED_OPTIMIZER])
		return whole[m->precision];
	return kept[m->precision] + (m->precision == PRECISION_BF16      ? 12
					: m->precision == PRECISION_FP16 ? 16
									 : 8) /
					(double)k->d;
}

/* Activations of one layer and one micro-batch, in the numbers' width; what is saved. */
static double
layer_bytes(const struct transformer *x, const struct ptd_machine *m,
    const struct ptd_plan *k, enum ptd_recompute recompute)
{
	double t = (double)k->t, tokens = (double)k->b * x->seq;
	double half = m->precision == PRECISION_FP32 ? 2 : 1;
	bool sliced = m->can[PTD_SEQUENCE_PARALLEL];
	double scores = 5 * x->heads * x->seq / t;

	if (recompute == PTD_FULL)
		return half * 2 * tokens * x->hidden / (sliced ? t : 1);
	if (recompute == PTD_SELECTIVE || m->can[PTD_FLASH_ATTENTION])
		scores = 0;
	return half * tokens *
	       ((sliced ? 10 / t : 10) * x->hidden + 8 * x->hidden / t + 4 * x->ffn / t +
		   scores);
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

double
ptd_memory(
    const struct transformer *x, const struct ptd_machine *m, const struct ptd_plan *k)
{
	double t = (double)k->t, tokens = (double)k->b * x->seq;
	double slice = m->can[PTD_SEQUENCE_PARALLEL] ? t : 1;
	double half = m->precision == PRECISION_FP32 ? 2 : 1;
	double each = parameter_bytes(m, k) / t, table = each * x->vocab * x->hidden;
	double weights = each * transformer_layer_parameters(x);
	double saved = layer_bytes(x, m, k, k->recompute);
	double work = k->recompute == PTD_NONE ? 0 : layer_bytes(x, m, k, PTD_NONE);
	double layers = (double)ptd_stage_layers(x, k), last = (double)k->last;
	double early, output;

	/* tokens of 64 bits, and what dropout behind the embedding left out */
	early = layers * weights + table + each * x->seq * x->hidden +
		in_flight(x, k, false) *
		    (layers * saved + 8 * tokens + tokens * x->hidden / slice);
	/* scores of 32 bits, and what they are made of */
	output = 4 * tokens * x->vocab / t + half * 2 * tokens * x->hidden / slice;
	if (k->p == 1)
		early += output + (x->untied ? table : 0);
	else
		early = fmax(early, last * weights + table +
					in_flight(x, k, true) * last * saved + output);
	return early + work + PTD_RESERVED_MIB * 1048576.0;
}
