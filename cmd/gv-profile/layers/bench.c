#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/backend.h"

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

/* all samples of the rule's, or drawn, into b->x and b->target */
static void
take_samples(
    struct bench *b, const struct gv_model *m, const struct gv_data *d, size_t all)
{
	size_t i, k, size = b->sample;

	b->x = gv_xcalloc(all * size, sizeof(*b->x));
	if (d == NULL) {
		b->target = draw_targets(m, all);
		for (i = 0; i < all * size; i++)
			b->x[i] = m->tokens > 0
				      ? (gv_real)(gv_random(1, 0, 0, i) % m->tokens)
				      : (gv_real)gv_random_normal(1, 0, 0, i);
		return;
	}
	b->target = gv_xcalloc(all, b->target_bytes);
	for (i = 0; i < all; i++) {
		const char *target = gv_data_targets(d);

		for (k = 0; k < size; k++)
			b->x[i * size + k] = d->x[i % d->n * size + k];
		memcpy((char *)b->target + i * b->target_bytes,
		    target + i % d->n * b->target_bytes, b->target_bytes);
	}
}

int
bench_net(struct bench *b, const struct gv_model *m, const struct times_rule *rule,
    struct gv_net_config c, struct gv_error *e)
{
	struct gv_net_coef one = GV_NET_COEF_DEFAULT, *coef;
	uint64_t *seed;
	size_t i;
	int status;

	c.models = rule->models;
	c.batch = rule->batch;
	c.optimiser = rule->optimiser;
	c.micro_batches = b->micro_batches;
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
	return status;
}

int
bench_open(struct bench *b, const struct gv_model *m, const struct times_rule *rule,
    struct memory_log *log, struct gv_error *e)
{
	struct gv_net_config c = {0};
	size_t all;
	char why[GV_ERROR_LEN];

	b->in_flight = rule->in_flight > 1 ? rule->in_flight : 1;
	b->parts = rule->stages > 1 ? rule->stages : 1;
	b->part_now = rule->stage_now;
	if (b->parts > m->n)
		return gv_error_set(e, "%zu rows are no %zu stages", m->n, b->parts);
	if (b->parts > b->in_flight)
		b->in_flight = b->parts;
	b->micro_batches =
	    rule->micro_batches > b->in_flight ? rule->micro_batches : b->in_flight;
	b->batch = rule->batch;
	b->sample = gv_shape_size(m->input);
	b->target_bytes = m->targets * (m->target == GV_TARGET_LABELS ? sizeof(int32_t)
								      : sizeof(gv_real));
	all = b->in_flight * rule->batch;
	c.slots = b->in_flight;
	c.backend = gv_nn_device_open(&rule->device, why, e);
	if (c.backend == NULL)
		return -1;
	b->own_clock = c.backend->host_memory && rule->device.threads == 1;
	if (why[0] != '\0' && !rule->quiet)
		gv_warn("warning: measured on the CPU: %s", why);
	if (log != NULL)
		memory_log_begin(log, c.backend);
	if (bench_net(b, m, rule, c, e) != 0)
		return -1;
	b->loss = gv_xcalloc(rule->models, sizeof(*b->loss));
	b->rows = m->n;
	b->now = gv_xcalloc(m->n, sizeof(*b->now));
	take_samples(b, m, rule->data, all);
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

/* As a stage of a pipeline does it: a row with weights at a time. */
int
bench_forward(struct bench *b, size_t k, size_t slot, size_t first, size_t last)
{
	struct gv_net_work w = {.first = first, .last = last, .slot = slot};

	if (gv_net_load(b->net, slot, b->x + slot * b->batch * b->sample,
		(const char *)b->target + slot * b->batch * b->target_bytes) != 0 ||
	    gv_net_prepare(b->net, &w) != 0)
		return -1;
	gv_net_number(b->net, slot, k);
	for (; w.first < last; w.first = w.last) {
		w.last = gv_net_piece_end(b->net, w.first, last);
		if (gv_net_forward(b->net, &w) != 0)
			return -1;
	}
	return 0;
}

int
bench_backward(struct bench *b, size_t k, size_t slot, size_t first, size_t last)
{
	struct gv_net_work w = {.last = last, .slot = slot};

	for (; w.last > first; w.last = w.first) {
		w.first = gv_net_piece_begin(b->net, first, w.last);
		if (gv_net_backward(b->net, &w) != 0 ||
		    gv_net_gradients(b->net, &w, k == 0) != 0)
			return -1;
	}
	return 0;
}

/* Back when all are there. */
static int
passes(struct bench *b)
{
	size_t n = b->in_flight, k;

	for (k = 0; k < n; k++)
		if (bench_forward(b, k, k, 0, b->rows) != 0)
			return -1;
	for (k = 0; k < b->micro_batches; k++)
		if (bench_backward(b, k, k % n, 0, b->rows) != 0 ||
		    (k + n < b->micro_batches &&
			bench_forward(b, k + n, k % n, 0, b->rows) != 0))
			return -1;
	return 0;
}

int
bench_update(struct bench *b)
{
	return gv_net_sum(b->net, b->loss) != 0 ? -1 : gv_net_update(b->net);
}

static int
step(struct bench *b)
{
	if (b->micro_batches == 1)
		return gv_net_step(b->net, b->x, b->target, b->loss);
	return b->step != NULL ? b->step(b) : passes(b) != 0 ? -1 : bench_update(b);
}

double
bench_step(struct bench *b, double *part)
{
	double own_s = gv_clock_thread_s(), start_s = gv_clock_s(), wall_s;

	if (step(b) != 0)
		b->failed = true;
	wall_s = gv_clock_s() - start_s;
	own_s = gv_clock_thread_s() - own_s;
	if (!b->own_clock || own_s > wall_s)
		own_s = wall_s;
	if (part != NULL)
		*part = wall_s > 0 ? own_s / wall_s : 1;
	else
		b->passed_s += wall_s;
	return own_s;
}
