/* A view in the formats of a report. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "draw/chart.h"
#include "gv-report/charts/figure.h"
#include "gv-report/charts/frame.h"
#include "gv-report/page/grid.h"
#include "gv-report/page/page.h"
#include "sheet.h"

/* ---- for people ---- */

static struct time_unit
unit_of(const struct view *v)
{
	double s = v->longest_s;

	return s < 300                              ? (struct time_unit){"s", 1}
	       : s < 3 * 3600                       ? (struct time_unit){"min", 60}
	       : s < (v->in_hours ? 14 : 3) * 86400 ? (struct time_unit){"h", 3600}
						    : (struct time_unit){"d", 86400};
}

/* Three digits of what is small, up to nine behind the point, or as many as are asked for. */
static int
digits_for(double v, int digits)
{
	double size = fabs(v);
	int more = size > 0 && size < 10 ? 2 - (int)floor(log10(size)) : digits;

	more = more < 9 ? more : 9;
	return more > digits ? more : digits;
}

static void
put_cell(struct grid *g, const struct sheet_column *c, const struct sheet_cell *cell,
    struct time_unit unit, int digits)
{
	double v = cell->number;

	if (cell->text.len > 0 || c->kind == SHEET_TEXT)
		grid_text(g, cell->text.s, cell->text.len);
	else if (c->kind == SHEET_COUNT)
		grid_number(g, v, 0);
	else if (c->kind == SHEET_SHARE)
		grid_number(g, 100 * v, digits);
	else if (c->kind == SHEET_SECONDS)
		grid_number(g, v / unit.s, digits);
	else
		grid_number(g, v, digits_for(v, digits));
}

static void
put_head(struct grid *g, const struct sheet_column *c, struct time_unit unit)
{
	struct gv_strbuf b = {0};

	gv_strbuf_str(&b, c->head);
	if (c->kind == SHEET_SECONDS)
		gv_strbuf_fmt(&b, " %s", unit.name);
	if (c->kind == SHEET_SHARE)
		gv_strbuf_str(&b, " %");
	grid_str(g, b.s);
	gv_strbuf_free(&b);
}

static void
write_sheet(struct gv_out *out, const struct view *v, const struct sheet *s, int digits,
    bool html)
{
	struct time_unit unit = unit_of(v);
	bool *right = gv_xcalloc(s->n_columns, sizeof(*right));
	struct grid g = {0};
	size_t i;

	GV_HOLDS(s->n_columns > 0);
	for (i = 0; i < s->n_columns; i++)
		if (s->column[i].head != NULL)
			right[g.n_columns++] = s->column[i].kind != SHEET_TEXT;
	for (i = 0; i < s->n_columns; i++)
		if (s->column[i].head != NULL)
			put_head(&g, &s->column[i], unit);
	for (i = 0; i < s->n; i++)
		if (s->column[i % s->n_columns].head != NULL)
			put_cell(
			    &g, &s->column[i % s->n_columns], &s->cell[i], unit, digits);
	if (html)
		grid_html(&g, right, out);
	else
		grid_print(&g, right, out);
	grid_free(&g);
	free(right);
}

/* A line whose text is partly from a table; label NULL: the title. */
static void
write_plainly(struct gv_out *out, const char *label, const struct gv_strbuf *text)
{
	struct gv_strbuf b = {0};

	text_add(&b, text->s, text->len);
	if (label == NULL)
		grid_note(b.s, false, out);
	else
		grid_line(label, b.s, out);
	gv_strbuf_free(&b);
}

static void
write_lines(struct gv_out *out, const struct view *v, bool html)
{
	struct gv_svg h = {.out = out};
	size_t i;

	for (i = 0; i < v->n_lines; i++) {
		const char *text = v->line[i].text.s;

		if (!html) {
			write_plainly(out, v->line[i].label, &v->line[i].text);
			continue;
		}
		gv_svg_open(&h, "dt");
		gv_svg_str(&h, v->line[i].label);
		gv_svg_close(&h);
		gv_svg_open(&h, "dd");
		gv_svg_str(&h, text);
		gv_svg_close(&h);
	}
}

static void
write_html_head(struct gv_out *out, const struct view *v)
{
	struct gv_svg h = {.out = out};

	page_begin(out, v->title.s, v->title.len);
	page_heading(out, "h2", v->title.s, v->title.len);
	gv_out_str(out, "<dl>\n");
	write_lines(out, v, true);
	gv_out_str(out, "</dl>\n");
	if (v->chart != CHART_NONE) {
		gv_chart_begin(
		    &h, FIGURE_W, view_draw(NULL, v, 0), v->title.s, true, NULL);
		view_draw(&h, v, 0);
		gv_chart_end(&h);
	}
}

static void
as_text(struct gv_out *out, const struct view *v, const struct sheet *by, int digits,
    bool html)
{
	size_t i;

	if (html) {
		write_html_head(out, v);
	} else if (by == NULL) {
		write_plainly(out, NULL, &v->title);
		write_lines(out, v, false);
	}
	for (i = 0; i < v->n_sheets; i++) {
		const struct sheet *s = &v->sheet[i];

		if (by != NULL ? s != by : !s->shown || s->n == 0)
			continue;
		if (!html && by == NULL)
			gv_out_char(out, '\n');
		write_sheet(out, v, s, digits, html);
	}
	if (v->note != NULL && by == NULL)
		grid_note(v->note, html, out);
	if (html)
		page_end(out);
}

void
view_write_sheets(struct gv_out *out, const struct view *v, int digits)
{
	size_t i;

	for (i = 0; i < v->n_sheets; i++)
		if (v->sheet[i].shown && v->sheet[i].n > 0)
			write_sheet(out, v, &v->sheet[i], digits, true);
	if (v->note != NULL)
		grid_note(v->note, true, out);
}

/* ---- for machines ---- */

/* The first sheet for them, where none was asked for. */
static const struct sheet *
chosen(const struct view *v, const struct sheet *by)
{
	size_t i;

	for (i = 0; by == NULL; i++)
		if (v->sheet[i].many != NULL)
			by = &v->sheet[i];
	return by;
}

static void
as_table(struct gv_out *out, const struct view *v, const struct sheet *by, bool tsv)
{
	const struct sheet *s = chosen(v, by);
	struct gv_tabw w;
	size_t i, k;

	GV_HOLDS(s->n_columns > 0);
	gv_tabw_init(&w, out, tsv);
	for (k = 0; k < s->n_columns; k++)
		if (s->column[k].name != NULL)
			gv_tabw_str(&w, s->column[k].name);
	gv_tabw_end(&w);
	for (i = 0; i < s->n; i++) {
		k = i % s->n_columns;
		if (s->column[k].name == NULL)
			;
		else if (s->cell[i].text.len > 0)
			gv_tabw_cell(&w, s->cell[i].text);
		else
			gv_tabw_double(&w, s->cell[i].number);
		if (k + 1 == s->n_columns)
			gv_tabw_end(&w);
	}
}

static void
write_json_rows(struct gv_json *j, const struct sheet *s)
{
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		const struct sheet_cell *c = &s->cell[i];

		k = i % s->n_columns;
		if (k == 0)
			gv_json_object(j, true);
		if (s->column[k].name != NULL) {
			double v;

			gv_json_key(j, s->column[k].name);
			if (s->column[k].kind != SHEET_TEXT && c->text.len > 0 &&
			    gv_parse_double(c->text.s, c->text.len, &v) == 0)
				gv_json_double(j, v);
			else if (c->text.len > 0)
				gv_json_str(j, c->text.s, c->text.len);
			else
				gv_json_double(j, c->number);
		}
		if (k + 1 == s->n_columns)
			gv_json_end(j);
	}
}

static void
as_json(struct gv_out *out, const struct view *v, const struct sheet *by)
{
	struct gv_json j = {.out = out};
	size_t i;

	gv_json_object(&j, false);
	for (i = 0; i < v->n_sheets; i++) {
		const struct sheet *s = &v->sheet[i];

		if (s->many == NULL || (by != NULL && s != by))
			continue;
		gv_json_key(&j, s->many);
		gv_json_array(&j, false);
		write_json_rows(&j, s);
		gv_json_end(&j);
	}
	gv_json_end(&j);
}

void
view_write(struct gv_out *out, const struct view *v, const struct sheet *by,
    enum format format, int digits)
{
	if (format == FORMAT_CSV || format == FORMAT_TSV)
		as_table(out, v, by, format == FORMAT_TSV);
	else if (format == FORMAT_JSON)
		as_json(out, v, by);
	else
		as_text(out, v, by, digits, format == FORMAT_HTML);
}
