/* An explanation: what binds the types and jobs of an allocation, and what more is worth. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "sheet.h"

static const struct sheet_column of_types[] = {{"name", "GPU type", SHEET_TEXT},
    {"binds", "binds", SHEET_TEXT}, {"bottleneck", "bottleneck", SHEET_TEXT},
    {"used", "used", SHEET_NUMBER}, {"limit", "of", SHEET_NUMBER},
    {"price", "worth of one", SHEET_NUMBER},
    {"one_more_gpu", "one GPU more", SHEET_NUMBER},
    {"jobs_unlocked", "jobs unlocked", SHEET_COUNT}};

static const struct sheet_column of_entities[] = {{"name", "entity", SHEET_TEXT},
    {"binds", "binds", SHEET_TEXT}, {"bottleneck", "bottleneck", SHEET_TEXT},
    {"value", "value", SHEET_NUMBER}, {"used", "GPUs", SHEET_NUMBER},
    {"limit", "quota", SHEET_NUMBER}, {"one_more_gpu", "one GPU more", SHEET_NUMBER},
    {"one_more_quota", "one more of quota", SHEET_NUMBER}};

static const struct sheet_column of_jobs[] = {{"name", "job", SHEET_TEXT},
    {"binds", "binds", SHEET_TEXT}, {"bottleneck", "bottleneck", SHEET_TEXT},
    {"value", "value", SHEET_NUMBER}, {"used", "time", SHEET_SHARE},
    {"price", "worth of more time", SHEET_NUMBER},
    {"need", "steps/s needed", SHEET_NUMBER},
    {"need_price", "worth of less need", SHEET_NUMBER}};

/* Which columns have anything to say in rows of a kind. */
static bool
is_empty(const struct gv_frame *f, ptrdiff_t kind, const char *of, ptrdiff_t column)
{
	size_t i;

	for (i = 0; i < f->n_rows; i++)
		if (gv_cell_is(gv_frame_cell(f, i, kind), of) &&
		    gv_frame_cell(f, i, column).len > 0)
			return false;
	return true;
}

static int
add_rows(struct sheet *s, const struct gv_frame *f, ptrdiff_t kind, const char *of,
    const struct sheet_column *shown, size_t n, struct gv_error *e)
{
	int rc = 0;
	size_t i, k;

	for (i = 0; i < f->n_rows; i++) {
		if (!gv_cell_is(gv_frame_cell(f, i, kind), of))
			continue;
		for (k = 0; k < n; k++) {
			ptrdiff_t column = gv_frame_find(f, shown[k].name);
			double v = NAN;

			if (shown[k].kind == SHEET_TEXT) {
				sheet_text(s, gv_frame_cell(f, i, column));
				continue;
			}
			if (gv_frame_cell(f, i, column).len > 0)
				rc |= gv_frame_double(f, i, column, NAN, &v, e);
			sheet_number(s, v);
		}
	}
	return rc;
}

/* The rows of a kind as a sheet. */
static int
add_sheet(struct view *v, const char *by, const char *many, const char *of,
    const struct sheet_column *shown, size_t n, struct gv_error *e)
{
	ptrdiff_t kind = gv_frame_find(&v->frame, "kind");
	struct sheet *s = view_sheet(v, by, many, true, n);
	size_t k;

	for (k = 0; k < n; k++) {
		ptrdiff_t column = gv_frame_find(&v->frame, shown[k].name);
		bool empty = is_empty(&v->frame, kind, of, column);

		sheet_column(s, shown[k].name,
		    empty && shown[k].kind != SHEET_TEXT ? NULL : shown[k].head,
		    shown[k].kind);
	}
	return add_rows(s, &v->frame, kind, of, shown, n, e);
}

/* The policy's row, and which types hold the objective. */
static void
add_lines(struct view *v)
{
	const struct gv_frame *f = &v->frame;
	ptrdiff_t kind = gv_frame_find(f, "kind"), name = gv_frame_find(f, "name");
	ptrdiff_t value = gv_frame_find(f, "value");
	ptrdiff_t bottleneck = gv_frame_find(f, "bottleneck");
	struct gv_strbuf held = {0};
	size_t i;

	for (i = 0; i < f->n_rows; i++) {
		struct gv_cell is = gv_frame_cell(f, i, kind);

		if (gv_cell_is(is, "policy")) {
			gv_strbuf_fmt(&v->title, "explanation of policy %s",
			    gv_frame_cell(f, i, name).s);
			if (gv_frame_cell(f, i, value).len > 0)
				gv_strbuf_str(view_line(v, "objective"),
				    gv_frame_cell(f, i, value).s);
		} else if (gv_cell_is(is, "gpu_type") &&
			   gv_cell_is(gv_frame_cell(f, i, bottleneck), "yes")) {
			gv_strbuf_fmt(&held, "%s%s", held.len > 0 ? ", " : "",
			    gv_frame_cell(f, i, name).s);
		}
	}
	if (v->title.len == 0)
		gv_strbuf_str(&v->title, "explanation");
	if (held.len > 0)
		gv_strbuf_fmt(view_line(v, "held by"), "the GPUs of %s", held.s);
	gv_strbuf_free(&held);
}

int
view_explanation(struct view *v, struct gv_tab *t, struct gv_error *e)
{
	int rc;

	if (gv_frame_read(&v->frame, t, e) != 0)
		return -1;
	add_lines(v);
	rc = add_sheet(v, "type", "types", "gpu_type", of_types,
	    sizeof(of_types) / sizeof(of_types[0]), e);
	if (!is_empty(&v->frame, gv_frame_find(&v->frame, "kind"), "entity",
		gv_frame_find(&v->frame, "name")))
		rc |= add_sheet(v, "entity", "entities", "entity", of_entities,
		    sizeof(of_entities) / sizeof(of_entities[0]), e);
	rc |= add_sheet(
	    v, "job", "jobs", "job", of_jobs, sizeof(of_jobs) / sizeof(of_jobs[0]), e);
	v->note = "Worth: change of the objective for each unit more (need: less).";
	return rc;
}
