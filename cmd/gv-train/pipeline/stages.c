#include "stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/plan.h"

bool
stages_are(const struct gv_model *m)
{
	return gv_frame_find(&m->table, "stage") >= 0;
}

/* Milliseconds of a cell in seconds; an empty one is none. */
static int
add_ms(const struct gv_frame *f, size_t row, const char *name, double *sum,
    struct gv_error *e)
{
	double ms;

	if (gv_frame_double(f, row, gv_frame_find(f, name), 0, &ms, e) != 0)
		return -1;
	*sum += ms / 1e3;
	return 0;
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
		    "the rows of a stage follow each other, behind those of the stage "
		    "before: expected %zu%s, got %lld",
		    s->n > 0 ? s->n - 1 : 0, s->n > 0 ? " or the next" : "",
		    (long long)row.stage);
	}
	stage = &s->stage[s->n - 1];
	if (stage->replicas != (size_t)row.replicas || stage->recompute != row.recompute)
		return gv_frame_error(f, i, at->stage, e,
		    "other rows of stage %lld have another replicas or recompute",
		    (long long)row.stage);
	stage->last = i + 1;
	if (add_ms(f, i, "forward_ms", &stage->forward_s, e) != 0 ||
	    add_ms(f, i, "backward_ms", &stage->backward_s, e) != 0)
		return -1;
	return 0;
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
stages_gpus(const struct stages *s, size_t chunks)
{
	size_t gpus = 0, i;

	for (i = 0; i < s->n / chunks; i++)
		gpus += s->stage[i].replicas;
	return gpus;
}
