/* tconv, concat, dropout. */
#include "cuda/rows.h"

#include <string.h>

static struct gv_cuda_sums
bias_sums(const struct gv_nn_plan *p, const struct gv_nn_row *r)
{
	return (struct gv_cuda_sums){.B = p->B,
	    .n = r->l.biases,
	    .places = r->out_size / r->l.biases,
	    .shards = gv_cuda_shards_of(p)};
}

size_t
gv_cuda_row_bias_scratch(const struct gv_cuda *c, const struct gv_nn_row *r)
{
	struct gv_cuda_sums s;

	if (r->l.biases == 0)
		return 0;
	s = bias_sums(c->plan, r);
	return gv_cuda_sums_scratch(GV_CUDA_SUM, &s);
}

int
gv_cuda_row_bias(const struct gv_cuda_at *a, float *weights, bool add, float *room)
{
	struct gv_cuda_sums s;

	if (a->r->l.biases == 0)
		return 0;
	s = bias_sums(a->call->plan, a->r);
	s.active = gv_cuda_active_of(a->c, a->call);
	s.v = gv_cuda_dy(a);
	s.v_apart = gv_cuda_apart(a);
	s.scratch = room;
	s.to = weights + (a->r->bias - a->r->weight);
	s.to_apart = a->call->plan->P;
	s.add = add;
	return gv_cuda_sums(&a->c->queue, a->c->type, GV_CUDA_SUM, &s);
}

/* ---- tconv: the conv that it is, the other way round ---- */

static struct gv_cuda_conv
shape_of(const struct gv_nn_plan *p, const struct gv_nn_row *r, size_t n)
{
	const struct gv_layer *l = &r->l;

	return (struct gv_cuda_conv){.B = p->B,
	    .n = n,
	    .height = l->out_shape.height,
	    .width = l->out_shape.width,
	    .channels = l->out_shape.channels,
	    .out_height = l->in_shape.height,
	    .out_width = l->in_shape.width,
	    .out = l->in_shape.channels,
	    .k = l->k,
	    .s = l->s,
	    .p = l->p,
	    .g = l->g,
	    .shards = gv_cuda_shards_of(p),
	    .dx_bias_apart = p->P,
	    .dw_apart = p->P};
}

size_t
gv_cuda_row_tconv_scratch(const struct gv_cuda *c, const struct gv_nn_row *r)
{
	struct gv_cuda_conv v = shape_of(c->plan, r, c->plan->n);
	size_t sums = gv_cuda_row_bias_scratch(c, r), parts;

	v.tf32 = c->math == GV_NN_TF32;
	parts = gv_cuda_conv_scratch(&c->queue, c->type, &v);
	return parts > sums ? parts : sums;
}

static struct gv_cuda_conv
conv_of(const struct gv_cuda_at *a)
{
	struct gv_cuda_conv v = shape_of(a->call->plan, a->r, a->call->n);

	v.active = gv_cuda_active_of(a->c, a->call);
	v.w = gv_cuda_weight(a);
	v.tf32 = a->c->math == GV_NN_TF32;
	v.w_apart = gv_cuda_weight_apart(a);
	v.scratch = a->c->scratch;
	return v;
}

int
gv_cuda_row_tconv(const struct gv_cuda_at *a)
{
	struct gv_cuda_conv v = conv_of(a);

	v.dy = gv_cuda_x(a, 0);
	v.dy_apart = gv_cuda_x_apart(a, 0);
	v.dx = gv_cuda_y(a);
	v.dx_apart = gv_cuda_apart(a);
	v.dx_bias = gv_nn_bias(a->call, a->r, 0);
	v.dx_relu = a->r->l.act == GV_ACT_RELU;
	return gv_cuda_conv_backward(&a->c->queue, a->c->type, &v);
}

int
gv_cuda_row_tconv_back(const struct gv_cuda_at *a)
{
	struct gv_cuda_conv v = conv_of(a);

	v.x = gv_cuda_dy(a);
	v.x_apart = gv_cuda_apart(a);
	v.y = gv_cuda_dx(a);
	v.y_add = a->r->adds[a->k];
	v.y_mask = gv_cuda_mask(a);
	v.y_apart = v.y_mask_apart = gv_cuda_x_apart(a, a->k);
	return gv_cuda_conv_forward(&a->c->queue, a->c->type, &v);
}

int
gv_cuda_row_tconv_gradient(const struct gv_cuda_at *a, float *to, bool add)
{
	struct gv_cuda_conv v = conv_of(a);
	int status;

	v.x = gv_cuda_dy(a);
	v.x_apart = gv_cuda_apart(a);
	v.dy = gv_cuda_x(a, 0);
	v.dy_apart = gv_cuda_x_apart(a, 0);
	v.dw = to;
	v.add = add;
	status = gv_cuda_conv_gradient(&a->c->queue, a->c->type, &v);
	return status != 0 ? status : gv_cuda_row_bias(a, to, add, v.scratch);
}

/* ---- concat: an input at a time ---- */

/* Channels of input k, and where in the output they begin. */
static size_t
channels(const struct gv_cuda_at *a, size_t input, size_t *first)
{
	size_t places = a->r->l.out_shape.height * a->r->l.out_shape.width, k, n = 0;

	*first = 0;
	for (k = 0; k <= input; k++) {
		*first += n;
		n = gv_nn_input_size(a->call, a->r, k) / places;
	}
	return n;
}

static struct gv_cuda_move
move_of(const struct gv_cuda_at *a, size_t n)
{
	return (struct gv_cuda_move){.B = a->call->plan->B,
	    .rows = a->call->n * a->r->l.out_shape.height * a->r->l.out_shape.width,
	    .n = n,
	    .active = gv_cuda_active_of(a->c, a->call)};
}

int
gv_cuda_row_concat(const struct gv_cuda_at *a)
{
	size_t k, first, n;
	int status = 0;

	for (k = 0; k < a->r->l.inputs && status == 0; k++) {
		struct gv_cuda_move v;

		n = channels(a, k, &first);
		v = move_of(a, n);
		v.to = gv_cuda_plus(a, gv_cuda_y(a), first);
		v.to_row = a->r->l.out_shape.channels;
		v.to_apart = gv_cuda_apart(a);
		v.from = gv_cuda_x(a, k);
		v.from_row = n;
		v.from_apart = gv_cuda_x_apart(a, k);
		v.relu = a->r->l.act == GV_ACT_RELU;
		status = gv_cuda_move(&a->c->queue, a->c->type, &v);
	}
	return status;
}

int
gv_cuda_row_concat_back(const struct gv_cuda_at *a)
{
	size_t first, n = channels(a, a->k, &first);
	struct gv_cuda_move v = move_of(a, n);

	v.to = gv_cuda_dx(a);
	v.to_row = n;
	v.to_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	v.from = gv_cuda_plus(a, gv_cuda_dy(a), first);
	v.from_row = a->r->l.out_shape.channels;
	v.from_apart = gv_cuda_apart(a);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	return gv_cuda_move(&a->c->queue, a->c->type, &v);
}

/* ---- dropout ---- */

/* The micro-batch's keys, on the device. */
static const uint64_t *
keys_of(const struct gv_cuda_at *a)
{
	return gv_cuda_send_room(
	    a->c, &a->c->key, a->call->f->key, a->call->plan->B * sizeof(uint64_t));
}

static struct gv_cuda_dropout
dropout_of(const struct gv_cuda_at *a)
{
	const struct gv_nn_plan *p = a->call->plan;

	return (struct gv_cuda_dropout){.B = p->B,
	    .n = a->call->n,
	    .size = a->r->out_size,
	    .active = gv_cuda_active_of(a->c, a->call),
	    .key = keys_of(a),
	    .first = (uint32_t)p->first,
	    .row = (uint32_t)a->r->l.place,
	    .rate = a->r->l.rate};
}

int
gv_cuda_row_dropout(const struct gv_cuda_at *a)
{
	struct gv_cuda_dropout v;
	struct gv_cuda_move all;

	if (a->call->training) {
		v = dropout_of(a);
		v.from = gv_cuda_x(a, 0);
		v.from_apart = gv_cuda_x_apart(a, 0);
		v.to = gv_cuda_y(a);
		v.to_apart = gv_cuda_apart(a);
		return gv_cuda_dropout(&a->c->queue, a->c->type, &v);
	}
	all = (struct gv_cuda_move){.B = a->call->plan->B,
	    .rows = 1,
	    .n = a->call->n * a->r->out_size,
	    .to = gv_cuda_y(a),
	    .from = gv_cuda_x(a, 0),
	    .to_apart = gv_cuda_apart(a),
	    .from_apart = gv_cuda_x_apart(a, 0)};
	return gv_cuda_move(&a->c->queue, a->c->type, &all);
}

int
gv_cuda_row_dropout_back(const struct gv_cuda_at *a)
{
	struct gv_cuda_dropout v = dropout_of(a);

	v.from = gv_cuda_dy(a);
	v.from_apart = gv_cuda_apart(a);
	v.to = gv_cuda_dx(a);
	v.to_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	return gv_cuda_dropout(&a->c->queue, a->c->type, &v);
}
