/* ln, embed, attention. */
#include "cuda/rows.h"

/* ---- ln ---- */

static size_t
rows_of(const struct gv_nn_row *r, size_t n)
{
	return n * r->in_size / r->l.in_shape.channels;
}

static struct gv_cuda_ln
ln_of(const struct gv_cuda_at *a)
{
	const struct gv_nn_plan *p = a->call->plan;

	return (struct gv_cuda_ln){.B = p->B,
	    .rows = rows_of(a->r, a->call->n),
	    .n = a->r->l.in_shape.channels,
	    .active = gv_cuda_active_of(a->c, a->call),
	    .x = gv_cuda_x(a, 0),
	    .gamma = gv_nn_weight(a->call, a->r, 0),
	    .beta = gv_nn_bias(a->call, a->r, 0),
	    .x_apart = gv_cuda_x_apart(a, 0),
	    .gamma_apart = p->P,
	    .beta_apart = p->P};
}

int
gv_cuda_row_ln(const struct gv_cuda_at *a)
{
	struct gv_cuda_ln v = ln_of(a);

	v.y = gv_cuda_y(a);
	v.y_apart = gv_cuda_apart(a);
	return gv_cuda_ln_forward(&a->c->queue, a->c->type, &v);
}

int
gv_cuda_row_ln_back(const struct gv_cuda_at *a)
{
	struct gv_cuda_ln v = ln_of(a);

	v.dy = gv_cuda_dy(a);
	v.dy_apart = gv_cuda_apart(a);
	v.dx = gv_cuda_dx(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	return gv_cuda_ln_backward(&a->c->queue, a->c->type, &v);
}

/* Sums of gamma's gradient; in front of their scratch are the rows' statistics. */
static struct gv_cuda_sums
gamma_sums(const struct gv_nn_plan *p, const struct gv_nn_row *r)
{
	return (struct gv_cuda_sums){.B = p->B,
	    .n = r->l.in_shape.channels,
	    .places = rows_of(r, 1),
	    .shards = gv_cuda_shards_of(p)};
}

size_t
gv_cuda_row_ln_scratch(const struct gv_cuda *c, const struct gv_nn_row *r)
{
	const struct gv_nn_plan *p = c->plan;
	struct gv_cuda_sums s = gamma_sums(p, r);
	size_t scaled = gv_cuda_sums_scratch(GV_CUDA_SCALED, &s);
	size_t bias = gv_cuda_row_bias_scratch(c, r);

	return 2 * p->B * rows_of(r, p->n) + (scaled > bias ? scaled : bias);
}

int
gv_cuda_row_ln_gradient(const struct gv_cuda_at *a, float *to, bool add)
{
	struct gv_cuda_ln v = ln_of(a);
	struct gv_cuda_sums s = gamma_sums(a->call->plan, a->r);
	int status;

	v.stats = a->c->scratch;
	v.stats_apart = 2 * v.rows;
	s.active = v.active;
	s.v = gv_cuda_dy(a);
	s.v_apart = gv_cuda_apart(a);
	s.x = v.x;
	s.x_apart = v.x_apart;
	s.mean = v.stats;
	s.rstd = v.stats + v.rows;
	s.stat_apart = v.stats_apart;
	s.scratch = v.stats + v.B * v.stats_apart;
	s.to = to;
	s.to_apart = a->call->plan->P;
	s.add = add;
	status = gv_cuda_ln_forward(&a->c->queue, a->c->type, &v);
	if (status == 0)
		status = gv_cuda_sums(&a->c->queue, a->c->type, GV_CUDA_SCALED, &s);
	return status != 0 ? status : gv_cuda_row_bias(a, to, add, s.scratch);
}

/* ---- embed ---- */

static struct gv_cuda_embed
embed_of(const struct gv_cuda_at *a)
{
	const struct gv_nn_plan *p = a->call->plan;

	return (struct gv_cuda_embed){.B = p->B,
	    .n = a->call->n,
	    .places = a->r->in_size,
	    .tokens = a->r->matrix_rows,
	    .width = a->r->columns,
	    .active = gv_cuda_active_of(a->c, a->call),
	    .x = a->call->f->x, /* tokens */
	    .w = gv_nn_weight(a->call, a->r, 0),
	    .bias = gv_nn_bias(a->call, a->r, 0),
	    .y = gv_cuda_y(a),
	    .dy = gv_cuda_dy(a),
	    .shards = gv_cuda_shards_of(p),
	    .w_apart = p->P,
	    .bias_apart = p->P,
	    .y_apart = gv_cuda_apart(a),
	    .dy_apart = gv_cuda_apart(a),
	    .dw_apart = p->P};
}

int
gv_cuda_row_embed(const struct gv_cuda_at *a)
{
	struct gv_cuda_embed v = embed_of(a);

	return gv_cuda_embed_forward(&a->c->queue, a->c->type, &v);
}

size_t
gv_cuda_row_embed_scratch(const struct gv_cuda *c, const struct gv_nn_row *r)
{
	size_t lists = 2 * c->plan->n * r->in_size;
	size_t bias = gv_cuda_row_bias_scratch(c, r);

	return lists > bias ? lists : bias;
}

int
gv_cuda_row_embed_gradient(const struct gv_cuda_at *a, float *to, bool add)
{
	struct gv_cuda_embed v = embed_of(a);
	int status;

	v.dw = to;
	v.add = add;
	v.lists = (uint32_t *)(void *)a->c->scratch;
	status = gv_cuda_embed_gradient(&a->c->queue, a->c->type, &v);
	return status != 0 ? status : gv_cuda_row_bias(a, to, add, a->c->scratch);
}

/* ---- attention ---- */

/* Rows of all heads of a model. */
static size_t
head_rows(const struct gv_nn_row *r, size_t n)
{
	return n * r->l.g * r->l.in_shape.height * r->l.in_shape.width;
}

size_t
gv_cuda_row_attention_scratch(const struct gv_cuda *c, const struct gv_nn_row *r)
{
	return 2 * c->plan->B * head_rows(r, c->plan->n);
}

static struct gv_cuda_attention
attention_of(const struct gv_cuda_at *a)
{
	const struct gv_layer *l = &a->r->l;
	size_t rows = head_rows(a->r, a->call->plan->n);

	return (struct gv_cuda_attention){.B = a->call->plan->B,
	    .n = a->call->n,
	    .T = l->in_shape.height * l->in_shape.width,
	    .heads = l->g,
	    .D = l->out_shape.channels / l->g,
	    .active = gv_cuda_active_of(a->c, a->call),
	    .causal = l->op == GV_OP_CAUSAL,
	    .x = gv_cuda_x(a, 0),
	    .y = gv_cuda_y(a),
	    .lse = a->c->scratch,
	    .dots = a->c->scratch + a->call->plan->B * rows,
	    .x_apart = gv_cuda_x_apart(a, 0),
	    .y_apart = gv_cuda_apart(a),
	    .lse_apart = rows};
}

int
gv_cuda_row_attention(const struct gv_cuda_at *a)
{
	struct gv_cuda_attention v = attention_of(a);

	return gv_cuda_attention_forward(&a->c->queue, a->c->type, &v);
}

/* The logarithms of the sums are not kept until here: other rows had their place. */
int
gv_cuda_row_attention_back(const struct gv_cuda_at *a)
{
	struct gv_cuda_attention v = attention_of(a), sums = v;
	int status;

	sums.y = NULL;
	status = gv_cuda_attention_forward(&a->c->queue, a->c->type, &sums);
	v.dy = gv_cuda_dy(a);
	v.dy_apart = gv_cuda_apart(a);
	v.dx = gv_cuda_dx(a);
	v.dx_apart = v.mask_apart = gv_cuda_x_apart(a, a->k);
	v.add = a->r->adds[a->k];
	v.mask = gv_cuda_mask(a);
	return status != 0 ? status
			   : gv_cuda_attention_backward(&a->c->queue, a->c->type, &v);
}
