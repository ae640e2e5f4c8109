/* What rows of all kinds share.  Private to gpu/cuda/rows*.c. */
#ifndef GV_CUDA_ROWS_H
#define GV_CUDA_ROWS_H

#include "cuda/parts.h"

/* A row that is worked on. */
struct gv_cuda_at {
	struct gv_cuda *c;
	const struct gv_nn_call *call;
	const struct gv_nn_row *r;
	size_t k; /* the input whose gradient is made */
};

static inline const struct gv_nn_row *
gv_cuda_input(const struct gv_cuda_at *a)
{
	return gv_nn_input(a->call, a->r, a->k);
}

/* Numbers from one model to the next: of an output, of an input (the sample is everybody's). */
static inline size_t
gv_cuda_apart(const struct gv_cuda_at *a)
{
	return a->call->plan->n * a->r->out_size;
}

static inline size_t
gv_cuda_x_apart(const struct gv_cuda_at *a, size_t k)
{
	if (gv_nn_input(a->call, a->r, k) == NULL)
		return 0;
	return a->call->plan->n * gv_nn_input_size(a->call, a->r, k);
}

/* n numbers of activations, or of weights as products read them, behind p. */
static inline void *
gv_cuda_plus(const struct gv_cuda_at *a, const void *p, size_t n)
{
	return (char *)(uintptr_t)p + n * a->call->plan->stored;
}

static inline const void *
gv_cuda_x(const struct gv_cuda_at *a, size_t k)
{
	if (gv_nn_input(a->call, a->r, k) == NULL && a->call->f->stored_x != NULL)
		return a->call->f->stored_x;
	return gv_nn_x(a->call, a->r, k, 0, 0);
}

static inline void *
gv_cuda_y(const struct gv_cuda_at *a)
{
	return gv_nn_y(a->call, a->r, 0, 0);
}

static inline const void *
gv_cuda_dy(const struct gv_cuda_at *a)
{
	return gv_nn_dy(a->call, a->r, 0, 0);
}

static inline void *
gv_cuda_dx(const struct gv_cuda_at *a)
{
	return gv_nn_dx(a->call, a->r, a->k, 0, 0);
}

/* The weights of a product in the type of activations, and from a model to the next. */
static inline const void *
gv_cuda_weight(const struct gv_cuda_at *a)
{
	if (a->c->type == GV_CUDA_F32)
		return gv_nn_weight(a->call, a->r, 0);
	return gv_cuda_plus(a, a->call->w->packed, a->r->weight);
}

static inline size_t
gv_cuda_weight_apart(const struct gv_cuda_at *a)
{
	return a->c->type == GV_CUDA_F32 ? a->call->plan->P : a->c->packed;
}

/* The input's relu, when this was the last of its readers. */
static inline const void *
gv_cuda_mask(const struct gv_cuda_at *a)
{
	return a->r->ends[a->k] && gv_cuda_input(a)->l.act == GV_ACT_RELU
		   ? gv_cuda_x(a, a->k)
		   : NULL;
}

/* What of kernels.h a row does: its status. */
typedef int gv_cuda_pass(const struct gv_cuda_at *a);
/* Gradients of the row's weights to there, of the bias behind them, or added. */
typedef int gv_cuda_gradient(const struct gv_cuda_at *a, float *to, bool add);

gv_cuda_pass gv_cuda_row_conv, gv_cuda_row_conv_back; /* linear, too */
gv_cuda_gradient gv_cuda_row_conv_gradient;
size_t gv_cuda_row_conv_scratch(const struct gv_cuda *c, const struct gv_nn_row *r);
gv_cuda_pass gv_cuda_row_pool, gv_cuda_row_pool_back;
gv_cuda_pass gv_cuda_row_map, gv_cuda_row_map_back;
/* The acts other than relu, which is applied where sums are made; back: relu, too. */
gv_cuda_pass gv_cuda_row_act, gv_cuda_row_act_back;
gv_cuda_pass gv_cuda_row_bn, gv_cuda_row_bn_back;
gv_cuda_gradient gv_cuda_row_bn_gradient;
gv_cuda_pass gv_cuda_row_head;
size_t gv_cuda_row_head_scratch(const struct gv_cuda *c, const struct gv_nn_row *r);

gv_cuda_pass gv_cuda_row_tconv, gv_cuda_row_tconv_back;
gv_cuda_gradient gv_cuda_row_tconv_gradient;
size_t gv_cuda_row_tconv_scratch(const struct gv_cuda *c, const struct gv_nn_row *r);
gv_cuda_pass gv_cuda_row_concat, gv_cuda_row_concat_back;
gv_cuda_pass gv_cuda_row_dropout, gv_cuda_row_dropout_back;

gv_cuda_pass gv_cuda_row_ln, gv_cuda_row_ln_back;
gv_cuda_gradient gv_cuda_row_ln_gradient;
size_t gv_cuda_row_ln_scratch(const struct gv_cuda *c, const struct gv_nn_row *r);
gv_cuda_pass gv_cuda_row_embed;
gv_cuda_gradient gv_cuda_row_embed_gradient;
size_t gv_cuda_row_embed_scratch(const struct gv_cuda *c, const struct gv_nn_row *r);
gv_cuda_pass gv_cuda_row_attention, gv_cuda_row_attention_back;
size_t gv_cuda_row_attention_scratch(const struct gv_cuda *c, const struct gv_nn_row *r);

gv_cuda_pass gv_cuda_row_lstm, gv_cuda_row_lstm_back;
gv_cuda_gradient gv_cuda_row_lstm_gradient;
size_t gv_cuda_row_lstm_scratch(const struct gv_cuda *c, const struct gv_nn_row *r);

/* The gradient of a row's bias, l.biases numbers, from dy; room: scratch for it. */
int gv_cuda_row_bias(const struct gv_cuda_at *a, float *weights, bool add, float *room);
size_t gv_cuda_row_bias_scratch(const struct gv_cuda *c, const struct gv_nn_row *r);

#endif
