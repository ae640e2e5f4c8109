/* Rows forward, backward and their gradients: each what kernels.h has for it. */
#include <stdio.h>

#include "cuda/rows.h"

/* ---- linear and conv ---- */

static struct gv_cuda_conv
conv_shape(const struct gv_nn_plan *p, const struct gv_nn_row *r, size_t n)
{
	const struct gv_layer *l = &r->l;
	struct gv_cuda_conv v = {.B = p->B, .n = n, .shards = gv_cuda_shards_of(p)};

	if (l->op == GV_OP_LINEAR) {
		v.width = v.out_width = v.k = v.s = v.g = 1;
		v.height = v.out_height = r->places;
		v.channels = r->matrix_rows;
		v.out = r->columns;
		return v;
	}
	v.height = l->in_shape.height;
	v.width = l->in_shape.width;
	v.channels = l->in_shape.channels;
	v.out_height = l->out_shape.height;
	v.out_width = l->out_shape.width;
	v.out = l->out_shape.channels;
	v.k = l->k;
	v.s = l->s;
	v.p = l->p;
	v.g = l->g;
	return v;
}

static struct gv_cuda_conv
conv_of(const struct gv_cuda_at *a)
{
	struct gv_cuda_conv v = conv_shape(a->call->plan, a->r, a->call->n);
	size_t P = a->call->plan->P;

	v.active = gv_cuda_active_of(a->c, a->call);
	v.x = gv_cuda_x(a, 0);
	v.x_apart = gv_cuda_x_apart(a, 0);
	v.w = gv_nn_weight(a->call, a->r, 0);
	v.bias = gv_nn_bias(a->call, a->r, 0);
	v.w_apart = v.bias_apart = v.dw_apart = P;
	v.y = gv_cuda_y(a);
	v.dy = gv_cuda_dy(a);
	v.y_apart = v.dy_apart = gv_cuda_apart(a);
	v.relu = a->r->l.act == GV_ACT_RELU;
	v.scratch = a->c->scratch;
	return v;
}

/* A row that is one product of matrices, and math that leaves it to cuBLAS. */
static bool
is_product(const struct gv_cuda_at *a)
{
	const struct gv_layer *l = &a->r->l;

	if (a->c->math == GV_NN_FP32)
		return false;
	return l->op == GV_OP_LINEAR ||
	       (l->op == GV_OP_CONV && l->k == 1 && l->s == 1 && l->p == 0 && l->g == 1);
}

/* y [places][out] = x [places][in] w [in][out], all models; then bias and relu. */
static int
product_forward(const struct gv_cuda_at *a, const struct gv_cuda_conv *v)
{
	size_t places = v->n * v->height * v->width;
	struct gv_nn_gemm g = {.batch = v->B,
	    .m = places,
	    .n = v->out,
	    .k = v->channels,
	    .a = v->x,
	    .lda = v->channels,
	    .a_batch = v->x_apart,
	    .b = v->w,
	    .ldb = v->out,
	    .b_batch = v->w_apart,
	    .c = v->y,
	    .ldc = v->out,
	    .c_batch = v->y_apart};
	struct gv_cuda_bias bias = {.y = v->y,
	    .bias = v->bias,
	    .active = v->active,
	    .B = v->B,
	    .rows = places,
	    .n = v->out,
	    .y_apart = v->y_apart,
	    .bias_apart = v->bias_apart,
	    .relu = v->relu};

	if (gv_cuda_queue_product(a->c, &g) != 0)
		return -1;
	if (v->bias == NULL && !v->relu)
		return 0;
	return gv_cuda_bias(&a->c->queue, GV_CUDA_F32, &bias);
}

/* dx = dy w', then the relu of x's row. */
static int
product_backward(const struct gv_cuda_at *a, const struct gv_cuda_conv *v)
{
	size_t places = v->n * v->height * v->width;
	struct gv_nn_gemm g = {.batch = v->B,
	    .m = places,
	    .n = v->channels,
	    .k = v->out,
	    .a = v->dy,
	    .lda = v->out,
	    .a_batch = v->dy_apart,
	    .b = v->w,
	    .ldb = v->out,
	    .b_batch = v->w_apart,
	    .b_transposed = true,
	    .c = v->dx,
	    .ldc = v->channels,
	    .c_batch = v->dx_apart,
	    .add = v->add};
	struct gv_cuda_map relu = {.B = v->B,
	    .n = places * v->channels,
	    .active = v->active,
	    .inputs = 1,
	    .dy = v->dx,
	    .dx = v->dx,
	    .mask = v->mask,
	    .dy_apart = v->dx_apart,
	    .dx_apart = v->dx_apart,
	    .mask_apart = v->mask_apart};

	if (gv_cuda_queue_product(a->c, &g) != 0)
		return -1;
	if (v->mask == NULL)
		return 0;
	return gv_cuda_map_backward(&a->c->queue, GV_CUDA_F32, GV_CUDA_ADD, &relu);
}

/* dw = x' dy over all samples at once: cuBLAS's order, not that of shards. */
static int
product_gradient(const struct gv_cuda_at *a, const struct gv_cuda_conv *v)
{
	struct gv_nn_gemm g = {.batch = v->B,
	    .m = v->channels,
	    .n = v->out,
	    .k = v->n * v->height * v->width,
	    .a = v->x,
	    .lda = v->channels,
	    .a_batch = v->x_apart,
	    .a_transposed = true,
	    .b = v->dy,
	    .ldb = v->out,
	    .b_batch = v->dy_apart,
	    .c = v->dw,
	    .ldc = v->out,
	    .c_batch = v->dw_apart,
	    .add = v->add};

	return gv_cuda_queue_product(a->c, &g);
}

static int
conv_forward(const struct gv_cuda_at *a)
{
	struct gv_cuda_conv v = conv_of(a);

	if (is_product(a))
		return product_forward(a, &v);
	return gv_cuda_conv_forward(&a->c->queue, GV_CUDA_F32, &v);
}

static int
conv_backward(const struct gv_cuda_at *a)
{
	struct gv_cuda_conv v = conv_of(a);

	v.dx = gv_cuda_dx(a);
	v.mask = gv_cuda_mask(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	v.add = a->r->adds[a->k];
	if (is_product(a))
		return product_backward(a, &v);
	return gv_cuda_conv_backward(&a->c->queue, GV_CUDA_F32, &v);
}

static int
conv_gradient(const struct gv_cuda_at *a, float *to, bool add)
{
	struct gv_cuda_conv v = conv_of(a);
	struct gv_cuda_sums s = {.B = v.B,
	    .n = v.out,
	    .places = v.out_height * v.out_width,
	    .active = v.active,
	    .v = v.dy,
	    .v_apart = v.dy_apart,
	    .shards = v.shards,
	    .scratch = v.scratch,
	    .to = to + (a->r->bias - a->r->weight),
	    .to_apart = v.dw_apart,
	    .add = add};
	int status;

	v.dw = to;
	v.add = add;
	status = is_product(a) ? product_gradient(a, &v)
			       : gv_cuda_conv_gradient(&a->c->queue, GV_CUDA_F32, &v);
	if (status != 0)
		return status;
	return v.bias == NULL ? 0
			      : gv_cuda_sums(&a->c->queue, GV_CUDA_F32, GV_CUDA_SUM, &s);
}

/* ---- pools, and what works number by number ---- */

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

static int
pool_forward(const struct gv_cuda_at *a)
{
	struct gv_cuda_pool v = pool_of(a);

	return a->r->l.op == GV_OP_MAXPOOL
		   ? gv_cuda_maxpool_forward(&a->c->queue, GV_CUDA_F32, &v)
		   : gv_cuda_avgpool_forward(&a->c->queue, GV_CUDA_F32, &v);
}

static int
pool_backward(const struct gv_cuda_at *a)
{
	struct gv_cuda_pool v = pool_of(a);

	v.dx = gv_cuda_dx(a);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	return a->r->l.op == GV_OP_MAXPOOL
		   ? gv_cuda_maxpool_backward(&a->c->queue, GV_CUDA_F32, &v)
		   : gv_cuda_avgpool_backward(&a->c->queue, GV_CUDA_F32, &v);
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

static int
map_forward(const struct gv_cuda_at *a)
{
	struct gv_cuda_map v = map_of(a);

	v.relu = a->r->l.op == GV_OP_ADD && a->r->l.act == GV_ACT_RELU;
	return gv_cuda_map_forward(&a->c->queue, GV_CUDA_F32, function_of(a), &v);
}

static int
map_backward(const struct gv_cuda_at *a)
{
	struct gv_cuda_map v = map_of(a);

	v.dx = gv_cuda_dx(a);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	return gv_cuda_map_backward(&a->c->queue, GV_CUDA_F32, function_of(a), &v);
}

/* ---- bn and the head ---- */

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

static int
bn_forward(const struct gv_cuda_at *a)
{
	struct gv_cuda_bn v = bn_of(a);

	return gv_cuda_bn_forward(&a->c->queue, GV_CUDA_F32, &v);
}

static int
bn_backward(const struct gv_cuda_at *a)
{
	struct gv_cuda_bn v = bn_of(a);

	v.dx = gv_cuda_dx(a);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	return gv_cuda_bn_backward(&a->c->queue, GV_CUDA_F32, &v);
}

/* What the sums of bn_sum are: gamma's behind beta's (GV_NN_STATS). */
static int
bn_gradient(const struct gv_cuda_at *a, float *to, bool add)
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

static int
head_forward(const struct gv_cuda_at *a)
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
	v.loss = gv_cuda_y(a);
	v.loss_apart = gv_cuda_apart(a);
	v.divisor = (float)gv_nn_targets(call->plan);
	v.scratch = a->c->scratch;
	v.hit_apart = call->plan->n;
	if (!call->training) {
		v.hit = call->f->hit;
	} else if (gv_cuda_input(a) != NULL) {
		v.dx = gv_cuda_dx(a);
		v.dx_apart = v.x_apart;
	}
	return gv_cuda_head(&a->c->queue, GV_CUDA_F32,
	    op == GV_OP_XENT  ? GV_CUDA_XENT
	    : op == GV_OP_MSE ? GV_CUDA_MSE
			      : GV_CUDA_BCE,
	    &v);
}

/* A head's forward has made the gradient. */
static int
nothing(const struct gv_cuda_at *a)
{
	(void)a;
	return 0;
}

/* ---- which row has what ---- */

/* What kernels.h answers, with its reason where the device has none. */
static int
done(const struct gv_cuda_at *a, int status)
{
	char text[120];

	if (status != GV_CUDA_TOO_LARGE)
		return status == 0 ? 0 : -1;
	snprintf(text, sizeof(text), "row %lld of the model is too large for one launch",
	    (long long)a->r->l.id);
	return gv_cuda_fail(a->c, text);
}

static const struct op {
	gv_cuda_pass *forward, *backward;
	gv_cuda_gradient *gradient; /* NULL: no weights */
	/* numbers of scratch beside those of heads, sums and products; NULL: none */
	size_t (*scratch)(const struct gv_nn_plan *p, const struct gv_nn_row *r);
} ops[GV_OPS] = {
    [GV_OP_LINEAR] = {conv_forward, conv_backward, conv_gradient, NULL},
    [GV_OP_CONV] = {conv_forward, conv_backward, conv_gradient, NULL},
    [GV_OP_MAXPOOL] = {pool_forward, pool_backward, NULL, NULL},
    [GV_OP_AVGPOOL] = {pool_forward, pool_backward, NULL, NULL},
    [GV_OP_RELU] = {map_forward, map_backward, NULL, NULL},
    [GV_OP_GELU] = {map_forward, map_backward, NULL, NULL},
    [GV_OP_ADD] = {map_forward, map_backward, NULL, NULL},
    [GV_OP_TCONV] = {gv_cuda_row_tconv, gv_cuda_row_tconv_back,
	gv_cuda_row_tconv_gradient, gv_cuda_row_tconv_scratch},
    [GV_OP_LSTM] = {gv_cuda_row_lstm, gv_cuda_row_lstm_back, gv_cuda_row_lstm_gradient,
	gv_cuda_row_lstm_scratch},
    [GV_OP_CONCAT] = {gv_cuda_row_concat, gv_cuda_row_concat_back, NULL, NULL},
    [GV_OP_DROPOUT] = {gv_cuda_row_dropout, gv_cuda_row_dropout_back, NULL, NULL},
    [GV_OP_LN] = {gv_cuda_row_ln, gv_cuda_row_ln_back, gv_cuda_row_ln_gradient,
	gv_cuda_row_ln_scratch},
    [GV_OP_EMBED] = {gv_cuda_row_embed, nothing, gv_cuda_row_embed_gradient,
	gv_cuda_row_embed_scratch},
    [GV_OP_ATTENTION] = {gv_cuda_row_attention, gv_cuda_row_attention_back, NULL,
	gv_cuda_row_attention_scratch},
    [GV_OP_CAUSAL] = {gv_cuda_row_attention, gv_cuda_row_attention_back, NULL,
	gv_cuda_row_attention_scratch},
    [GV_OP_BN] = {bn_forward, bn_backward, bn_gradient, NULL},
    [GV_OP_XENT] = {head_forward, nothing, NULL, NULL},
    [GV_OP_MSE] = {head_forward, nothing, NULL, NULL},
    [GV_OP_BCE] = {head_forward, nothing, NULL, NULL},
};

bool
gv_cuda_has(const struct gv_nn_row *r)
{
	/* rows that hold a head's channels in shared memory */
	if ((r->l.op == GV_OP_ATTENTION || r->l.op == GV_OP_CAUSAL) &&
	    r->l.out_shape.channels / r->l.g > GV_CUDA_HEAD)
		return false;
	return ops[r->l.op].forward != NULL;
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
    [GV_ACT_SILU] = GV_CUDA_ACT_SILU};

static int
act_forward(const struct gv_cuda_at *a)
{
	struct gv_cuda_acts v = acts_of(a);

	if (a->r->l.act <= GV_ACT_RELU)
		return 0;
	return gv_cuda_act_forward(&a->c->queue, GV_CUDA_F32, kinds[a->r->l.act], &v);
}

static int
act_backward(const struct gv_cuda_at *a)
{
	struct gv_cuda_acts v = acts_of(a);

	return gv_cuda_act_backward(&a->c->queue, GV_CUDA_F32, kinds[a->r->l.act], &v);
}

/* dx of an input; the last of its readers goes through its act, too. */
static int
input_backward(const struct gv_cuda_at *a)
{
	struct gv_cuda_at from = *a;
	int status;

	from.r = gv_cuda_input(a);
	/* an lstm's gradients want what its way back leaves */
	if (from.r == NULL && a->r->l.op != GV_OP_LSTM)
		return 0;
	status = ops[a->r->l.op].backward(a);
	return status != 0 || from.r == NULL || !a->r->ends[a->k] ||
		       from.r->l.act <= GV_ACT_RELU
		   ? status
		   : act_backward(&from);
}

int
gv_cuda_rows_forward(
    struct gv_nn_backend *be, const struct gv_nn_call *call, size_t first, size_t last)
{
	struct gv_cuda_at a = {.c = (struct gv_cuda *)be, .call = call};
	size_t k;

	if (call->training && gv_cuda_lap_start(a.c) != 0)
		return -1;
	for (k = first; k < last; k++) {
		a.r = &call->plan->row[k];
		if (done(&a, ops[a.r->l.op].forward(&a)) != 0 ||
		    done(&a, act_forward(&a)) != 0 ||
		    (call->training && gv_cuda_lap(a.c, k, GV_CUDA_LAP_FORWARD) != 0))
			return -1;
	}
	return 0;
}

int
gv_cuda_rows_backward(
    struct gv_nn_backend *be, const struct gv_nn_call *call, size_t first, size_t last)
{
	struct gv_cuda_at a = {.c = (struct gv_cuda *)be, .call = call};
	size_t k;

	if (gv_cuda_lap_start(a.c) != 0)
		return -1;
	for (k = last; k-- > first;) {
		a.r = &call->plan->row[k];
		for (a.k = a.r->l.inputs; a.k-- > 0;)
			if (done(&a, input_backward(&a)) != 0)
				return -1;
		if (gv_cuda_lap(a.c, k, GV_CUDA_LAP_BACKWARD) != 0)
			return -1;
	}
	return 0;
}

int
gv_cuda_rows_gradient(struct gv_nn_backend *be, const struct gv_nn_call *call,
    size_t first, size_t last, const struct gv_nn_grads *g, bool add)
{
	struct gv_cuda_at a = {.c = (struct gv_cuda *)be, .call = call};
	size_t k;

	if (gv_cuda_lap_start(a.c) != 0)
		return -1;
	for (k = first; k < last; k++) {
		a.r = &call->plan->row[k];
		if (ops[a.r->l.op].gradient != NULL &&
		    done(&a, ops[a.r->l.op].gradient(&a, g->v + a.r->weight, add)) != 0)
			return -1;
		if (gv_cuda_lap(a.c, k, GV_CUDA_LAP_BACKWARD) != 0)
			return -1;
	}
	return 0;
}

int
gv_cuda_act_back(struct gv_nn_backend *be, const struct gv_nn_call *call, size_t row)
{
	struct gv_cuda_at a = {
	    .c = (struct gv_cuda *)be, .call = call, .r = &call->plan->row[row]};

	return a.r->l.act == GV_ACT_NONE ? 0 : done(&a, act_backward(&a));
}

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* What a row's sums want: of its bias, or bn's. */
static size_t
sums_scratch(const struct gv_nn_plan *p, const struct gv_nn_row *r)
{
	bool bn = r->l.op == GV_OP_BN;
	struct gv_shape s = bn ? r->l.in_shape : r->l.out_shape;
	struct gv_cuda_sums v = {.B = p->B,
	    .n = s.channels,
	    .places = s.height * s.width,
	    .shards = gv_cuda_shards_of(p)};

	return gv_cuda_sums_scratch(bn ? GV_CUDA_PRODUCTS : GV_CUDA_SUM, &v);
}

size_t
gv_cuda_rows_scratch(const struct gv_cuda *c)
{
	const struct gv_nn_plan *p = c->plan;
	size_t k, most = 0;

	for (k = p->first_row; k < p->last_row; k++) {
		const struct gv_nn_row *r = &p->row[k];

		if (ops[r->l.op].forward == head_forward) {
			struct gv_cuda_head v = head_of(p, r, p->n);

			most = larger(most, gv_cuda_head_scratch(&v));
		}
		if (ops[r->l.op].scratch != NULL)
			most = larger(most, ops[r->l.op].scratch(p, r));
		if (r->l.weights == 0)
			continue;
		most = larger(most, sums_scratch(p, r));
		if (r->l.op == GV_OP_LINEAR || r->l.op == GV_OP_CONV) {
			struct gv_cuda_conv v = conv_shape(p, r, p->n);

			most = larger(most, gv_cuda_conv_scratch(&c->queue, &v));
		}
	}
	return most;
}
