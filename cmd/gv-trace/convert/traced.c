#include "traced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gv_cell
traced_text(struct traced_list *l, struct gv_cell text)
{
	if (text.len == 0)
		return (struct gv_cell){"", 0};
	return (struct gv_cell){gv_arena_strndup(&l->arena, text.s, text.len), text.len};
}

void
traced_add(struct traced_list *l, struct traced job, bool completed)
{
	enum left_out why = job.gpus < 1                      ? LEFT_NO_GPU
			    : l->completed_only && !completed ? LEFT_NOT_COMPLETED
			    : isnan(job.duration_s)           ? LEFT_NEVER_RAN
			    : !(job.duration_s > 0)           ? LEFT_NO_TIME
			    : isnan(job.arrival_s)            ? LEFT_NO_ARRIVAL
							      : N_LEFT_OUT;

	if (why != N_LEFT_OUT) {
		l->left[why]++;
		return;
	}
	if (job.gpus > TRACED_GPUS)
		job.gpus = TRACED_GPUS;
	job.id = traced_text(l, job.id);
	job.name = traced_text(l, job.name);
	job.entity = traced_text(l, job.entity);
	job.user = traced_text(l, job.user);
	job.status = traced_text(l, job.status);
	l->job = gv_xgrow(l->job, &l->cap, l->n + 1, sizeof(*l->job));
	l->job[l->n++] = job;
}

/* Merges the sorted runs a[0..half) and a[half..n) through tmp. */
static void
merge(struct traced *a, size_t half, size_t n, struct traced *tmp)
{
	size_t i = 0, j = half, k = 0;

	while (i < half && j < n)
		if (a[j].arrival_s < a[i].arrival_s)
			tmp[k++] = a[j++];
		else
			tmp[k++] = a[i++];
	while (i < half)
		tmp[k++] = a[i++];
	memcpy(a, tmp, k * sizeof(*a)); /* what is left of the second run lies right */
}

void
traced_sort(struct traced_list *l)
{
	struct traced *tmp = gv_xcalloc(l->n, sizeof(*tmp));
	size_t width, i;
	double first;

	for (width = 1; width < l->n; width *= 2)
		for (i = 0; i + width < l->n; i += 2 * width) {
			size_t n = l->n - i < 2 * width ? l->n - i : 2 * width;

			if (l->job[i + width].arrival_s < l->job[i + width - 1].arrival_s)
				merge(l->job + i, width, n, tmp);
		}
	free(tmp);
	first = l->n > 0 ? l->job[0].arrival_s : 0;
	for (i = 0; i < l->n; i++)
		l->job[i].arrival_s -= first;
}

const char *
left_out_name(enum left_out why)
{
	static const char *const names[N_LEFT_OUT] = {[LEFT_NO_GPU] = "without a GPU",
	    [LEFT_NOT_COMPLETED] = "as not completed",
	    [LEFT_NEVER_RAN] = "without a start, an end",
	    [LEFT_NO_TIME] = "as too short",
	    [LEFT_NO_ARRIVAL] = "without an arrival"};

	return names[why];
}

void
traced_free(struct traced_list *l)
{
	free(l->job);
	gv_arena_free(&l->arena);
	*l = (struct traced_list){0};
}
