/* Rows of weights and sums: linear and conv, by kernels of our own or as products of cuBLAS. */
#include "cuda/rows.h"

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
	v.w = gv_cuda_weight(a);
	v.tf32 = a->c->math == GV_NN_TF32;
	v.w_apart = gv_cuda_weight_apart(a);
	v.bias = gv_nn_bias(a->call, a->r, 0);
	v.bias_apart = v.dw_apart = P;
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

static int
queue_product(const struct gv_cuda_at *a, const struct gv_nn_gemm *g)
{
	return gv_cuda_queue_product(
	    a->c, &(struct gv_cuda_product){*g, a->c->type, a->c->type});
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

	if (queue_product(a, &g) != 0)
		return -1;
	if (v->bias == NULL && !v->relu)
		return 0;
	return gv_cuda_bias(&a->c->queue, a->c->type, &bias);
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

	if (queue_product(a, &g) != 0)
		return -1;
	if (v->mask == NULL)
		return 0;
	return gv_cuda_map_backward(&a->c->queue, a->c->type, GV_CUDA_ADD, &relu);
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

	return gv_cuda_queue_product(
	    a->c, &(struct gv_cuda_product){g, a->c->type, GV_CUDA_F32});
}

int
gv_cuda_row_conv(const struct gv_cuda_at *a)
{
	struct gv_cuda_conv v = conv_of(a);

	if (is_product(a))
		return product_forward(a, &v);
	return gv_cuda_conv_forward(&a->c->queue, a->c->type, &v);
}

int
gv_cuda_row_conv_back(const struct gv_cuda_at *a)
{
	struct gv_cuda_conv v = conv_of(a);

	v.dx = gv_cuda_dx(a);
	v.mask = gv_cuda_mask(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	v.add = a->r->adds[a->k];
	if (is_product(a))
		return product_backward(a, &v);
	return gv_cuda_conv_backward(&a->c->queue, a->c->type, &v);
}

int
gv_cuda_row_conv_gradient(const struct gv_cuda_at *a, float *to, bool add)
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
			       : gv_cuda_conv_gradient(&a->c->queue, a->c->type, &v);
	if (status != 0)
		return status;
	return v.bias == NULL ? 0
			      : gv_cuda_sums(&a->c->queue, a->c->type, GV_CUDA_SUM, &s);
}

size_t
gv_cuda_row_conv_scratch(const struct gv_cuda *c, const struct gv_nn_row *r)
{
	struct gv_cuda_conv v = conv_shape(c->plan, r, c->plan->n);

	v.tf32 = c->math == GV_NN_TF32;
	return gv_cuda_conv_scratch(&c->queue, c->type, &v);
}
