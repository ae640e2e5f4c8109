/*
 * The CPU's backend and the slow one give the same bits through backend.h on every
 * net; micro-batches and versions of the weights are what net.h says.
 */
#include "nn_fixture.h"
#include "nn_slow.h"

enum { STEPS = 3 };

/* ---- one backend and another ---- */

static void
test_backend(size_t i)
{
	struct fixture f;
	struct gv_net *cpu, *slow;
	double loss[HELP_MODELS], other[HELP_MODELS];
	size_t correct[HELP_MODELS], hits[HELP_MODELS], k, wrong = 0, n;
	gv_real *logits, *others;

	open_fixture(&f, i);
	cpu = make(&f, gv_cpu_new(i % 3 + 1));
	slow = make(&f, slow_new());
	for (k = 0; k < STEPS; k++) {
		draw(&f, k);
		if (gv_net_step(cpu, f.x, f.target, loss) != 0 ||
		    gv_net_step(slow, f.x, f.target, other) != 0)
			gv_die("a step failed");
		wrong += memcmp(loss, other, f.c->models * sizeof(*loss)) != 0;
	}
	is_int(wrong, 0, "%s: losses of both backends", f.c->name);
	is_int(differences(&f, cpu, slow), 0, "%s: and what they carry", f.c->name);
	n = f.c->models * f.most * f.m.outputs;
	logits = gv_xcalloc(n, sizeof(*logits));
	others = gv_xcalloc(n, sizeof(*others));
	gv_net_eval(cpu, f.x, f.target, f.most, correct, loss, logits);
	gv_net_eval(slow, f.x, f.target, f.most, hits, other, others);
	ok(memcmp(logits, others, n * sizeof(*logits)) == 0 &&
		memcmp(loss, other, f.c->models * sizeof(*loss)) == 0 &&
		memcmp(correct, hits, f.c->models * sizeof(*hits)) == 0,
	    "%s: evaluations", f.c->name);
	free(logits);
	free(others);
	gv_net_free(cpu);
	gv_net_free(slow);
	close_fixture(&f);
}

/* A batch by numbers of a resident data set is that batch. */
static void
test_gather(struct gv_nn_backend *be)
{
	struct fixture f;
	struct gv_net *net, *plain;
	double loss[HELP_MODELS], other[HELP_MODELS];
	const char *name = be->name;
	uint32_t visit[64];
	gv_real *x;
	char *target;
	size_t j, n;

	open_fixture(&f, 4);
	n = f.c->batch;
	net = make(&f, be);
	plain = make(&f, gv_cpu_new(1));
	draw(&f, 1);
	x = gv_xcalloc(n * f.size, sizeof(*x));
	target = gv_xcalloc(n, f.bytes);
	for (j = 0; j < n; j++) {
		visit[j] = (uint32_t)((5 * j + 2) % f.most);
		memcpy(x + j * f.size, f.x + visit[j] * f.size, f.size * sizeof(*x));
		memcpy(target + j * f.bytes, f.target + visit[j] * f.bytes, f.bytes);
	}
	gv_net_data(net, f.x, f.target, f.most);
	ok(gv_net_step_of(net, visit, loss) == 0 &&
		gv_net_step(plain, x, target, other) == 0 &&
		memcmp(loss, other, f.c->models * sizeof(*loss)) == 0,
	    "%s: a step by numbers", name);
	is_int(differences(&f, net, plain), 0, "%s: is the step of these samples", name);
	free(x);
	free(target);
	gv_net_free(net);
	gv_net_free(plain);
	close_fixture(&f);
}

/* ---- micro-batches and versions ---- */

/* Without bn M micro-batches of N samples are near one batch of M * N. */
static void
test_micro_batches(size_t i)
{
	struct fixture f;
	struct gv_net *many, *one;
	double loss[HELP_MODELS], other[HELP_MODELS], worst = 0;
	size_t b, k, bits = sizeof(gv_real) == 8 ? 12 : 4;
	gv_real *v, *w;

	open_fixture(&f, i);
	f.config.optimiser = GV_SGD;
	f.config.micro_batches = 4;
	many = make(&f, gv_cpu_new(1));
	f.config.micro_batches = 1;
	f.config.batch *= 4;
	one = make(&f, gv_cpu_new(1));
	draw(&f, 1);
	gv_net_step(many, f.x, f.target, loss);
	gv_net_step(one, f.x, f.target, other);
	for (b = 0; b < f.c->models; b++) {
		v = help_array(many, 0, b);
		w = help_array(one, 0, b);
		for (k = 0; k < f.m.parameters; k++)
			worst = fmax(worst, fabs((double)v[k] - (double)w[k]));
		worst = fmax(worst, fabs(loss[b] - other[b]));
		free(v);
		free(w);
	}
	ok(worst < pow(10, -(double)bits), "%s: four micro-batches are near one batch",
	    f.c->name);
	gv_net_free(many);
	gv_net_free(one);
	close_fixture(&f);
}

/* Two versions (2BW): w[t + 1] = w[t] - lr * gradient at w[t - 1], by hand. */
static void
test_versions(void)
{
	struct fixture f;
	struct gv_net *net, *plain;
	struct gv_net_work all;
	struct gv_net_coef coef;
	double loss[HELP_MODELS];
	gv_real *before, *now, *grad, *got;
	size_t k, j, wrong = 0;

	open_fixture(&f, 2);
	f.config.optimiser = GV_SGD;
	f.config.models = 1;
	f.config.versions = 2;
	net = make(&f, gv_cpu_new(1));
	f.config.versions = 1;
	plain = make(&f, gv_cpu_new(1));
	coef = gv_net_coef(net, 0);
	coef.momentum = coef.weight_decay = 0;
	gv_net_set_coef(net, 0, &coef);
	before = help_array(net, 0, 0);
	now = help_array(net, 0, 0);
	grad = gv_xcalloc(f.m.parameters, sizeof(*grad));
	for (k = 0; k < 5; k++) {
		draw(&f, k);
		all = (struct gv_net_work){.last = f.m.n, .version = k % 2};
		gv_net_load(net, 0, f.x, f.target);
		gv_net_forward(net, &all);
		gv_net_backward(net, &all);
		gv_net_gradients(net, &all, true);
		gv_net_sum(net, loss);
		gv_net_advance(net, (k + 1) % 2, k % 2);
		gv_net_put(plain, 0, 0, before);
		gv_net_gradient(plain, f.x, f.target, loss);
		gv_net_get_gradients(plain, 0, grad);
		memcpy(before, now, f.m.parameters * sizeof(*now));
		for (j = 0; j < f.m.parameters; j++)
			now[j] -= (gv_real)coef.lr * grad[j];
		got = help_array(net, 0, 0);
		for (j = 0; j < f.m.parameters; j++)
			wrong +=
			    fabs((double)(got[j] - now[j])) > 1e-6 * fabs((double)now[j]);
		wrong += gv_net_version(net, 0) != k % 2 ||
			 gv_net_version(net, 1) != (k + 1) % 2;
		free(got);
	}
	is_int(wrong, 0, "two versions: gradients of the weights before the last");
	free(before);
	free(now);
	free(grad);
	gv_net_free(net);
	gv_net_free(plain);
	close_fixture(&f);
}

/* A model that does not train is in the new version what it was in the old. */
static void
test_inactive_version(void)
{
	struct fixture f;
	struct gv_net *net, *fresh;
	struct gv_net_work all;
	double loss[HELP_MODELS];

	open_fixture(&f, 2);
	f.config.models = 2;
	f.config.versions = 2;
	net = make(&f, gv_cpu_new(1));
	fresh = make(&f, gv_cpu_new(1));
	gv_net_set_active(net, 1, false);
	draw(&f, 1);
	all = (struct gv_net_work){.last = f.m.n};
	gv_net_load(net, 0, f.x, f.target);
	gv_net_forward(net, &all);
	gv_net_backward(net, &all);
	gv_net_gradients(net, &all, true);
	gv_net_sum(net, loss);
	gv_net_advance(net, 0, 1);
	is_int(help_differences(net, 1, fresh, 1), 0, "a stopped model in a new version");
	ok(help_differences(net, 0, fresh, 0) > 0, "and one that trains");
	gv_net_free(net);
	gv_net_free(fresh);
	close_fixture(&f);
}

/* ---- the tools that no operator needs yet ---- */

static gv_real *
put_numbers(struct gv_nn_backend *be, size_t n, uint64_t seed)
{
	gv_real *v = gv_xcalloc(n, sizeof(*v)), *there;
	struct gv_error e = {0};
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = (gv_real)gv_random_normal(seed, 0, 0, i);
	there = be->alloc(be, GV_NN_SCRATCH, n * sizeof(*v), &e);
	be->put(be, there, v, n * sizeof(*v));
	free(v);
	return there;
}

enum { BATCH = 3, ROOM = 40 * 40 * BATCH };

/* A random batched product, and a tree over it; to v [ROOM]. */
static void
compute(struct gv_nn_backend *be, uint64_t seed, gv_real *v)
{
	uint64_t r = gv_random(5, 0, 0, seed);
	struct gv_nn_gemm g = {.batch = 1 + r % BATCH,
	    .m = 1 + r / 4 % 20,
	    .n = 1 + r / 128 % 40,
	    .k = 1 + r / 8192 % 40,
	    .a_transposed = r >> 40 & 1,
	    .b_transposed = r >> 41 & 1,
	    .add = r >> 42 & 1,
	    .relu = r >> 43 & 1};
	gv_real *a = put_numbers(be, ROOM, 1), *b = put_numbers(be, ROOM, 2);
	gv_real *c = put_numbers(be, ROOM, 3), *bias = put_numbers(be, ROOM, 4);

	g.a = a;
	g.b = b;
	g.c = c;
	g.bias = !g.add && (r >> 44 & 1) ? bias : NULL;
	g.lda = 40;
	g.ldb = g.ldc = 40;
	g.a_batch = r >> 45 & 1 ? 1600 : 0;
	g.b_batch = r >> 46 & 1 ? 1600 : 0;
	g.c_batch = 1600;
	g.bias_batch = r >> 47 & 1 ? 40 : 0;
	be->gemm(be, 0, &g);
	be->sum_tree(be, 0, c, 4, ROOM / 4);
	be->sync(be);
	be->get(be, v, c, ROOM * sizeof(*v));
	be->release(be, GV_NN_SCRATCH, a);
	be->release(be, GV_NN_SCRATCH, b);
	be->release(be, GV_NN_SCRATCH, c);
	be->release(be, GV_NN_SCRATCH, bias);
}

static void
test_tools(void)
{
	static gv_real v[ROOM], w[ROOM];
	struct gv_nn_backend *cpu = gv_cpu_new(1), *slow = slow_new();
	size_t i, wrong = 0;

	for (i = 0; i < 60; i++) {
		compute(cpu, i, v);
		compute(slow, i, w);
		wrong += memcmp(v, w, sizeof(v)) != 0;
	}
	is_int(wrong, 0, "batched products and trees of both backends");
	ok(cpu->capture(cpu, 0) == -1, "the CPU has no graphs");
	cpu->free(cpu);
	slow->free(slow);
}

int
main(void)
{
	const char *many;
	size_t i;

	gv_init("nn_backend");
	for (i = 0; i < CASES + NETS; i++)
		test_backend(i);
	many = getenv("GV_LONG");
	for (i = 0; i < (many != NULL && *many != '\0' ? 100u : 12u); i++)
		test_backend(CASES + NETS + i);
	test_gather(gv_cpu_new(2));
	test_gather(slow_new());
	test_micro_batches(2);
	test_micro_batches(4);
	test_micro_batches(9);
	test_versions();
	test_inactive_version();
	test_tools();
	return done_testing();
}
