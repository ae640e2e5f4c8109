/*
 * Convolutions over windows: images so large that only bands of them are copied at a time,
 * channels that crowd a cache's sets, windows cut by pieces of the weights, groups,
 * strides, paddings beyond the window, a group to each channel: the bits are those of the slow backend.
 */
#include <math.h>

#include "nn/cpu/gemm.h"
#include "nn_fixture.h"
#include "nn_slow.h"

static uint64_t draws;
static double tolerance; /* of losses; 0: all bits */

static size_t
below(size_t n)
{
	return (size_t)(gv_random(93, 0, 0, draws++) % n);
}

struct drawn {
	char table[512];
	struct gv_shape input;
	size_t batch;
};

/* Two steps on both backends; how many losses and parameters differ. */
static size_t
wrong_in(const struct drawn *d, size_t threads)
{
	struct gv_model m =
	    help_model(d->table, d->input.height, d->input.width, d->input.channels, 3);
	struct gv_net_config c = {.models = 1,
	    .batch = d->batch,
	    .shards = gv_net_shards(d->batch),
	    .optimiser = GV_SGD};
	gv_real *x = gv_xcalloc(d->batch * gv_shape_size(m.input), sizeof(*x));
	int32_t *label = gv_xcalloc(d->batch, sizeof(*label));
	struct gv_net *cpu, *slow;
	double loss, other;
	size_t wrong = 0, k;

	c.backend = gv_cpu_new(threads);
	cpu = help_net(&m, c, 0);
	c.backend = slow_new();
	slow = help_net(&m, c, 0);
	for (k = 0; k < 2; k++) {
		help_batch(x, label, d->batch, gv_shape_size(m.input), 3, draws++);
		gv_net_step(cpu, x, label, &loss);
		gv_net_step(slow, x, label, &other);
		wrong += !(fabs(loss - other) <= tolerance * other);
	}
	wrong += tolerance > 0 ? 0 : help_differences(cpu, 0, slow, 0);
	if (wrong > 0)
		printf("# samples %zu of %zux%zux%zu, threads %zu\n%s", d->batch,
		    d->input.height, d->input.width, d->input.channels, threads,
		    d->table);
	gv_net_free(cpu);
	gv_net_free(slow);
	gv_model_free(&m);
	free(x);
	free(label);
	return wrong;
}

#define HEADER "id,op,out,k,s,p,g,act\n"
#define TAIL   "3,avgpool,,,,,,\n4,linear,,,,,,\n5,xent,,,,,,\n"

static size_t
wrong_in_drawn(void)
{
	static const size_t channels[] = {1, 3, 4, 16, 30, 64, 128, 260};
	enum { PRODUCTS = 300000 }; /* the slow one is slow */
	size_t g, k, s, c, out, most;
	bool turned = below(4) == 0;
	struct drawn d = {.batch = 1 + below(9)};

	do {
		g = below(4) == 0 ? 2 : 1;
		k = 1 + below(6);
		s = 1 + below(3);
		c = g * channels[below(8)];
		out = g * (1 + below(40));
		most = PRODUCTS / (d.batch * c * out / g * k * k * (turned ? s * s : 1));
	} while (most < k * k);
	d.input = (struct gv_shape){3, k + below(12), k + below(12)};
	while (d.input.width * d.input.height > most)
		if (d.input.width > k)
			d.input.width--;
		else
			d.input.height--;
	snprintf(d.table, sizeof(d.table),
	    HEADER "1,conv,%zu,1,1,0,,relu\n2,%s,%zu,%zu,%zu,%zu,%zu,relu\n" TAIL, c,
	    turned ? "tconv" : "conv", out, k, s, below(k), g);
	return wrong_in(&d, 1 + below(3));
}

/* A group to each channel: some channels more or fewer than vectors have. */
static size_t
wrong_in_depthwise(void)
{
	enum { PRODUCTS = 300000 };
	size_t c = 1 + below(75), k = 1 + below(8), s = 1 + below(3), most;
	struct drawn d = {.batch = 1 + below(5)};

	most = PRODUCTS / (d.batch * c * k * k);
	d.input = (struct gv_shape){2, k + below(14), k + below(14)};
	while (d.input.width * d.input.height > most && d.input.height > k)
		d.input.height--;
	snprintf(d.table, sizeof(d.table),
	    HEADER "1,conv,%zu,1,1,0,,relu\n2,conv,%zu,%zu,%zu,%zu,%zu,%s\n" TAIL, c, c,
	    k, s, k - 1 - below(k), c, below(2) == 0 ? "relu" : "");
	return wrong_in(&d, 1 + below(3));
}

/* The first loss of a net whose averages are over such windows of images that are one colour each. */
static double
loss_of_colours(size_t k, size_t stride, size_t padding)
{
	enum { BATCH = 6, H = 7, W = 9 };
	char table[256];
	struct gv_model m;
	struct gv_net_config c = {.models = 1,
	    .batch = BATCH,
	    .shards = gv_net_shards(BATCH),
	    .optimiser = GV_SGD};
	gv_real x[BATCH * H * W];
	int32_t label[BATCH];
	struct gv_net *net;
	double loss;
	size_t i;

	snprintf(table, sizeof(table),
	    HEADER "1,avgpool,,%zu,%zu,%zu,,\n2,avgpool,,,,,,\n3,linear,,,,,,\n"
		   "4,xent,,,,,,\n",
	    k, stride, padding);
	m = help_model(table, H, W, 1, 3);
	c.backend = gv_cpu_new(1);
	net = help_net(&m, c, 0);
	for (i = 0; i < BATCH * H * W; i++)
		x[i] = (gv_real)(i / (H * W)) - 2;
	for (i = 0; i < BATCH; i++)
		label[i] = (int32_t)(i % 3);
	gv_net_step(net, x, label, &loss);
	gv_net_free(net);
	gv_model_free(&m);
	return loss;
}

/* An average is over what of its window is inside, so that one colour stays as it is. */
static size_t
wrong_in_averages(void)
{
	double want = loss_of_colours(1, 1, 0);
	size_t k, stride, padding, wrong = 0;

	for (k = 1; k <= 4; k++)
		for (stride = 1; stride <= 3; stride++)
			for (padding = 0; 2 * padding <= k; padding++)
				wrong += !(fabs(loss_of_colours(k, stride, padding) -
						want) <= 1e-5 * want);
	return wrong;
}

static const struct drawn wide[] = {
    {HEADER "1,conv,1024,1,1,0,,\n2,conv,1,1,1,0,,\n" TAIL, {2, 40, 40}, 1},
    {HEADER "1,conv,1024,1,1,0,,\n2,conv,1,1,2,0,,\n" TAIL, {2, 40, 40}, 1}};

static size_t
scratch_of(const struct drawn *d)
{
	struct gv_model m =
	    help_model(d->table, d->input.height, d->input.width, d->input.channels, 3);
	struct gv_net_config c = {
	    .models = 1, .batch = d->batch, .backend = gv_cpu_new(1)};
	struct gv_net *net = help_net(&m, c, 0);
	struct gv_net_bytes bytes;

	gv_net_bytes(net, &bytes);
	gv_net_free(net);
	gv_model_free(&m);
	return bytes.scratch;
}

/* Many channels and a stride: the gradient of a block's pixels, at all channels, has its room. */
static void
check_wide_stride(void)
{
	enum { CHANNELS = 1024, PLACES = 192 };
	size_t without = scratch_of(&wide[0]), with = scratch_of(&wide[1]);

	/* what the weights' gradient needs stands in the same place */
	ok(with >= without + CHANNELS * PLACES * sizeof(gv_real) / 2,
	    "room for the gradient of a block: %zu bytes, %zu without", with, without);
	is_int(wrong_in(&wide[1], 2), 0, "strides of many channels");
}

int
main(void)
{
	static const char *const kernel[] = {"c", "avx2", "avx512"};
	static const struct drawn large[] = {
	    {HEADER "1,conv,20,1,1,0,,\n2,conv,2,3,1,1,,relu\n" TAIL, {2, 200, 90}, 1},
	    {HEADER "1,conv,64,1,1,0,,\n2,conv,3,3,2,1,,\n" TAIL, {1, 60, 70}, 2},
	    {HEADER "1,conv,8,1,1,0,,\n2,conv,2,5,1,2,,\n" TAIL, {1, 12, 1200}, 1},
	    {HEADER "1,conv,12,1,1,0,,\n2,conv,4,7,3,3,2,\n" TAIL, {1, 120, 210}, 1},
	    {HEADER "1,conv,16,1,1,0,,\n2,tconv,3,3,2,1,,\n" TAIL, {1, 70, 80}, 2}};
	size_t wrong = 0, i, k;

	gv_init("nn_windows");
	for (i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		is_int(wrong_in(&large[i], 1 + i % 3), 0, "a large image, %zu", i);
	for (i = 0; i < 200; i++)
		wrong += wrong_in_drawn();
	is_int(wrong, 0, "random windows");
	for (i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++) {
		if (!gv_cpu_gemm_use(kernel[i])) {
			skip("no %s on this CPU: a group to each channel", kernel[i]);
			continue;
		}
		/* where numbers are not fused one by one */
		tolerance = strcmp(kernel[i], "c") == 0 ? 1e-4 : 0;
		for (wrong = 0, k = 0; k < 60; k++)
			wrong += wrong_in_depthwise();
		is_int(wrong, 0, "a group to each channel, %s", kernel[i]);
	}
	check_wide_stride();
	is_int(wrong_in_averages(), 0, "averages of one colour");
	return done_testing();
}
