/*
 * lstm: products with the input for all places at once, with the state place by place, as
 * common/nn/cpu/lstm.c has them and keeps them.
 */
#include "cuda/rows.h"

/* Sizes of a row; where a model's gates, cells and their gradients are. */
struct lstm {
	const struct gv_cuda_at *a;
	size_t steps, in, out, state, gates, each; /* each: gates of a way */
	void *kept, *cells, *dkept, *dcells;
	size_t kept_apart, w_way; /* w_way: numbers of a way's matrix */
	const unsigned char *active;
};

static struct lstm
sizes_of(const struct gv_nn_row *r)
{
	const struct gv_layer *l = &r->l;
	struct lstm s = {.steps = l->in_shape.height,
	    .in = l->in_shape.channels,
	    .out = l->out_shape.channels,
	    .state = l->out_shape.channels / l->g,
	    .gates = 4 * l->out_shape.channels};

	s.each = 4 * s.state;
	s.w_way = (s.in + s.state) * s.each;
	return s;
}

static struct lstm
lstm_of(const struct gv_cuda_at *a)
{
	size_t n = a->call->plan->n;
	struct lstm s = sizes_of(a->r);

	s.a = a;
	s.kept = gv_nn_kept(a->call, a->r, 0);
	s.dkept = gv_nn_kept_dy(a->call, a->r, 0);
	s.cells = gv_cuda_plus(a, s.kept, n * s.steps * s.gates);
	s.dcells = gv_cuda_plus(a, s.dkept, n * s.steps * s.gates);
	s.kept_apart = n * a->r->l.kept;
	s.active = gv_cuda_active_of(a->c, a->call);
	return s;
}

/* Place number k on the way. */
static size_t
place(const struct lstm *s, size_t way, size_t k)
{
	return s->a->r->l.dir == GV_DIR_BACK || way == 1 ? s->steps - 1 - k : k;
}

/* A way's matrix, from a row on. */
static const void *
matrix(const struct lstm *s, size_t way, size_t row)
{
	return gv_cuda_plus(s->a, gv_cuda_weight(s->a), way * s->w_way + row * s->each);
}

static struct gv_cuda_gemm
gemm_of(const struct lstm *s)
{
	return (struct gv_cuda_gemm){.batch = s->a->call->plan->B,
	    .active = s->active,
	    .b_batch = gv_cuda_weight_apart(s->a),
	    .bias_batch = s->a->call->plan->P,
	    .ldb = s->each,
	    .c_type = s->a->c->type};
}

static struct gv_cuda_cell
cell_of(const struct lstm *s, size_t way, size_t k)
{
	size_t t = place(s, way, k), at = t * s->out + way * s->state;
	struct gv_cuda_cell v = {.B = s->a->call->plan->B,
	    .n = s->a->call->n,
	    .state = s->state,
	    .active = s->active,
	    .gates = gv_cuda_plus(s->a, s->kept, t * s->gates + way * s->each),
	    .cell = gv_cuda_plus(s->a, s->cells, at),
	    .h = gv_cuda_plus(s->a, gv_cuda_y(s->a), at),
	    .dgates = gv_cuda_plus(s->a, s->dkept, t * s->gates + way * s->each),
	    .dh = gv_cuda_plus(s->a, s->dcells, at),
	    .gates_row = s->steps * s->gates,
	    .row = s->steps * s->out,
	    .kept_apart = s->kept_apart,
	    .h_apart = gv_cuda_apart(s->a),
	    .dkept_apart = s->kept_apart};

	if (k > 0)
		v.before = gv_cuda_plus(
		    s->a, s->cells, place(s, way, k - 1) * s->out + way * s->state);
	if (k + 1 < s->steps)
		v.carry = gv_cuda_plus(
		    s->a, s->dcells, place(s, way, k + 1) * s->out + way * s->state);
	return v;
}

/* Place k: the state's part of the sums, then the cell. */
static int
step(const struct lstm *s, size_t way, size_t k)
{
	const struct gv_cuda_queue *q = &s->a->c->queue;
	struct gv_cuda_gemm g = gemm_of(s);
	struct gv_cuda_cell v = cell_of(s, way, k);
	int status = 0;

	if (k > 0) {
		g.m = s->a->call->n;
		g.n = s->each;
		g.k = s->state;
		g.a = gv_cuda_plus(s->a, gv_cuda_y(s->a),
		    place(s, way, k - 1) * s->out + way * s->state);
		g.lda = s->steps * s->out;
		g.a_batch = gv_cuda_apart(s->a);
		g.b = matrix(s, way, s->in);
		g.c = v.gates;
		g.ldc = v.gates_row;
		g.c_batch = s->kept_apart;
		g.add = true;
		status = gv_cuda_gemm(q, s->a->c->type, &g);
	}
	return status != 0 ? status : gv_cuda_cell_forward(q, s->a->c->type, &v);
}

int
gv_cuda_row_lstm(const struct gv_cuda_at *a)
{
	struct lstm s = lstm_of(a);
	const float *bias = gv_nn_bias(a->call, a->r, 0);
	size_t way, k;
	int status = 0;

	for (way = 0; way < a->r->l.g && status == 0; way++) {
		struct gv_cuda_gemm g = gemm_of(&s);

		g.m = a->call->n * s.steps;
		g.n = s.each;
		g.k = s.in;
		g.a = gv_cuda_x(a, 0);
		g.lda = s.in;
		g.a_batch = gv_cuda_x_apart(a, 0);
		g.b = matrix(&s, way, 0);
		g.c = gv_cuda_plus(a, s.kept, way * s.each);
		g.ldc = s.gates;
		g.c_batch = s.kept_apart;
		g.bias = bias == NULL ? NULL : bias + way * s.each;
		status = gv_cuda_gemm(&a->c->queue, a->c->type, &g);
		for (k = 0; k < s.steps && status == 0; k++)
			status = step(&s, way, k);
	}
	return status;
}

/* ---- back ---- */

/* Place k: dh is dy and what the next place's gates give back to the state. */
static int
step_back(const struct lstm *s, size_t way, size_t k)
{
	const struct gv_cuda_queue *q = &s->a->c->queue;
	struct gv_cuda_cell v = cell_of(s, way, k);
	struct gv_cuda_gemm g = gemm_of(s);
	struct gv_cuda_move dy = {.B = g.batch,
	    .rows = s->a->call->n,
	    .n = s->state,
	    .to_row = v.row,
	    .from_row = v.row,
	    .active = s->active,
	    .to = v.dh,
	    .from = gv_cuda_plus(
		s->a, gv_cuda_dy(s->a), place(s, way, k) * s->out + way * s->state),
	    .to_apart = s->kept_apart,
	    .from_apart = gv_cuda_apart(s->a)};
	int status = gv_cuda_move(q, s->a->c->type, &dy);

	if (status == 0 && k + 1 < s->steps) {
		g.m = s->a->call->n;
		g.n = s->state;
		g.k = s->each;
		g.a = gv_cuda_plus(
		    s->a, s->dkept, place(s, way, k + 1) * s->gates + way * s->each);
		g.lda = v.gates_row;
		g.a_batch = s->kept_apart;
		g.b = matrix(s, way, s->in);
		g.b_transposed = true;
		g.c = v.dh;
		g.ldc = v.row;
		g.c_batch = s->kept_apart;
		g.add = true;
		status = gv_cuda_gemm(q, s->a->c->type, &g);
	}
	return status != 0 ? status : gv_cuda_cell_backward(q, s->a->c->type, &v);
}

static int
input_back(const struct lstm *s, size_t way)
{
	const struct gv_cuda_at *a = s->a;
	struct gv_cuda_gemm g = gemm_of(s);

	g.m = a->call->n * s->steps;
	g.n = s->in;
	g.k = s->each;
	g.a = gv_cuda_plus(a, s->dkept, way * s->each);
	g.lda = s->gates;
	g.a_batch = s->kept_apart;
	g.b = matrix(s, way, 0);
	g.b_transposed = true;
	g.c = gv_cuda_dx(a);
	g.ldc = s->in;
	g.c_batch = g.mask_batch = gv_cuda_x_apart(a, a->k);
	g.add = way > 0 || a->r->adds[a->k];
	g.mask = way + 1 == a->r->l.g ? gv_cuda_mask(a) : NULL;
	return gv_cuda_gemm(&a->c->queue, a->c->type, &g);
}

/* Also where the input is the sample: the gradients want what is left of the gates. */
int
gv_cuda_row_lstm_back(const struct gv_cuda_at *a)
{
	struct lstm s = lstm_of(a);
	size_t way, k;
	int status = 0;

	for (way = 0; way < a->r->l.g && status == 0; way++) {
		for (k = s.steps; k-- > 0 && status == 0;)
			status = step_back(&s, way, k);
		if (status == 0 && gv_cuda_input(a) != NULL)
			status = input_back(&s, way);
	}
	return status;
}

/* ---- gradients: of one way's matrix, the input's rows and the state's ---- */

/* Scratch: the way's dgates side by side, the states before, what a product or sum wants. */
struct room {
	size_t dgates, states, rest;
};

static struct gv_cuda_conv
product_of(const struct gv_nn_plan *p, const struct lstm *s, size_t n, size_t rows)
{
	return (struct gv_cuda_conv){.B = p->B,
	    .n = n,
	    .height = s->steps,
	    .width = 1,
	    .channels = rows,
	    .out_height = s->steps,
	    .out_width = 1,
	    .out = s->each,
	    .k = 1,
	    .s = 1,
	    .g = 1,
	    .shards = gv_cuda_shards_of(p),
	    .dw_apart = p->P};
}

static struct gv_cuda_sums
bias_of(const struct gv_nn_plan *p, const struct lstm *s)
{
	return (struct gv_cuda_sums){
	    .B = p->B, .n = s->gates, .places = s->steps, .shards = gv_cuda_shards_of(p)};
}

static struct room
room_of(const struct gv_nn_plan *p, const struct lstm *s)
{
	size_t rows = p->B * p->n * s->steps;

	return (struct room){0, rows * s->each, rows * (s->each + s->state)};
}

size_t
gv_cuda_row_lstm_scratch(const struct gv_cuda *c, const struct gv_nn_row *r)
{
	const struct gv_nn_plan *p = c->plan;
	struct lstm s = sizes_of(r);
	struct gv_cuda_conv x = product_of(p, &s, p->n, s.in);
	struct gv_cuda_conv h = product_of(p, &s, p->n, s.state);
	struct gv_cuda_sums b = bias_of(p, &s);
	size_t most = gv_cuda_sums_scratch(GV_CUDA_SUM, &b), of;

	x.tf32 = h.tf32 = c->math == GV_NN_TF32;
	of = gv_cuda_conv_scratch(&c->queue, c->type, &x);
	most = of > most ? of : most;
	of = gv_cuda_conv_scratch(&c->queue, c->type, &h);
	return room_of(p, &s).rest + (of > most ? of : most);
}

static int
product(
    const struct lstm *s, const void *x, size_t x_apart, size_t rows, float *to, bool add)
{
	const struct gv_cuda_at *a = s->a;
	struct room at = room_of(a->call->plan, s);
	struct gv_cuda_conv v = product_of(a->call->plan, s, a->call->n, rows);

	v.active = s->active;
	v.x = x;
	v.x_apart = x_apart;
	v.dy = a->c->scratch + at.dgates;
	v.dy_apart = a->call->n * s->steps * s->each;
	v.dw = to;
	v.add = add;
	v.tf32 = a->c->math == GV_NN_TF32;
	v.scratch = a->c->scratch + at.rest;
	return gv_cuda_conv_gradient(&a->c->queue, a->c->type, &v);
}

static int
way_gradient(const struct lstm *s, size_t way, float *to, bool add)
{
	const struct gv_cuda_at *a = s->a;
	const struct gv_cuda_queue *q = &a->c->queue;
	size_t rows = a->call->n * s->steps;
	struct room at = room_of(a->call->plan, s);
	struct gv_cuda_move dgates = {.B = a->call->plan->B,
	    .rows = rows,
	    .n = s->each,
	    .to_row = s->each,
	    .from_row = s->gates,
	    .active = s->active,
	    .to = a->c->scratch + at.dgates,
	    .from = gv_cuda_plus(a, s->dkept, way * s->each),
	    .to_apart = rows * s->each,
	    .from_apart = s->kept_apart};
	struct gv_cuda_shift states = {.B = a->call->plan->B,
	    .n = a->call->n,
	    .steps = s->steps,
	    .width = s->state,
	    .from_row = s->out,
	    .active = s->active,
	    .to = a->c->scratch + at.states,
	    .from = gv_cuda_plus(a, gv_cuda_y(a), way * s->state),
	    .behind = place(s, way, 0) > 0,
	    .to_apart = rows * s->state,
	    .from_apart = gv_cuda_apart(a)};
	int status = gv_cuda_move(q, s->a->c->type, &dgates);

	if (status == 0)
		status = gv_cuda_shift(q, s->a->c->type, &states);
	if (status == 0)
		status =
		    product(s, gv_cuda_x(a, 0), gv_cuda_x_apart(a, 0), s->in, to, add);
	return status != 0 ? status
			   : product(s, states.to, states.to_apart, s->state,
				 to + s->in * s->each, add);
}

int
gv_cuda_row_lstm_gradient(const struct gv_cuda_at *a, float *to, bool add)
{
	struct lstm s = lstm_of(a);
	struct gv_cuda_sums b = bias_of(a->call->plan, &s);
	size_t way;
	int status = 0;

	for (way = 0; way < a->r->l.g && status == 0; way++)
		status = way_gradient(&s, way, to + way * s.w_way, add);
	if (status != 0 || a->r->l.biases == 0)
		return status;
	b.active = s.active;
	b.v = s.dkept;
	b.v_apart = s.kept_apart;
	b.scratch = a->c->scratch + room_of(a->call->plan, &s).rest;
	b.to = to + (a->r->bias - a->r->weight);
	b.to_apart = a->call->plan->P;
	b.add = add;
	return gv_cuda_sums(&a->c->queue, a->c->type, GV_CUDA_SUM, &b);
}
