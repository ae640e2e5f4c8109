/* What a micro-batch took in each stage of a pipeline, beside what the plan says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

/* The columns that are read; the first ones must be there. */
enum column {
	STAGE,
	REPLICA,
	MICRO_BATCHES,
	FORWARD,
	BACKWARD,
	SEND,
	UPDATE,
	WAIT,
	MUST = WAIT, /* and those before it */
	PLANNED_FORWARD,
	PLANNED_BACKWARD,
	OTHER,
	BUBBLE,
	PLANNED_BUBBLE,
	MEMORY,
	PLANNED_MEMORY,
	COLUMNS
};

static const char *const name[COLUMNS] = {"stage", "replica", "micro_batches",
    "forward_ms", "backward_ms", "send_ms", "update_ms", "wait_ms", "planned_forward_ms",
    "planned_backward_ms", "other_ms", "bubble", "planned_bubble", "memory_bytes",
    "planned_memory_bytes"};

/* Numbers of a row; what is not told is NAN. */
struct worker {
	double v[COLUMNS];
};

static double
passes(const struct worker *w)
{
	return w->v[FORWARD] + w->v[BACKWARD];
}

static double
planned(const struct worker *w)
{
	return w->v[PLANNED_FORWARD] + w->v[PLANNED_BACKWARD];
}

static int
read_worker(struct worker *w, const struct gv_frame *f, size_t row,
    const ptrdiff_t *column, struct gv_error *e)
{
	int rc = 0;
	size_t k;

	for (k = 0; k < COLUMNS; k++) {
		ptrdiff_t at = column[k];

		w->v[k] = NAN;
		if (at < 0)
			continue;
		if (k <= REPLICA || gv_frame_cell(f, row, at).len > 0)
			rc |= gv_frame_not_negative(f, row, at, NAN, &w->v[k], e);
	}
	return rc;
}

/* The rows, which the caller frees; NULL with *e set. */
static struct worker *
read_workers(const struct gv_frame *f, struct gv_error *e)
{
	struct worker *w = gv_xcalloc(f->n_rows, sizeof(*w));
	ptrdiff_t column[COLUMNS];
	int rc = 0;
	size_t i;

	for (i = 0; i < COLUMNS; i++)
		if (i <= MUST)
			rc |= gv_frame_require(f, name[i], &column[i], e);
		else
			column[i] = gv_frame_find(f, name[i]);
	for (i = 0; rc == 0 && i < f->n_rows; i++)
		rc = read_worker(&w[i], f, i, column, e);
	if (rc == 0)
		return w;
	free(w);
	return NULL;
}

/* The worker whose passes take longest. */
static void
say_slowest(struct view *v, const struct worker *w, size_t n)
{
	struct gv_strbuf *b;
	size_t slow = 0, i;

	for (i = 1; i < n; i++)
		if (passes(&w[i]) > passes(&w[slow]))
			slow = i;
	b = view_line(v, "slowest");
	gv_strbuf_fmt(b, "stage %.0f: %.3g ms of passes for a micro-batch",
	    w[slow].v[STAGE], passes(&w[slow]));
	if (planned(&w[slow]) > 0)
		gv_strbuf_fmt(b, ", planned %.3g", planned(&w[slow]));
}

/* The worker furthest from the plan, either way. */
static void
say_plan(struct view *v, const struct worker *w, size_t n)
{
	double most = -1;
	size_t far = n, i;

	for (i = 0; i < n; i++) {
		double off = fabs(log(passes(&w[i]) / planned(&w[i])));

		if (off > most) { /* not of NAN: nothing was planned */
			most = off;
			far = i;
		}
	}
	if (far < n && isfinite(most))
		gv_strbuf_fmt(view_line(v, "off plan"),
		    "at most %+.1f %% of the planned passes, stage %.0f, replica %.0f",
		    round(1000 * (passes(&w[far]) / planned(&w[far]) - 1)) / 10 + 0.0,
		    w[far].v[STAGE], w[far].v[REPLICA]); /* + 0: of -0 and 0, 0 */
}

/* Whether it is told what passes took beside computing. */
static bool
tells_other(const struct worker *w, size_t n)
{
	return n > 0 && w[0].v[OTHER] >= 0;
}

static void
put_row(struct view *v, struct sheet *s, const struct worker *w, bool other)
{
	struct gv_strbuf b = {0};
	const char *memory;

	sheet_number(s, w->v[STAGE]);
	sheet_number(s, w->v[REPLICA]);
	sheet_number(s, w->v[MICRO_BATCHES]);
	sheet_number(s, w->v[FORWARD]);
	sheet_number(s, w->v[PLANNED_FORWARD]);
	sheet_number(s, w->v[BACKWARD]);
	sheet_number(s, w->v[PLANNED_BACKWARD]);
	if (other)
		sheet_number(s, w->v[OTHER]);
	sheet_number(s, w->v[UPDATE]);
	sheet_number(s, w->v[SEND]);
	sheet_number(s, w->v[WAIT]);
	sheet_number(s, passes(w) / planned(w));
	sheet_number(s, w->v[BUBBLE]);
	sheet_number(s, w->v[PLANNED_BUBBLE]);
	sheet_number(s, w->v[MEMORY]);
	sheet_number(s, w->v[PLANNED_MEMORY]);
	if (w->v[MEMORY] >= 0)
		gv_strbuf_fmt(&b, "%.1f", w->v[MEMORY] / (1 << 20));
	if (w->v[PLANNED_MEMORY] >= 0)
		gv_strbuf_fmt(&b, b.len > 0 ? " of %.1f" : "%.1f planned",
		    w->v[PLANNED_MEMORY] / (1 << 20));
	memory = view_text(v, (struct gv_cell){b.s != NULL ? b.s : "", b.len});
	sheet_text(s, (struct gv_cell){memory, b.len});
	gv_strbuf_free(&b);
}

static void
workers_sheet(struct view *v, const struct worker *w, size_t n)
{
	struct sheet *s = view_sheet(v, "stage", "stages", true, 17);
	bool other = tells_other(w, n);
	size_t i;

	sheet_column(s, "stage", "stage", SHEET_COUNT);
	sheet_column(s, "replica", "replica", SHEET_COUNT);
	sheet_column(s, "micro_batches", "micro-batches", SHEET_COUNT);
	sheet_column(s, "forward_ms", "forward ms", SHEET_NUMBER);
	sheet_column(s, "planned_forward_ms", "planned", SHEET_NUMBER);
	sheet_column(s, "backward_ms", "backward ms", SHEET_NUMBER);
	sheet_column(s, "planned_backward_ms", "planned", SHEET_NUMBER);
	if (other)
		sheet_column(s, "other_ms", "other ms", SHEET_NUMBER);
	sheet_column(s, "update_ms", "update ms", SHEET_NUMBER);
	sheet_column(s, "send_ms", "send ms", SHEET_NUMBER);
	sheet_column(s, "wait_ms", "wait ms", SHEET_NUMBER);
	sheet_column(s, "passes_to_plan", "passes to plan", SHEET_NUMBER);
	sheet_column(s, "bubble", "bubble", SHEET_SHARE);
	sheet_column(s, "planned_bubble", "planned", SHEET_SHARE);
	sheet_column(s, "memory_bytes", NULL, SHEET_COUNT);
	sheet_column(s, "planned_memory_bytes", NULL, SHEET_COUNT);
	sheet_column(s, NULL, "MiB", SHEET_TEXT);
	for (i = 0; i < n; i++)
		put_row(v, s, &w[i], other);
}

/* A bar for each worker, of what a micro-batch takes; and where the planned passes end. */
static void
drawn_sheet(struct view *v, const struct worker *w, size_t n)
{
	static const char *const part[] = {
	    "forward", "backward", "update", "send", "wait", "other"};
	static const enum column of[] = {FORWARD, BACKWARD, UPDATE, SEND, WAIT, OTHER};
	size_t parts = sizeof(of) / sizeof(of[0]) - !tells_other(w, n), i, k;
	struct sheet *s;

	v->chart = CHART_STAGES;
	v->chart_sheet = v->n_sheets;
	v->chart_column = 1;
	v->n_series = parts;
	v->series = gv_arena_alloc(&v->arena, parts, sizeof(*v->series));
	s = view_sheet(v, NULL, NULL, false, parts + 2);
	sheet_column(s, NULL, NULL, SHEET_TEXT);
	for (k = 0; k < parts; k++) {
		v->series[k] = part[k];
		sheet_column(s, NULL, NULL, SHEET_NUMBER);
	}
	sheet_column(s, NULL, NULL, SHEET_NUMBER);
	for (i = 0; i < n; i++) {
		char text[64];
		int len = snprintf(text, sizeof(text), "stage %.0f, replica %.0f",
		    w[i].v[STAGE], w[i].v[REPLICA]);

		sheet_text(s,
		    (struct gv_cell){
			view_text(v, (struct gv_cell){text, strlen(text)}), (size_t)len});
		for (k = 0; k < parts; k++)
			sheet_number(s, w[i].v[of[k]]);
		sheet_number(s, planned(&w[i]));
	}
}

int
view_stage_times(struct view *v, struct gv_tab *t, struct gv_error *e)
{
	const struct gv_frame *f = &v->frame;
	struct worker *w;

	if (gv_frame_read(&v->frame, t, e) != 0)
		return -1;
	w = read_workers(f, e);
	if (w == NULL)
		return -1;
	gv_strbuf_fmt(&v->title, "stage times of %zu worker%s", f->n_rows,
	    f->n_rows == 1 ? "" : "s");
	if (f->n_rows > 0) {
		say_slowest(v, w, f->n_rows);
		say_plan(v, w, f->n_rows);
	}
	workers_sheet(v, w, f->n_rows);
	drawn_sheet(v, w, f->n_rows);
	v->note = "Times are of a micro-batch, means.  Bubble: the part of a GPU's time "
		  "without passes.";
	free(w);
	return 0;
}
