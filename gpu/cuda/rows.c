/* Rows forward, backward and their gradients: which has what, and the way through them. */
#include <stdio.h>

#include "cuda/rows.h"

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
	/* numbers of scratch beside those of sums and products; NULL: none */
	size_t (*scratch)(const struct gv_cuda *c, const struct gv_nn_row *r);
} ops[GV_OPS] = {
    [GV_OP_LINEAR] = {gv_cuda_row_conv, gv_cuda_row_conv_back, gv_cuda_row_conv_gradient,
	NULL},
    [GV_OP_CONV] = {gv_cuda_row_conv, gv_cuda_row_conv_back, gv_cuda_row_conv_gradient,
	NULL},
    [GV_OP_MAXPOOL] = {gv_cuda_row_pool, gv_cuda_row_pool_back, NULL, NULL},
    [GV_OP_AVGPOOL] = {gv_cuda_row_pool, gv_cuda_row_pool_back, NULL, NULL},
    [GV_OP_RELU] = {gv_cuda_row_map, gv_cuda_row_map_back, NULL, NULL},
    [GV_OP_GELU] = {gv_cuda_row_map, gv_cuda_row_map_back, NULL, NULL},
    [GV_OP_ADD] = {gv_cuda_row_map, gv_cuda_row_map_back, NULL, NULL},
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
    [GV_OP_BN] = {gv_cuda_row_bn, gv_cuda_row_bn_back, gv_cuda_row_bn_gradient, NULL},
    [GV_OP_XENT] = {gv_cuda_row_head, nothing, NULL, gv_cuda_row_head_scratch},
    [GV_OP_MSE] = {gv_cuda_row_head, nothing, NULL, gv_cuda_row_head_scratch},
    [GV_OP_BCE] = {gv_cuda_row_head, nothing, NULL, gv_cuda_row_head_scratch},
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
		   : gv_cuda_row_act_back(&from);
}

/* The first row that reads the sample's numbers as those of an activation; rows: none. */
static size_t
reader_of_sample(const struct gv_nn_call *call)
{
	const struct gv_nn_plan *p = call->plan;
	size_t i, k;

	if (call->f->stored_x == NULL)
		return p->rows;
	for (i = p->first_row; i < p->last_row; i++)
		for (k = 0; k < p->row[i].l.inputs && p->row[i].l.op != GV_OP_EMBED; k++)
			if (p->row[i].l.from[k] == GV_FROM_INPUT)
				return i;
	return p->rows;
}

int
gv_cuda_store_sample(struct gv_cuda *c, const struct gv_nn_call *call, size_t row)
{
	struct gv_cuda_convert v = {.B = 1,
	    .n = call->n * call->plan->in_size,
	    .to = call->f->stored_x,
	    .from = call->f->x};

	if (row != reader_of_sample(call))
		return 0;
	return gv_cuda_convert(&c->queue, GV_CUDA_F32, &v);
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
		if (done(&a, gv_cuda_store_sample(a.c, call, k)) != 0 ||
		    done(&a, ops[a.r->l.op].forward(&a)) != 0 ||
		    done(&a, gv_cuda_row_act(&a)) != 0 ||
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

	return a.r->l.act == GV_ACT_NONE ? 0 : done(&a, gv_cuda_row_act_back(&a));
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

		if (ops[r->l.op].scratch != NULL)
			most = larger(most, ops[r->l.op].scratch(c, r));
		if (r->l.weights == 0)
			continue;
		most = larger(most, sums_scratch(p, r));
		if (r->l.op == GV_OP_LINEAR || r->l.op == GV_OP_CONV)
			most = larger(most, gv_cuda_row_conv_scratch(c, r));
	}
	return most;
}
