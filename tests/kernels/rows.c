/*
 * Kernels of rows under emulation against the CPU's device: y, dx, the gradients of
 * weights, odd sizes, arrays of models one of which stands still, two types, three
 * orders of threads.
 */
#include "nn/cpu/parts.h"
#include "tensors.h"

/* ---- linear and conv ---- */

static struct gv_cuda_conv
conv_of(const struct device *d, struct tensors *t)
{
	const struct gv_layer *l = &d->row->l;
	bool linear = l->op == GV_OP_LINEAR;
	size_t n = d->c->samples, places = d->row->places;

	return (struct gv_cuda_conv){.B = d->plan.B,
	    .n = n,
	    .height = linear ? places : l->in_shape.height,
	    .width = linear ? 1 : l->in_shape.width,
	    .channels = linear ? d->row->in_size / places : l->in_shape.channels,
	    .out_height = linear ? places : l->out_shape.height,
	    .out_width = linear ? 1 : l->out_shape.width,
	    .out = l->out_shape.channels,
	    .k = linear ? 1 : l->k,
	    .s = linear ? 1 : l->s,
	    .p = linear ? 0 : l->p,
	    .g = linear ? 1 : l->g,
	    .active = d->away,
	    .x = t->x.p,
	    .w = t->w.p,
	    .bias = l->biases > 0 ? t->bias.p : NULL,
	    .y = t->y.p,
	    .relu = l->act == GV_ACT_RELU,
	    .dy = t->dy.p,
	    .dx = t->dx.p,
	    .add = d->c->add,
	    .mask = d->c->mask ? t->x.p : NULL,
	    .dw = t->dw.p,
	    .shards = device_shards(&d->plan),
	    .x_apart = n * d->row->in_size,
	    .w_apart = l->weights,
	    .bias_apart = l->biases,
	    .y_apart = n * d->row->out_size,
	    .dy_apart = n * d->row->out_size,
	    .dx_apart = n * d->row->in_size,
	    .mask_apart = n * d->row->in_size,
	    .dw_apart = l->weights};
}

/* Floats go through tensor cores. */
static bool tf32;

static bool
is_depthwise(const struct device *d)
{
	const struct gv_layer *l = &d->row->l;

	return l->g > 1 && l->g == l->in_shape.channels && l->g == l->out_shape.channels;
}

/*
 * Products on tensor cores have other orders of sums, and tf32 rounds factors to 2^-11;
 * depthwise rows do not go there.
 */
static double
near(const struct device *d)
{
	if (is_depthwise(d))
		return 0;
	return d->type == GV_CUDA_BF16 ? 2e-5 : tf32 ? 4e-2 : 0;
}

/* But their gradients are sums of pieces, too. */
static double
near_gradient(const struct device *d)
{
	return is_depthwise(d) && (d->type == GV_CUDA_BF16 || tf32) ? 2e-5 : near(d);
}

static void
run_conv(const struct device *d, struct wrong *w)
{
	struct tensors t = make_tensors(d);
	struct gv_cuda_conv a = conv_of(d, &t);
	struct gv_cuda_sums s = bias_sums(d, &t);
	struct tensor strips =
	    tensor(GV_CUDA_F32, gv_cuda_sums_scratch(GV_CUDA_SUM, &s), NULL);

	a.tf32 = tf32 && d->type == GV_CUDA_F32;
	t.scratch = tensor(GV_CUDA_F32, gv_cuda_conv_scratch(&queue, d->type, &a), NULL);
	a.scratch = t.scratch.p;
	s.scratch = strips.p;
	w->launches += gv_cuda_conv_forward(&queue, d->type, &a) != 0;
	w->launches += gv_cuda_conv_backward(&queue, d->type, &a) != 0;
	w->launches += gv_cuda_conv_gradient(&queue, d->type, &a) != 0;
	if (s.to_apart > 0)
		w->launches += gv_cuda_sums(&queue, d->type, GV_CUDA_SUM, &s) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, near(d));
	w->dx += device_differs(
	    d, &t.dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, near(d));
	w->dw += wrong_gradients(d, &t, near_gradient(d));
	free(strips.p);
	free_tensors(&t);
}

/* ---- tconv: the conv that it is, the other way round ---- */

static void
run_tconv(const struct device *d, struct wrong *w)
{
	const struct gv_layer *l = &d->row->l;
	struct tensors t = make_tensors(d);
	struct gv_cuda_sums s = bias_sums(d, &t);
	struct tensor strips =
	    tensor(GV_CUDA_F32, gv_cuda_sums_scratch(GV_CUDA_SUM, &s), NULL);
	size_t in = d->c->samples * d->row->in_size,
	       out = d->c->samples * d->row->out_size;
	struct gv_cuda_conv a = {.B = d->plan.B,
	    .n = d->c->samples,
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
	    .active = d->away,
	    .w = t.w.p,
	    .w_apart = l->weights,
	    .dw = t.dw.p,
	    .dw_apart = l->weights,
	    .tf32 = tf32 && d->type == GV_CUDA_F32,
	    .shards = device_shards(&d->plan)};
	struct gv_cuda_conv forward = a, backward = a, gradient = a;

	forward.dy = t.x.p;
	forward.dx = t.y.p;
	forward.dx_bias = l->biases > 0 ? t.bias.p : NULL;
	forward.dx_bias_apart = l->biases;
	forward.dx_relu = l->act == GV_ACT_RELU;
	forward.dy_apart = in;
	forward.dx_apart = out;
	backward.x = t.dy.p;
	backward.y = t.dx.p;
	backward.y_add = d->c->add;
	backward.y_mask = d->c->mask ? t.x.p : NULL;
	backward.x_apart = out;
	backward.y_apart = backward.y_mask_apart = in;
	gradient.x = t.dy.p;
	gradient.dy = t.x.p;
	gradient.x_apart = out;
	gradient.dy_apart = in;
	gradient.add = d->c->add;
	t.scratch =
	    tensor(GV_CUDA_F32, gv_cuda_conv_scratch(&queue, d->type, &gradient), NULL);
	gradient.scratch = t.scratch.p;
	s.scratch = strips.p;
	w->launches += gv_cuda_conv_backward(&queue, d->type, &forward) != 0;
	w->launches += gv_cuda_conv_forward(&queue, d->type, &backward) != 0;
	w->launches += gv_cuda_conv_gradient(&queue, d->type, &gradient) != 0;
	if (l->biases > 0)
		w->launches += gv_cuda_sums(&queue, d->type, GV_CUDA_SUM, &s) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, near(d));
	w->dx += device_differs(
	    d, &t.dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, near(d));
	w->dw += wrong_gradients(d, &t, near(d));
	free(strips.p);
	free_tensors(&t);
}

/* ---- pools ---- */

static void
run_pool(const struct device *d, struct wrong *w)
{
	const struct gv_layer *l = &d->row->l;
	struct tensors t = make_tensors(d);
	size_t in = d->c->samples * d->row->in_size,
	       out = d->c->samples * d->row->out_size;
	struct gv_cuda_pool a = {.B = d->plan.B,
	    .n = d->c->samples,
	    .height = l->in_shape.height,
	    .width = l->in_shape.width,
	    .channels = l->in_shape.channels,
	    .out_height = l->out_shape.height,
	    .out_width = l->out_shape.width,
	    .k = l->k,
	    .s = l->s,
	    .p = l->p,
	    .active = d->away,
	    .x = t.x.p,
	    .y = t.y.p,
	    .dy = t.dy.p,
	    .dx = t.dx.p,
	    .add = d->c->add,
	    .mask = d->c->mask ? t.x.p : NULL,
	    .x_apart = in,
	    .y_apart = out,
	    .dy_apart = out,
	    .dx_apart = in,
	    .mask_apart = in};
	bool max = l->op == GV_OP_MAXPOOL;

	w->launches += (max ? gv_cuda_maxpool_forward : gv_cuda_avgpool_forward)(
			   &queue, d->type, &a) != 0;
	w->launches += (max ? gv_cuda_maxpool_backward : gv_cuda_avgpool_backward)(
			   &queue, d->type, &a) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, 0);
	w->dx +=
	    device_differs(d, &t.dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, 0);
	free_tensors(&t);
}

/* ---- number by number ---- */

static void
run_map(const struct device *d, struct wrong *w)
{
	const struct gv_layer *l = &d->row->l;
	struct tensors t = make_tensors(d);
	struct tensor sample = tensor(d->type, d->c->samples * d->plan.in_size, d->f.x);
	size_t n = d->c->samples * d->row->in_size, k;
	struct gv_cuda_map a = {.B = d->plan.B,
	    .n = n,
	    .active = d->away,
	    .inputs = l->inputs,
	    .y = t.y.p,
	    .dy = t.dy.p,
	    .dx = t.dx.p,
	    .relu = l->act == GV_ACT_RELU,
	    .add = d->c->add,
	    .mask = d->c->mask ? t.x.p : NULL,
	    .y_apart = n,
	    .dy_apart = n,
	    .dx_apart = n,
	    .mask_apart = n};
	enum gv_cuda_function f = l->op == GV_OP_RELU   ? GV_CUDA_RELU
				  : l->op == GV_OP_GELU ? GV_CUDA_GELU
							: GV_CUDA_ADD;

	for (k = 0; k < l->inputs; k++) {
		bool row = l->from[k] != GV_FROM_INPUT;

		a.x[k] = row ? t.x.p : sample.p;
		a.x_apart[k] = row ? n : 0;
	}
	w->launches += gv_cuda_map_forward(&queue, d->type, f, &a) != 0;
	w->launches += gv_cuda_map_backward(&queue, d->type, f, &a) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, 0);
	w->dx +=
	    device_differs(d, &t.dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, 0);
	free(sample.p);
	free_tensors(&t);
}

/* ---- dropout and concat ---- */

static void
run_dropout(const struct device *d, struct wrong *w)
{
	struct tensors t = make_tensors(d);
	size_t n = d->c->samples * d->row->in_size;
	struct gv_cuda_dropout a = {.B = d->plan.B,
	    .n = d->c->samples,
	    .size = d->row->in_size,
	    .active = d->away,
	    .from = t.x.p,
	    .to = t.y.p,
	    .key = d->f.key,
	    .row = 1,
	    .rate = d->row->l.rate,
	    .to_apart = n,
	    .from_apart = n,
	    .mask_apart = n};

	w->launches += gv_cuda_dropout(&queue, d->type, &a) != 0;
	a.from = t.dy.p;
	a.to = t.dx.p;
	a.add = d->c->add;
	a.mask = d->c->mask ? t.x.p : NULL;
	w->launches += gv_cuda_dropout(&queue, d->type, &a) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, 0);
	w->dx +=
	    device_differs(d, &t.dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, 0);
	free_tensors(&t);
}

/* Of the row before and the sample, in the order of the case. */
static void
run_concat(const struct device *d, struct wrong *w)
{
	const struct gv_layer *l = &d->row->l;
	struct tensors t = make_tensors(d);
	struct tensor sample = tensor(d->type, d->c->samples * d->plan.in_size, d->f.x);
	size_t places = l->out_shape.height * l->out_shape.width, at = 0, k;
	size_t n = d->from->out_size / places;
	struct gv_cuda_move a = {.B = d->plan.B,
	    .rows = d->c->samples * places,
	    .n = n,
	    .active = d->away,
	    .to_apart = d->c->samples * d->row->out_size,
	    .to_row = l->out_shape.channels,
	    .from_row = n,
	    .relu = l->act == GV_ACT_RELU};

	for (k = 0; k < l->inputs; k++, at += n) {
		bool row = l->from[k] != GV_FROM_INPUT;

		a.to = (char *)t.y.p + at * (d->type == GV_CUDA_F32 ? 4 : 2);
		a.from = row ? t.x.p : sample.p;
		a.from_apart = row ? d->in / d->plan.B : 0;
		w->launches += gv_cuda_move(&queue, d->type, &a) != 0;
	}
	for (k = at = 0; l->from[k] == GV_FROM_INPUT; k++)
		at += n;
	a = (struct gv_cuda_move){.B = d->plan.B,
	    .rows = d->c->samples * places,
	    .n = n,
	    .active = d->away,
	    .to = t.dx.p,
	    .from = (char *)t.dy.p + at * (d->type == GV_CUDA_F32 ? 4 : 2),
	    .to_row = n,
	    .from_row = l->out_shape.channels,
	    .to_apart = d->in / d->plan.B,
	    .from_apart = d->out / d->plan.B,
	    .add = d->c->add,
	    .mask = d->c->mask ? t.x.p : NULL,
	    .mask_apart = d->in / d->plan.B};
	w->launches += gv_cuda_move(&queue, d->type, &a) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, 0);
	w->dx +=
	    device_differs(d, &t.dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, 0);
	free(sample.p);
	free_tensors(&t);
}

/* ---- acts, which are no rows ---- */

static void
test_act(enum gv_act act, enum gv_cuda_act as, const char *name, enum gv_cuda_type type,
    bool wide)
{
	enum { B = 3 };
	size_t N = wide ? 304 : 301;
	struct gv_layer l = {.act = act, .slope = 0.2};
	bool keeps = gv_act_keeps(act);
	float *y = normals(type, B * N, 1), *before = normals(type, B * N, 2);
	float *dy = normals(type, B * N, 3);
	struct tensor ty = tensor(type, B * N, y), tbefore = tensor(type, B * N, NULL);
	struct tensor tdy = tensor(type, B * N, dy), tv;
	unsigned char active[] = {1, 0, 1};
	struct gv_cuda_acts a = {.B = B,
	    .n = N,
	    .active = active,
	    .y = ty.p,
	    .before = keeps ? tbefore.p : NULL,
	    .dy = tdy.p,
	    .slope = 0.2f,
	    .y_apart = N,
	    .before_apart = N,
	    .dy_apart = N,
	    .v_apart = N};
	size_t b, wrong = 0, i;

	for (b = 0; b < B; b += 2)
		if (act == GV_ACT_RELU) /* which the CPU has where sums are made */
			gv_cpu_relu(y + b * N, N);
		else
			gv_cpu_act(&l, y + b * N, keeps ? before + b * N : NULL, N);
	emulator_order = 2;
	wrong += gv_cuda_act_forward(&queue, type, as, &a) != 0;
	wrong += differing(&ty, 0, B * N, y, 0);
	for (b = 0; b < B && keeps; b += 2)
		wrong += differing(&tbefore, b * N, b * N + N, before, 0);
	for (i = 0; i < B * N; i++)
		y[i] = rounded(type, y[i]);
	tv = tensor(type, B * N, keeps ? before : y);
	a.v = tv.p;
	for (b = 0; b < B; b += 2)
		gv_cpu_act_back(&l, dy + b * N, (keeps ? before : y) + b * N, N);
	wrong += gv_cuda_act_backward(&queue, type, as, &a) != 0;
	wrong += differing(&tdy, 0, B * N, dy, 0);
	is_int(wrong, 0, "%s: %s as an act, %zu numbers, there and back", type_name[type],
	    name, N);
	free(y);
	free(before);
	free(dy);
	free(ty.p);
	free(tbefore.p);
	free(tdy.p);
	free(tv.p);
}

static void
test_acts(enum gv_cuda_type type, bool wide)
{
	test_act(GV_ACT_RELU, GV_CUDA_ACT_RELU, "relu", type, wide);
	test_act(GV_ACT_LEAKY, GV_CUDA_ACT_LEAKY, "leaky", type, wide);
	test_act(GV_ACT_SIGMOID, GV_CUDA_ACT_SIGMOID, "sigmoid", type, wide);
	test_act(GV_ACT_TANH, GV_CUDA_ACT_TANH, "tanh", type, wide);
	test_act(GV_ACT_GELU, GV_CUDA_ACT_GELU, "gelu", type, wide);
	test_act(GV_ACT_SILU, GV_CUDA_ACT_SILU, "silu", type, wide);
	test_act(GV_ACT_GELU_TANH, GV_CUDA_ACT_GELU_TANH, "gelu-tanh", type, wide);
}

/* ---- all of them ---- */

static const struct row_case products[] = {
    {"linear,,3,,,,,,", 1, 1, 1, 1, 1, 1, false, false},
    {"linear,,5,,,,,relu,", 1, 1, 7, 3, 5, 4, false, false},
    {"linear,,33,,,,,,", 3, 1, 11, 2, 37, 4, true, true},
    {"linear,,70,,,,,,0", 1, 1, 65, 1, 66, 2, false, true},
    {"linear,,65,,,,,,", 1, 1, 66, 3, 34, 1, true, false},
    {"linear,,17,,,,,,", 1, 1, 19, 4, 16, 16, false, false},
    {"linear,,21,1,,,,,", 5, 3, 7, 3, 4, 2, true, true},
    {"linear,,9,1,,,,relu,", 70, 1, 5, 2, 5, 1, false, false},
    {"conv,,5,3,1,1,,relu,", 7, 5, 3, 3, 3, 2, false, false},
    {"conv,,13,3,2,1,,,", 11, 9, 7, 2, 5, 4, true, true},
    {"conv,,6,2,3,0,,,0", 8, 7, 5, 1, 2, 1, false, true},
    {"conv,,9,1,1,0,,,", 5, 4, 17, 2, 3, 2, true, false},
    {"conv,,4,2,1,3,,,", 3, 3, 2, 2, 2, 2, false, false},
    {"conv,,9,3,2,1,3,relu,", 5, 6, 6, 3, 4, 4, false, true},
    {"conv,,40,5,1,2,2,,", 6, 6, 8, 1, 3, 1, false, false},
    {"conv,,7,1,3,0,,,", 7, 8, 3, 2, 2, 1, true, false},
    {"conv,,33,3,1,1,,,", 9, 8, 33, 2, 1, 1, false, false},
    {"conv,,5,3,1,1,5,relu,", 6, 7, 5, 3, 4, 4, false, false},
    {"conv,,37,5,2,2,37,,0", 7, 5, 37, 2, 3, 1, true, true},
    {"conv,,3,2,3,1,3,,", 8, 9, 3, 1, 2, 2, false, true},
    /* few weights and many places: shards are cut into pieces for tensor cores */
    {"conv,,5,3,1,1,,,", 23, 23, 2, 1, 1, 1, true, false},
    {"conv,,5,3,1,1,5,,", 23, 23, 5, 1, 1, 1, true, false},
    {"conv,,6,3,2,1,6,relu,", 33, 32, 6, 2, 2, 1, false, true},
    /* channels in eights: tensor cores take them together */
    {"conv,,72,3,1,1,,,", 9, 8, 16, 2, 3, 2, true, true},
    {"conv,,16,5,2,2,,relu,0", 9, 7, 72, 1, 5, 4, false, false},
    {"conv,,32,3,1,1,2,,", 5, 6, 16, 2, 4, 2, false, true},
    {"linear,,136,1,,,,,", 9, 1, 64, 1, 9, 2, true, false},
    /* in fours: floats */
    {"conv,,12,3,1,1,,,", 9, 8, 20, 2, 3, 2, true, true},
    {"conv,,132,3,2,1,,relu,", 12, 11, 68, 1, 4, 4, false, true},
};
static const struct row_case pools[] = {
    {"maxpool,,,2,,,,,", 6, 5, 3, 3, 4, 2, false, false},
    {"maxpool,,,3,2,1,,,", 7, 6, 17, 2, 3, 1, true, true},
    {"maxpool,,,3,1,0,,,", 5, 5, 1, 1, 2, 1, false, true},
    {"maxpool,,,2,3,0,,,", 9, 8, 2, 1, 2, 1, false, false},
    {"maxpool,,,,,,,,", 5, 7, 9, 2, 3, 1, true, true},
    {"avgpool,,,2,,,,,", 6, 5, 3, 3, 4, 2, false, false},
    {"avgpool,,,3,2,1,,,", 7, 6, 17, 2, 3, 1, true, true},
    {"avgpool,,,,,,,,", 5, 7, 33, 3, 3, 1, false, true},
};
static const struct row_case maps[] = {
    {"relu,,,,,,,,", 3, 5, 7, 3, 5, 1, false, false},
    {"relu,,,,,,,,", 1, 1, 257, 2, 3, 1, true, true},
    {"gelu,,,,,,,,", 3, 5, 7, 3, 5, 1, false, true},
    {"gelu,,,,,,,,", 1, 1, 300, 1, 2, 1, true, false},
    {"add,1;0,,,,,,,", 3, 5, 7, 3, 5, 1, false, false},
    {"add,0;0;1,,,,,,relu,", 1, 1, 129, 2, 3, 1, true, true},
    /* numbers in eights */
    {"relu,,,,,,,,", 3, 1, 64, 3, 5, 1, true, true},
    {"gelu,,,,,,,,", 1, 1, 264, 2, 3, 1, true, true},
    {"add,1;0,,,,,,,", 2, 2, 8, 3, 2, 1, true, true},
};
static const struct row_case tconvs[] = {
    {"tconv,,5,4,2,1,,relu,", 3, 4, 7, 3, 3, 2, false, false},
    {"tconv,,34,3,1,0,,,", 4, 3, 35, 2, 2, 1, true, true},
    {"tconv,,6,2,3,0,2,,0", 3, 3, 4, 1, 4, 4, false, true},
    {"tconv,,5,3,2,1,5,relu,", 4, 3, 5, 3, 3, 1, true, true},
};
static const struct row_case drops[] = {
    {"dropout,,,,,,,,", 3, 5, 7, 3, 5, 1, false, false},
    {"dropout,,,,,,,,", 1, 1, 258, 2, 3, 1, true, true},
};
static const struct row_case concats[] = {
    {"concat,1;0,,,,,,,", 3, 5, 7, 3, 5, 1, false, false},
    {"concat,0;0;1,,,,,,relu,", 2, 1, 129, 2, 3, 1, true, true},
};

int
main(void)
{
	gv_init("kernels_rows");
	queue = emulator;
	queue.blocks = 6;
	each_case(products, sizeof(products) / sizeof(products[0]), run_conv,
	    "fp32 bit for bit, bf16 within 2e-5");
	each_case(pools, sizeof(pools) / sizeof(pools[0]), run_pool, "bit for bit");
	each_case(maps, sizeof(maps) / sizeof(maps[0]), run_map, "bit for bit");
	each_case(tconvs, sizeof(tconvs) / sizeof(tconvs[0]), run_tconv,
	    "fp32 bit for bit, bf16 within 2e-5");
	each_case(drops, sizeof(drops) / sizeof(drops[0]), run_dropout, "bit for bit");
	each_case(
	    concats, sizeof(concats) / sizeof(concats[0]), run_concat, "bit for bit");
	tf32 = true;
	each_case(products, sizeof(products) / sizeof(products[0]), run_conv,
	    "tf32 in place of fp32 within 4e-2");
	each_case(tconvs, sizeof(tconvs) / sizeof(tconvs[0]), run_tconv,
	    "tf32 in place of fp32 within 4e-2");
	test_acts(GV_CUDA_F32, false);
	test_acts(GV_CUDA_F32, true);
	test_acts(GV_CUDA_BF16, false);
	test_acts(GV_CUDA_BF16, true);
	return done_testing();
}
