#include "bench.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"

/* Of n samples, for the model's head; to be freed. */
static void *
draw_targets(const struct gv_model *m, size_t n)
{
	bool labels = m->target == GV_TARGET_LABELS;
	int32_t *label;
	gv_real *number;
	void *v;
	size_t i;

	v = gv_xcalloc(n * m->targets, labels ? sizeof(*label) : sizeof(*number));
	label = v;
	number = v;
	for (i = 0; i < n * m->targets; i++)
		if (labels)
			label[i] = (int32_t)(gv_random(1, 0, 1, i) % m->classes);
		else
			number[i] = (gv_real)gv_random_uniform(1, 0, 1, i);
	return v;
}

int
bench_open(struct bench *b, const struct gv_model *m, const struct times_rule *rule,
    struct memory_log *log, struct gv_error *e)
{
	struct gv_net_coef one = GV_NET_COEF_DEFAULT, *coef;
	struct gv_net_config c = {
	    .models = rule->models, .batch = rule->batch, .optimiser = rule->optimiser};
	size_t i, size = gv_shape_size(m->input);
	char why[GV_ERROR_LEN];
	uint64_t *seed;
	int status;

	c.backend = gv_nn_device_open(&rule->device, why, e);
	if (c.backend == NULL)
		return -1;
	if (why[0] != '\0' && !rule->quiet)
		gv_warn("warning: measured on the CPU: %s", why);
	if (log != NULL)
		memory_log_begin(log, c.backend);
	c.seed = seed = gv_xcalloc(rule->models, sizeof(*seed));
	c.coef = coef = gv_xcalloc(rule->models, sizeof(*coef));
	one.lr = 0; /* so that no number grows, whatever the model */
	one.momentum = rule->momentum;
	for (i = 0; i < rule->models; i++) {
		seed[i] = i + 1;
		coef[i] = one;
	}
	status = gv_net_new(&b->net, m, &c, e);
	free(seed);
	free(coef);
	if (status != 0)
		return -1;
	b->loss = gv_xcalloc(rule->models, sizeof(*b->loss));
	b->rows = m->n;
	b->now = gv_xcalloc(m->n, sizeof(*b->now));
	b->x = gv_xcalloc(rule->batch * size, sizeof(*b->x));
	b->target = draw_targets(m, rule->batch);
	for (i = 0; i < rule->batch * size; i++)
		b->x[i] = m->tokens > 0 ? (gv_real)(gv_random(1, 0, 0, i) % m->tokens)
					: (gv_real)gv_random_normal(1, 0, 0, i);
	return 0;
}

void
bench_close(struct bench *b)
{
	gv_net_free(b->net);
	free(b->now);
	free(b->loss);
	free(b->x);
	free(b->target);
	free(b->seen);
	free(b->step_s);
}

double
bench_step(struct bench *b)
{
	double start_s = gv_clock_s();

	if (gv_net_step(b->net, b->x, b->target, b->loss) != 0)
		b->failed = true;
	return gv_clock_s() - start_s;
}
