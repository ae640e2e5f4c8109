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

/* ---- what a micro-batch takes ---- */

static void
stage_row(struct gv_svg *svg, const struct view *v, size_t row, double y, double ms_w)
{
	const struct sheet_cell *mark = cell_at(v, row, v->chart_column + v->n_series);
	double x = FRAME_X + NAME_W;
	size_t k;

	for (k = 0; k < v->n_series; k++) {
		double ms = cell_at(v, row, v->chart_column + k)->number;

		if (!(ms > 0))
			continue;
		gv_svg_rect(svg, gv_fill_class(k), x, y + 2, ms * ms_w, ROW_H - 5);
		x += ms * ms_w;
	}
	if (mark->number > 0) {
		x = FRAME_X + NAME_W + mark->number * ms_w;
		gv_svg_line(svg, "c-rule", x, y - 1, x, y + ROW_H - 1);
	}
}

/* Of the longest bar, or what is planned where that is longer. */
static double
longest_ms(const struct view *v, size_t rows)
{
	double most = 0;
	size_t i, k;

	for (i = 0; i < rows; i++) {
		double sum = 0;

		for (k = 0; k < v->n_series; k++)
			sum += fmax(cell_at(v, i, v->chart_column + k)->number, 0);
		most = fmax(most, sum);
		most = fmax(most, cell_at(v, i, v->chart_column + v->n_series)->number);
	}
	return most > 0 ? most : 1;
}

/* ---- all ---- */

enum { MOST_TICKS = 8 };
#define TICK_W 36.0 /* of a number below the bars, with room beside it */

/* What the bottom of the bars means. */
struct bottom {
	const char *name; /* with the unit */
	double max;       /* at the right end; 0 at the left one */
	double w;         /* of max, pixels */
	bool whole;       /* a count */
	const char *rows; /* what rows are */
};

static struct bottom
bottom_of(const struct view *v, size_t rows)
{
	size_t rounds;

	switch (v->chart) {
	case CHART_ROUNDS:
		rounds = rounds_of(v, rows);
		return (struct bottom){"round", (double)rounds,
		    fmin(PLOT_W / (double)rounds, 28) * (double)rounds, true, "jobs"};
	case CHART_STAGES:
		return (struct bottom){"ms of a micro-batch; line: passes as planned",
		    longest_ms(v, rows), PLOT_W, false, "workers"};
	default:
		return (struct bottom){"share of time, %", 100, PLOT_W, false, "jobs"};
	}
}

static void
axis(struct gv_svg *svg, const struct bottom *b, double top, double bottom)
{
	struct gv_scale scale = {.max = b->max,
	    .whole = b->whole,
	    .from_px = FRAME_X + NAME_W,
	    .to_px = FRAME_X + NAME_W + b->w};
	struct gv_tick tick[GV_TICKS];
	double steps = fmin(MOST_TICKS, fmax(1, b->w / TICK_W));
	size_t n = gv_scale_ticks(&scale, (int)steps, tick), i;

	for (i = 0; i < n; i++) {
		double x = gv_scale_px(&scale, tick[i].value);

		gv_svg_line(svg, "c-grid", x, top, x, bottom);
		gv_svg_label(svg, "c-dim c-mid", x, bottom + 15, tick[i].name,
		    strlen(tick[i].name));
	}
	gv_svg_label(
	    svg, "c-dim c-end", scale.to_px, bottom + 31, b->name, strlen(b->name));
}

double
view_draw(struct gv_svg *svg, const struct view *v, double y)
{
	size_t all = rows_of(v), rows = all < MOST_ROWS ? all : MOST_ROWS, i;
	struct bottom b = bottom_of(v, rows);
	struct series legend = {0};
	char note[100] = "";
	double top, bottom;

	for (i = 0; i < v->n_series; i++)
		series_add(&legend, v->series[i], strlen(v->series[i]), true);
	if (all > rows)
		snprintf(
		    note, sizeof(note), "The first %zu of %zu %s.", rows, all, b.rows);
	top = y + frame_head(svg, y, v->title.s, note[0] != '\0' ? note : NULL, &legend);
	bottom = top + (double)rows * ROW_H + 4;
	series_free(&legend);
	if (svg == NULL)
		return bottom + 40 - y;
	axis(svg, &b, top, bottom);
	for (i = 0; i < rows; i++) {
		double at = top + (double)i * ROW_H;

		row_name(svg, v, i, at);
		if (v->chart == CHART_STAGES)
			stage_row(svg, v, i, at, b.w / b.max);
		else if (v->chart == CHART_ROUNDS)
			round_row(svg, v, i, at, b.w / b.max);
		else
			share_row(svg, v, i, at);
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
