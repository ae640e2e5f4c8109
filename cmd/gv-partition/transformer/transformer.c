#include "transformer.h"

const char *const ptd_recompute_name[PTD_RECOMPUTES] = {"none", "selective", "full"};

/* Weights, and unless there are none biases, of a feed-forward part of this width. */
static double
ffn_weights(const struct transformer *x, double width)
{
	return (x->gated ? 3 : 2) * x->hidden * width;
}

static double
ffn_parameters(const struct transformer *x, double width)
{
	double biases =
	    width > 0 && !x->no_biases ? (x->gated ? 2 : 1) * width + x->hidden : 0;

	return ffn_weights(x, width) + biases;
}

static double
attention_weights(const struct transformer *x)
{
	return x->hidden * (transformer_qkv_width(x) + transformer_q_width(x));
}

double
transformer_expert_parameters(const struct transformer *x)
{
	return x->experts * ffn_parameters(x, x->ffn);
}

double
transformer_norm_parameters(const struct transformer *x)
{
	return (x->rms_norm ? 1 : 2) * x->hidden;
}

double
transformer_position_parameters(const struct transformer *x)
{
	return x->rotary ? 0 : x->seq * x->hidden;
}

double
transformer_layer_parameters(const struct transformer *x)
{
	double biases = x->no_biases ? 0 : transformer_qkv_width(x) + x->hidden;
	double norms = 2 * transformer_norm_parameters(x) +
		       (x->qk_norm ? 2 * (x->rms_norm ? 1 : 2) * x->head_size : 0);
	double rest = attention_weights(x) + biases + norms;

	if (x->experts > 0)
		return rest + transformer_expert_parameters(x) + x->experts * x->hidden +
		       ffn_parameters(x, x->shared);
	return rest + ffn_parameters(x, x->ffn);
}

double
transformer_parameters(const struct transformer *x)
{
	return x->layers * transformer_layer_parameters(x) +
	       (x->untied ? 2 : 1) * x->vocab * x->hidden +
	       transformer_position_parameters(x) + transformer_norm_parameters(x);
}

double
transformer_flops(const struct transformer *x, enum ptd_recompute recompute)
{
	double tokens = x->batch * x->seq, ffn = ffn_weights(x, x->ffn);
	double products, attention, model;

	if (x->experts > 0)
		ffn = x->top * ffn + ffn_weights(x, x->shared) + x->experts * x->hidden;
	products = x->layers * (attention_weights(x) + ffn);
	attention = x->layers * 2 * x->seq * transformer_q_width(x);
	model = 6 * tokens * (products + attention + x->vocab * x->hidden);
	if (recompute == PTD_FULL)
		return model + 2 * tokens * (products + attention);
	if (recompute == PTD_SELECTIVE)
		return model + 6 * tokens * attention;
	return model;
}
