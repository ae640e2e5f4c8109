/* How long GPUs wait for what is on its way to them. */
#include <math.h>
#include <stdlib.h>

#include "schedule.h"

/* The end of a pass, whose result the next one needs. */
struct result {
	enum gv_step_op op;
	int64_t stage, micro_batch;
	double end_ms;
};

static int
by_pass(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	if (x->stage != y->stage)
		return x->stage < y->stage ? -1 : 1;
	if (x->micro_batch != y->micro_batch)
		return x->micro_batch < y->micro_batch ? -1 : 1;
	return (x->end_ms > y->end_ms) - (x->end_ms < y->end_ms);
}

/* When the last such pass up to end_ms ended; NAN: there is none. */
static double
last_end(const struct result *r, size_t n, struct result pass)
{
	size_t low = 0, high = n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (by_pass(&r[middle], &pass) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || r[low - 1].op != pass.op || r[low - 1].stage != pass.stage ||
	    r[low - 1].micro_batch != pass.micro_batch)
		return NAN;
	return r[low - 1].end_ms;
}

/* The pass whose result a step needs from another GPU; false: there is none. */
static bool
needed(struct result *pass, const struct gv_schedule_step *x)
{
	*pass = (struct result){x->op, x->stage, x->micro_batch, x->start_ms};
	if (x->op == GV_STEP_FORWARD)
		pass->stage--;
	else if (x->op == GV_STEP_BACKWARD)
		pass->stage++;
	else
		return false;
	return true;
}

static void
wait_on_gpu(struct schedule *s, const struct schedule_gpu *g, const struct result *r,
    size_t n, double least_ms)
{
	double free_ms = s->start_ms, from;
	struct result pass;
	size_t k;

	for (k = g->first; k < g->first + g->n; k++) {
		const struct gv_schedule_step *x = &s->step[k];

		if (needed(&pass, x)) {
			from = fmax(free_ms, last_end(r, n, pass));
			if (!isnan(last_end(r, n, pass)) && x->start_ms - from > least_ms)
				s->wait_ms[k] = x->start_ms - from;
		}
		/* an all-reduce may go on beside what follows */
		if (x->op != GV_STEP_REDUCE || k + 1 == g->first + g->n ||
		    x->end_ms <= x[1].start_ms)
			free_ms = fmax(free_ms, x->end_ms);
	}
}

void
schedule_wait(struct schedule *s)
{
	double least_ms = 1e-9 * (s->end_ms - s->start_ms), sum = 0;
	struct result *r = gv_xcalloc(s->n_steps, sizeof(*r));
	size_t n = 0, i;

	s->wait_ms = gv_xcalloc(s->n_steps, sizeof(*s->wait_ms));
	for (i = 0; i < s->n_steps; i++) {
		const struct gv_schedule_step *x = &s->step[i];

		if (x->op == GV_STEP_FORWARD || x->op == GV_STEP_BACKWARD)
			r[n++] =
			    (struct result){x->op, x->stage, x->micro_batch, x->end_ms};
	}
	if (n > 0)
		qsort(r, n, sizeof(*r), by_pass);
	for (i = 0; i < s->n_gpus; i++)
		wait_on_gpu(s, &s->gpu[i], r, n, least_ms);
	for (i = 0; i < s->n_steps; i++)
		sum += s->wait_ms[i];
	if (least_ms > 0)
		s->wait_share = sum / ((s->end_ms - s->start_ms) * (double)s->n_gpus);
	free(r);
}
