/* A net with a batch to train on, as the benchmarks of training have it. */
#ifndef GV_BENCH_NN_CASE_H
#define GV_BENCH_NN_CASE_H

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/subnormal.h"
#include "nn/cpu/cpu.h"
#include "nn/net.h"

/* What the command line asks for. */
struct nn_asked {
	const char *file;
	struct gv_shape shape;
	size_t batch, models, classes;
};

struct nn_case {
	struct gv_model m;
	struct gv_net *net;
	size_t samples; /* of a step */
	uint64_t *seed;
	struct gv_net_coef *coef;
	double *loss;
	gv_real *x;
	int32_t *label;
};

static inline size_t
nn_argument(int argc, char **argv, int i, size_t otherwise)
{
	return i < argc ? (size_t)strtoul(argv[i], NULL, 10) : otherwise;
}

static inline void
nn_case_new(struct nn_case *n, const struct nn_asked *a, size_t threads)
{
	struct gv_error e = {0};
	struct gv_net_config c = {
	    .models = a->models, .batch = a->batch, .backend = gv_cpu_new(threads)};
	size_t i, numbers = a->batch * gv_shape_size(a->shape);

	*n = (struct nn_case){.samples = a->batch * a->models};
	c.seed = n->seed = gv_xcalloc(a->models, sizeof(*n->seed));
	c.coef = n->coef = gv_xcalloc(a->models, sizeof(*n->coef));
	n->loss = gv_xcalloc(a->models, sizeof(*n->loss));
	n->x = gv_xcalloc(numbers, sizeof(*n->x));
	for (i = 0; i < a->models; i++) {
		n->seed[i] = i;
		n->coef[i] = (struct gv_net_coef)GV_NET_COEF_DEFAULT;
		n->coef[i].momentum = 0.9;
	}
	if (gv_model_read(&n->m, a->file, &e) != 0 ||
	    gv_model_shape(&n->m, a->shape, a->classes, &e) != 0 ||
	    gv_net_new(&n->net, &n->m, &c, &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < numbers; i++)
		n->x[i] = n->m.tokens > 0 ? (gv_real)(gv_random(1, 0, 0, i) % n->m.tokens)
					  : (gv_real)gv_random_normal(1, 0, 0, i);
	n->label = gv_xcalloc(a->batch * n->m.targets, sizeof(*n->label));
	for (i = 0; i < a->batch * n->m.targets; i++)
		n->label[i] = (int32_t)(gv_random(2, 0, 0, i) % a->classes);
}

static inline void
nn_case_free(struct nn_case *n)
{
	gv_net_free(n->net);
	gv_model_free(&n->m);
	free(n->seed);
	free(n->coef);
	free(n->loss);
	free(n->x);
	free(n->label);
}

/* Samples per second of one window of at least seconds by the clock now. */
static inline double
nn_case_window(struct nn_case *n, double seconds, double (*now)(void))
{
	double start = now(), end;
	size_t steps = 0;

	do {
		gv_net_step(n->net, n->x, n->label, n->loss);
		steps++;
		end = now();
	} while (end - start < seconds);
	return (double)(steps * n->samples) / (end - start);
}

#endif
