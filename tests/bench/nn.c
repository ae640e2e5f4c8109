/*
 * Speed of a training step:
 * nn MODEL HEIGHT WIDTH CHANNELS BATCH [MODELS [THREADS [CLASSES]]].
 * Prints samples per second, the best of several windows; of one thread per
 * second of its own time, which other programs disturb less (THREADS 0: one, by the clock).
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/cpu/cpu.h"
#include "nn/net.h"

enum { WINDOWS = 9 };

static size_t
argument(int argc, char **argv, int i, size_t otherwise)
{
	return i < argc ? (size_t)strtoul(argv[i], NULL, 10) : otherwise;
}

static double
now_s(size_t threads)
{
	return threads != 1 ? gv_clock_s() : (double)clock() / CLOCKS_PER_SEC;
}

/* Samples per second of one window of at least 0.15 s. */
static double
window(struct gv_net *net, const gv_real *x, const int32_t *label, double *loss,
    size_t samples, size_t threads)
{
	double start = now_s(threads), now;
	size_t steps = 0;

	do {
		gv_net_step(net, x, label, loss);
		steps++;
		now = now_s(threads);
	} while (now - start < 0.15);
	return (double)(steps * samples) / (now - start);
}

int
main(int argc, char **argv)
{
	struct gv_error e = {0};
	struct gv_model m = {0};
	struct gv_shape shape = {argument(argc, argv, 4, 1), argument(argc, argv, 2, 16),
	    argument(argc, argv, 3, 16)};
	size_t batch = argument(argc, argv, 5, 64), threads = argument(argc, argv, 7, 1),
	       models = argument(argc, argv, 6, 1), classes = argument(argc, argv, 8, 10),
	       i;
	struct gv_net_config c = {
	    .models = models, .batch = batch, .backend = gv_cpu_new(threads)};
	uint64_t *seed = gv_xcalloc(models, sizeof(*seed));
	struct gv_net_coef *coef = gv_xcalloc(models, sizeof(*coef));
	double *loss = gv_xcalloc(models, sizeof(*loss)), best = 0;
	gv_real *x = gv_xcalloc(batch * gv_shape_size(shape), sizeof(*x));
	int32_t *label;
	struct gv_net *net;

	gv_init("nn");
	if (argc < 2) {
		puts("nn.sh runs this with its arguments");
		return 0;
	}
	for (i = 0; i < models; i++) {
		seed[i] = i;
		coef[i] = (struct gv_net_coef)GV_NET_COEF_DEFAULT;
		coef[i].momentum = 0.9;
	}
	c.seed = seed;
	c.coef = coef;
	if (gv_model_read(&m, argv[1], &e) != 0 ||
	    gv_model_shape(&m, shape, classes, &e) != 0 ||
	    gv_net_new(&net, &m, &c, &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < batch * gv_shape_size(shape); i++)
		x[i] = m.tokens > 0 ? (gv_real)(gv_random(1, 0, 0, i) % m.tokens)
				    : (gv_real)gv_random_normal(1, 0, 0, i);
	label = gv_xcalloc(batch * m.targets, sizeof(*label));
	for (i = 0; i < batch * m.targets; i++)
		label[i] = (int32_t)(gv_random(2, 0, 0, i) % classes);
	window(net, x, label, loss, batch * models, threads);
	for (i = 0; i < WINDOWS; i++) {
		double rate = window(net, x, label, loss, batch * models, threads);

		if (rate > best)
			best = rate;
	}
	printf("%.2f\n", best);
	gv_net_free(net);
	gv_model_free(&m);
	free(seed);
	free(coef);
	free(loss);
	free(x);
	free(label);
	return 0;
}
