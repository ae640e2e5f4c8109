/*
 * Whole nets on the CUDA backend, over the fake driver and the emulated kernels of
 * tests/cuda/, beside the CPU: losses, graphs, arrays, micro-batches, checkpoints from one
 * device to the other, and every call that can fail.
 */
#include "cuda/cuda.h"
#include "cuda/driver.h"
#include "../cuda/fake.h"
#include "nn/ckpt.h"
#include "nn_fixture.h"

enum { STEPS = 20, FEW = 3 };

static struct gv_cuda_driver driver;
static struct gv_cuda_blas blas;

static struct gv_nn_backend *
cuda_new(enum gv_nn_math math, bool no_graphs, struct gv_error *e)
{
	struct gv_cuda_config c = {.driver = &driver,
	    .blas = &blas,
	    .image = gv_cuda_image,
	    .math = math,
	    .no_graphs = no_graphs};

	return gv_cuda_new(&c, e);
}

static struct gv_nn_backend *
cuda(void)
{
	struct gv_error e = {0};
	struct gv_nn_backend *be = cuda_new(GV_NN_FP32, false, &e);

	if (be == NULL)
		gv_die_error(&e);
	return be;
}

/* Operators that have kernels. */
static bool
can(const struct fixture *f)
{
	struct gv_error e = {0};
	struct gv_net_config c = f->config;
	uint64_t seed[HELP_MODELS] = {0};
	struct gv_net_coef coef[HELP_MODELS] = {GV_NET_COEF_DEFAULT};
	struct gv_net *net;

	c.seed = seed;
	c.coef = coef;
	c.backend = cuda();
	if (gv_net_new(&net, &f->m, &c, &e) == 0) {
		gv_net_free(net);
		return true;
	}
	ok(strstr(e.text[0], "no kernels for GPUs") != NULL, "%s: %s", f->c->name,
	    e.text[0]);
	return false;
}

/* The largest difference of the parameters of two nets. */
static double
apart(const struct fixture *f, struct gv_net *a, struct gv_net *b)
{
	double worst = 0;
	size_t i, k;

	for (i = 0; i < f->c->models; i++) {
		gv_real *v = help_array(a, 0, i), *w = help_array(b, 0, i);

		for (k = 0; k < f->m.parameters; k++)
			worst = fmax(worst, fabs((double)v[k] - (double)w[k]));
		free(v);
		free(w);
	}
	return worst;
}

/* Steps of two nets on the same batches; the largest difference of their losses. */
static double
train(const struct fixture *f, struct gv_net *a, struct gv_net *b, size_t steps)
{
	double loss[HELP_MODELS], other[HELP_MODELS], worst = 0;
	size_t k, i;

	for (k = 0; k < steps; k++) {
		draw(f, k);
		if (gv_net_step(a, f->x, f->target, loss) != 0 ||
		    gv_net_step(b, f->x, f->target, other) != 0)
			gv_die("a step failed: %s %s", gv_net_error(a), gv_net_error(b));
		for (i = 0; i < f->c->models; i++)
			worst = fmax(worst, fabs(loss[i] - other[i]));
	}
	return worst;
}

/*
 * How near parameters are: a key's bias in attention, and one in front of bn, has no
 * gradient but what rounding leaves, of which Adam makes whole steps.  Of labels at many
 * places the losses' exponentials may differ in their last digit; the gradients of tokens that
 * stand at few of them are not much above Adam's epsilon, which makes a step's part of that.
 */
static double
nearness(const struct fixture *f)
{
	bool bn = false, acts = false, tokens = false;
	size_t i;

	for (i = 0; i < f->m.n; i++) {
		if (f->m.layer[i].op == GV_OP_ATTENTION ||
		    f->m.layer[i].op == GV_OP_CAUSAL)
			return 1e-2;
		bn |= f->m.layer[i].op == GV_OP_BN;
		tokens |= f->m.layer[i].op == GV_OP_EMBED;
		acts |= f->m.layer[i].act > GV_ACT_RELU;
	}
	tokens &= f->m.targets > 1 && f->config.optimiser != GV_SGD;
	return bn && acts ? 1e-2 : tokens ? 1e-4 : 1e-6;
}

/* A net on both devices: losses of some steps, what they carry, evaluations. */
static void
test_beside_cpu(size_t i, size_t steps)
{
	struct fixture f;
	struct gv_net *cpu, *gpu;
	double loss[HELP_MODELS], other[HELP_MODELS], worst, params, eval = 0;
	size_t correct[HELP_MODELS], hits[HELP_MODELS], b, wrong = 0;

	open_fixture(&f, i);
	if (!can(&f)) {
		close_fixture(&f);
		return;
	}
	cpu = make(&f, gv_cpu_new(1));
	gpu = make(&f, cuda());
	worst = train(&f, cpu, gpu, steps);
	params = apart(&f, cpu, gpu);
	ok(worst < 1e-6, "%s: losses of %zu steps within %.2g of the CPU", f.c->name,
	    steps, worst);
	ok(params < nearness(&f), "%s: parameters within %.2g", f.c->name, params);
	help_copy(gpu, cpu, f.c->models);
	if (gv_net_eval(cpu, f.x, f.target, f.most, correct, loss, NULL) != 0 ||
	    gv_net_eval(gpu, f.x, f.target, f.most, hits, other, NULL) != 0)
		gv_die("an evaluation failed");
	for (b = 0; b < f.c->models; b++) {
		eval = fmax(eval, fabs(loss[b] - other[b]));
		wrong += correct[b] != hits[b];
	}
	ok(eval < 1e-5 && wrong == 0, "%s: an evaluation", f.c->name);
	gv_net_free(cpu);
	gv_net_free(gpu);
	is_int(gv_fake_cuda_blocks(), 0, "%s: all memory is given back", f.c->name);
	close_fixture(&f);
}

/* Graphs change no bits, and are there. */
static void
test_graphs(size_t i)
{
	struct fixture f;
	struct gv_error e = {0};
	struct gv_net *with, *without;
	size_t launches, before, steps = 6;

	open_fixture(&f, i);
	with = make(&f, cuda());
	without = make(&f, cuda_new(GV_NN_FP32, true, &e));
	gv_fake_cuda_reset();
	ok(train(&f, with, without, steps) == 0, "%s: graphs change no loss", f.c->name);
	is_int(differences(&f, with, without), 0, "%s: and no number", f.c->name);
	launches = gv_fake_cuda_called("cuGraphLaunch");
	ok(launches >= steps - 1, "%s: steps are graphs from the second on (%zu)",
	    f.c->name, launches);
	before = gv_fake_cuda_called("cuLaunchKernel");
	draw(&f, 1);
	gv_net_step(with, f.x, f.target, (double[HELP_MODELS]){0});
	ok(gv_fake_cuda_called("cuLaunchKernel") - before <= 2,
	    "%s: then next to nothing is launched by itself (%zu)", f.c->name,
	    gv_fake_cuda_called("cuLaunchKernel") - before);
	gv_net_free(with);
	gv_net_free(without);
	close_fixture(&f);
}

/* The caller's own graph, events, and the tools. */
static void
test_tools(void)
{
	struct gv_error e = {0};
	struct gv_nn_backend *be = cuda();
	float v[16], w[16], *there = be->alloc(be, GV_NN_SCRATCH, sizeof(v), &e);
	float *back = be->alloc(be, GV_NN_SCRATCH, sizeof(v), &e);
	size_t i;
	int graph;

	for (i = 0; i < 16; i++)
		v[i] = (float)i;
	be->put(be, there, v, sizeof(v));
	ok(be->record(be, 0, 1) == 0 && be->wait(be, 1, 1) == 0, "an event");
	ok(be->capture(be, 0) == 0, "a capture");
	be->copy(be, back, there, sizeof(v));
	be->sum_tree(be, 0, back, 4, 4);
	graph = be->captured(be, 0);
	ok(graph == 0, "a graph");
	be->get(be, w, back, sizeof(w));
	ok(w[1] == 0, "what was captured has not run");
	ok(be->replay(be, 0, graph) == 0 && be->get(be, w, back, sizeof(w)) == 0 &&
		w[0] == 24 && w[3] == 36,
	    "it runs when it is replayed");
	ok(be->replay(be, 0, 7) == -1, "no such graph");
	be->release(be, GV_NN_SCRATCH, there);
	be->release(be, GV_NN_SCRATCH, back);
	be->free(be);
	is_int(gv_fake_cuda_blocks(), 0, "tools: all memory is given back");
}

/*
 * Model b of an array has the bits of the same model alone; some stand still.  partly:
 * rows are not fused.
 */
static void
test_array(size_t i, bool partly)
{
	struct fixture f;
	struct gv_net *array, *one;
	struct gv_net_config c;
	double loss[HELP_MODELS], alone;
	size_t b, k, wrong = 0;

	open_fixture(&f, i);
	f.config.models = 4;
	for (k = 0; partly && k < f.m.n; k++)
		f.m.layer[k].serial = k % 3 != 1;
	array = make(&f, cuda());
	gv_net_set_active(array, 3, false);
	for (k = 0; k < FEW; k++) {
		if (k == 2)
			gv_net_set_active(array, 1, false);
		draw(&f, k);
		if (gv_net_step(array, f.x, f.target, loss) != 0)
			gv_die("a step failed");
		wrong += !isnan(loss[3]) || (k == 2 && !isnan(loss[1]));
	}
	is_int(wrong, 0, "%s: no losses of models that stand still", f.c->name);
	for (b = 0; b < 4; b++) {
		size_t steps = b == 3 ? 0 : b == 1 ? 2 : FEW;

		c = f.config;
		c.models = 1;
		c.backend = cuda();
		one = help_net(&f.m, c, b);
		for (k = 0; k < steps; k++) {
			draw(&f, k);
			gv_net_step(one, f.x, f.target, &alone);
		}
		is_int(help_differences(array, b, one, 0), 0,
		    "%s: model %zu of four as alone", f.c->name, b);
		gv_net_free(one);
	}
	gv_net_free(array);
	close_fixture(&f);
}

/* Micro-batches, slots that are worked on in turns, steps by numbers. */
static void
test_schedule(size_t i)
{
	struct fixture f;
	struct gv_net *cpu, *gpu;
	double loss[HELP_MODELS], other[HELP_MODELS], worst;
	uint32_t visit[256];
	size_t k, j;

	open_fixture(&f, i);
	f.config.micro_batches = 4;
	cpu = make(&f, gv_cpu_new(1));
	gpu = make(&f, cuda());
	worst = train(&f, cpu, gpu, FEW);
	gv_net_data(cpu, f.x, f.target, f.most);
	gv_net_data(gpu, f.x, f.target, f.most);
	for (k = 0; k < FEW; k++) {
		for (j = 0; j < 4 * f.c->batch; j++)
			visit[j] = (uint32_t)((7 * j + k) % f.most);
		if (gv_net_step_of(cpu, visit, loss) != 0 ||
		    gv_net_step_of(gpu, visit, other) != 0)
			gv_die("a step failed");
		for (j = 0; j < f.c->models; j++)
			worst = fmax(worst, fabs(loss[j] - other[j]));
	}
	ok(worst < 1e-5, "%s: micro-batches, and samples by their numbers, within %.2g",
	    f.c->name, worst);
	gv_net_free(cpu);
	gv_net_free(gpu);
	close_fixture(&f);
}

/*
 * Steps that are begun ahead of their losses: the same losses and numbers, and nobody
 * waits for the device but for what is some steps old; a step is one graph.
 */
static void
test_late(size_t i, size_t micro_batches)
{
	enum { AHEAD = GV_NET_LATE - 1, MANY = 24 };
	static const char *const names[] = {"cuStreamSynchronize", "cuEventSynchronize",
	    "cuGraphLaunch", "cuLaunchKernel", "cuMemcpyDtoHAsync_v2"};
	static const size_t most[] = {0, MANY, MANY, 0, MANY};
	struct fixture f;
	struct gv_net *late, *now;
	double loss[HELP_MODELS], other[MANY + AHEAD][HELP_MODELS];
	uint32_t visit[256];
	size_t k, j, wrong = 0, before[5], taken = 0;

	open_fixture(&f, i);
	f.config.micro_batches = micro_batches;
	late = make(&f, cuda());
	now = make(&f, cuda());
	draw(&f, 1);
	gv_net_data(late, f.x, f.target, f.most);
	gv_net_data(now, f.x, f.target, f.most);
	for (k = 0; k < MANY + AHEAD; k++) {
		for (j = 0; j < micro_batches * f.c->batch; j++)
			visit[j] = (uint32_t)((7 * j + k) % f.most);
		for (j = 0; j < 5 && k == AHEAD; j++)
			before[j] = gv_fake_cuda_called(names[j]);
		if (gv_net_step_begin(late, visit) != 0)
			gv_die("a step failed: %s", gv_net_error(late));
		if (k >= AHEAD) {
			wrong += gv_net_step_losses(late, other[taken++]) != 0;
			wrong += gv_net_late(late) != AHEAD;
		}
	}
	for (j = 0; j < 5; j++) {
		size_t calls = gv_fake_cuda_called(names[j]) - before[j];

		ok(calls <= most[j], "%s, %zu micro-batches: %zu of %s in %d steps",
		    f.c->name, micro_batches, calls, names[j], MANY);
	}
	while (gv_net_late(late) > 0)
		wrong += gv_net_step_losses(late, other[taken++]) != 0;
	for (k = 0; k < MANY + AHEAD; k++) {
		for (j = 0; j < micro_batches * f.c->batch; j++)
			visit[j] = (uint32_t)((7 * j + k) % f.most);
		if (gv_net_step_of(now, visit, loss) != 0)
			gv_die("a step failed");
		wrong += memcmp(loss, other[k], f.c->models * sizeof(*loss)) != 0;
	}
	is_int(wrong, 0, "%s: losses that are read late", f.c->name);
	is_int(differences(&f, late, now), 0, "%s: and what nets carry then", f.c->name);
	gv_net_free(late);
	gv_net_free(now);
	close_fixture(&f);
}

/* Losses of a schedule of the caller's: the same, without a wait for the device. */
static void
test_losses(size_t i)
{
	struct fixture f;
	struct gv_net *net;
	struct gv_net_work w = {0};
	double now[HELP_MODELS], late[2][HELP_MODELS];
	size_t k, wrong = 0, before;

	open_fixture(&f, i);
	draw(&f, 1);
	w.last = f.m.n;
	net = make(&f, cuda());
	gv_net_set_active(net, 0, false);
	for (k = 0; k < 2; k++) {
		wrong += gv_net_load(net, 0, f.x, f.target) != 0 ||
			 gv_net_forward(net, &w) != 0 || gv_net_backward(net, &w) != 0 ||
			 gv_net_gradients(net, &w, true) != 0;
		before = gv_fake_cuda_called("cuStreamSynchronize");
		wrong += gv_net_losses_begin(net) != 0;
		is_int(gv_fake_cuda_called("cuStreamSynchronize") - before, 0,
		    "%s: losses that nobody waits for", f.c->name);
		wrong += gv_net_sum(net, now) != 0;
		wrong += gv_net_late(net) != 1 || gv_net_step_losses(net, late[k]) != 0;
		wrong +=
		    memcmp(now + 1, late[k] + 1, (f.c->models - 1) * sizeof(*now)) != 0;
		wrong += !isnan(late[k][0]);
	}
	is_int(wrong, 0, "%s: and they are those that are waited for", f.c->name);
	gv_net_free(net);
	close_fixture(&f);
}

/* Many copies on their way at once: room for them comes round again. */
static void
test_stage(void)
{
	enum { N = 60000, COPIES = 40 };
	struct gv_error e = {0};
	struct gv_nn_backend *be = cuda();
	float *v = gv_xcalloc(N, sizeof(*v)), *there[COPIES], *back;
	size_t i, k, wrong = 0, before = gv_fake_cuda_called("cuStreamSynchronize");

	for (k = 0; k < COPIES; k++) {
		there[k] = be->alloc(be, GV_NN_SCRATCH, N * sizeof(*v), &e);
		for (i = 0; i < N; i++)
			v[i] = (float)(i + k);
		be->put(be, there[k], v, N * sizeof(*v));
	}
	is_int(gv_fake_cuda_called("cuStreamSynchronize") - before, 0,
	    "copies to the device: nobody waits for all of it");
	back = be->alloc(be, GV_NN_PINNED, N * sizeof(*v), &e);
	for (k = 0; k < COPIES; k++) {
		be->fetch(be, back, there[k], N * sizeof(*v));
		be->record(be, 0, 3);
		be->await(be, 3);
		wrong += back[0] != (float)k || back[N - 1] != (float)(N - 1 + k);
		be->release(be, GV_NN_SCRATCH, there[k]);
	}
	is_int(wrong, 0, "and all that was put is there");
	be->release(be, GV_NN_PINNED, back);
	be->free(be);
	free(v);
}

/* A checkpoint of one device goes on on the other; the way there and back keeps all bits. */
static void
test_checkpoint(size_t i)
{
	static const char *const line[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
	struct fixture f;
	struct gv_ckpt_key key = {"test\n", 0, line};
	struct gv_net *cpu, *gpu, *again;
	bool diverged[HELP_MODELS] = {false}, damaged;
	struct gv_error e = {0};
	char path[] = "/tmp/gv-cuda-XXXXXX";
	double worst;

	close(mkstemp(path));
	open_fixture(&f, i);
	key.models = f.c->models;
	gpu = make(&f, cuda());
	cpu = make(&f, gv_cpu_new(1));
	again = make(&f, cuda());
	train(&f, gpu, again, FEW);
	unlink(path);
	if (gv_ckpt_write(path, gpu, &key, diverged, &e) != 0)
		gv_die_error(&e);
	ok(gv_ckpt_read(path, cpu, &key, diverged, &damaged, &e) == GV_CKPT_READ,
	    "%s: the CPU reads the GPU's checkpoint", f.c->name);
	is_int(differences(&f, cpu, gpu), 0, "%s: all bits of it", f.c->name);
	worst = train(&f, cpu, gpu, FEW);
	ok(worst < 1e-5, "%s: and goes on, within %.2g", f.c->name, worst);
	unlink(path);
	if (gv_ckpt_write(path, cpu, &key, diverged, &e) != 0)
		gv_die_error(&e);
	ok(gv_ckpt_read(path, again, &key, diverged, &damaged, &e) == GV_CKPT_READ &&
		differences(&f, again, cpu) == 0,
	    "%s: the GPU reads the CPU's", f.c->name);
	unlink(path);
	gv_net_free(cpu);
	gv_net_free(gpu);
	gv_net_free(again);
	close_fixture(&f);
}

/* Products on tensor cores: near, but not the same; graphs and arrays as ever. */
static void
test_math(size_t i, enum gv_nn_math math, double near)
{
	struct fixture f;
	struct gv_error e = {0};
	struct gv_net *cpu, *gpu, *plain;
	double worst;
	const char *name = math == GV_NN_TF32 ? "tf32" : "bf16";

	open_fixture(&f, i);
	cpu = make(&f, gv_cpu_new(1));
	gpu = make(&f, cuda_new(math, false, &e));
	plain = make(&f, cuda_new(math, true, &e));
	worst = train(&f, cpu, gpu, FEW);
	ok(worst < near && worst > 0, "%s: %s within %.2g", f.c->name, name, worst);
	train(&f, cpu, plain, FEW);
	is_int(differences(&f, gpu, plain), 0, "%s: %s with graphs and without",
	    f.c->name, name);
	ok(gv_fake_cuda_called("cublasGemmStridedBatchedEx") > 0, "%s: by cuBLAS",
	    f.c->name);
	gv_net_free(cpu);
	gv_net_free(gpu);
	gv_net_free(plain);
	is_int(gv_fake_cuda_blocks(), 0, "%s: all memory is given back", name);
	close_fixture(&f);
}

/* Outputs of two nets on a batch: the largest difference, of what is larger, 1 or theirs. */
static double
outputs_apart(const struct fixture *f, struct gv_net *a, struct gv_net *b)
{
	size_t n = f->c->models * f->most * f->m.outputs, i;
	gv_real *v = gv_xcalloc(n, sizeof(*v)), *w = gv_xcalloc(n, sizeof(*w));
	double loss[HELP_MODELS], worst = 0;

	if (gv_net_eval(a, f->x, f->target, f->most, NULL, loss, v) != 0 ||
	    gv_net_eval(b, f->x, f->target, f->most, NULL, loss, w) != 0)
		gv_die("an evaluation failed");
	for (i = 0; i < n; i++)
		worst = fmax(worst,
		    fabs((double)v[i] - (double)w[i]) / fmax(1, fabs((double)v[i])));
	free(v);
	free(w);
	return worst;
}

/* Activations in bfloat16: losses and outputs near the CPU's, half the memory. */
static void
test_bf16(size_t i)
{
	struct fixture f;
	struct gv_error e = {0};
	struct gv_net *cpu, *gpu;
	struct gv_net_bytes full, half;
	double worst, outputs;

	open_fixture(&f, i);
	cpu = make(&f, gv_cpu_new(1));
	gpu = make(&f, cuda_new(GV_NN_BF16, false, &e));
	outputs = outputs_apart(&f, cpu, gpu);
	worst = train(&f, cpu, gpu, FEW);
	ok(worst < 3e-2 && outputs < 3e-2,
	    "%s: bf16: losses within %.2g, outputs within %.2g of the CPU", f.c->name,
	    worst, outputs);
	gv_net_bytes(cpu, &full);
	gv_net_bytes(gpu, &half);
	/* what is not halved: hits, and losses; samples are there once more */
	ok(half.activations <=
		full.activations / 2 +
		    f.most * (f.c->models * 8 + f.m.input.height * f.m.input.width *
						    f.m.input.channels * 2) +
		    64,
	    "%s: bf16: %zu bytes of activations, not %zu", f.c->name, half.activations,
	    full.activations);
	gv_net_free(cpu);
	gv_net_free(gpu);
	is_int(gv_fake_cuda_blocks(), 0, "%s: bf16: all memory is given back", f.c->name);
	close_fixture(&f);
}

/* Times of rows: all of them, forward and backward, and updates where there are weights. */
static void
test_times(void)
{
	struct fixture f;
	struct gv_net_times *t;
	struct gv_net *net, *other;
	size_t k, wrong = 0;

	open_fixture(&f, CASES + 2); /* a cnn with bn */
	net = make(&f, cuda());
	other = make(&f, cuda());
	t = gv_xcalloc(f.m.n, sizeof(*t));
	gv_net_time(net, t);
	train(&f, net, other, FEW);
	gv_net_time(net, NULL);
	for (k = 0; k < f.m.n; k++)
		wrong += t[k].forward_s <= 0 ||
			 (k + 1 < f.m.n && k > 0 && t[k].backward_s <= 0) ||
			 (f.m.layer[k].weights > 0) != (t[k].update_s > 0);
	is_int(wrong, 0, "times of the rows");
	is_int(differences(&f, net, other), 0, "and the same numbers");
	free(t);
	gv_net_free(net);
	gv_net_free(other);
	close_fixture(&f);
}

/* ---- failures ---- */

/* Opens a device, trains, evaluates; what went wrong to text, "" = nothing. */
static void
live(const struct fixture *f, enum gv_nn_math math, char text[GV_ERROR_LEN])
{
	struct gv_error e = {0};
	struct gv_nn_backend *be = cuda_new(math, false, &e);
	struct gv_net_config c = f->config;
	uint64_t seed[HELP_MODELS] = {1, 2};
	struct gv_net_coef coef[HELP_MODELS] = {GV_NET_COEF_DEFAULT, GV_NET_COEF_DEFAULT};
	double loss[HELP_MODELS];
	struct gv_net *net = NULL;
	struct gv_net_times *times = gv_xcalloc(f->m.n, sizeof(*times));
	gv_real *params = gv_xcalloc(f->m.parameters, sizeof(*params));
	size_t k;
	int status = 0;

	text[0] = '\0';
	c.seed = seed;
	c.coef = coef;
	c.backend = be;
	if (be != NULL)
		gv_net_new(&net, &f->m, &c, &e);
	for (k = 0; k < FEW && net != NULL && status == 0; k++)
		status = gv_net_step(net, f->x, f->target, loss);
	if (net != NULL && status == 0)
		status = gv_net_eval(net, f->x, f->target, f->most, NULL, loss, NULL);
	if (net != NULL && status == 0) {
		gv_net_time(net, times);
		status = gv_net_step(net, f->x, f->target, loss);
	}
	/* what waits for everything */
	if (net != NULL && status == 0)
		status = gv_net_get(net, 0, 0, params);
	if (status != 0 && gv_net_error(net) == NULL)
		gv_die("a failure without a reason");
	snprintf(text, GV_ERROR_LEN, "%s",
	    status != 0   ? gv_net_error(net)
	    : e.count > 0 ? e.text[0]
			  : "");
	gv_net_free(net);
	free(times);
	free(params);
}

/* Calls whose failure costs nothing, or that only give back. */
static bool
may_fail(const char *name)
{
	static const char *const names[] = {"cuGetErrorName", "cuGetErrorString",
	    "cuDeviceGetName", "cuMemGetInfo_v2", "cuMemFree_v2", "cuMemFreeHost",
	    "cuModuleUnload", "cuStreamDestroy_v2", "cuDevicePrimaryCtxRelease_v2",
	    "cuGraphDestroy", "cuGraphExecDestroy", "cuEventDestroy_v2",
	    "cublasDestroy_v2", "cuDeviceGetAttribute"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* The first time, the second, one between, and the last. */
static size_t
next(size_t at, size_t most)
{
	if (at == 1)
		return 2;
	return at < most / 2 ? most / 2 : at < most ? most : most + 1;
}

/* The smallest net that has everything. */
static size_t
whole_net(void)
{
	size_t i = 0;

	while (strcmp(cases[i].name, "a whole net") != 0)
		i++;
	return i;
}

/* One call of a name fails; what is told of it counts to silent and left. */
static void
fail_at(const struct fixture *f, enum gv_nn_math math, const char *name, size_t at,
    bool last, size_t *silent, size_t *left)
{
	char text[GV_ERROR_LEN];

	gv_fake_cuda_reset();
	snprintf(gv_fake_cuda.fail, sizeof(gv_fake_cuda.fail), "%s", name);
	gv_fake_cuda.at = at;
	/* out of memory, or a kernel that died: then nothing goes any more */
	gv_fake_cuda.result =
	    strncmp(name, "cuLaunch", 8) == 0 || strstr(name, "Synchronize") != NULL ? 719
	    : name[3] == 'l'                                                         ? 3
										     : 2;
	live(f, math, text);
	/* the last wait is that of closing */
	if (!may_fail(name) && text[0] == '\0' &&
	    (!last || strcmp(name, "cuStreamSynchronize") != 0)) {
		++*silent;
		fprintf(stderr, "# %s, call %zu: nobody noticed\n", name, at);
	}
	if (gv_fake_cuda.result < 700 && gv_fake_cuda_blocks() != 0 &&
	    strcmp(name, "cuMemFree_v2") != 0 && strcmp(name, "cuMemFreeHost") != 0) {
		++*left;
		fprintf(stderr, "# %s, call %zu: memory is left\n", name, at);
	}
	gv_fake_cuda_forget();
}

/* Every call fails, now and then: those of the driver, or of cuBLAS where it multiplies. */
static void
test_failures(enum gv_nn_math math)
{
	struct fixture f;
	char text[GV_ERROR_LEN];
	const char *name;
	size_t most[128] = {0}, i, at, silent = 0, left = 0, tried = 0;

	open_fixture(&f, whole_net());
	draw(&f, 1);
	gv_fake_cuda_reset();
	live(&f, math, text);
	for (i = 0; (name = gv_fake_cuda_name(i)) != NULL; i++)
		if ((strncmp(name, "cublas", 6) == 0) == (math != GV_NN_FP32))
			most[i] = gv_fake_cuda_called(name);
	for (i = 0; (name = gv_fake_cuda_name(i)) != NULL; i++)
		for (at = 1; at <= most[i]; at = next(at, most[i])) {
			tried++;
			fail_at(&f, math, name, at, at == most[i], &silent, &left);
		}
	is_int(silent, 0, "%zu failures of calls, each noticed", tried);
	is_int(left, 0, "and all memory given back");
	gv_fake_cuda_reset();
	close_fixture(&f);
}

static void
test_sentence(const char *what, const char *expected)
{
	struct fixture f;
	char text[GV_ERROR_LEN];

	open_fixture(&f, 2);
	draw(&f, 1);
	live(&f, GV_NN_FP32, text);
	ok(strcmp(text, expected) == 0, "%s: %s", what, text);
	gv_fake_cuda_forget();
	gv_fake_cuda_reset();
	close_fixture(&f);
}

static void
test_sentences(void)
{
	gv_fake_cuda_reset();
	gv_fake_cuda.driver = 11080;
	test_sentence("an old driver",
	    "the NVIDIA driver is too old: it has CUDA 11.8, at "
	    "least 12.0 is needed");
	gv_fake_cuda.devices = 0;
	test_sentence("no GPU", "the NVIDIA driver sees no GPU");
	gv_fake_cuda.capability = 75;
	test_sentence("an old GPU",
	    "Fake H100 (GPU 0): compute capability 7.5 is not one that the kernels were "
	    "built for (8.0 and up)");
	gv_fake_cuda.memory = 1000;
	test_sentence("little memory",
	    "too little memory on Fake H100 (GPU 0): 912 bytes "
	    "wanted, 95 of 1000 are free");
	strcpy(gv_fake_cuda.fail, "cuInit");
	gv_fake_cuda.at = 1;
	gv_fake_cuda.result = 803;
	test_sentence("a driver that does not work",
	    "the NVIDIA driver: system has unsupported display driver / cuda driver "
	    "combination (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)");
	strcpy(gv_fake_cuda.fail, "cuLaunchKernel");
	gv_fake_cuda.at = 2;
	gv_fake_cuda.result = 719;
	test_sentence("a kernel that dies",
	    "Fake H100 (GPU 0): gv_kernel_conv_forward_32_f32: unspecified launch "
	    "failure "
	    "(CUDA_ERROR_LAUNCH_FAILED)");
	strcpy(gv_fake_cuda.fail, "cuStreamSynchronize");
	gv_fake_cuda.at = 1;
	gv_fake_cuda.result = 999;
	test_sentence("a device that is gone",
	    "Fake H100 (GPU 0): the device: unknown error (CUDA_ERROR_UNKNOWN)");
}

int
main(void)
{
	struct gv_error e = {0};
	size_t i;

	gv_init("cuda_backend");
	gv_fake_cuda_tables(&driver, &blas);
	for (i = 0; i < CASES + NETS; i++)
		test_beside_cpu(i, i % 6 == 2 && i < CASES ? STEPS : i < CASES ? FEW : 2);
	test_graphs(4);
	test_graphs(CASES + 2);
	test_tools();
	test_array(4, false);
	test_array(CASES + 2, false);
	test_array(CASES + 2, true);
	test_schedule(4);
	test_late(4, 1);
	test_late(4, 3);
	test_losses(4);
	test_stage();
	test_checkpoint(4);
	test_checkpoint(CASES + 6);
	test_math(2, GV_NN_TF32, 1e-2);
	test_math(2, GV_NN_BF16, 5e-2);
	test_math(CASES + 6, GV_NN_BF16, 5e-2);
	for (i = 0; i < CASES + NETS; i++)
		test_bf16(i);
	test_times();
	test_sentences();
	test_failures(GV_NN_FP32);
	test_failures(GV_NN_BF16);
	ok(gv_cuda_count(&driver, &e) == 1, "one device");
	return done_testing();
}
