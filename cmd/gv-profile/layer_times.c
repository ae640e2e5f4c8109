#include "layer_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/cpu/cpu.h"

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(const double *v, size_t n)
{
	return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Of normal times: their deviation is 1.4826 of these, a median's error 1.2533 of a mean's. */
struct spread
spread_of(double *v, size_t n)
{
	struct spread s;
	size_t i;

	qsort(v, n, sizeof(*v), ascending);
	s.median_s = median(v, n);
	for (i = 0; i < n; i++)
		v[i] = fabs(v[i] - s.median_s);
	qsort(v, n, sizeof(*v), ascending);
	s.deviation_s = median(v, n);
	s.error_s = 1.2533 * 1.4826 * s.deviation_s / sqrt((double)n);
	return s;
}

/* Everything that steps need. */
struct bench {
	struct gv_net *net;
	gv_real *x;
	void *target;
	double loss;
	size_t rows;
	struct gv_net_times *now;  /* [rows] of one step */
	size_t n, cap, cap_step;   /* steps timed */
	struct gv_net_times *seen; /* [n][rows] */
	double *step_s;            /* [n] of the steps between */
};

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

static int
bench_open(struct bench *b, const struct gv_model *m, const struct times_rule *rule,
    struct gv_error *e)
{
	struct gv_net_coef coef = GV_NET_COEF_DEFAULT;
	uint64_t seed = 1;
	struct gv_net_config c = {.models = 1,
	    .batch = rule->batch,
	    .backend = gv_cpu_new(rule->threads),
	    .optimiser = rule->optimiser,
	    .seed = &seed,
	    .coef = &coef};
	size_t i, size = gv_shape_size(m->input);

	coef.lr = 0; /* so that no number grows, whatever the model */
	coef.momentum = rule->momentum;
	if (gv_net_new(&b->net, m, &c, e) != 0)
		return -1;
	b->rows = m->n;
	b->now = gv_xcalloc(m->n, sizeof(*b->now));
	b->x = gv_xcalloc(rule->batch * size, sizeof(*b->x));
	b->target = draw_targets(m, rule->batch);
	for (i = 0; i < rule->batch * size; i++)
		b->x[i] = m->tokens > 0 ? (gv_real)(gv_random(1, 0, 0, i) % m->tokens)
					: (gv_real)gv_random_normal(1, 0, 0, i);
	return 0;
}

static void
bench_close(struct bench *b)
{
	gv_net_free(b->net);
	free(b->now);
	free(b->x);
	free(b->target);
	free(b->seen);
	free(b->step_s);
}

/* One step; its seconds. */
static double
step(struct bench *b)
{
	double start_s = gv_clock_s();

	/* fails only with other ranks */
	(void)gv_net_step(b->net, b->x, b->target, &b->loss);
	return gv_clock_s() - start_s;
}

static void
measure(struct bench *b)
{
	b->seen = gv_xgrow(b->seen, &b->cap, (b->n + 1) * b->rows, sizeof(*b->seen));
	b->step_s = gv_xgrow(b->step_s, &b->cap_step, b->n + 1, sizeof(*b->step_s));
	memset(b->now, 0, b->rows * sizeof(*b->now));
	gv_net_time(b->net, b->now);
	step(b);
	gv_net_time(b->net, NULL);
	memcpy(b->seen + b->n * b->rows, b->now, b->rows * sizeof(*b->now));
	b->step_s[b->n++] = step(b);
}

static void
run(struct bench *b, const struct times_rule *rule)
{
	double start_s = gv_clock_s(), now_s, told_s = start_s;

	do {
		step(b);
		now_s = gv_clock_s();
	} while (now_s < start_s + rule->warmup_s);
	start_s = now_s;
	while (b->n < rule->least_steps || now_s < start_s + rule->window_s) {
		measure(b);
		now_s = gv_clock_s();
		if (rule->quiet || now_s < told_s + 0.2)
			continue;
		gv_progress("%zu steps in %.1f s", b->n, now_s - start_s);
		told_s = now_s;
	}
	gv_progress(NULL);
}

enum part { FORWARD, BACKWARD, UPDATE };

static double
part_of(const struct gv_net_times *t, enum part part)
{
	return part == FORWARD    ? t->forward_s
	       : part == BACKWARD ? t->backward_s
				  : t->update_s;
}

static struct spread
spread_row(const struct bench *b, size_t row, enum part part, double *room)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		room[i] = part_of(&b->seen[i * b->rows + row], part);
	return spread_of(room, b->n);
}

static void
evaluate(struct layer_times *t, struct bench *b)
{
	double *room = gv_xcalloc(b->n, sizeof(*room));
	size_t i, k;

	t->n = b->rows;
	t->steps = b->n;
	t->layer = gv_xcalloc(t->n, sizeof(*t->layer));
	for (k = 0; k < t->n; k++) {
		t->layer[k].forward = spread_row(b, k, FORWARD, room);
		t->layer[k].backward = spread_row(b, k, BACKWARD, room);
		t->layer[k].update = spread_row(b, k, UPDATE, room);
		t->update_s += t->layer[k].update.median_s;
	}
	for (i = 0; i < b->n; i++)
		for (room[i] = 0, k = 0; k < t->n; k++)
			room[i] += b->seen[i * t->n + k].forward_s +
				   b->seen[i * t->n + k].backward_s;
	t->layers = spread_of(room, b->n);
	t->step = spread_of(b->step_s, b->n);
	free(room);
}

int
layer_times(struct layer_times *t, const struct gv_model *m,
    const struct times_rule *rule, struct gv_error *e)
{
	struct bench b = {0};
	int status = bench_open(&b, m, rule, e);

	memset(t, 0, sizeof(*t));
	if (status == 0) {
		run(&b, rule);
		evaluate(t, &b);
	}
	bench_close(&b);
	return status;
}

void
layer_times_free(struct layer_times *t)
{
	free(t->layer);
	memset(t, 0, sizeof(*t));
}
