#include "nn/cpu/times.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Of one thread: apart from the others', who write at the same time. */
struct lane {
	double last_s;
	double *spent_s; /* [rows][GV_CPU_PHASES] in this loop */
};

struct gv_cpu_times {
	size_t rows, threads;
	double begun_s;
	struct lane **lane; /* [threads] */
	struct gv_net_times *result;
};

struct gv_cpu_times *
gv_cpu_times_new(size_t rows, size_t threads, struct gv_net_times *result)
{
	struct gv_cpu_times *t;
	size_t i;

	if (result == NULL)
		return NULL;
	t = gv_xcalloc(1, sizeof(*t));
	t->rows = rows;
	t->threads = threads;
	t->result = result;
	t->lane = gv_xcalloc(threads, sizeof(struct lane *));
	for (i = 0; i < threads; i++) {
		t->lane[i] = gv_xcalloc(1, sizeof(struct lane));
		t->lane[i]->spent_s = gv_xcalloc(GV_CPU_PHASES * rows, sizeof(double));
	}
	return t;
}

void
gv_cpu_times_free(struct gv_cpu_times *t)
{
	size_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->threads; i++) {
		free(t->lane[i]->spent_s);
		free(t->lane[i]);
	}
	free(t->lane);
	free(t);
}

void
gv_cpu_times_loop(struct gv_cpu_times *t)
{
	size_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->threads; i++)
		memset(t->lane[i]->spent_s, 0, GV_CPU_PHASES * t->rows * sizeof(double));
	t->begun_s = gv_clock_s();
}

void
gv_cpu_times_loop_end(struct gv_cpu_times *t)
{
	double waited, all = 0;
	size_t i, k, n;

	if (t == NULL)
		return;
	waited = gv_clock_s() - t->begun_s;
	for (i = 0; i < t->threads; i++)
		for (k = 0; k < GV_CPU_PHASES * t->rows; k++)
			all += t->lane[i]->spent_s[k];
	if (all <= 0)
		return;
	for (k = 0; k < t->rows; k++) {
		double spent[GV_CPU_PHASES] = {0};

		for (i = 0; i < t->threads; i++)
			for (n = 0; n < GV_CPU_PHASES; n++)
				spent[n] += t->lane[i]->spent_s[GV_CPU_PHASES * k + n];
		t->result[k].forward_s += waited * spent[GV_CPU_FORWARD] / all;
		t->result[k].backward_s += waited * spent[GV_CPU_BACKWARD] / all;
		t->result[k].update_s += waited * spent[GV_CPU_UPDATE] / all;
	}
}

void
gv_cpu_times_item(struct gv_cpu_times *t, size_t thread)
{
	if (t != NULL)
		t->lane[thread]->last_s = gv_clock_s();
}

void
gv_cpu_times_lap(
    struct gv_cpu_times *t, size_t thread, size_t row, enum gv_cpu_phase phase)
{
	struct lane *lane;
	double now;

	if (t == NULL)
		return;
	lane = t->lane[thread];
	now = gv_clock_s();
	lane->spent_s[GV_CPU_PHASES * row + phase] += now - lane->last_s;
	lane->last_s = now;
}

void
gv_cpu_times_update_end(struct gv_cpu_times *t, const struct gv_nn_plan *plan)
{
	double waited;
	size_t k;

	if (t == NULL || plan->P == 0)
		return;
	waited = gv_clock_s() - t->begun_s;
	for (k = plan->first_row; k < plan->last_row; k++) {
		const struct gv_layer *l = &plan->row[k].l;

		t->result[k].update_s +=
		    waited * (double)(l->weights + l->biases) / (double)plan->P;
	}
}
