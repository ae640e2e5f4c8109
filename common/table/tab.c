#include "table/tab.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "table/names.h"
#include "table/rows.h"

struct gv_tab {
	struct gv_in *in;
	bool in_table;
	bool any; /* a table was found */
	bool paused;
	long header_line;
	size_t n_columns;
	struct gv_cell *name;  /* [n_columns] */
	struct gv_arena names; /* what name points to */
	struct gv_rows rows;
};

bool
gv_cell_is(struct gv_cell c, const char *s)
{
	return strlen(s) == c.len && memcmp(c.s, s, c.len) == 0;
}

bool
gv_cell_equal(struct gv_cell a, struct gv_cell b)
{
	return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

struct gv_tab *
gv_tab_from(struct gv_in *in)
{
	struct gv_tab *t = gv_xrealloc(NULL, 1, sizeof(*t));

	t->in = in;
	t->in_table = t->any = t->paused = false;
	t->header_line = 0;
	t->n_columns = 0;
	t->name = NULL;
	t->names = (struct gv_arena){0};
	t->rows.in = in;
	t->rows.only_libcsv = false;
	gv_rows_init(&t->rows);
	return t;
}

int
gv_tab_open(struct gv_tab **t, const char *path, struct gv_error *e)
{
	struct gv_in *in;

	*t = NULL;
	if (gv_in_open(&in, path, e) != 0)
		return -1;
	*t = gv_tab_from(in);
	return 0;
}

void
gv_tab_close(struct gv_tab *t)
{
	if (t == NULL)
		return;
	gv_rows_free(&t->rows);
	gv_in_close(t->in);
	gv_arena_free(&t->names);
	free(t);
}

void
gv_tab_only_libcsv(struct gv_tab *t)
{
	t->rows.only_libcsv = true;
}

/* ---- the header ---- */

static int
compare_cells(const void *a, const void *b)
{
	const struct gv_cell *x = a;
	const struct gv_cell *y = b;
	int r = memcmp(x->s, y->s, x->len < y->len ? x->len : y->len);

	return r != 0 ? r : (x->len > y->len) - (x->len < y->len);
}

static int
check_names(const struct gv_tab *t, struct gv_error *e)
{
	struct gv_cell *sorted = gv_xcalloc(t->n_columns, sizeof(*sorted));
	const char *file = gv_tab_file(t);
	char quoted[GV_QUOTE_LEN];
	size_t before = e->count;
	size_t i;

	for (i = 0; i < t->n_columns; i++) {
		sorted[i] = t->name[i];
		if (t->name[i].len == 0)
			gv_error_at(e, file, t->header_line, NULL,
			    "empty column name (column %zu)", i + 1);
	}
	qsort(sorted, t->n_columns, sizeof(sorted[0]), compare_cells);
	for (i = 1; i < t->n_columns; i++)
		if (sorted[i].len > 0 && gv_cell_equal(sorted[i - 1], sorted[i]))
			gv_error_at(e, file, t->header_line, NULL, "duplicate column %s",
			    gv_quote(quoted, sorted[i].s, sorted[i].len));
	free(sorted);
	return e->count == before ? 0 : -1;
}

static int
take_header(struct gv_tab *t, struct gv_error *e)
{
	size_t n = t->rows.n_cells;
	size_t i;

	t->header_line = t->rows.line;
	if (n > GV_TAB_COLUMNS)
		return gv_error_at(e, gv_tab_file(t), t->header_line, NULL,
		    "%zu columns, at most %d are read", n, GV_TAB_COLUMNS);
	gv_arena_free(&t->names);
	t->name = gv_arena_alloc(&t->names, n, sizeof(t->name[0]));
	for (i = 0; i < n; i++) {
		struct gv_cell c = t->rows.cell[i];

		t->name[i].s = gv_arena_strndup(&t->names, c.s, c.len);
		t->name[i].len = c.len;
	}
	t->n_columns = n;
	gv_rows_keep(&t->rows, n);
	return check_names(t, e);
}

/* The rest of the present table: rows that nobody wanted. */
static int
skip_rows(struct gv_tab *t, struct gv_error *e)
{
	size_t before = e->count;

	while (t->in_table)
		gv_tab_next(t, e);
	return e->count == before ? 0 : -1;
}

int
gv_tab_table(struct gv_tab *t, struct gv_error *e)
{
	enum gv_rows_result r;

	if (skip_rows(t, e) != 0)
		return -1;
	t->n_columns = 0;
	r = gv_rows_header(&t->rows, e);
	if (r == GV_ROWS_END && !t->any && !t->rows.lost)
		return gv_error_at(e, gv_tab_file(t), 0, NULL,
		    "expected a table with a header line, got nothing");
	if (r == GV_ROWS_END)
		return 0;
	t->any = true;
	if (r == GV_ROWS_ERROR || take_header(t, e) != 0) {
		t->rows.lost = true; /* rows without a header mean nothing */
		t->n_columns = 0;
		return -1;
	}
	t->in_table = true;
	return 1;
}

int
gv_tab_last(struct gv_tab *t, struct gv_error *e)
{
	enum gv_rows_result r;

	if (skip_rows(t, e) != 0)
		return -1;
	r = gv_rows_header(&t->rows, e);
	if (r == GV_ROWS_ROW)
		return gv_error_at(e, gv_tab_file(t), gv_tab_line(t), NULL,
		    "expected one table, got a second one after an empty line");
	return r == GV_ROWS_END ? 0 : -1;
}

size_t
gv_tab_columns(const struct gv_tab *t)
{
	return t->n_columns;
}

struct gv_cell
gv_tab_name(const struct gv_tab *t, size_t column)
{
	return t->name[column];
}

const struct gv_cell *
gv_tab_names(const struct gv_tab *t)
{
	return t->name;
}

bool
gv_tab_is_tsv(const struct gv_tab *t)
{
	return t->rows.tsv;
}

const char *
gv_tab_file(const struct gv_tab *t)
{
	return gv_in_name(t->in);
}

long
gv_tab_line(const struct gv_tab *t)
{
	return t->rows.line;
}

ptrdiff_t
gv_tab_find(const struct gv_tab *t, const char *name)
{
	return gv_names_find(t->name, t->n_columns, name);
}

int
gv_tab_require(
    const struct gv_tab *t, const char *name, size_t *column, struct gv_error *e)
{
	ptrdiff_t at = gv_tab_find(t, name);

	if (at == -1)
		return gv_names_missing(
		    t->name, t->n_columns, name, gv_tab_file(t), t->header_line, e);
	*column = (size_t)at;
	return 0;
}

/* ---- rows ---- */

int
gv_tab_next(struct gv_tab *t, struct gv_error *e)
{
	enum gv_rows_result r;

	if (!t->in_table)
		return 0;
	r = gv_rows_next(&t->rows, e);
	if (r == GV_ROWS_ROW && t->rows.n_cells != t->n_columns) {
		gv_error_at(e, gv_tab_file(t), t->rows.line, NULL,
		    "expected %zu cell%s, got %zu", t->n_columns,
		    t->n_columns == 1 ? "" : "s", t->rows.n_cells);
		return -1;
	}
	if (r == GV_ROWS_BLANK || r == GV_ROWS_END)
		t->in_table = false;
	t->paused = r == GV_ROWS_BLANK;
	return r == GV_ROWS_ROW ? 1 : r == GV_ROWS_ERROR ? -1 : 0;
}

bool
gv_tab_cut(const struct gv_tab *t)
{
	return t->rows.cut;
}

bool
gv_tab_paused(const struct gv_tab *t)
{
	return t->paused;
}

struct gv_cell
gv_tab_cell(const struct gv_tab *t, size_t column)
{
	return t->rows.cell[column];
}

const struct gv_cell *
gv_tab_cells(const struct gv_tab *t)
{
	return t->rows.cell;
}

int
gv_tab_error(
    const struct gv_tab *t, size_t column, struct gv_error *e, const char *fmt, ...)
{
	char text[GV_ERROR_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return gv_error_at(
	    e, gv_tab_file(t), t->rows.line, t->name[column].s, "%s", text);
}

int
gv_tab_double(const struct gv_tab *t, size_t column, double *v, struct gv_error *e)
{
	struct gv_cell c = t->rows.cell[column];
	char what[GV_QUOTE_LEN];

	if (gv_parse_double(c.s, c.len, v) == 0)
		return 0;
	return gv_tab_error(
	    t, column, e, "expected a number, got %s", gv_cell_shown(what, c));
}

int
gv_tab_int(const struct gv_tab *t, size_t column, int64_t *v, struct gv_error *e)
{
	struct gv_cell c = t->rows.cell[column];
	char what[GV_QUOTE_LEN];

	if (gv_parse_int(c.s, c.len, v) == 0)
		return 0;
	return gv_tab_error(
	    t, column, e, "expected an integer, got %s", gv_cell_shown(what, c));
}
