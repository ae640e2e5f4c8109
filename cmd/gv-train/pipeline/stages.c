#include "stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/plan.h"

bool
stages_are(const struct gv_model *m)
{
	return gv_frame_find(&m->table, "stage") >= 0;
}

int
stages_sort(struct gv_model *m, struct gv_error *e)
{
	struct gv_plan_columns at = gv_plan_columns(&m->table);
	size_t *order = gv_xcalloc(m->n + 1, sizeof(*order));
	int64_t *stage = gv_xcalloc(m->n + 1, sizeof(*stage));
	size_t i, k;
	int status = 0;

	for (i = 0; i < m->n && status == 0; i++) {
		struct gv_plan_row row;

		status = gv_plan_row(&row, &m->table, &at, i, m->n, e);
		stage[i] = row.stage;
		for (k = i; k > 0 && stage[order[k - 1]] > stage[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	if (status == 0)
		status = gv_model_sort(m, order, e);
	free(order);
	free(stage);
	return status;
}

/* Adds a cell in its unit; an empty one is nothing. */
static int
add(const struct gv_frame *f, size_t row, const char *name, double unit, double *sum,
    struct gv_error *e)
{
	double v;

	if (gv_frame_double(f, row, gv_frame_find(f, name), 0, &v, e) != 0)
		return -1;
	*sum += v * unit;
	return 0;
}

/* What a row keeps for its backward pass: its output where the table says no more. */
static int
add_kept(const struct gv_frame *f, size_t row, double *sum, struct gv_error *e)
{
	struct gv_cell kept = gv_frame_cell(f, row, gv_frame_find(f, "kept_bytes"));

	return add(f, row, kept.len > 0 ? "kept_bytes" : "activation_bytes", 1, sum, e);
}

static int
take_row(struct stages *s, const struct gv_frame *f, const struct gv_plan_columns *at,
    size_t i, struct gv_error *e)
{
	struct gv_plan_row row;
	struct stage *stage;

	if (gv_plan_row(&row, f, at, i, f->n_rows, e) != 0)
		return -1;
	if ((size_t)row.stage == s->n) {
		s->stage[s->n++] = (struct stage){.first = i,
		    .last = i,
		    .replicas = (size_t)row.replicas,
		    .recompute = row.recompute};
	} else if ((size_t)row.stage + 1 != s->n) {
		return gv_frame_error(f, i, at->stage, e,
		    "no row is of stage %zu, this one is of stage %lld", s->n,
		    (long long)row.stage);
	}
	stage = &s->stage[s->n - 1];
	if (stage->replicas != (size_t)row.replicas || stage->recompute != row.recompute)
		return gv_frame_error(f, i, at->stage, e,
		    "other rows of stage %lld have another replicas or recompute",
		    (long long)row.stage);
	stage->last = i + 1;
	return add(f, i, "forward_ms", 1e-3, &stage->forward_s, e) != 0 ||
		       add(f, i, "backward_ms", 1e-3, &stage->backward_s, e) != 0 ||
		       add_kept(f, i, &stage->kept, e) != 0 ||
		       add(f, i, "parameter_bytes", 1, &stage->parameter, e) != 0
		   ? -1
		   : 0;
}

int
stages_read(struct stages *s, const struct gv_model *m, struct gv_error *e)
{
	const struct gv_frame *f = &m->table;
	struct gv_plan_columns at = gv_plan_columns(f);
	size_t i;

	*s = (struct stages){0};
	if (gv_frame_require(f, "stage", &at.stage, e) != 0)
		return -1;
	s->stage = gv_xcalloc(f->n_rows + 1, sizeof(*s->stage));
	for (i = 0; i < f->n_rows; i++)
		if (take_row(s, f, &at, i, e) != 0)
			return -1;
	return 0;
}

void
stages_free(struct stages *s)
{
	free(s->stage);
	*s = (struct stages){0};
}

size_t
stages_samples(const struct gv_model *m)
{
	ptrdiff_t column = gv_frame_find(&m->table, "activation_bytes");
	double samples = 0;
	size_t i;

	for (i = 0; i + 1 < m->n; i++) { /* the head's is its loss */
		struct gv_error e = {0};
		double bytes, sample = 4 * (double)gv_shape_size(m->layer[i].out_shape);

		if (gv_frame_double(&m->table, i, column, 0, &bytes, &e) != 0 ||
		    !(bytes > 0) || (samples > 0 && bytes != samples * sample))
			return 0;
		samples = bytes / sample;
	}
	return samples < 1e9 && samples == floor(samples) ? (size_t)samples : 0;
}

size_t
stages_gpus(const struct stages *s, size_t chunks)
{
	size_t gpus = 0, i;

	for (i = 0; i < s->n / chunks; i++)
		gpus += s->stage[i].replicas;
	return gpus;
}
