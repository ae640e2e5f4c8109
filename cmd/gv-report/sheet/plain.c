/* Any other table of the house, as it is. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "sheet.h"

/* Whether every cell of a column that says anything is a number. */
static bool
is_numeric(const struct gv_frame *f, size_t column)
{
	double number;
	size_t i;

	for (i = 0; i < f->n_rows; i++) {
		struct gv_cell c = gv_frame_cell(f, i, (ptrdiff_t)column);

		if (c.len > 0 && gv_parse_double(c.s, c.len, &number) != 0)
			return false;
	}
	return true;
}

int
view_plain(struct view *v, struct gv_tab *t, struct gv_error *e)
{
	const struct gv_frame *f = &v->frame;
	struct sheet *s;
	size_t i, k;

	if (gv_frame_read(&v->frame, t, e) != 0)
		return -1;
	gv_strbuf_fmt(&v->title, "%s: %zu row%s", gv_kind_name(v->kind), f->n_rows,
	    f->n_rows == 1 ? "" : "s");
	s = view_sheet(v, NULL, "rows", true, f->n_columns);
	for (k = 0; k < f->n_columns; k++)
		sheet_column(s, f->name[k].s, f->name[k].s,
		    is_numeric(f, k) ? SHEET_NUMBER : SHEET_TEXT);
	for (i = 0; i < f->n_rows; i++)
		for (k = 0; k < f->n_columns; k++)
			sheet_text(s, gv_frame_cell(f, i, (ptrdiff_t)k));
	return 0;
}
