/*
 * Kernels of rows under emulation against the CPU's device: y, dx, the gradients of
 * weights, odd sizes, arrays of models one of which stands still, two types, three
 * orders of threads.
 */
#include "device.h"

/* So that small products have large tiles, too. */
static struct gv_cuda_queue queue;

static const unsigned orders[] = {0, 1, 7};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

/* What of a row is wrong, over all orders. */
struct wrong {
	size_t y, dx, dw, launches;
};

static void
report(const struct device *d, const struct wrong *w, const char *exact)
{
	const struct row_case *c = d->c;
	bool good = w->y + w->dx + w->dw + w->launches == 0;

	ok(good, "%s: %s of %zux%zux%zu, %zu models, %zu samples in %zu shards%s%s, %s",
	    type_name[d->type], c->row, c->height, c->width, c->channels, c->models,
	    c->samples, c->shards, c->add ? ", added" : "", c->mask ? ", masked" : "",
	    exact);
	if (!good)
		printf("# y %zu, dx %zu, dw %zu numbers wrong; %zu launches failed: %s\n",
		    w->y, w->dx, w->dw, w->launches, emulator_error);
}

/* All numbers of the model's part in the parameters. */
static struct tensor
weights(const struct device *d, enum gv_cuda_type type, size_t offset, size_t n)
{
	struct tensor t = tensor(type, d->plan.B * n, NULL);
	float *v = gv_xcalloc(d->plan.B * n + 1, sizeof(*v));
	size_t b;

	for (b = 0; b < d->plan.B; b++)
		memcpy(v + b * n, d->w.params + b * d->plan.P + offset, n * sizeof(*v));
	free(t.p);
	t = tensor(type, d->plan.B * n, v);
	free(v);
	return t;
}

/* The device's gradients of numbers [offset, offset + n) of each model. */
static float *
gradients(const struct device *d, size_t offset, size_t n)
{
	float *v = gv_xcalloc(d->plan.B * n + 1, sizeof(*v));
	size_t b;

	for (b = 0; b < d->plan.B; b++)
		memcpy(v + b * n, d->grads.v + b * d->plan.P + offset, n * sizeof(*v));
	return v;
}

/* What all rows have. */
struct tensors {
	struct tensor x, y, dy, dx, w, bias, dw, dbias, scratch;
	float *dw_was, *dbias_was;
};

static struct tensors
make_tensors(const struct device *d)
{
	const struct gv_layer *l = &d->row->l;
	struct tensors t = {.x = tensor(d->type, d->in, device_y(d, d->from)),
	    .y = tensor(d->type, d->out, NULL),
	    .dy = tensor(d->type, d->out, device_dy(d, d->row)),
	    .dx = tensor(d->type, d->in, d->c->add ? d->dx : NULL),
	    .w = weights(
		d, l->op == GV_OP_BN ? GV_CUDA_F32 : d->type, d->row->weight, l->weights),
	    .bias = weights(d, GV_CUDA_F32, d->row->bias, l->biases),
	    .dw_was = normals(GV_CUDA_F32, d->plan.B * l->weights, 8),
	    .dbias_was = normals(GV_CUDA_F32, d->plan.B * l->biases, 9)};

	t.dw = tensor(GV_CUDA_F32, d->plan.B * l->weights, d->c->add ? t.dw_was : NULL);
	t.dbias =
	    tensor(GV_CUDA_F32, d->plan.B * l->biases, d->c->add ? t.dbias_was : NULL);
	return t;
}

static void
free_tensors(struct tensors *t)
{
	free(t->x.p);
	free(t->y.p);
	free(t->dy.p);
	free(t->dx.p);
	free(t->w.p);
	free(t->bias.p);
	free(t->dw.p);
	free(t->dbias.p);
	free(t->scratch.p);
	free(t->dw_was);
	free(t->dbias_was);
}

/* The gradients that are there before are those that kernels add to. */
static void
set_gradients(struct device *d)
{
	const struct gv_layer *l = &d->row->l;
	float *w = normals(GV_CUDA_F32, d->plan.B * l->weights, 8);
	float *bias = normals(GV_CUDA_F32, d->plan.B * l->biases, 9);
	size_t b;

	for (b = 0; b < d->plan.B; b++) {
		float *g = d->grads.v + b * d->plan.P;

		memcpy(g + d->row->weight, w + b * l->weights, l->weights * sizeof(*g));
		memcpy(g + d->row->bias, bias + b * l->biases, l->biases * sizeof(*g));
	}
	free(w);
	free(bias);
}

/* dw and dbias are wrong in so many numbers. */
static size_t
wrong_gradients(const struct device *d, const struct tensors *t)
{
	const struct gv_layer *l = &d->row->l;
	float *dw = gradients(d, d->row->weight, l->weights);
	float *dbias = gradients(d, d->row->bias, l->biases);
	bool add = d->c->add;
	size_t n = device_differs(d, &t->dw, dw, add ? t->dw_was : NULL, 0) +
		   device_differs(d, &t->dbias, dbias, add ? t->dbias_was : NULL, 0);

	free(dw);
	free(dbias);
	return n;
}

static struct gv_cuda_sums
bias_sums(const struct device *d, struct tensors *t)
{
	const struct gv_layer *l = &d->row->l;
	size_t places = l->out_shape.height * l->out_shape.width;

	return (struct gv_cuda_sums){.B = d->plan.B,
	    .n = l->out_shape.channels,
	    .places = places,
	    .active = d->away,
	    .v = t->dy.p,
	    .shards = device_shards(&d->plan),
	    .to = t->dbias.p,
	    .add = d->c->add,
	    .v_apart = d->c->samples * d->row->out_size,
	    .to_apart = l->biases};
}

/* ---- linear and conv ---- */

static struct gv_cuda_conv
conv_of(const struct device *d, struct tensors *t)
{
	const struct gv_layer *l = &d->row->l;
	bool linear = l->op == GV_OP_LINEAR;
	size_t n = d->c->samples;

	return (struct gv_cuda_conv){.B = d->plan.B,
	    .n = n,
	    .height = linear ? 1 : l->in_shape.height,
	    .width = linear ? 1 : l->in_shape.width,
	    .channels = linear ? d->row->in_size : l->in_shape.channels,
	    .out_height = l->out_shape.height,
	    .out_width = l->out_shape.width,
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

static void
run_conv(const struct device *d, struct wrong *w)
{
	struct tensors t = make_tensors(d);
	struct gv_cuda_conv a = conv_of(d, &t);
	struct gv_cuda_sums s = bias_sums(d, &t);
	struct tensor strips =
	    tensor(GV_CUDA_F32, gv_cuda_sums_scratch(GV_CUDA_SUM, &s), NULL);

	t.scratch = tensor(GV_CUDA_F32, gv_cuda_conv_scratch(&queue, &a), NULL);
	a.scratch = t.scratch.p;
	s.scratch = strips.p;
	w->launches += gv_cuda_conv_forward(&queue, d->type, &a) != 0;
	w->launches += gv_cuda_conv_backward(&queue, d->type, &a) != 0;
	w->launches += gv_cuda_conv_gradient(&queue, d->type, &a) != 0;
	if (s.to_apart > 0)
		w->launches += gv_cuda_sums(&queue, d->type, GV_CUDA_SUM, &s) != 0;
	w->y += device_differs(d, &t.y, device_y(d, d->row), NULL, 0);
	w->dx +=
	    device_differs(d, &t.dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, 0);
	w->dw += wrong_gradients(d, &t);
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

/* ---- all of them ---- */

static const struct row_case products[] = {
    {"linear,,3,,,,,,", 1, 1, 1, 1, 1, 1, false, false},
    {"linear,,5,,,,,relu,", 1, 1, 7, 3, 5, 4, false, false},
    {"linear,,33,,,,,,", 3, 1, 11, 2, 37, 4, true, true},
    {"linear,,70,,,,,,0", 1, 1, 65, 1, 66, 2, false, true},
    {"linear,,65,,,,,,", 1, 1, 66, 3, 34, 1, true, false},
    {"linear,,17,,,,,,", 1, 1, 19, 4, 16, 16, false, false},
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
};
static const struct row_case pools[] = {
    {"maxpool,,,2,,,,,", 6, 5, 3, 3, 4, 2, false, false},
    {"maxpool,,,3,2,1,,,", 7, 6, 17, 2, 3, 1, true, true},
    {"maxpool,,,3,1,0,,,", 5, 5, 1, 1, 2, 1, false, true},
    {"maxpool,,,2,3,0,,,", 9, 8, 2, 1, 2, 1, false, false},
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
};

static void
each_case(const struct row_case *c, size_t n,
    void (*run)(const struct device *, struct wrong *), const char *exact)
{
	struct device d;
	size_t i, type, k;

	for (i = 0; i < n; i++)
		for (type = 0; type < 2; type++) {
			struct wrong w = {0};

			open_device(&d, &c[i], (enum gv_cuda_type)type);
			set_gradients(&d);
			if (d.be->forward(d.be, &d.call, 1, 2) != 0 ||
			    d.be->backward(d.be, &d.call, 1, 2) != 0 ||
			    d.be->gradient(d.be, &d.call, 1, 2, &d.grads, c[i].add) != 0)
				gv_die("the CPU failed");
			/* the types differ in how numbers are read and written */
			for (k = type == GV_CUDA_F32 ? 0 : ORDERS - 1; k < ORDERS; k++) {
				emulator_order = orders[k];
				run(&d, &w);
			}
			report(&d, &w, exact);
			close_device(&d);
		}
}

int
main(void)
{
	gv_init("kernels_rows");
	queue = emulator;
	queue.blocks = 6;
	each_case(
	    products, sizeof(products) / sizeof(products[0]), run_conv, "bit for bit");
	each_case(pools, sizeof(pools) / sizeof(pools[0]), run_pool, "bit for bit");
	each_case(maps, sizeof(maps) / sizeof(maps[0]), run_map, "bit for bit");
	return done_testing();
}
