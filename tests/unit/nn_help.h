/* What the tests of common/nn share: nets from a table in a string, data, comparison. */
#ifndef NN_HELP_H
#define NN_HELP_H

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/cpu/cpu.h"
#include "nn/net.h"
#include "tap.h"

enum { HELP_MODELS = 8 };

/* Reads a table given as a string; 0 or -1. */
static inline int
help_read(struct gv_model *m, const char *table, struct gv_error *e)
{
	char path[] = "/tmp/gv-nn-XXXXXX";
	int fd = mkstemp(path), status;

	if (fd < 0 || write(fd, table, strlen(table)) != (ssize_t)strlen(table))
		gv_die_sys("cannot write %s", path);
	close(fd);
	status = gv_model_read(m, path, e);
	unlink(path);
	return status;
}

/* A model that must be right. */
static inline struct gv_model
help_model(
    const char *table, size_t height, size_t width, size_t channels, size_t classes)
{
	struct gv_error e = {0};
	struct gv_model m = {0};

	if (help_read(&m, table, &e) != 0 ||
	    gv_model_shape(&m, (struct gv_shape){channels, height, width}, classes, &e) !=
		0)
		gv_die_error(&e);
	return m;
}

/* A net of B models with seeds from and coefficients that differ; c may be changed before. */
static inline struct gv_net *
help_net(const struct gv_model *m, struct gv_net_config c, size_t from)
{
	struct gv_error e = {0};
	struct gv_net_coef coef[HELP_MODELS];
	uint64_t seed[HELP_MODELS];
	struct gv_net *net;
	size_t b;

	for (b = 0; b < c.models; b++) {
		size_t i = from + b;

		seed[b] = 100 + i;
		coef[b] = (struct gv_net_coef)GV_NET_COEF_DEFAULT;
		coef[b].lr = c.optimiser == GV_SGD ? 0.05 / (double)(1 + i)
						   : 0.001 * (double)(1 + i);
		coef[b].momentum = i % 3 == 0 ? 0.9 : i % 3 == 1 ? 0 : 0.5;
		coef[b].weight_decay = i % 2 == 0 ? 1e-3 : 0;
		coef[b].beta1 = i % 2 == 0 ? 0.9 : 0.8;
	}
	if (c.seed == NULL)
		c.seed = seed;
	if (c.coef == NULL)
		c.coef = coef;
	if (c.backend == NULL)
		c.backend = gv_cpu_new(1);
	if (gv_net_new(&net, m, &c, &e) != 0)
		gv_die_error(&e);
	return net;
}

/* Samples and labels of batch k. */
static inline void
help_batch(gv_real *x, int32_t *label, size_t n, size_t size, size_t classes, uint64_t k)
{
	size_t i;

	for (i = 0; i < n * size; i++)
		x[i] = (gv_real)gv_random_normal(77, 0, (uint32_t)k, i);
	for (i = 0; i < n; i++)
		label[i] = (int32_t)(gv_random(78, 0, (uint32_t)k, i) % classes);
}

/* Bytes of a sample's targets. */
static inline size_t
help_target_bytes(const struct gv_model *m)
{
	return m->targets *
	       (m->target == GV_TARGET_LABELS ? sizeof(int32_t) : sizeof(gv_real));
}

/* Samples and targets of batch k, as the model wants them: among many labels some count for nothing. */
static inline void
help_samples(const struct gv_model *m, gv_real *x, void *target, size_t n, uint64_t k)
{
	int32_t *label = target;
	gv_real *number = target;
	size_t i;

	for (i = 0; i < n * gv_shape_size(m->input); i++)
		x[i] = m->tokens > 0
			   ? (gv_real)(gv_random(77, 0, (uint32_t)k, i) % m->tokens)
			   : (gv_real)gv_random_normal(77, 0, (uint32_t)k, i);
	for (i = 0; i < n * m->targets; i++)
		if (m->target == GV_TARGET_NUMBERS)
			number[i] = (gv_real)gv_random_uniform(78, 0, (uint32_t)k, i);
		else
			label[i] = m->targets > 1 && i % 7 == 3
				       ? -100
				       : (int32_t)(gv_random(78, 0, (uint32_t)k, i) %
						   m->classes);
}

/* A copy of array i of model b, to be freed. */
static inline gv_real *
help_array(struct gv_net *net, size_t i, size_t b)
{
	struct gv_net_array a;
	gv_real *v;

	if (gv_net_array(net, i, &a) != 0)
		return NULL;
	v = gv_xcalloc(a.n + 1, sizeof(*v));
	if (gv_net_get(net, i, b, v) != 0)
		gv_die("cannot read %s", a.name);
	return v;
}

/* All that a net carries, into another of the same kind. */
static inline void
help_copy(struct gv_net *to, struct gv_net *from, size_t models)
{
	struct gv_net_array a;
	size_t i, b;

	for (b = 0; b < models; b++) {
		for (i = 0; gv_net_array(from, i, &a) == 0; i++) {
			gv_real *v = help_array(from, i, b);

			gv_net_put(to, i, b, v);
			free(v);
		}
		gv_net_set_steps(to, b, gv_net_steps(from, b));
	}
}

/* Numbers that model bn of net and model bm of other carry and that differ in any bit. */
static inline size_t
help_differences(struct gv_net *net, size_t bn, struct gv_net *other, size_t bm)
{
	struct gv_net_array a, b;
	size_t i, k, n = 0;

	for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
		gv_real *v, *w;

		/* SGD keeps no momentum when no model of the net has one */
		for (k = 0; gv_net_array(other, k, &b) == 0; k++)
			if (strcmp(a.name, b.name) == 0)
				break;
		if (gv_net_array(other, k, &b) != 0)
			continue;
		v = help_array(net, i, bn);
		w = help_array(other, k, bm);
		for (k = 0; k < a.n; k++)
			n += memcmp(v + k, w + k, sizeof(*v)) != 0;
		free(v);
		free(w);
	}
	return n + (gv_net_steps(net, bn) != gv_net_steps(other, bm));
}

#endif
