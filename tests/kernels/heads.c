/*
 * Heads under emulation against the CPU's device: losses, gradients, hits.  xent of
 * many classes or places sums in another order, so within 1e-6 of what is larger, 1 or
 * the number.
 */
#include "device.h"

static const unsigned orders[] = {0, 1, 3};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

struct head_case {
	const char *op;
	size_t models, samples, places, classes;
};

/* The second row, whose input and its gradient the test has: through the table's head. */
struct head {
	struct device d;
	const struct gv_nn_row *from, *row;
	int32_t *label;
	float *number;
	size_t targets;
};

static void
open_head(struct head *h, const struct head_case *c, enum gv_cuda_type type)
{
	char table[200];
	bool labels = strcmp(c->op, "xent") == 0;
	struct gv_net_config config = {.models = c->models,
	    .batch = c->samples,
	    .shards = 1,
	    .ranks = 1,
	    .micro_batches = 3,
	    .slots = 1,
	    .versions = 1};
	struct gv_nn_room room;
	struct device *d = &h->d;
	struct gv_error e = {0};
	size_t i, n;

	*h = (struct head){0};
	d->be = gv_cpu_new(1);
	d->type = type;
	snprintf(
	    table, sizeof(table), DEVICE_HEAD "1,relu,0,,,,,,,,\n2,%s,,,,,,,,,\n", c->op);
	d->m = help_model(table, c->places, 1, c->classes,
	    labels ? c->classes : c->places * c->classes);
	config.last_row = d->m.n;
	gv_nn_plan_make(&d->plan, &d->m, &config);
	h->from = &d->plan.row[0];
	h->row = &d->plan.row[1];
	d->be->plan(d->be, &d->plan, &room);
	d->scratch = gv_xcalloc(room.scratch + 1, sizeof(float));
	if (d->be->start(d->be, d->scratch, &e) != 0)
		gv_die_error(&e);
	n = c->models * c->samples * d->plan.numbers[GV_NET_OUTPUT][GV_NN_OWN];
	d->f.y[GV_NN_OWN] = normals(type, n, 3);
	d->f.dy[GV_NN_OWN] = normals(type, n, 4);
	/* equal logits: only the first of them can be the largest */
	for (i = 0; i + 7 < n; i += 11)
		d->f.y[GV_NN_OWN][i + 1] = d->f.y[GV_NN_OWN][i];
	d->f.hit = normals(0, c->models * c->samples, 5);
	h->targets = d->plan.targets;
	h->label = gv_xcalloc(c->samples * h->targets, sizeof(*h->label));
	h->number = gv_xcalloc(c->samples * h->targets, sizeof(*h->number));
	for (i = 0; i < c->samples * h->targets; i++) {
		h->label[i] = (int32_t)(gv_random(9, 0, 0, i) % c->classes);
		if (h->targets > 1 && i % 5 == 2)
			h->label[i] = -100;
		h->number[i] = (float)gv_random_uniform(9, 0, 1, i);
	}
	d->f.label = labels ? h->label : NULL;
	d->f.number = labels ? NULL : h->number;
	d->away = malloc(c->models);
	for (i = 0; i < c->models; i++) {
		d->active[i] = c->models < 3 || i != 1;
		d->away[i] = d->active[i];
	}
	d->call = (struct gv_nn_call){.plan = &d->plan,
	    .w = &d->w,
	    .f = &d->f,
	    .active = d->active,
	    .n = c->samples};
}

static void
close_head(struct head *h)
{
	struct device *d = &h->d;

	d->be->free(d->be);
	gv_nn_plan_free(&d->plan);
	gv_model_free(&d->m);
	free(d->f.y[GV_NN_OWN]);
	free(d->f.dy[GV_NN_OWN]);
	free(d->f.hit);
	free(d->scratch);
	free(d->away);
	free(h->label);
	free(h->number);
}

/* Numbers that are wrong when the kernels do it. */
static size_t
run_head(const struct head *h, enum gv_cuda_head_kind kind, double tolerance)
{
	const struct device *d = &h->d;
	size_t B = d->plan.B, n = d->call.n, in = h->row->in_size, wrong = 0;
	bool training = d->call.training;
	struct tensor x = tensor(d->type, B * n * in, device_y(d, h->from));
	struct tensor dx = tensor(d->type, B * n * in, NULL),
		      loss = tensor(0, B * n, NULL);
	struct tensor hit = tensor(0, B * n, NULL), scratch;
	struct gv_cuda_head a = {.B = B,
	    .n = n,
	    .targets = h->targets,
	    .classes = in / h->targets,
	    .active = training ? d->away : NULL,
	    .x = x.p,
	    .label = d->f.label,
	    .number = d->f.number,
	    .loss = loss.p,
	    .hit = training ? NULL : hit.p,
	    .dx = training ? dx.p : NULL,
	    .divisor = (float)gv_nn_targets(&d->plan),
	    .x_apart = n * in,
	    .loss_apart = n,
	    .hit_apart = n,
	    .dx_apart = n * in};

	scratch = tensor(0, gv_cuda_head_scratch(&a), NULL);
	a.scratch = scratch.p;
	wrong += gv_cuda_head(&emulator, d->type, kind, &a) != 0;
	if (training) {
		wrong += device_differs(d, &loss, device_y(d, h->row), NULL, tolerance);
		wrong += device_differs(d, &dx, device_dy(d, h->from), NULL, tolerance);
	} else {
		wrong += differing(&loss, 0, loss.n, device_y(d, h->row), tolerance);
		wrong += differing(&hit, 0, hit.n, d->f.hit, 0);
	}
	free(x.p);
	free(dx.p);
	free(loss.p);
	free(hit.p);
	free(scratch.p);
	return wrong;
}

static void
test_head(const struct head_case *c, enum gv_cuda_type type, bool training)
{
	enum gv_cuda_head_kind kind = strcmp(c->op, "xent") == 0  ? GV_CUDA_XENT
				      : strcmp(c->op, "mse") == 0 ? GV_CUDA_MSE
								  : GV_CUDA_BCE;
	double tolerance =
	    kind == GV_CUDA_XENT && (c->classes > 64 || c->places > 1) ? 1e-6 : 0;
	struct head h;
	size_t i, wrong = 0;

	open_head(&h, c, type);
	h.d.call.training = training;
	h.d.be->forward(h.d.be, &h.d.call, 1, 2);
	for (i = 0; i < ORDERS; i++) {
		emulator_order = orders[i];
		wrong += run_head(&h, kind, tolerance);
	}
	is_int(wrong, 0, "%s: %s of %zu models, %zu samples of %zu x %zu, %s, %s",
	    type_name[type], c->op, c->models, c->samples, c->places, c->classes,
	    training ? "training" : "evaluating",
	    tolerance > 0 ? "within 1e-6" : "bit for bit");
	close_head(&h);
}

int
main(void)
{
	static const struct head_case cases[] = {{"xent", 1, 1, 1, 2},
	    {"xent", 3, 7, 1, 10}, {"xent", 2, 5, 1, 64}, {"xent", 2, 3, 1, 65},
	    {"xent", 3, 2, 1, 1000}, {"xent", 3, 4, 9, 11}, {"xent", 2, 3, 5, 300},
	    {"mse", 3, 5, 1, 1}, {"mse", 2, 3, 7, 9}, {"bce", 3, 5, 1, 1},
	    {"bce", 2, 130, 3, 2}};
	size_t i;

	gv_init("kernels_heads");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_head(&cases[i], GV_CUDA_F32, true);
		test_head(&cases[i], GV_CUDA_F32, false);
		test_head(&cases[i], GV_CUDA_BF16, true);
		test_head(&cases[i], GV_CUDA_BF16, false);
	}
	return done_testing();
}
