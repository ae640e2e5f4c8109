/*
 * Kernels of sequences under emulation against the CPU's device: embed and ln bit for
 * bit, attention, whose sums have another order, within 1e-5.
 */
#include "tensors.h"

/* ---- embed: reads the sample, whose numbers become tokens ---- */

/* Tokens, some of which there are none, in place of the sample's numbers. */
static void
make_tokens(struct device *d)
{
	float *x = (float *)(uintptr_t)d->f.x;
	size_t i, n = d->c->samples * d->plan.in_size;

	for (i = 0; i < n; i++)
		x[i] = i % 9 == 4
			   ? -3.0f
			   : (float)(gv_random(12, 0, 0, i) % (d->row->matrix_rows + 1));
}

static void
run_embed(const struct device *d, struct wrong *w)
{
	const struct gv_layer *l = &d->row->l;
	struct tensors t = make_tensors(d);
	struct gv_cuda_sums s = bias_sums(d, &t);
	size_t n = d->c->samples, places = d->row->in_size;
	uint32_t *lists = malloc(2 * n * places * sizeof(*lists));
	struct tensor strips =
	    tensor(GV_CUDA_F32, gv_cuda_sums_scratch(GV_CUDA_SUM, &s), NULL);
	struct gv_cuda_embed a = {.B = d->plan.B,
	    .n = n,
	    .places = places,
	    .tokens = d->row->matrix_rows,
	    .width = d->row->columns,
	    .active = d->away,
	    .x = d->f.x,
	    .w = t.w.p,
	    .bias = l->biases > 0 ? t.bias.p : NULL,
	    .y = t.y.p,
	    .dy = t.dy.p,
	    .dw = t.dw.p,
	    .add = d->c->add,
	    .shards = device_shards(&d->plan),
	    .lists = lists,
	    .w_apart = l->weights,
	    .bias_apart = l->biases,
	    .y_apart = n * d->row->out_size,
	    .dy_apart = n * d->row->out_size,
	    .dw_apart = l->weights};

	s.scratch = strips.p;
	w->launches += gv_cuda_embed_forward(&queue, d->type, &a) != 0;
	w->launches += gv_cuda_embed_gradient(&queue, d->type, &a) != 0;
	if (l->biases > 0)
		w->launches += gv_cuda_sums(&queue, d->type, GV_CUDA_SUM, &s) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, 0);
	w->dw += wrong_gradients(d, &t, 0);
	free(lists);
	free(strips.p);
	free_tensors(&t);
}

/* ---- ln ---- */

static void
run_ln(const struct device *d, struct wrong *w)
{
	const struct gv_layer *l = &d->row->l;
	struct tensors t = make_tensors(d);
	struct gv_cuda_sums s = bias_sums(d, &t), g;
	size_t n = l->in_shape.channels, rows = d->c->samples * d->row->in_size / n;
	size_t apart = d->c->samples * d->row->in_size;
	struct tensor stats = tensor(GV_CUDA_F32, d->plan.B * 2 * rows, NULL), strips;
	struct gv_cuda_ln a = {.B = d->plan.B,
	    .rows = rows,
	    .n = n,
	    .active = d->away,
	    .x = t.x.p,
	    .y = t.y.p,
	    .dy = t.dy.p,
	    .dx = t.dx.p,
	    .gamma = t.w.p,
	    .beta = l->biases > 0 ? t.bias.p : NULL,
	    .add = d->c->add,
	    .mask = d->c->mask ? t.x.p : NULL,
	    .x_apart = apart,
	    .y_apart = apart,
	    .dy_apart = apart,
	    .dx_apart = apart,
	    .gamma_apart = l->weights,
	    .beta_apart = l->biases,
	    .stats_apart = 2 * rows,
	    .mask_apart = apart};

	w->launches += gv_cuda_ln_forward(&queue, d->type, &a) != 0;
	w->launches += gv_cuda_ln_backward(&queue, d->type, &a) != 0;
	/* statistics alone, for gamma's gradient */
	a.y = NULL;
	a.stats = stats.p;
	w->launches += gv_cuda_ln_forward(&queue, d->type, &a) != 0;
	g = s;
	g.n = n;
	g.places = d->row->in_size / n;
	g.x = t.x.p;
	g.mean = stats.p;
	g.rstd = (float *)stats.p + rows;
	g.stat_apart = 2 * rows;
	g.x_apart = apart;
	g.to = t.dw.p;
	g.to_apart = n;
	strips = tensor(GV_CUDA_F32, gv_cuda_sums_scratch(GV_CUDA_SCALED, &g), NULL);
	g.scratch = s.scratch = strips.p;
	w->launches += gv_cuda_sums(&queue, d->type, GV_CUDA_SCALED, &g) != 0;
	if (l->biases > 0)
		w->launches += gv_cuda_sums(&queue, d->type, GV_CUDA_SUM, &s) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, 0);
	w->dx +=
	    device_differs(d, &t.dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, 0);
	w->dw += wrong_gradients(d, &t, 0);
	free(stats.p);
	free(strips.p);
	free_tensors(&t);
}

/* ---- attention ---- */

static void
run_attention(const struct device *d, struct wrong *w)
{
	const struct gv_layer *l = &d->row->l;
	struct tensors t = make_tensors(d);
	size_t T = l->in_shape.height * l->in_shape.width, n = d->c->samples;
	struct tensor lse = tensor(GV_CUDA_F32, d->plan.B * n * l->g * T, NULL);
	struct tensor dots = tensor(GV_CUDA_F32, d->plan.B * n * l->g * T, NULL);
	struct gv_cuda_attention a = {.B = d->plan.B,
	    .n = n,
	    .T = T,
	    .heads = l->g,
	    .D = l->out_shape.channels / l->g,
	    .active = d->away,
	    .causal = l->op == GV_OP_CAUSAL,
	    .x = t.x.p,
	    .y = t.y.p,
	    .lse = lse.p,
	    .dy = t.dy.p,
	    .dx = t.dx.p,
	    .dots = dots.p,
	    .add = d->c->add,
	    .mask = d->c->mask ? t.x.p : NULL,
	    .x_apart = n * d->row->in_size,
	    .y_apart = n * d->row->out_size,
	    .lse_apart = n * l->g * T,
	    .dy_apart = n * d->row->out_size,
	    .dx_apart = n * d->row->in_size,
	    .mask_apart = n * d->row->in_size};
	/* in bfloat16 probabilities are rounded, and y before the dots are made of it */
	double tolerance = d->type == GV_CUDA_F32 ? 1e-5 : 5e-3;
	double back = d->type == GV_CUDA_F32 ? 1e-5 : 2e-2;

	w->launches += gv_cuda_attention_forward(&queue, d->type, &a) != 0;
	w->launches += gv_cuda_attention_backward(&queue, d->type, &a) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, tolerance);
	w->dx += device_differs(
	    d, &t.dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, back);
	free(lse.p);
	free(dots.p);
	free_tensors(&t);
}

/* ---- lstm: all of it is in tests/unit/cuda_backend.c; here its cells in both types ---- */

static void
test_cell(enum gv_cuda_type type, size_t B, size_t n, size_t state, bool begins)
{
	size_t i, gates_row = 4 * state + 3, row = state + 2, wrong = 0;
	size_t kept = n * gates_row, cells = n * row;
	float *gates = normals(type, B * kept, 1), *before = normals(type, B * kept, 2);
	float *cell = normals(type, B * kept, 3), *h = normals(type, B * cells, 4);
	float *dh = normals(type, B * kept, 5), *carry = normals(type, B * kept, 6);
	struct tensor tg = tensor(type, B * kept, gates),
		      tc = tensor(type, B * kept, cell);
	struct tensor th = tensor(type, B * cells, h), td = tensor(type, B * kept, NULL);
	struct tensor tb = tensor(type, B * kept, before),
		      tdh = tensor(type, B * kept, dh);
	struct tensor tcarry = tensor(type, B * kept, carry);
	struct gv_cuda_cell a = {.B = B,
	    .n = n,
	    .state = state,
	    .gates = tg.p,
	    .before = begins ? NULL : tb.p,
	    .cell = tc.p,
	    .h = th.p,
	    .dgates = td.p,
	    .dh = tdh.p,
	    .carry = begins ? NULL : tcarry.p,
	    .gates_row = gates_row,
	    .row = row,
	    .kept_apart = kept,
	    .h_apart = cells,
	    .dkept_apart = kept};

	emulator_order = 3;
	wrong += gv_cuda_cell_forward(&queue, type, &a) != 0;
	wrong += gv_cuda_cell_backward(&queue, type, &a) != 0;
	for (i = 0; i < B * n * state; i++) {
		size_t b = i / (n * state), at = b * kept, j = i % state,
		       s = i / state % n;
		double in, forget, fresh, out, was, c, t, d, dc, tolerance;

		at += s * gates_row + j;
		in = 1 / (1 + exp(-(double)gates[at]));
		forget = 1 / (1 + exp(-(double)gates[at + state]));
		fresh = tanh((double)gates[at + 2 * state]);
		out = 1 / (1 + exp(-(double)gates[at + 3 * state]));
		at = b * kept + s * row + j;
		was = begins ? 0 : (double)before[at];
		c = forget * was + in * fresh;
		t = tanh(c);
		d = (double)dh[at];
		dc = d * out * (1 - t * t) + (begins ? 0 : (double)carry[at]);
		/* in bfloat16 gates and cell are rounded before the way back */
		tolerance = type == GV_CUDA_F32 ? 2e-6 : 4e-2;
		wrong += !(fabs((double)number(&tc, at) - c) < tolerance);
		wrong += !(fabs((double)number(&th, b * cells + s * row + j) - out * t) <
			   tolerance);
		wrong += !(fabs((double)number(&tdh, at) - dc * forget) < tolerance);
		at = b * kept + s * gates_row + j;
		wrong += !(fabs((double)number(&td, at) - dc * fresh * in * (1 - in)) <
			   tolerance);
		wrong += !(fabs((double)number(&td, at + state) -
				dc * was * forget * (1 - forget)) < tolerance);
		wrong += !(fabs((double)number(&td, at + 2 * state) -
				dc * in * (1 - fresh * fresh)) < tolerance);
		wrong += !(fabs((double)number(&td, at + 3 * state) -
				d * t * out * (1 - out)) < tolerance);
	}
	is_int(wrong, 0,
	    "%s: cells of %zu models, %zu samples of %zu, %s, there and back",
	    type_name[type], B, n, state, begins ? "the first" : "further on");
	free(gates);
	free(before);
	free(cell);
	free(h);
	free(dh);
	free(carry);
	free(tg.p);
	free(tc.p);
	free(th.p);
	free(td.p);
	free(tb.p);
	free(tdh.p);
	free(tcarry.p);
}

static void
test_shift(enum gv_cuda_type type, bool behind)
{
	enum { B = 2, N = 3, STEPS = 5, WIDTH = 7, ROW = 9 };
	float *v = normals(type, B * N * STEPS * ROW, 1);
	float *want = normals(type, B * N * STEPS * WIDTH, 2);
	struct tensor from = tensor(type, B * N * STEPS * ROW, v);
	struct tensor to = tensor(type, B * N * STEPS * WIDTH, NULL);
	struct gv_cuda_shift a = {.B = B,
	    .n = N,
	    .steps = STEPS,
	    .width = WIDTH,
	    .from_row = ROW,
	    .to = to.p,
	    .from = from.p,
	    .behind = behind,
	    .to_apart = N * STEPS * WIDTH,
	    .from_apart = N * STEPS * ROW};
	size_t i;

	for (i = 0; i < B * N * STEPS * WIDTH; i++) {
		size_t t = i / WIDTH % STEPS, at = i / WIDTH * ROW + i % WIDTH;

		want[i] = behind  ? t + 1 < STEPS ? v[at + ROW] : 0
			  : t > 0 ? v[at - ROW]
				  : 0;
	}
	ok(gv_cuda_shift(&queue, type, &a) == 0 && differing(&to, 0, to.n, want, 0) == 0,
	    "%s: places one %s", type_name[type], behind ? "back" : "on");
	free(v);
	free(want);
	free(from.p);
	free(to.p);
}

static void
test_wide_heads(void)
{
	struct gv_cuda_attention a = {
	    .B = 1, .n = 1, .T = 1, .heads = 1, .D = GV_CUDA_HEAD + 1};

	is_int(gv_cuda_attention_forward(&queue, GV_CUDA_F32, &a), GV_CUDA_TOO_LARGE,
	    "heads of more than %d channels", GV_CUDA_HEAD);
	is_int(gv_cuda_attention_backward(&queue, GV_CUDA_F32, &a), GV_CUDA_TOO_LARGE,
	    "back");
}

static const struct row_case embeds[] = {
    {"embed,0,7,,,,,,", 1, 5, 1, 3, 4, 2, false, false},
    {"embed,0,130,11,,,,,", 9, 1, 1, 2, 7, 4, true, false},
    {"embed,0,3,40,,,,,0", 6, 1, 1, 1, 5, 1, false, false},
};
static const struct row_case lns[] = {
    {"ln,,,,,,,,", 3, 2, 5, 3, 4, 2, false, false},
    {"ln,,,,,,,,", 7, 1, 33, 2, 3, 1, true, true},
    {"ln,,,,,,,,0", 1, 1, 257, 2, 9, 4, false, true},
    {"ln,,,,,,,,", 20, 20, 3, 1, 2, 1, true, false},
};
static const struct row_case attentions[] = {
    {"attention,,,,,,2,,", 5, 1, 12, 3, 2, 1, false, false},
    {"causal,,,,,,3,,", 37, 1, 27, 2, 2, 1, true, true},
    {"causal,,,,,,1,,", 67, 1, 210, 1, 1, 1, false, false},
    {"attention,,,,,,1,,", 33, 1, 384, 1, 1, 1, false, true},
    {"causal,,,,,,1,,", 1, 1, 3, 1, 1, 1, true, false},
    {"causal,,,,,,2,,", 130, 1, 48, 1, 1, 1, true, true},
    {"attention,,,,,,1,,", 65, 1, 360, 2, 1, 1, false, false},
    {"causal,,,,,,1,,", 35, 1, 768, 1, 2, 1, true, false},
    {"attention,,,,,,2,,", 9, 1, 1170, 2, 1, 1, false, true},
    {"causal,,,,,,3,,", 64, 1, 576, 1, 2, 1, true, false},
};

int
main(void)
{
	gv_init("kernels_sequences");
	queue = emulator;
	prepare = make_tokens;
	each_case(embeds, sizeof(embeds) / sizeof(embeds[0]), run_embed, "bit for bit");
	prepare = NULL;
	each_case(lns, sizeof(lns) / sizeof(lns[0]), run_ln, "bit for bit");
	each_case(attentions, sizeof(attentions) / sizeof(attentions[0]), run_attention,
	    "within 1e-5");
	test_cell(GV_CUDA_F32, 2, 3, 37, true);
	test_cell(GV_CUDA_F32, 1, 20, 33, false);
	test_cell(GV_CUDA_BF16, 2, 3, 37, true);
	test_cell(GV_CUDA_BF16, 1, 20, 33, false);
	test_shift(GV_CUDA_F32, false);
	test_shift(GV_CUDA_F32, true);
	test_shift(GV_CUDA_BF16, false);
	test_shift(GV_CUDA_BF16, true);
	test_wide_heads();
	return done_testing();
}
