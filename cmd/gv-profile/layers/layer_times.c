#include "layer_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench_parts.h"

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

static void
measure(struct bench *b)
{
	double part = 1;
	size_t k;

	b->seen = gv_xgrow(b->seen, &b->cap, (b->n + 1) * b->rows, sizeof(*b->seen));
	b->step_s = gv_xgrow(b->step_s, &b->cap_step, b->n + 1, sizeof(*b->step_s));
	memset(b->now, 0, b->rows * sizeof(*b->now));
	bench_parts_time(b, b->now);
	b->timed = true;
	bench_step(b, &part);
	b->timed = false;
	bench_parts_time(b, NULL);
	for (k = 0; k < b->rows; k++) {
		b->now[k].forward_s *= part / (double)b->micro_batches;
		b->now[k].backward_s *= part / (double)b->micro_batches;
		b->now[k].update_s *= part;
	}
	memcpy(b->seen + b->n * b->rows, b->now, b->rows * sizeof(*b->now));
	b->step_s[b->n++] = bench_step(b, NULL);
}

static void
run(struct bench *b, const struct times_rule *rule)
{
	double start_s = gv_clock_s(), now_s, told_s = start_s;

	do {
		bench_step(b, NULL);
		now_s = gv_clock_s();
	} while (!b->failed && now_s < start_s + rule->warmup_s);
	b->passed_s = 0; /* not of warming up */
	start_s = now_s;
	while (!b->failed &&
	       (b->n < rule->least_steps || now_s < start_s + rule->window_s)) {
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
scale(struct spread *s, double x)
{
	s->median_s *= x;
	s->deviation_s *= x;
	s->error_s *= x;
}

/*
 * In a step in which others had the core the layers that they came upon took longer, and all are
 * scaled to what the step computed: the medians, which leave out the former, are too small where
 * many steps were such.  What all layers took together says how much.
 */
static void
add_up(struct layer_times *t)
{
	double sum_s = 0;
	size_t k;

	for (k = 0; k < t->n; k++)
		sum_s += t->layer[k].forward.median_s + t->layer[k].backward.median_s;
	for (k = 0; k < t->n && sum_s > 0; k++) {
		scale(&t->layer[k].forward, t->layers.median_s / sum_s);
		scale(&t->layer[k].backward, t->layers.median_s / sum_s);
	}
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
	add_up(t);
	t->step = spread_of(b->step_s, b->n);
	t->passed_s = b->passed_s / (double)b->n;
	free(room);
}

int
layer_times(struct layer_times *t, const struct gv_model *m,
    const struct times_rule *rule, struct gv_error *e)
{
	struct bench b = {0};
	int status = bench_parts_open(&b, m, rule, e);

	memset(t, 0, sizeof(*t));
	if (status == 0) {
		run(&b, rule);
		if (b.failed)
			status = gv_error_set(e, "a step: %s", gv_net_error(b.net));
		else
			evaluate(t, &b);
	}
	bench_parts_close(&b);
	return status;
}

void
layer_times_free(struct layer_times *t)
{
	free(t->layer);
	memset(t, 0, sizeof(*t));
}
