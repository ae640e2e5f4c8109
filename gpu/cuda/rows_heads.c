/* bn, and the heads, whose forward makes the gradient, too. */
#include "cuda/rows.h"

static struct gv_cuda_bn
bn_of(const struct gv_cuda_at *a)
{
	const struct gv_nn_plan *p = a->call->plan;
	struct gv_shape s = a->r->l.in_shape;

	return (struct gv_cuda_bn){.B = p->B,
	    .rows = a->call->n * s.height * s.width,
	    .n = s.channels,
	    .active = gv_cuda_active_of(a->c, a->call),
	    .x = gv_cuda_x(a, 0),
	    .y = gv_cuda_y(a),
	    .dy = gv_cuda_dy(a),
	    .gamma = gv_nn_weight(a->call, a->r, 0),
	    .beta = gv_nn_bias(a->call, a->r, 0),
	    .stats = gv_nn_stats(a->call, a->r, 0),
	    .count = gv_nn_count(a->call, a->r),
	    .relu = a->r->l.act == GV_ACT_RELU,
	    .x_apart = gv_cuda_x_apart(a, 0),
	    .y_apart = gv_cuda_apart(a),
	    .dy_apart = gv_cuda_apart(a),
	    .param_apart = p->P,
	    .stat_apart = p->stat_size};
}

int
gv_cuda_row_bn(const struct gv_cuda_at *a)
{
	struct gv_cuda_bn v = bn_of(a);

	return gv_cuda_bn_forward(&a->c->queue, a->c->type, &v);
}

int
gv_cuda_row_bn_back(const struct gv_cuda_at *a)
{
	struct gv_cuda_bn v = bn_of(a);

	v.dx = gv_cuda_dx(a);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	return gv_cuda_bn_backward(&a->c->queue, a->c->type, &v);
}

/* What the sums of bn_sum are: gamma's behind beta's (GV_NN_STATS). */
int
gv_cuda_row_bn_gradient(const struct gv_cuda_at *a, float *to, bool add)
{
	const struct gv_nn_plan *p = a->call->plan;
	size_t n = a->r->l.in_shape.channels;
	struct gv_cuda_tree t = {.B = p->B,
	    .parts = 1,
	    .n = n,
	    .v = gv_nn_stats(a->call, a->r, 0) + 5 * n,
	    .to = to,
	    .active = gv_cuda_active_of(a->c, a->call),
	    .add = add,
	    .v_apart = p->stat_size,
	    .part_apart = n,
	    .to_apart = p->P};

	if (gv_cuda_tree(&a->c->queue, &t) != 0)
		return -1;
	t.v -= n;
	t.to += n;
	return gv_cuda_tree(&a->c->queue, &t);
}

static struct gv_cuda_head
head_of(const struct gv_nn_plan *p, const struct gv_nn_row *r, size_t n)
{
	return (struct gv_cuda_head){.B = p->B,
	    .n = n,
	    .targets = p->targets,
	    .classes = r->l.op == GV_OP_XENT ? r->in_size / p->targets : 1};
}

int
gv_cuda_row_head(const struct gv_cuda_at *a)
{
	const struct gv_nn_call *call = a->call;
	struct gv_cuda_head v = head_of(call->plan, a->r, call->n);
	enum gv_op op = a->r->l.op;

	if (call->f->label == NULL && call->f->number == NULL)
		return 0;
	v.active = gv_cuda_active_of(a->c, call);
	v.x = gv_cuda_x(a, 0);
	v.x_apart = gv_cuda_x_apart(a, 0);
	v.label = call->f->label;
	v.number = call->f->number;
	v.loss = call->f->loss;
	v.loss_apart = call->plan->n;
	v.divisor = (float)gv_nn_targets(call->plan);
	v.scratch = a->c->scratch;
	v.hit_apart = call->plan->n;
	if (!call->training) {
		v.hit = call->f->hit;
	} else if (gv_cuda_input(a) != NULL) {
		v.dx = gv_cuda_dx(a);
		v.dx_apart = v.x_apart;
	}
	return gv_cuda_head(&a->c->queue, a->c->type,
	    op == GV_OP_XENT  ? GV_CUDA_XENT
	    : op == GV_OP_MSE ? GV_CUDA_MSE
			      : GV_CUDA_BCE,
	    &v);
}

size_t
gv_cuda_row_head_scratch(const struct gv_cuda *c, const struct gv_nn_row *r)
{
	struct gv_cuda_head v = head_of(c->plan, r, c->plan->n);

	return gv_cuda_head_scratch(&v);
}
