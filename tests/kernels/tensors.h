/* What tests of rows share: all tensors of a row, what is wrong with them, every case. */
#ifndef TENSORS_H
#define TENSORS_H

#include "device.h"

/* So that small products have large tiles, too. */
static struct gv_cuda_queue queue;
/* What a case needs before the CPU runs; NULL = nothing. */
static void (*prepare)(struct device *d);

static const unsigned orders[] = {0, 1, 7};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

/* What of a row is wrong, over all orders. */
struct wrong {
	size_t y, dx, dw, launches;
};

static inline void
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
static inline struct tensor
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
static inline float *
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

static inline struct tensors
make_tensors(const struct device *d)
{
	const struct gv_layer *l = &d->row->l;
	bool product = l->op != GV_OP_LN && l->op != GV_OP_EMBED;
	struct tensors t = {.x = tensor(d->type, d->in, device_y(d, d->from)),
	    .y = tensor(d->type, d->out, NULL),
	    .dy = tensor(d->type, d->out, device_dy(d, d->row)),
	    .dx = tensor(d->type, d->in, d->c->add ? d->dx : NULL),
	    .w = weights(d, product ? d->type : GV_CUDA_F32, d->row->weight, l->weights),
	    .bias = weights(d, GV_CUDA_F32, d->row->bias, l->biases),
	    .dw_was = normals(GV_CUDA_F32, d->plan.B * l->weights, 8),
	    .dbias_was = normals(GV_CUDA_F32, d->plan.B * l->biases, 9)};

	t.dw = tensor(GV_CUDA_F32, d->plan.B * l->weights, d->c->add ? t.dw_was : NULL);
	t.dbias =
	    tensor(GV_CUDA_F32, d->plan.B * l->biases, d->c->add ? t.dbias_was : NULL);
	return t;
}

static inline void
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
static inline void
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
static inline size_t
wrong_gradients(const struct device *d, const struct tensors *t, double tolerance)
{
	const struct gv_layer *l = &d->row->l;
	float *dw = gradients(d, d->row->weight, l->weights);
	float *dbias = gradients(d, d->row->bias, l->biases);
	bool add = d->c->add;
	size_t n = device_differs(d, &t->dw, dw, add ? t->dw_was : NULL, tolerance) +
		   device_differs(d, &t->dbias, dbias, add ? t->dbias_was : NULL, 0);

	free(dw);
	free(dbias);
	return n;
}

static inline struct gv_cuda_sums
bias_sums(const struct device *d, struct tensors *t)
{
	const struct gv_layer *l = &d->row->l;
	return (struct gv_cuda_sums){.B = d->plan.B,
	    .n = l->biases,
	    .places = l->biases > 0 ? d->row->out_size / l->biases : 0,
	    .active = d->away,
	    .v = t->dy.p,
	    .shards = device_shards(&d->plan),
	    .to = t->dbias.p,
	    .add = d->c->add,
	    .v_apart = d->c->samples * d->row->out_size,
	    .to_apart = l->biases};
}

static inline void
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
			if (prepare != NULL)
				prepare(&d);
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

#endif
