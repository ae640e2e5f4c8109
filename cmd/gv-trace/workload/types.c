#include "types.h"

#include <math.h>
#include <stdlib.h>

static int
read_weight(
    struct job_types *t, size_t row, ptrdiff_t column, double *sum, struct gv_error *e)
{
	double w;

	if (gv_frame_double(&t->frame, row, column, 1, &w, e) != 0)
		return -1;
	if (w <= 0)
		return gv_frame_expected(&t->frame, row, column, e, "a number > 0");
	*sum += w;
	t->upto[row] = *sum;
	return 0;
}

static int
read_rows(struct job_types *t, const struct speeds *s, struct gv_error *e)
{
	const struct gv_frame *f = &t->frame;
	struct gv_hash names = {0};
	ptrdiff_t job_type, weight = gv_frame_find(f, "weight");
	double sum = 0;
	size_t row;
	int rc = gv_frame_require(f, "job_type", &job_type, e);

	if (weight >= 0)
		t->upto = gv_xcalloc(f->n_rows, sizeof(*t->upto));
	for (row = 0; rc == 0 && row < f->n_rows; row++) {
		struct gv_cell name = gv_frame_cell(f, row, job_type);
		char q[GV_QUOTE_LEN];

		if (gv_hash_add(&names, name.s, name.len) < row)
			rc = gv_frame_error(f, row, job_type, e, "repeated job type %s",
			    gv_quote(q, name.s, name.len));
		else if (weight >= 0)
			rc = read_weight(t, row, weight, &sum, e);
		t->name[row] = name;
		t->number[row] = gv_hash_find(&s->job_types, name.s, name.len);
	}
	gv_hash_free(&names);
	return rc;
}

int
types_load(
    struct job_types *t, const char *path, const struct speeds *s, struct gv_error *e)
{
	size_t i;
	int rc = 0;

	*t = (struct job_types){0};
	if (path != NULL && gv_frame_load(&t->frame, path, e) != 0)
		return -1;
	t->n = path != NULL ? t->frame.n_rows : s->job_types.n;
	t->name = gv_xcalloc(t->n, sizeof(*t->name));
	t->number = gv_xcalloc(t->n, sizeof(*t->number));
	if (path != NULL)
		rc = read_rows(t, s, e);
	else
		for (i = 0; i < t->n; i++) {
			t->name[i] = (struct gv_cell){
			    s->job_types.key[i].s, s->job_types.key[i].len};
			t->number[i] = (ptrdiff_t)i;
		}
	if (rc == 0 && t->n == 0)
		rc = gv_error_set(e, "%s: expected a job type, got none",
		    path != NULL ? t->frame.file : s->frame.file);
	if (rc != 0)
		types_free(t);
	return rc;
}

void
types_free(struct job_types *t)
{
	gv_frame_free(&t->frame);
	free(t->name);
	free(t->number);
	free(t->upto);
	*t = (struct job_types){0};
}

static size_t
draw(const struct job_types *t, struct random *r)
{
	size_t i = 0;
	double u;

	if (t->upto == NULL)
		return random_below(r, t->n);
	u = random_double(r) * t->upto[t->n - 1];
	while (i + 1 < t->n && u >= t->upto[i])
		i++;
	return i;
}

static bool
runs(const struct job_types *t, size_t i, const struct speeds *s, int64_t scale_factor,
    ptrdiff_t gpu_type)
{
	return speeds_find(s, t->number[i], scale_factor, gpu_type) > 0;
}

ptrdiff_t
types_draw(const struct job_types *t, const struct speeds *s, struct random *r,
    int64_t scale_factor, ptrdiff_t gpu_type)
{
	size_t first = draw(t, r), some = 0, i, n;

	if (runs(t, first, s, scale_factor, gpu_type))
		return (ptrdiff_t)first;
	while (some < t->n && !runs(t, some, s, scale_factor, gpu_type))
		some++;
	if (some == t->n)
		return -1;
	for (n = 0; n < 1000000; n++) {
		i = draw(t, r);
		if (runs(t, i, s, scale_factor, gpu_type))
			return (ptrdiff_t)i;
	}
	return (ptrdiff_t)some;
}

bool
types_runs_wide(
    const struct job_types *t, size_t i, const struct speeds *s, ptrdiff_t gpu_type)
{
	int64_t scale;

	for (scale = 2; scale <= s->max_scale; scale++)
		if (runs(t, i, s, scale, gpu_type))
			return true;
	return false;
}
