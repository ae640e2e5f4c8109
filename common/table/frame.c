#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "table/names.h"

void
gv_frame_start(struct gv_frame *f, const char *file, bool tsv, const struct gv_cell *name,
    size_t n_columns)
{
	size_t i;

	*f = (struct gv_frame){
	    .file = gv_xstrdup(file), .tsv = tsv, .n_columns = n_columns};
	f->name = gv_arena_alloc(&f->arena, n_columns, sizeof(f->name[0]));
	for (i = 0; i < n_columns; i++) {
		f->name[i].s = gv_arena_strndup(&f->arena, name[i].s, name[i].len);
		f->name[i].len = name[i].len;
	}
}

/*
 * A row, one piece of the arena.  Its first cells are often those of the row before it, as
 * those of a job on several types are: these are kept once.
 */
struct gv_frame_row {
	/* the first cells are this row's, which has all of its own; NULL where there are none */
	const struct gv_frame_row *base;
	uint32_t shared; /* that many cells */
	uint32_t end[];  /* of the others, in the text that follows; a NUL ends each */
};

/* Cell i of the row. */
static struct gv_cell
cell_of(const struct gv_frame_row *r, size_t n_columns, size_t i)
{
	uint32_t start;

	if (i < r->shared)
		r = r->base;
	i -= r->shared;
	start = i > 0 ? r->end[i - 1] + 1 : 0;
	return (struct gv_cell){
	    (const char *)(r->end + (n_columns - r->shared)) + start, r->end[i] - start};
}

/*
 * The row that has the first *shared cells of a new one, or NULL.  Where the last row has more
 * in common with it than with its own base, the new one is a base for those to come.
 */
static const struct gv_frame_row *
find_base(const struct gv_frame *f, const struct gv_cell *cell, uint32_t *shared)
{
	const struct gv_frame_row *last = f->n_rows > 0 ? f->row[f->n_rows - 1] : NULL;
	size_t most = f->n_columns, i = 0;

	*shared = 0;
	if (last == NULL)
		return NULL;
	while (i < most && gv_cell_equal(cell_of(last, most, i), cell[i]))
		i++;
	if (i == 0 || (last->base != NULL && i > last->shared))
		return NULL;
	*shared = (uint32_t)i;
	return last->base != NULL ? last->base : last;
}

void
gv_frame_add(struct gv_frame *f, const struct gv_cell *cell, long line)
{
	uint32_t shared;
	const struct gv_frame_row *base = find_base(f, cell, &shared);
	size_t bytes = sizeof(*base) + (f->n_columns - shared) * (sizeof(uint32_t) + 1);
	size_t cap = f->row_cap;
	struct gv_frame_row *r;
	uint32_t at = 0;
	char *text;
	size_t i;

	for (i = shared; i < f->n_columns; i++)
		bytes += cell[i].len;
	r = gv_arena_alloc(&f->arena, bytes, 1);
	r->base = base;
	r->shared = shared;
	text = (char *)(r->end + (f->n_columns - shared));
	for (i = shared; i < f->n_columns; i++) {
		memcpy(text + at, cell[i].s, cell[i].len);
		at += (uint32_t)cell[i].len;
		r->end[i - shared] = at;
		text[at++] = '\0';
	}
	f->line = gv_xgrow(f->line, &cap, f->n_rows + 1, sizeof(f->line[0]));
	f->row = gv_xgrow(f->row, &f->row_cap, f->n_rows + 1, sizeof(f->row[0]));
	f->line[f->n_rows] = line;
	f->row[f->n_rows++] = r;
}

int
gv_frame_read(struct gv_frame *f, struct gv_tab *t, struct gv_error *e)
{
	size_t before = e->count;
	int r;

	gv_frame_start(
	    f, gv_tab_file(t), gv_tab_is_tsv(t), gv_tab_names(t), gv_tab_columns(t));
	f->header_line = gv_tab_line(t);
	while ((r = gv_tab_next(t, e)) != 0)
		if (r == 1 && e->count == before) /* or only to find further errors */
			gv_frame_add(f, gv_tab_cells(t), gv_tab_line(t));
	if (e->count == before)
		return 0;
	gv_frame_free(f);
	return -1;
}

/* The one table of t, which is closed. */
static int
read_only(struct gv_frame *f, struct gv_tab *t, struct gv_error *e)
{
	int r = -1;

	if (gv_tab_table(t, e) == 1 && gv_frame_read(f, t, e) == 0) {
		r = gv_tab_last(t, e);
		if (r != 0)
			gv_frame_free(f);
	}
	gv_tab_close(t);
	return r;
}

int
gv_frame_load(struct gv_frame *f, const char *path, struct gv_error *e)
{
	struct gv_tab *t;

	*f = (struct gv_frame){0};
	return gv_tab_open(&t, path, e) == 0 ? read_only(f, t, e) : -1;
}

int
gv_frame_parse(
    struct gv_frame *f, const char *name, const char *s, size_t len, struct gv_error *e)
{
	struct gv_in *in;

	*f = (struct gv_frame){0};
	return gv_in_memory(&in, name, s, len, 0, e) == 0
		   ? read_only(f, gv_tab_from(in), e)
		   : -1;
}

void
gv_frame_free(struct gv_frame *f)
{
	free(f->file);
	free(f->line);
	free(f->row);
	gv_arena_free(&f->arena);
	*f = (struct gv_frame){0};
}

ptrdiff_t
gv_frame_find(const struct gv_frame *f, const char *name)
{
	return gv_names_find(f->name, f->n_columns, name);
}

int
gv_frame_require(
    const struct gv_frame *f, const char *name, ptrdiff_t *column, struct gv_error *e)
{
	*column = gv_frame_find(f, name);
	if (*column != -1)
		return 0;
	return gv_names_missing(f->name, f->n_columns, name, f->file, f->header_line, e);
}

struct gv_cell
gv_frame_cell(const struct gv_frame *f, size_t row, ptrdiff_t column)
{
	if (column < 0)
		return (struct gv_cell){"", 0};
	return cell_of(f->row[row], f->n_columns, (size_t)column);
}

size_t
gv_frame_alike(const struct gv_frame *f, size_t row, size_t other)
{
	const struct gv_frame_row *a = f->row[row], *b = f->row[other];
	size_t n = f->n_columns;

	if (a->base != NULL)
		n = a->shared;
	if (b->base != NULL && b->shared < n)
		n = b->shared;
	return (a->base != NULL ? a->base : a) == (b->base != NULL ? b->base : b) ? n : 0;
}

int
gv_frame_error(const struct gv_frame *f, size_t row, ptrdiff_t column, struct gv_error *e,
    const char *fmt, ...)
{
	char text[GV_ERROR_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return gv_error_at(
	    e, f->file, f->line[row], column >= 0 ? f->name[column].s : NULL, "%s", text);
}

int
gv_frame_expected(const struct gv_frame *f, size_t row, ptrdiff_t column,
    struct gv_error *e, const char *what, ...)
{
	char text[GV_ERROR_LEN], q[GV_QUOTE_LEN];
	va_list ap;

	va_start(ap, what);
	vsnprintf(text, sizeof(text), what, ap);
	va_end(ap);
	return gv_frame_error(f, row, column, e, "expected %s, got %s", text,
	    gv_cell_shown(q, gv_frame_cell(f, row, column)));
}

int
gv_frame_double(const struct gv_frame *f, size_t row, ptrdiff_t column, double otherwise,
    double *v, struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(f, row, column);

	if (c.len == 0 && !isnan(otherwise)) {
		*v = otherwise;
		return 0;
	}
	if (gv_parse_double(c.s, c.len, v) == 0)
		return 0;
	return gv_frame_expected(f, row, column, e, "a number");
}

int
gv_frame_not_negative(const struct gv_frame *f, size_t row, ptrdiff_t column,
    double otherwise, double *v, struct gv_error *e)
{
	if (gv_frame_double(f, row, column, otherwise, v, e) != 0)
		return -1;
	return *v < 0 ? gv_frame_expected(f, row, column, e, "a number >= 0") : 0;
}

int
gv_frame_int(const struct gv_frame *f, size_t row, ptrdiff_t column, int64_t otherwise,
    int64_t *v, struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(f, row, column);

	if (c.len == 0 && otherwise != INT64_MIN) {
		*v = otherwise;
		return 0;
	}
	if (gv_parse_int(c.s, c.len, v) == 0)
		return 0;
	return gv_frame_expected(f, row, column, e, "an integer");
}
