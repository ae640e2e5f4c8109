/* Views that can be drawn. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/chart.h"
#include "draw/text.h"
#include "gv-report/charts/figure.h"
#include "gv-report/charts/frame.h"
#include "sheet.h"

enum { MOST_ROWS = 60, ROW_H = 20 };
#define NAME_W 150.0
#define PLOT_W (INNER_W - NAME_W - 60)

static const struct sheet *
sheet_of(const struct view *v)
{
	return &v->sheet[v->chart_sheet];
}

static size_t
rows_of(const struct view *v)
{
	const struct sheet *s = sheet_of(v);

	return s->n_columns > 0 ? s->n / s->n_columns : 0;
}

static const struct sheet_cell *
cell_at(const struct view *v, size_t row, size_t column)
{
	const struct sheet *s = sheet_of(v);

	return &s->cell[row * s->n_columns + column];
}

static void
row_name(struct gv_svg *svg, const struct view *v, size_t row, double y)
{
	const struct gv_cell *name = &cell_at(v, row, 0)->text;
	struct gv_strbuf b = {0};

	gv_text_fit(&b, name->s, name->len, NAME_W - 12);
	gv_svg_label(svg, "c-text c-end", FRAME_X + NAME_W - 8, y + 13, b.s, b.len);
	gv_strbuf_free(&b);
}

/* ---- shares ---- */

static void
share_row(struct gv_svg *svg, const struct view *v, size_t row, double y)
{
	double x = FRAME_X + NAME_W, sum = 0;
	char text[32];
	size_t k;

	gv_svg_rect(svg, "c-track", x, y + 2, PLOT_W, ROW_H - 5);
	for (k = 0; k < v->n_series; k++) {
		double share = cell_at(v, row, v->chart_column + k)->number;

		if (!(share > 0))
			continue;
		gv_svg_rect(svg, gv_fill_class(k), x + fmin(sum, 1) * PLOT_W, y + 2,
		    (fmin(sum + share, 1) - fmin(sum, 1)) * PLOT_W, ROW_H - 5);
		sum += share;
	}
	snprintf(text, sizeof(text), "%.1f %%", 100 * sum);
	gv_svg_label(svg, "c-text", x + PLOT_W + 6, y + 13, text, strlen(text));
}

/* ---- rounds ---- */

static void
round_row(struct gv_svg *svg, const struct view *v, size_t row, double y, double w)
{
	const struct gv_cell *of = &cell_at(v, row, v->chart_column)->text;
	double x = FRAME_X + NAME_W;
	size_t i, k;

	gv_svg_rect(svg, "c-track", x, y + 2, (double)of->len * w, ROW_H - 5);
	for (i = 0; i < of->len; i = k) {
		for (k = i + 1; k < of->len && of->s[k] == of->s[i]; k++)
			continue;
		if (of->s[i] < 'A' || of->s[i] > 'Z')
			continue;
		gv_svg_rect(svg, gv_fill_class((size_t)(of->s[i] - 'A')),
		    x + (double)i * w, y + 2, (double)(k - i) * w - 1, ROW_H - 5);
	}
}

/* How many rounds are told of, at most. */
static size_t
rounds_of(const struct view *v, size_t rows)
{
	size_t i, most = 1;

	for (i = 0; i < rows; i++)
		if (cell_at(v, i, v->chart_column)->text.len > most)
			most = cell_at(v, i, v->chart_column)->text.len;
	return most;
}

/* ---- both ---- */

/* What the bottom of the bars means: 0 to 100 %, or rounds from 0. */
static void
axis(struct gv_svg *svg, struct gv_scale scale, double top, double bottom,
    const char *name)
{
	struct gv_tick tick[GV_TICKS];
	size_t n = gv_scale_ticks(&scale, 8, tick), i;

	for (i = 0; i < n; i++) {
		double x = gv_scale_px(&scale, tick[i].value);

		gv_svg_line(svg, "c-grid", x, top, x, bottom);
		gv_svg_label(svg, "c-dim c-mid", x, bottom + 15, tick[i].name,
		    strlen(tick[i].name));
	}
	gv_svg_label(svg, "c-dim c-end", scale.to_px, bottom + 31, name, strlen(name));
}

double
view_draw(struct gv_svg *svg, const struct view *v, double y)
{
	bool shares = v->chart == CHART_SHARES;
	size_t all = rows_of(v), rows = all < MOST_ROWS ? all : MOST_ROWS, i;
	size_t rounds = shares ? 1 : rounds_of(v, rows);
	double w = fmin(PLOT_W / (double)rounds, 28), top, bottom;
	struct series legend = {0};
	char note[100] = "";

	for (i = 0; i < v->n_series; i++)
		series_add(&legend, v->series[i], strlen(v->series[i]), true);
	if (all > rows)
		snprintf(note, sizeof(note), "The first %zu of %zu jobs.", rows, all);
	top = y + frame_head(svg, y, v->title.s, note[0] != '\0' ? note : NULL, &legend);
	bottom = top + (double)rows * ROW_H + 4;
	series_free(&legend);
	if (svg == NULL)
		return bottom + 40 - y;
	axis(svg,
	    (struct gv_scale){.max = shares ? 100 : (double)rounds,
		.from_px = FRAME_X + NAME_W,
		.to_px = FRAME_X + NAME_W + (shares ? PLOT_W : w * (double)rounds)},
	    top, bottom, shares ? "share of time, %" : "round");
	for (i = 0; i < rows; i++) {
		row_name(svg, v, i, top + (double)i * ROW_H);
		if (shares)
			share_row(svg, v, i, top + (double)i * ROW_H);
		else
			round_row(svg, v, i, top + (double)i * ROW_H, w);
	}
	return bottom + 40 - y;
}

void
view_write_svg(struct gv_out *out, const struct view *v)
{
	double height = view_draw(NULL, v, 12) + 12;
	struct gv_svg s = {.out = out};

	gv_chart_begin(&s, FRAME_W, height, v->title.s, false, NULL);
	view_draw(&s, v, 12);
	gv_chart_end(&s);
}
