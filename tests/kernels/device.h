/*
 * A row of a net on the CPU's device, through backend.h: the numbers that kernels must
 * give.  The row stands second, behind one whose output and gradient are the test's.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "emulator.h"
#include "nn/backend.h"
#include "nn_help.h"
#include "tensor.h"

/* A row as a model table has it, behind "2,": op,from,out,k,s,p,g,act,bias. */
struct row_case {
	const char *row;
	size_t height, width, channels; /* of its input */
	size_t models, samples, shards;
	bool add;  /* its dx goes to one that is there already */
	bool mask; /* and through the relu of the row before */
};

enum { DEVICE_MODELS = 80 };

struct device {
	const struct row_case *c;
	enum gv_cuda_type type;
	struct gv_model m;
	struct gv_nn_plan plan;
	struct gv_nn_backend *be;
	struct gv_nn_weights w;
	struct gv_nn_flight f;
	struct gv_nn_grads grads;
	float *running, *scratch;
	bool active[DEVICE_MODELS];
	unsigned char *away; /* [B] active, as kernels see it */
	struct gv_nn_call call;
	const struct gv_nn_row *from, *row; /* plan.row[0], [1] */
	size_t in, out;                     /* numbers [B][n][size] of their outputs */
	float *dx;                          /* [in] what is there before */
};

#define DEVICE_HEAD "id,op,from,out,k,s,p,g,act,bias,rate\n"

static inline struct gv_cuda_shards
device_shards(const struct gv_nn_plan *p)
{
	return (struct gv_cuda_shards){
	    p->N, p->S, p->rank * p->shards, p->first, p->shards};
}

static inline void
open_device(struct device *d, const struct row_case *c, enum gv_cuda_type type)
{
	char table[256];
	struct gv_net_config config = {.models = c->models,
	    .batch = c->samples,
	    .shards = c->shards,
	    .ranks = 1,
	    .micro_batches = 1,
	    .slots = 1,
	    .versions = 1};
	struct gv_nn_room room;
	struct gv_error e = {0};
	size_t B = c->models, b, i;

	*d = (struct device){.c = c, .type = type, .be = gv_cpu_new(1)};
	if (strncmp(c->row, "embed", 5) ==
	    0) /* which reads the sample, as one more does */
		snprintf(table, sizeof(table),
		    DEVICE_HEAD "1,%s,\n2,%s,\n3,add,1;2,,,,,,,,\n4,linear,3,3,,,,,,,\n"
				"5,xent,,,,,,,,,\n",
		    c->row, c->row);
	else
		snprintf(table, sizeof(table),
		    DEVICE_HEAD "1,relu,0,,,,,,,,\n2,%s,%s\n3,linear,2,3,,,,,,,\n"
				"4,xent,,,,,,,,,\n",
		    c->row, strncmp(c->row, "dropout", 7) == 0 ? "0.3" : "");
	d->m = help_model(table, c->height, c->width, c->channels, 3);
	config.last_row = d->m.n;
	gv_nn_plan_make(&d->plan, &d->m, &config);
	d->from = &d->plan.row[0];
	d->row = &d->plan.row[1];
	for (i = 0; i < d->row->l.inputs; i++)
		if (d->row->l.from[i] == 0)
			d->plan.row[1].adds[i] = c->add, d->plan.row[1].ends[i] = true;
	if (c->mask)
		d->plan.row[0].l.act = GV_ACT_RELU;
	d->be->plan(d->be, &d->plan, &room);
	d->scratch = gv_xcalloc(room.scratch + 1, sizeof(float));
	if (d->be->start(d->be, d->scratch, &e) != 0)
		gv_die_error(&e);
	d->in = B * c->samples * d->from->out_size;
	d->out = B * c->samples * d->row->out_size;
	d->w.params = normals(GV_CUDA_F32, B * d->plan.P, 1);
	for (i = 0; i < B * d->plan.P; i++) /* weights of products are rounded */
		if (i % d->plan.P < d->row->bias || d->row->l.biases == 0)
			d->w.params[i] = rounded(type, d->w.params[i]);
	d->w.packed = gv_xcalloc(B * room.packed + 1, sizeof(float));
	d->w.is_packed = gv_xcalloc(d->plan.rows, 1);
	d->f.x = normals(type, c->samples * d->plan.in_size, 2);
	for (i = 0; i < GV_NN_ARENAS; i++) {
		size_t n = B * d->plan.n;

		d->f.y[i] = normals(type, n * d->plan.numbers[GV_NET_OUTPUT][i], 3);
		d->f.dy[i] = normals(type, n * d->plan.numbers[GV_NET_GRADIENT][i], 4);
	}
	d->f.hit = gv_xcalloc(B * c->samples, sizeof(float));
	d->f.stats = normals(GV_CUDA_F32, B * d->plan.stat_size, 5);
	for (i = 0; i < B * d->plan.stat_size; i++)
		d->f.stats[i] = fabsf(d->f.stats[i]) + 0.1f;
	d->f.sums = gv_xcalloc(B * d->plan.shards * d->plan.widest + 1, sizeof(float));
	d->f.key = gv_xcalloc(B, sizeof(*d->f.key));
	for (b = 0; b < B; b++)
		d->f.key[b] = gv_random(17, 0, 0, b);
	d->grads.v = normals(GV_CUDA_F32, B * d->plan.P + B, 6);
	d->running = normals(GV_CUDA_F32, B * d->plan.Q, 7);
	for (i = 0; i < B * d->plan.Q; i++)
		d->running[i] = fabsf(d->running[i]);
	d->away = malloc(B);
	for (b = 0; b < B; b++) {
		d->active[b] = B < 3 || b != 1;
		d->away[b] = d->active[b];
	}
	d->dx = gv_xcalloc(d->in, sizeof(float));
	memcpy(d->dx,
	    gv_nn_dy(&(struct gv_nn_call){.plan = &d->plan, .f = &d->f}, d->from, 0, 0),
	    d->in * sizeof(float));
	d->call = (struct gv_nn_call){.plan = &d->plan,
	    .w = &d->w,
	    .f = &d->f,
	    .running = d->running,
	    .active = d->active,
	    .n = c->samples,
	    .training = true};
	d->be->pack(d->be, &d->call, 1, 2, GV_NN_FORWARD | GV_NN_BACKWARD);
}

static inline void
close_device(struct device *d)
{
	size_t i;

	d->be->free(d->be);
	gv_nn_plan_free(&d->plan);
	gv_model_free(&d->m);
	for (i = 0; i < GV_NN_ARENAS; i++) {
		free(d->f.y[i]);
		free(d->f.dy[i]);
	}
	free(d->w.params);
	free(d->w.packed);
	free(d->w.is_packed);
	free((void *)(uintptr_t)d->f.x);
	free(d->f.hit);
	free(d->f.stats);
	free(d->f.sums);
	free(d->f.key);
	free(d->grads.v);
	free(d->running);
	free(d->scratch);
	free(d->away);
	free(d->dx);
}

/* Where the CPU has them: [B][n][size], of all models. */
static inline float *
device_y(const struct device *d, const struct gv_nn_row *r)
{
	return gv_nn_y(&d->call, r, 0, 0);
}

static inline float *
device_dy(const struct device *d, const struct gv_nn_row *r)
{
	return gv_nn_dy(&d->call, r, 0, 0);
}

/* Numbers of t [B][n] that are not v's; a model that is not active has those of was, or
 * still what nobody may read. */
static inline size_t
device_differs(const struct device *d, const struct tensor *t, const float *v,
    const float *was, double tolerance)
{
	size_t B = d->plan.B, n = t->n / B, b, i, wrong = 0;

	for (b = 0; b < B; b++)
		if (d->active[b])
			wrong += differing(t, b * n, (b + 1) * n, v, tolerance);
		else if (was != NULL)
			wrong += differing(t, b * n, (b + 1) * n, was, 0);
		else
			for (i = b * n; i < (b + 1) * n; i++)
				wrong += !isnan(number(t, i));
	return wrong;
}

#endif
