#include "speeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "table/kind.h"

struct columns {
	ptrdiff_t job_type, scale_factor, gpu_type, steps_per_s;
};

static int
find_columns(struct columns *c, const struct gv_frame *f, struct gv_error *e)
{
	int rc = 0;

	if (gv_frame_expect(f, GV_KIND_THROUGHPUTS, e) != 0)
		return -1;
	rc |= gv_frame_require(f, "job_type", &c->job_type, e);
	rc |= gv_frame_require(f, "scale_factor", &c->scale_factor, e);
	rc |= gv_frame_require(f, "gpu_type", &c->gpu_type, e);
	rc |= gv_frame_require(f, "steps_per_s", &c->steps_per_s, e);
	return rc;
}

static int
read_row(struct speeds *s, const struct columns *c, size_t row, size_t *cap,
    struct gv_error *e)
{
	const struct gv_frame *f = &s->frame;
	struct gv_cell job_type = gv_frame_cell(f, row, c->job_type);
	struct gv_cell gpu_type = gv_frame_cell(f, row, c->gpu_type);
	int64_t *key = gv_arena_alloc(&s->arena, 3, sizeof(*key));
	size_t known = s->rows.n, i;
	double v;

	if (gv_frame_int(f, row, c->scale_factor, INT64_MIN, &key[1], e) != 0 ||
	    gv_frame_double(f, row, c->steps_per_s, NAN, &v, e) != 0)
		return -1;
	if (key[1] < 1)
		return gv_frame_expected(
		    f, row, c->scale_factor, e, "a whole number >= 1");
	if (v < 0)
		return gv_frame_expected(f, row, c->steps_per_s, e, "a number >= 0");
	if (job_type.len == 0)
		return gv_frame_expected(
		    f, row, c->job_type, e, "the name of a job type");
	if (gpu_type.len == 0)
		return gv_frame_expected(
		    f, row, c->gpu_type, e, "the name of a GPU type");
	key[0] = (int64_t)gv_hash_add(&s->job_types, job_type.s, job_type.len);
	key[2] = (int64_t)gv_hash_add(&s->gpu_types, gpu_type.s, gpu_type.len);
	i = gv_hash_add(&s->rows, (const char *)key, 3 * sizeof(*key));
	if (i < known)
		return gv_frame_error(f, row, c->gpu_type, e,
		    "repeated row of this job type, scale factor and GPU type");
	s->steps_per_s = gv_xgrow(s->steps_per_s, cap, i + 1, sizeof(*s->steps_per_s));
	s->steps_per_s[i] = v;
	if (key[1] > s->max_scale)
		s->max_scale = key[1];
	return 0;
}

int
speeds_load(struct speeds *s, const char *path, struct gv_error *e)
{
	struct columns c;
	size_t row, cap = 0;
	int rc;

	*s = (struct speeds){0};
	rc = gv_frame_load(&s->frame, path, e);
	if (rc == 0)
		rc = find_columns(&c, &s->frame, e);
	for (row = 0; rc == 0 && row < s->frame.n_rows; row++)
		rc = read_row(s, &c, row, &cap, e);
	if (rc != 0)
		speeds_free(s);
	return rc;
}

void
speeds_free(struct speeds *s)
{
	gv_frame_free(&s->frame);
	gv_hash_free(&s->job_types);
	gv_hash_free(&s->gpu_types);
	gv_hash_free(&s->rows);
	gv_arena_free(&s->arena);
	free(s->steps_per_s);
	*s = (struct speeds){0};
}

double
speeds_find(
    const struct speeds *s, ptrdiff_t job_type, int64_t scale_factor, ptrdiff_t gpu_type)
{
	int64_t key[3] = {job_type, scale_factor, gpu_type};
	ptrdiff_t i = gv_hash_find(&s->rows, (const char *)key, sizeof(key));

	return i >= 0 ? s->steps_per_s[i] : NAN;
}

ptrdiff_t
speeds_gpu_type(const struct speeds *s, const char *name, struct gv_error *e)
{
	struct gv_strbuf names = {0};
	char q[GV_QUOTE_LEN];
	ptrdiff_t i;
	size_t k;

	if (s->gpu_types.n == 0)
		return gv_error_set(e, "%s: expected a row, got none", s->frame.file);
	if (name == NULL)
		return 0;
	i = gv_hash_find(&s->gpu_types, name, strlen(name));
	if (i >= 0)
		return i;
	for (k = 0; k < s->gpu_types.n; k++)
		gv_strbuf_fmt(&names, "%s%.*s", k > 0 ? ", " : "",
		    (int)s->gpu_types.key[k].len, s->gpu_types.key[k].s);
	gv_error_set(e, "%s: no GPU type %s; it has %s", s->frame.file,
	    gv_quote(q, name, strlen(name)), names.s);
	gv_strbuf_free(&names);
	return -1;
}
