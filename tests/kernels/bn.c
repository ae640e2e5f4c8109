/*
 * bn under emulation against the CPU's device: sums over samples and places, what becomes
 * of them, y, dx, the gradients of gamma and beta, running statistics.
 */
#include "device.h"

static const unsigned orders[] = {0, 1, 11};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

/* A copy of the device's statistics, and of its running ones. */
struct both {
	float *stats, *running;
};

static struct both
copy_of(const struct device *d)
{
	size_t n = d->plan.B * d->plan.stat_size, q = d->plan.B * d->plan.Q;
	struct both b = {gv_xcalloc(n, sizeof(float)), gv_xcalloc(q, sizeof(float))};

	memcpy(b.stats, d->f.stats, n * sizeof(float));
	memcpy(b.running, d->running, q * sizeof(float));
	return b;
}

/* All that the CPU does; to: what the running statistics become. */
static void
run_device(struct device *d, float *to)
{
	static const enum gv_nn_sum forward[] = {GV_NN_SUM_X, GV_NN_SUM_SQUARES};
	struct gv_nn_backend *be = d->be;
	size_t i;

	for (i = 0; i < 2; i++) {
		be->bn_sum(be, &d->call, 1, forward[i]);
		be->bn_take(be, &d->call, 1, forward[i]);
	}
	be->forward(be, &d->call, 1, 2);
	be->bn_sum(be, &d->call, 1, GV_NN_SUM_DY);
	be->bn_take(be, &d->call, 1, GV_NN_SUM_DY);
	be->backward(be, &d->call, 1, 2);
	be->gradient(be, &d->call, 1, 2, &d->grads, d->c->add);
	be->bn_update_running(be, &d->call, 1, to);
}

/* The kernels' side. */
struct kernels {
	const struct device *d;
	struct tensor x, y, dy, dx, stats, sums, running, to, gamma, beta, dgamma, dbeta,
	    scratch;
	size_t n, wrong;
};

static struct tensor
params(const struct device *d, size_t offset, size_t n, const float *from)
{
	float *v = gv_xcalloc(d->plan.B * n, sizeof(*v));
	struct tensor t;
	size_t b;

	for (b = 0; b < d->plan.B; b++)
		memcpy(v + b * n, from + b * d->plan.P + offset, n * sizeof(*v));
	t = tensor(GV_CUDA_F32, d->plan.B * n, v);
	free(v);
	return t;
}

static struct kernels
make_kernels(const struct device *d, const struct both *was)
{
	size_t B = d->plan.B, n = d->row->l.in_shape.channels;

	return (struct kernels){.d = d,
	    .n = n,
	    .x = tensor(d->type, d->in, device_y(d, d->from)),
	    .y = tensor(d->type, d->out, NULL),
	    .dy = tensor(d->type, d->out, device_dy(d, d->row)),
	    .dx = tensor(d->type, d->in, d->c->add ? d->dx : NULL),
	    .stats = tensor(GV_CUDA_F32, B * d->plan.stat_size, was->stats),
	    .sums = tensor(GV_CUDA_F32, B * 2 * n, NULL),
	    .running = tensor(GV_CUDA_F32, B * d->plan.Q, was->running),
	    .to = tensor(GV_CUDA_F32, B * d->plan.Q, was->running),
	    .gamma = params(d, d->row->weight, n, d->w.params),
	    .beta = params(d, d->row->bias, n, d->w.params)};
}

static void
free_kernels(struct kernels *k)
{
	struct tensor *all[] = {&k->x, &k->y, &k->dy, &k->dx, &k->stats, &k->sums,
	    &k->running, &k->to, &k->gamma, &k->beta, &k->dgamma, &k->dbeta, &k->scratch};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]->p);
}

static void
sum(struct kernels *k, enum gv_cuda_sum what, enum gv_cuda_stats take)
{
	const struct gv_nn_plan *p = &k->d->plan;
	size_t n = k->n, width = what == GV_CUDA_PRODUCTS ? 2 * n : n;
	float *stats = k->stats.p;
	bool back = what == GV_CUDA_PRODUCTS;
	struct gv_cuda_sums s = {.B = p->B,
	    .n = n,
	    .places = k->d->row->in_size / n,
	    .active = k->d->away,
	    .v = back ? k->dy.p : k->x.p,
	    .x = k->x.p,
	    .mean = stats,
	    .rstd = stats + n,
	    .shards = device_shards(p),
	    .to = k->sums.p,
	    .also = back ? stats + 4 * n : NULL,
	    .zero = true,
	    .v_apart = k->d->in / p->B,
	    .x_apart = k->d->in / p->B,
	    .stat_apart = p->stat_size,
	    .to_apart = width,
	    .also_apart = p->stat_size};
	struct gv_cuda_stat t = {.B = p->B,
	    .n = n,
	    .active = k->d->away,
	    .stats = stats,
	    .sums = k->sums.p,
	    .count = gv_nn_count(&k->d->call, k->d->row),
	    .stat_apart = p->stat_size,
	    .sum_apart = width};

	free(k->scratch.p);
	k->scratch = tensor(GV_CUDA_F32, gv_cuda_sums_scratch(what, &s), NULL);
	s.scratch = k->scratch.p;
	k->wrong += gv_cuda_sums(&emulator, k->d->type, what, &s) != 0;
	k->wrong += gv_cuda_stats(&emulator, take, &t) != 0;
}

static struct gv_cuda_bn
bn_of(struct kernels *k)
{
	const struct device *d = k->d;
	size_t apart = d->in / d->plan.B;

	return (struct gv_cuda_bn){.B = d->plan.B,
	    .rows = d->row->in_size / k->n * d->c->samples,
	    .n = k->n,
	    .active = d->away,
	    .x = k->x.p,
	    .y = k->y.p,
	    .dy = k->dy.p,
	    .dx = k->dx.p,
	    .gamma = k->gamma.p,
	    .beta = k->beta.p,
	    .stats = k->stats.p,
	    .count = gv_nn_count(&d->call, d->row),
	    .relu = d->row->l.act == GV_ACT_RELU,
	    .add = d->c->add,
	    .mask = d->c->mask ? k->x.p : NULL,
	    .x_apart = apart,
	    .y_apart = apart,
	    .dy_apart = apart,
	    .dx_apart = apart,
	    .mask_apart = apart,
	    .param_apart = k->n,
	    .stat_apart = d->plan.stat_size};
}

/* The gradients of gamma and beta are among the statistics. */
static void
take_gradients(struct kernels *k, const float *was)
{
	const struct device *d = k->d;
	struct gv_cuda_tree t = {.B = d->plan.B,
	    .parts = 1,
	    .n = k->n,
	    .active = d->away,
	    .add = d->c->add,
	    .v_apart = d->plan.stat_size,
	    .to_apart = k->n};

	k->dgamma = params(d, d->row->weight, k->n, was);
	k->dbeta = params(d, d->row->bias, k->n, was);
	t.v = (const float *)k->stats.p + 5 * k->n;
	t.to = k->dgamma.p;
	k->wrong += gv_cuda_tree(&emulator, &t) != 0;
	t.v = (const float *)k->stats.p + 4 * k->n;
	t.to = k->dbeta.p;
	k->wrong += gv_cuda_tree(&emulator, &t) != 0;
}

static void
run_kernels(struct kernels *k, const float *grads)
{
	const struct device *d = k->d;
	struct gv_cuda_bn a;
	struct gv_cuda_stat t = {.B = d->plan.B,
	    .n = k->n,
	    .active = d->away,
	    .stats = k->stats.p,
	    .running = (float *)k->running.p + d->row->running,
	    .to = (float *)k->to.p + d->row->running,
	    .count = gv_nn_count(&d->call, d->row),
	    .stat_apart = d->plan.stat_size,
	    .running_apart = d->plan.Q};

	sum(k, GV_CUDA_SUM, GV_CUDA_TAKE_X);
	sum(k, GV_CUDA_SQUARES, GV_CUDA_TAKE_SQUARES);
	a = bn_of(k);
	k->wrong += gv_cuda_bn_forward(&emulator, d->type, &a) != 0;
	sum(k, GV_CUDA_PRODUCTS, GV_CUDA_TAKE_DY);
	k->wrong += gv_cuda_bn_backward(&emulator, d->type, &a) != 0;
	take_gradients(k, grads);
	k->wrong += gv_cuda_stats(&emulator, GV_CUDA_UPDATE_RUNNING, &t) != 0;
}

static size_t
wrong_params(const struct kernels *k, const struct tensor *t, size_t offset)
{
	struct tensor want = params(k->d, offset, k->n, k->d->grads.v);
	size_t n = differing(t, 0, t->n, want.p, 0);

	free(want.p);
	return n;
}

static void
compare(struct kernels *k, const float *running)
{
	const struct device *d = k->d;

	k->wrong += device_differs(d, &k->y, device_y(d, d->row), NULL, 0);
	k->wrong +=
	    device_differs(d, &k->dx, device_dy(d, d->from), d->c->add ? d->dx : NULL, 0);
	k->wrong += differing(&k->stats, 0, k->stats.n, d->f.stats, 0);
	k->wrong += differing(&k->to, 0, k->to.n, running, 0);
	k->wrong += wrong_params(k, &k->dgamma, d->row->weight);
	k->wrong += wrong_params(k, &k->dbeta, d->row->bias);
}

/* Evaluations take their statistics from the running ones. */
static void
test_running(struct device *d)
{
	struct tensor stats =
	    tensor(GV_CUDA_F32, d->plan.B * d->plan.stat_size, d->f.stats);
	struct gv_cuda_stat t = {.B = d->plan.B,
	    .n = d->row->l.in_shape.channels,
	    .stats = stats.p,
	    .running = d->running + d->row->running,
	    .stat_apart = d->plan.stat_size,
	    .running_apart = d->plan.Q};

	d->be->bn_use_running(d->be, &d->call, 1);
	ok(gv_cuda_stats(&emulator, GV_CUDA_USE_RUNNING, &t) == 0 &&
		differing(&stats, 0, stats.n, d->f.stats, 0) == 0,
	    "%s: bn of %zu channels, running statistics", type_name[d->type], t.n);
	free(stats.p);
}

static void
test_case(const struct row_case *c, enum gv_cuda_type type)
{
	struct device d;
	struct both was;
	float *grads, *to;
	size_t i, wrong = 0, bytes;

	open_device(&d, c, type);
	was = copy_of(&d);
	bytes = (d.plan.B * d.plan.P + d.plan.B) * sizeof(float);
	grads = gv_xcalloc(bytes, 1);
	memcpy(grads, d.grads.v, bytes);
	to = gv_xcalloc(d.plan.B * d.plan.Q, sizeof(*to));
	memcpy(to, d.running, d.plan.B * d.plan.Q * sizeof(*to));
	run_device(&d, to);
	for (i = 0; i < ORDERS; i++) {
		struct kernels k = make_kernels(&d, &was);

		emulator_order = orders[i];
		run_kernels(&k, grads);
		compare(&k, to);
		wrong += k.wrong;
		free_kernels(&k);
	}
	is_int(wrong, 0,
	    "%s: %s of %zux%zux%zu, %zu models, %zu samples in %zu shards%s%s",
	    type_name[type], c->row, c->height, c->width, c->channels, c->models,
	    c->samples, c->shards, c->add ? ", added" : "", c->mask ? ", masked" : "");
	test_running(&d);
	free(was.stats);
	free(was.running);
	free(grads);
	free(to);
	close_device(&d);
}

int
main(void)
{
	static const struct row_case cases[] = {
	    {"bn,,,,,,,,", 1, 1, 5, 3, 7, 4, false, false},
	    {"bn,,,,,,,relu,", 3, 2, 33, 2, 5, 1, true, true},
	    {"bn,,,,,,,,", 1, 1, 1, 4, 64, 16, false, true},
	    {"bn,,,,,,,relu,", 20, 21, 3, 2, 3, 2, true, false},
	    {"bn,,,,,,,,", 17, 17, 35, 1, 2, 1, false, true},
	    {"bn,,,,,,,,", 41, 33, 3, 1, 1, 1, false, false},
	};
	size_t i;

	gv_init("kernels_bn");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_case(&cases[i], GV_CUDA_F32);
		test_case(&cases[i], GV_CUDA_BF16);
	}
	return done_testing();
}
