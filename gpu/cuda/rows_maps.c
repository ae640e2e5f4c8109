/* Pools, and rows that work number by number; acts. */
#include "cuda/rows.h"

static struct gv_cuda_pool
pool_of(const struct gv_cuda_at *a)
{
	const struct gv_layer *l = &a->r->l;

	return (struct gv_cuda_pool){.B = a->call->plan->B,
	    .n = a->call->n,
	    .height = l->in_shape.height,
	    .width = l->in_shape.width,
	    .channels = l->in_shape.channels,
	    .out_height = l->out_shape.height,
	    .out_width = l->out_shape.width,
	    .k = l->k,
	    .s = l->s,
	    .p = l->p,
	    .active = gv_cuda_active_of(a->c, a->call),
	    .x = gv_cuda_x(a, 0),
	    .y = gv_cuda_y(a),
	    .dy = gv_cuda_dy(a),
	    .x_apart = gv_cuda_x_apart(a, 0),
	    .y_apart = gv_cuda_apart(a),
	    .dy_apart = gv_cuda_apart(a)};
}

int
gv_cuda_row_pool(const struct gv_cuda_at *a)
{
	struct gv_cuda_pool v = pool_of(a);

	return a->r->l.op == GV_OP_MAXPOOL
		   ? gv_cuda_maxpool_forward(&a->c->queue, a->c->type, &v)
		   : gv_cuda_avgpool_forward(&a->c->queue, a->c->type, &v);
}

int
gv_cuda_row_pool_back(const struct gv_cuda_at *a)
{
	struct gv_cuda_pool v = pool_of(a);

	v.dx = gv_cuda_dx(a);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	return a->r->l.op == GV_OP_MAXPOOL
		   ? gv_cuda_maxpool_backward(&a->c->queue, a->c->type, &v)
		   : gv_cuda_avgpool_backward(&a->c->queue, a->c->type, &v);
}

static enum gv_cuda_function
function_of(const struct gv_cuda_at *a)
{
	switch (a->r->l.op) {
	case GV_OP_RELU:
		return GV_CUDA_RELU;
	case GV_OP_GELU:
		return GV_CUDA_GELU;
	default:
		return GV_CUDA_ADD;
	}
}

static struct gv_cuda_map
map_of(const struct gv_cuda_at *a)
{
	struct gv_cuda_map v = {.B = a->call->plan->B,
	    .n = a->call->n * a->r->out_size,
	    .active = gv_cuda_active_of(a->c, a->call),
	    .inputs = a->r->l.inputs,
	    .y = gv_cuda_y(a),
	    .dy = gv_cuda_dy(a),
	    .y_apart = gv_cuda_apart(a),
	    .dy_apart = gv_cuda_apart(a)};
	size_t k;

	for (k = 0; k < v.inputs; k++) {
		v.x[k] = gv_cuda_x(a, k);
		v.x_apart[k] = gv_cuda_x_apart(a, k);
	}
	return v;
}

int
gv_cuda_row_map(const struct gv_cuda_at *a)
{
	struct gv_cuda_map v = map_of(a);

	v.relu = a->r->l.op == GV_OP_ADD && a->r->l.act == GV_ACT_RELU;
	return gv_cuda_map_forward(&a->c->queue, a->c->type, function_of(a), &v);
}

int
gv_cuda_row_map_back(const struct gv_cuda_at *a)
{
	struct gv_cuda_map v = map_of(a);

	v.dx = gv_cuda_dx(a);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	return gv_cuda_map_backward(&a->c->queue, a->c->type, function_of(a), &v);
}

/* ---- acts other than relu, which is applied where sums are made ---- */

static struct gv_cuda_acts
acts_of(const struct gv_cuda_at *a)
{
	struct gv_cuda_acts v = {.B = a->call->plan->B,
	    .n = a->call->n * a->r->out_size,
	    .active = gv_cuda_active_of(a->c, a->call),
	    .y = gv_cuda_y(a),
	    .dy = gv_nn_dy(a->call, a->r, 0, 0),
	    .v = gv_cuda_y(a),
	    .slope = (float)a->r->l.slope,
	    .y_apart = gv_cuda_apart(a),
	    .dy_apart = gv_cuda_apart(a),
	    .v_apart = gv_cuda_apart(a)};

	if (gv_act_keeps(a->r->l.act)) {
		v.before = gv_nn_before(a->call, a->r, 0, 0);
		v.v = v.before;
		v.before_apart = v.v_apart = a->call->plan->n * a->r->l.kept;
	}
	return v;
}

static const enum gv_cuda_act kinds[GV_ACTS] = {[GV_ACT_RELU] = GV_CUDA_ACT_RELU,
    [GV_ACT_LEAKY] = GV_CUDA_ACT_LEAKY,
    [GV_ACT_SIGMOID] = GV_CUDA_ACT_SIGMOID,
    [GV_ACT_TANH] = GV_CUDA_ACT_TANH,
    [GV_ACT_GELU] = GV_CUDA_ACT_GELU,
    [GV_ACT_SILU] = GV_CUDA_ACT_SILU,
    [GV_ACT_GELU_TANH] = GV_CUDA_ACT_GELU_TANH};

int
gv_cuda_row_act(const struct gv_cuda_at *a)
{
	struct gv_cuda_acts v = acts_of(a);

	if (a->r->l.act <= GV_ACT_RELU)
		return 0;
	return gv_cuda_act_forward(&a->c->queue, a->c->type, kinds[a->r->l.act], &v);
}

int
gv_cuda_row_act_back(const struct gv_cuda_at *a)
{
	struct gv_cuda_acts v = acts_of(a);

	return gv_cuda_act_backward(&a->c->queue, a->c->type, kinds[a->r->l.act], &v);
}
