/*
 * Kernels that belong to no row under emulation against the CPU's device: batched
 * products, trees of sums, batches of a data set, other types, optimisers.
 */
#include "device.h"
#include "cuda/launch.h"

static const unsigned orders[] = {0, 1, 5};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

static struct gv_nn_backend *cpu;
static struct gv_cuda_queue queue; /* for which few blocks are enough */

/* ---- batched products ---- */

struct gemm_case {
	size_t batch, m, n, k, room; /* room: numbers between rows */
	bool a_transposed, b_transposed, shared, bias, add, relu, mask;
};

/* Numbers of a matrix whose rows are ld apart. */
static size_t
size_of(size_t rows, size_t columns, size_t room)
{
	return rows * (columns + room);
}

static void
test_gemm(const struct gemm_case *c, enum gv_cuda_type type, enum gv_cuda_type c_type)
{
	size_t arows = c->a_transposed ? c->k : c->m,
	       acols = c->a_transposed ? c->m : c->k;
	size_t brows = c->b_transposed ? c->n : c->k,
	       bcols = c->b_transposed ? c->k : c->n;
	size_t an = size_of(arows, acols, c->room), bn = size_of(brows, bcols, c->room);
	size_t cn = size_of(c->m, c->n, c->room), wrong = 0, i, z, at;
	float *a = normals(type, an * c->batch, 1), *b = normals(type, bn * c->batch, 2);
	float *was = normals(c_type, cn * c->batch, 3),
	      *bias = normals(0, c->n * c->batch, 4);
	float *want = normals(c_type, cn * c->batch, 3), *mask = normals(c_type, cn, 5);
	struct gv_nn_gemm g = {.batch = c->batch,
	    .m = c->m,
	    .n = c->n,
	    .k = c->k,
	    .a = a,
	    .b = b,
	    .c = want,
	    .lda = acols + c->room,
	    .ldb = bcols + c->room,
	    .ldc = c->n + c->room,
	    .a_batch = c->shared ? 0 : an,
	    .b_batch = bn,
	    .c_batch = cn,
	    .a_transposed = c->a_transposed,
	    .b_transposed = c->b_transposed,
	    .bias = c->bias ? bias : NULL,
	    .bias_batch = c->n,
	    .add = c->add,
	    .relu = c->relu};
	struct tensor ta = tensor(type, an * (c->shared ? 1 : c->batch), a);
	struct tensor tb = tensor(type, bn * c->batch, b), tm = tensor(c_type, cn, mask);
	struct gv_cuda_gemm k = {.a = ta.p,
	    .b = tb.p,
	    .bias = g.bias,
	    .batch = g.batch,
	    .m = g.m,
	    .n = g.n,
	    .k = g.k,
	    .lda = g.lda,
	    .ldb = g.ldb,
	    .ldc = g.ldc,
	    .a_batch = g.a_batch,
	    .b_batch = g.b_batch,
	    .c_batch = g.c_batch,
	    .bias_batch = g.bias_batch,
	    .mask = c->mask ? tm.p : NULL,
	    .a_transposed = g.a_transposed,
	    .b_transposed = g.b_transposed,
	    .add = g.add,
	    .relu = g.relu,
	    .c_type = c_type};

	cpu->gemm(cpu, 0, &g);
	for (z = 0; z < c->batch && c->mask; z++)
		for (i = 0; i < c->m; i++)
			for (at = i * g.ldc; at < i * g.ldc + c->n; at++)
				want[z * cn + at] = mask[at] <= 0 ? 0 : want[z * cn + at];
	for (i = 0; i < ORDERS; i++) {
		struct tensor tc = tensor(c_type, cn * c->batch, was);

		k.c = tc.p;
		emulator_order = orders[i];
		wrong += gv_cuda_gemm(&queue, type, &k) != 0;
		/* tensor cores have an order of their own */
		wrong += differing(&tc, 0, tc.n, want, type == GV_CUDA_BF16 ? 2e-5 : 0);
		free(tc.p);
	}
	is_int(wrong, 0, "%s to %s: gemm %zu x %zux%zux%zu%s%s%s%s%s%s%s",
	    type_name[type], type_name[c_type], c->batch, c->m, c->n, c->k,
	    c->a_transposed ? " aT" : "", c->b_transposed ? " bT" : "",
	    c->shared ? " shared" : "", c->bias ? " bias" : "", c->add ? " add" : "",
	    c->relu ? " relu" : "", c->mask ? " mask" : "");
	free(a);
	free(b);
	free(was);
	free(bias);
	free(want);
	free(mask);
	free(ta.p);
	free(tb.p);
	free(tm.p);
}

static void
test_gemms(void)
{
	static const struct gemm_case cases[] = {
	    {1, 1, 1, 1, 0, false, false, false, false, false, false, false},
	    {3, 5, 7, 19, 3, false, false, true, true, false, true, false},
	    {2, 33, 35, 17, 0, true, false, false, false, true, false, true},
	    {2, 65, 70, 31, 1, false, true, false, true, false, false, true},
	    {5, 66, 34, 16, 0, true, true, true, false, true, true, false},
	    {1, 40, 129, 0, 0, false, false, false, true, false, true, false},
	    {2, 72, 136, 80, 0, false, false, true, true, false, false, false},
	    {1, 72, 64, 144, 8, true, true, false, false, true, false, true},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_gemm(&cases[i], GV_CUDA_F32, GV_CUDA_F32);
		test_gemm(&cases[i], GV_CUDA_BF16, GV_CUDA_BF16);
		test_gemm(&cases[i], GV_CUDA_BF16, GV_CUDA_F32);
	}
}

/* More rows of blocks than a grid has, and a size that no grid has. */
static void
test_large(void)
{
	enum { MODELS = 70000 };
	float *v = normals(GV_CUDA_F32, MODELS, 1),
	      *bias = normals(GV_CUDA_F32, MODELS, 2);
	struct tensor t = tensor(GV_CUDA_F32, MODELS, v);
	struct gv_cuda_bias a = {.y = t.p,
	    .bias = bias,
	    .B = MODELS,
	    .rows = 1,
	    .n = 1,
	    .y_apart = 1,
	    .bias_apart = 1,
	    .relu = true};
	size_t i, wrong = 0;

	for (i = 0; i < MODELS; i++)
		v[i] = v[i] + bias[i] < 0 ? 0 : v[i] + bias[i];
	emulator_order = 0;
	wrong += gv_cuda_bias(&queue, GV_CUDA_F32, &a) != 0;
	wrong += differing(&t, 0, t.n, v, 0);
	is_int(wrong, 0, "fp32: bias and relu of %d models", MODELS);
	a.rows = (size_t)1 << 31;
	is_int(gv_cuda_bias(&queue, GV_CUDA_F32, &a), GV_CUDA_TOO_LARGE,
	    "2^31 numbers of a model are too many");
	a.rows = 0;
	is_int(gv_cuda_bias(&queue, GV_CUDA_F32, &a), 0, "none are done");
	free(v);
	free(bias);
	free(t.p);
}

/* ---- division by what stays ---- */

static size_t
wrong_quotients(uint64_t d, uint64_t n)
{
	struct gv_cuda_divider by = gv_cuda_divider_of(d);
	uint64_t high = n * by.times >> 32, sum = high + n;

	/* as kernels add: in 32 bits */
	return sum >> 32 != 0 || sum >> by.shift != n / d;
}

static void
test_dividers(void)
{
	const uint64_t most = (uint64_t)1 << 31;
	uint64_t state = 1, d, k;
	size_t wrong = 0, i;

	for (i = 0; i < 20000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		d = i < 1000 ? i + 1 : (state >> 33) >> (i % 31);
		if (d == 0)
			continue;
		k = most / d;
		wrong += wrong_quotients(d, 0) + wrong_quotients(d, most) +
			 wrong_quotients(d, k * d) + wrong_quotients(d, k * d - 1) +
			 wrong_quotients(d, k / 2 * d) +
			 wrong_quotients(d, (state >> 20) % (most + 1));
	}
	is_int(wrong, 0, "quotients of numbers up to 2^31, by multiplication");
	is_int(gv_cuda_divider_of(0).times, gv_cuda_divider_of(1).times, "0 as 1");
}

static void
test_too_large(void)
{
	struct gv_cuda_gemm g = {.batch = 1, .m = 1, .n = 1, .k = (size_t)1 << 31};
	struct gv_cuda_conv c = {.B = 1,
	    .n = 1,
	    .height = 1,
	    .width = 1,
	    .channels = 1,
	    .out_height = 1,
	    .out_width = 1,
	    .out = 1,
	    .k = 1,
	    .s = 1,
	    .g = 1,
	    .p = (size_t)1 << 31,
	    .shards = {1, 1, 0, 0, 1}};
	struct gv_cuda_head h = {
	    .B = 1, .n = (size_t)1 << 31, .targets = 1, .classes = 1000};

	is_int(gv_cuda_gemm(&queue, GV_CUDA_F32, &g), GV_CUDA_TOO_LARGE, "k of 2^31");
	is_int(gv_cuda_conv_forward(&queue, GV_CUDA_F32, &c), GV_CUDA_TOO_LARGE,
	    "a padding of 2^31");
	is_int(gv_cuda_conv_backward(&queue, GV_CUDA_F32, &c), GV_CUDA_TOO_LARGE, "back");
	is_int(gv_cuda_conv_gradient(&queue, GV_CUDA_F32, &c), GV_CUDA_TOO_LARGE,
	    "its gradient");
	is_int(gv_cuda_head(&queue, GV_CUDA_F32, GV_CUDA_XENT, &h), GV_CUDA_TOO_LARGE,
	    "2^31 samples of a wide head");
}

/* ---- a bias behind a product ---- */

static void
test_bias(enum gv_cuda_type type, size_t B, size_t rows, size_t n, bool relu)
{
	float *was = normals(type, B * rows * n, 1), *bias = normals(0, B * n, 2);
	float *want = normals(type, B * rows * n, 1);
	struct tensor t = tensor(type, B * rows * n, was);
	struct gv_cuda_bias a = {t.p, bias, NULL, B, rows, n, rows * n, n, relu, false};
	size_t i;

	for (i = 0; i < B * rows * n; i++) {
		want[i] += bias[i / (rows * n) * n + i % n];
		want[i] = relu && want[i] < 0 ? 0 : want[i];
	}
	emulator_order = 9;
	ok(gv_cuda_bias(&queue, type, &a) == 0 && differing(&t, 0, t.n, want, 0) == 0,
	    "%s: bias of %zu models, %zu rows of %zu%s", type_name[type], B, rows, n,
	    relu ? ", relu" : "");
	free(was);
	free(bias);
	free(want);
	free(t.p);
}

/* ---- sums ---- */

static void
test_tree(size_t B, size_t parts, size_t n)
{
	float *v = normals(0, B * parts * n, 1), *was = normals(0, B * n, 2);
	float *want = normals(0, B * n, 2), *second = normals(0, B * n, 2);
	unsigned char active[] = {1, 0, 1, 1, 1};
	struct gv_cuda_tree a = {.B = B,
	    .parts = parts,
	    .n = n,
	    .active = active,
	    .add = true,
	    .v_apart = parts * n,
	    .part_apart = n,
	    .to_apart = n,
	    .also_apart = n};
	struct tensor from = tensor(0, B * parts * n, v), to = tensor(0, B * n, was);
	struct tensor also = tensor(0, B * n, was);
	size_t b, j;

	for (b = 0; b < B; b++) {
		cpu->sum_tree(cpu, 0, v + b * parts * n, parts, n);
		for (j = 0; j < n && active[b]; j++)
			want[b * n + j] += v[b * parts * n + j];
	}
	a.v = from.p;
	a.to = to.p;
	ok(gv_cuda_tree(&queue, &a) == 0 && differing(&to, 0, to.n, want, 0) == 0,
	    "fp32: tree over %zu parts of %zu numbers, added", parts, n);
	a.add = false;
	a.zero = true;
	a.also = also.p;
	for (b = 0; b < B; b++)
		for (j = 0; j < n; j++)
			want[b * n + j] = active[b] ? v[b * parts * n + j] : 0;
	memcpy(second, was, B * n * sizeof(*second));
	for (b = 0; b < B; b++)
		if (active[b])
			memcpy(second + b * n, want + b * n, n * sizeof(*second));
	ok(gv_cuda_tree(&queue, &a) == 0 && differing(&to, 0, to.n, want, 0) == 0 &&
		differing(&also, 0, also.n, second, 0) == 0,
	    "fp32: and twice, stopped models are 0, and as they were");
	a.times = 2. / 3;
	a.by = 7;
	for (j = 0; j < B * n; j++)
		want[j] = (float)((double)want[j] * a.times / a.by);
	ok(gv_cuda_tree(&queue, &a) == 0 && differing(&to, 0, to.n, want, 0) == 0,
	    "fp32: and times two thirds, by seven");
	free(v);
	free(was);
	free(want);
	free(second);
	free(from.p);
	free(to.p);
	free(also.p);
}

/* Losses of a net's head: the shards' sums in double. */
static void
test_losses(size_t B, size_t N, size_t S)
{
	struct row_case c = {"relu,,,,,,,,", 1, 1, 4, B, N, S, false, false};
	struct device d;
	struct tensor to;
	struct gv_cuda_losses a;
	const struct gv_nn_row *head;
	size_t i, wrong = 0, add;

	open_device(&d, &c, GV_CUDA_F32);
	head = &d.plan.row[d.plan.rows - 1];
	for (add = 0; add < 2; add++)
		for (i = 0; i < ORDERS; i++) {
			float *loss = d.grads.v + B * d.plan.P;

			to = tensor(GV_CUDA_F32, B, loss);
			a = (struct gv_cuda_losses){.B = B,
			    .loss = device_y(&d, head),
			    .to = to.p,
			    .active = d.away,
			    .shards = device_shards(&d.plan),
			    .samples = gv_nn_samples(&d.plan),
			    .add = add,
			    .loss_apart = N};
			emulator_order = orders[i];
			wrong += gv_cuda_losses(&queue, &a) != 0;
			d.be->losses(d.be, &d.call, &d.grads, add);
			wrong += differing(&to, 0, B, loss, 0);
			free(to.p);
		}
	is_int(
	    wrong, 0, "fp32: losses of %zu models, %zu samples in %zu shards", B, N, S);
	close_device(&d);
}

/* ---- copies ---- */

static void
test_gather(size_t n, size_t bytes, size_t off)
{
	enum { ROWS = 9 };
	char *from = malloc(ROWS * bytes + off), *to = malloc(n * bytes), *want;
	uint32_t *index = malloc(n * sizeof(*index));
	struct gv_cuda_gather a = {to, from + off, index, n, bytes};
	size_t i;

	want = malloc(n * bytes);
	for (i = 0; i < ROWS * bytes; i++)
		from[off + i] = (char)gv_random(3, 0, 0, i);
	for (i = 0; i < n; i++) {
		index[i] = (uint32_t)((5 * i + 2) % ROWS);
		memcpy(want + i * bytes, from + off + index[i] * bytes, bytes);
	}
	memset(to, 0x5a, n * bytes);
	emulator_order = 3;
	ok(gv_cuda_gather(&queue, &a) == 0 && memcmp(to, want, n * bytes) == 0,
	    "gather of %zu x %zu bytes%s", n, bytes, off > 0 ? " from an odd place" : "");
	free(from);
	free(to);
	free(want);
	free(index);
}

/* Numbers at which rounding can go wrong, among others. */
static void
test_convert(void)
{
	static const float odd[] = {0, -0.0f, 1, 1.00390625f, 1.01171875f, 1.00390637f,
	    -1.00390625f, 3.4e38f, -3.4e38f, 1e-40f, INFINITY, -INFINITY, NAN};
	enum { B = 3, N = 301, APART = 310 };
	float *v = normals(GV_CUDA_F32, B * APART, 1);
	struct tensor from, to = tensor(GV_CUDA_BF16, B * APART, NULL), back;
	struct gv_cuda_convert a = {
	    .to = to.p, .B = B, .n = N, .to_apart = APART, .from_apart = APART};
	size_t b, wrong = 0;

	memcpy(v + 5, odd, sizeof(odd));
	from = tensor(GV_CUDA_F32, B * APART, v);
	back = tensor(GV_CUDA_F32, B * N, NULL);
	a.from = from.p;
	wrong += gv_cuda_convert(&queue, GV_CUDA_F32, &a) != 0;
	for (b = 0; b < B; b++)
		wrong += differing(&to, b * APART, b * APART + N, v, 0);
	a = (struct gv_cuda_convert){back.p, to.p, B, N, N, APART};
	wrong += gv_cuda_convert(&queue, GV_CUDA_BF16, &a) != 0;
	for (b = 0; b < B * N; b++)
		wrong += !(number(&back, b) == number(&to, b / N * APART + b % N) ||
			   isnan(number(&back, b)));
	is_int(wrong, 0, "convert of fp32 to bf16 and back, halves and infinities");
	free(v);
	free(from.p);
	free(to.p);
	free(back.p);
}

/* ---- the update ---- */

static void
test_update(enum gv_optimiser o, bool momentum, bool in_place)
{
	static const char *const names[] = {"sgd", "adam", "adamw"};
	struct row_case c = {"linear,,29,,,,,,", 1, 1, 13, 3, 4, 1, false, false};
	struct gv_net_coef coef[3];
	uint64_t steps[3] = {1, 7, 1000};
	struct device d;
	struct gv_cuda_coef there[3];
	size_t b, i, n, wrong = 0;
	float *state, *to, *after;

	open_device(&d, &c, GV_CUDA_F32);
	n = 3 * d.plan.P;
	state = normals(0, 2 * n, 1);
	for (i = n; i < 2 * n; i++)
		state[i] *= state[i];
	after = gv_xcalloc(2 * n, sizeof(*after));
	memcpy(after, state, 2 * n * sizeof(*after));
	to = normals(0, n, 2);
	for (b = 0; b < 3; b++)
		coef[b] = (struct gv_net_coef){.lr = 0.1 / (double)(b + 1),
		    .weight_decay = 0.01 * (double)b,
		    .momentum = b == 2 ? 0 : 0.9,
		    .beta1 = 0.9 - 0.1 * (double)b,
		    .beta2 = 0.999,
		    .eps = 1e-8};
	for (i = 0; i < ORDERS; i++) {
		struct tensor from = tensor(0, n, d.w.params),
			      grads = tensor(0, n, d.grads.v);
		struct tensor t = tensor(0, n, to), s = tensor(0, 2 * n, state);
		struct tensor bf = tensor(GV_CUDA_BF16, n + 9, NULL);
		float *w = normals(0, n, 2), *src = gv_xcalloc(n, sizeof(*src));
		struct gv_nn_update u = {.optimiser = o,
		    .momentum = momentum,
		    .coef = coef,
		    .steps = steps,
		    .active = d.active,
		    .from = in_place ? src : d.w.params,
		    .to = in_place ? src : w,
		    .grads = d.grads.v,
		    .state = after,
		    .first = 5,
		    .last = d.plan.P - 3};
		struct gv_cuda_update a = {.B = 3,
		    .first = u.first,
		    .last = u.last,
		    .coef = there,
		    .from = from.p,
		    .grads = grads.p,
		    .to = in_place ? from.p : t.p,
		    .state = momentum || o != GV_SGD ? s.p : NULL,
		    .second = (float *)s.p + n,
		    .rounded = bf.p,
		    .apart = d.plan.P,
		    .rounded_apart = d.plan.P + 3};

		memcpy(src, d.w.params, n * sizeof(*src));
		memcpy(after, state, 2 * n * sizeof(*after));
		for (b = 0; b < 3; b++)
			gv_cuda_coef_of(&u, b, &there[b]);
		d.be->update(d.be, &u);
		emulator_order = orders[i];
		wrong += gv_cuda_update(
			     &queue, o == GV_SGD ? GV_CUDA_SGD : GV_CUDA_ADAM, &a) != 0;
		wrong += differing(in_place ? &from : &t, 0, n, in_place ? src : w, 0);
		wrong += differing(&s, 0, s.n, after, 0);
		for (b = 0; b < 3; b++)
			if (d.active[b])
				wrong += differing(&bf, b * (d.plan.P + 3) + u.first,
				    b * (d.plan.P + 3) + u.last, u.to - 3 * b, 0);
		free(from.p);
		free(grads.p);
		free(t.p);
		free(s.p);
		free(bf.p);
		free(w);
		free(src);
	}
	is_int(wrong, 0, "fp32 and rounded: %s%s of 3 models%s", names[o],
	    momentum ? " with momentum" : "", in_place ? ", in place" : "");
	free(state);
	free(after);
	free(to);
	close_device(&d);
}

int
main(void)
{
	gv_init("kernels_tools");
	cpu = gv_cpu_new(1);
	queue = emulator;
	queue.blocks = 4;
	test_gemms();
	test_bias(GV_CUDA_F32, 3, 7, 11, true);
	test_bias(GV_CUDA_BF16, 2, 5, 130, false);
	test_large();
	test_dividers();
	test_too_large();
	test_tree(1, 1, 1);
	test_tree(3, 8, 300);
	test_tree(5, 64, 7);
	test_tree(2, 16, 300);
	test_tree(1, 32, 33);
	test_tree(1, 1024, 5);
	test_losses(1, 1, 1);
	test_losses(3, 13, 4);
	test_losses(40, 37, 32);
	test_gather(1, 1, 0);
	test_gather(7, 4, 0);
	test_gather(13, 784 * 4, 0);
	test_gather(5, 1028, 0);
	test_gather(4, 12, 1);
	test_convert();
	test_update(GV_SGD, false, true);
	test_update(GV_SGD, true, true);
	test_update(GV_SGD, true, false);
	test_update(GV_ADAM, false, true);
	test_update(GV_ADAM, false, false);
	test_update(GV_ADAMW, false, true);
	cpu->free(cpu);
	return done_testing();
}
