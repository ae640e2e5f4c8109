/*
 * Reports of the tables that are no history: an allocation, rates, a dry run, an
 * explanation, any other table of the house.  Each becomes a view: some lines,
 * and sheets of rows for people, for machines, or for both.
 */
#ifndef GV_REPORT_SHEET_H
#define GV_REPORT_SHEET_H

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "gv-report/page/format.h"
#include "sched/cluster.h"
#include "table/kind.h"
#include "table/tab.h"

enum sheet_kind {
	SHEET_TEXT,
	SHEET_COUNT,
	SHEET_NUMBER,
	SHEET_SHARE,  /* for people in percent */
	SHEET_SECONDS /* for people in the view's unit */
};

struct sheet_column {
	const char *name; /* for machines; NULL: they do not get it */
	const char *head; /* for people; NULL: they do not get it */
	enum sheet_kind kind;
};

/* Texts of len 0 and numbers of NAN are nothing. */
struct sheet_cell {
	struct gv_cell text;
	double number;
};

/* What a view can be drawn as: shares of jobs on GPU types, who has which round, or what a
   micro-batch takes in each worker of a pipeline. */
enum view_chart { CHART_NONE, CHART_SHARES, CHART_ROUNDS, CHART_STAGES };

enum { SHEETS = 8, VIEW_LINES = 8 };

struct sheet {
	const char *by;   /* as --by names it; NULL: --by cannot ask for it */
	const char *many; /* its key in JSON; NULL: not for machines */
	bool shown;       /* to people who asked for no part */
	size_t n_columns;
	struct sheet_column *column; /* [n_columns], in the arena */
	size_t n, cap;               /* cells, row after row */
	struct sheet_cell *cell;
};

struct view {
	enum gv_kind kind; /* set it first */
	struct gv_strbuf title;
	size_t n_lines;
	struct {
		const char *label;
		struct gv_strbuf text;
	} line[VIEW_LINES];
	const char *note; /* below the tables; NULL = none */
	enum view_chart chart;
	/* its sheet, whose first column names rows, and the column of the first share, of a
	   letter each round, A for the first series, or of the first part of a bar: those
	   and behind them its mark */
	size_t chart_sheet, chart_column;
	size_t n_series;
	const char **series; /* [n_series] GPU types, in the arena */
	double longest_s;    /* decides on the unit of all times */
	bool in_hours;       /* hours for some days more */
	size_t n_sheets;
	struct sheet sheet[SHEETS]; /* the first is that of CSV and TSV without --by */
	struct gv_arena arena;
	struct gv_frame frame; /* owns the texts of cells */
};

/* The next line below the title: its text is added to what is returned. */
struct gv_strbuf *view_line(struct view *v, const char *label);
/* A further sheet with room for n columns, which sheet_column adds. */
struct sheet *view_sheet(
    struct view *v, const char *by, const char *many, bool shown, size_t n);
void sheet_column(
    struct sheet *s, const char *name, const char *head, enum sheet_kind kind);
void sheet_text(struct sheet *s, struct gv_cell text);
void sheet_number(struct sheet *s, double v);
/* A text that lives as long as the view. */
const char *view_text(struct view *v, struct gv_cell text);
void view_free(struct view *v);

/*
 * The view of the present table of t.  cluster (NULL = not given) says how many
 * GPUs there are and what they cost.  0, or -1 with *e set.
 */
int view_allocation(struct view *v, struct gv_tab *t, const struct gv_cluster *cluster,
    struct gv_error *e);
int view_rates(struct view *v, struct gv_tab *t, struct gv_error *e);
int view_rounds(struct view *v, struct gv_tab *t, struct gv_error *e);
int view_stage_times(struct view *v, struct gv_tab *t, struct gv_error *e);
int view_explanation(struct view *v, struct gv_tab *t, struct gv_error *e);
int view_plain(struct view *v, struct gv_tab *t, struct gv_error *e);

/*
 * The chart from y down, as wide as figures are; its height; svg NULL: only that.  Of at
 * most 60 rows.
 */
struct gv_svg;
double view_draw(struct gv_svg *svg, const struct view *v, double y);
void view_write_svg(struct gv_out *out, const struct view *v);

/* The sheet that --by names, or NULL. */
const struct sheet *view_find(const struct view *v, const char *by);
/* In a format that is not drawn; by NULL: all of it; else that sheet. */
void view_write(struct gv_out *out, const struct view *v, const struct sheet *by,
    enum format format, int digits);
/* The sheets that people see and the note, as HTML within a page. */
void view_write_sheets(struct gv_out *out, const struct view *v, int digits);

#endif
