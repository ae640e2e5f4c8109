#include "transformer.h"

const char *const ptd_recompute_name[PTD_RECOMPUTES] = {"none", "selective", "full"};

double
transformer_layer_parameters(const struct transformer *x)
{
	double h = x->hidden;

	return 4 * h * h + 2 * h * x->ffn + 9 * h + x->ffn;
}

double
transformer_parameters(const struct transformer *x)
{
	return x->layers * transformer_layer_parameters(x) +
	       (x->untied ? 2 : 1) * x->vocab * x->hidden + x->seq * x->hidden;
}

double
transformer_flops(const struct transformer *x, enum ptd_recompute recompute)
{
	double h = x->hidden, tokens = x->batch * x->seq;
	double products = x->layers * (4 * h * h + 2 * h * x->ffn);
	double attention = x->layers * 2 * x->seq * h;
	double model = 6 * tokens * (products + attention + x->vocab * h);

	if (recompute == PTD_FULL)
		return model + 2 * tokens * (products + attention);
	if (recompute == PTD_SELECTIVE)
		return model + 6 * tokens * attention;
	return model;
}
