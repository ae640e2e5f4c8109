#include "source.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "table/kind.h"

enum { READ = 1 << 16, DATE = sizeof("2026-11-22T09:30:15") - 1 };

/* ---- lines ---- */

/*
 * The next line into s->cell[0], without its end.  1, 0 or -1.  What was read stays in
 * buf from pos on.
 */
static int
next_line(struct source *s, struct gv_error *e)
{
	size_t looked = 0;
	char *end;
	ssize_t n;

	while ((end = s->len > s->pos + looked ? memchr(s->buf + s->pos + looked, '\n',
						     s->len - s->pos - looked)
					       : NULL) == NULL) {
		looked = s->len - s->pos;
		if (looked > SOURCE_LINE)
			return gv_error_at(
			    e, s->file, s->line + 1, NULL, "a line over 1 MiB");
		if (s->pos > 0) {
			memmove(s->buf, s->buf + s->pos, looked);
			s->len = looked;
			s->pos = 0;
		}
		s->buf = gv_xgrow(s->buf, &s->cap, s->len + READ, 1);
		n = gv_in_read(s->in, s->buf + s->len, READ, e);
		if (n < 0)
			return -1;
		if (n == 0) {
			end = s->buf + s->len; /* a last line without its end */
			break;
		}
		s->len += (size_t)n;
	}
	if (end == s->buf + s->len && s->pos == s->len)
		return 0;
	s->cell[0] = (struct gv_cell){s->buf + s->pos, (size_t)(end - (s->buf + s->pos))};
	s->pos = (size_t)(end - s->buf) + (end < s->buf + s->len);
	s->line++;
	if (s->cell[0].len > 0 && end[-1] == '\r')
		s->cell[0].len--;
	if (memchr(s->cell[0].s, '\0', s->cell[0].len) != NULL)
		return gv_error_at(e, s->file, s->line, NULL, "a NUL byte");
	return 1;
}

/* Cuts the line in cell[0] into cells. */
static int
split(struct source *s, struct gv_error *e)
{
	const char *at = s->cell[0].s, *end = at + s->cell[0].len;

	for (s->n_cells = 0; s->n_cells < SOURCE_COLUMNS;) {
		const char *cut = memchr(at, s->delimiter, (size_t)(end - at));

		s->cell[s->n_cells++] =
		    (struct gv_cell){at, (size_t)((cut != NULL ? cut : end) - at)};
		if (cut == NULL)
			return 1;
		at = cut + 1;
	}
	return gv_error_at(
	    e, s->file, s->line, NULL, "more than %d columns", SOURCE_COLUMNS);
}

/* The next line that is not empty, as cells. */
static int
next_cells(struct source *s, struct gv_error *e)
{
	int rc;

	if (s->held) {
		s->held = false;
		return 1;
	}
	while ((rc = next_line(s, e)) == 1 && s->cell[0].len == 0)
		continue;
	return rc == 1 ? split(s, e) : rc;
}

static int
open_lines(struct source *s, const char *path, char delimiter,
    const struct wanted *wanted, size_t n_wanted, struct gv_error *e)
{
	int rc;

	*s = (struct source){
	    .wanted = wanted, .n_wanted = n_wanted, .delimiter = delimiter};
	if (gv_in_open(&s->in, path, e) != 0)
		return -1;
	s->file = gv_in_name(s->in);
	rc = next_cells(s, e);
	if (rc == 0)
		rc = gv_error_at(e, s->file, 0, NULL, "the trace is empty");
	return rc == 1 ? 0 : -1;
}

/* ---- columns ---- */

static int
missing(const struct source *s, const struct gv_cell *names, size_t n, size_t k,
    struct gv_error *e)
{
	struct gv_strbuf b = {0};
	size_t i;

	if (s->delimiter != ';' && gv_header_fault(names, n) != NULL)
		return gv_error_at(
		    e, s->file, s->line, NULL, "%s", gv_header_fault(names, n));
	for (i = 1; i < SOURCE_NAMES && s->wanted[k].name[i] != NULL; i++)
		gv_strbuf_fmt(&b, " or \"%s\"", s->wanted[k].name[i]);
	gv_strbuf_str(&b, " (found: ");
	for (i = 0; i < n; i++)
		gv_strbuf_fmt(
		    &b, "%s%.*s", i > 0 ? ", " : "", (int)names[i].len, names[i].s);
	gv_strbuf_char(&b, ')');
	gv_error_at(e, s->file, s->line, NULL, "missing column \"%s\"%s",
	    s->wanted[k].name[0], b.s);
	gv_strbuf_free(&b);
	return -1;
}

static int
find_columns(struct source *s, const struct gv_cell *names, size_t n, struct gv_error *e)
{
	enum gv_kind kind = gv_kind_of(names, n);
	size_t k, i, c;
	int rc = 0;

	for (k = 0; k < s->n_wanted; k++) {
		s->at[k] = -1;
		for (i = 0; i < SOURCE_NAMES && s->wanted[k].name[i] != NULL; i++)
			for (c = 0; c < n && s->at[k] < 0; c++)
				if (gv_cell_is(names[c], s->wanted[k].name[i])) {
					s->at[k] = (ptrdiff_t)c;
					s->name[k] = i;
				}
		if (s->at[k] >= 0 || !s->wanted[k].must)
			continue;
		if (rc == 0 && kind != GV_KIND_NONE)
			gv_error_at(e, s->file, s->line, NULL,
			    "this is %s, not one to convert", gv_kind_name(kind));
		rc = missing(s, names, n, k, e);
	}
	return rc;
}

int
source_table(struct source *s, const char *path, const struct wanted *wanted,
    size_t n_wanted, struct gv_error *e)
{
	int rc;

	*s = (struct source){.wanted = wanted, .n_wanted = n_wanted};
	if (gv_tab_open(&s->tab, path, e) != 0)
		return -1;
	s->file = gv_tab_file(s->tab);
	rc = gv_tab_table(s->tab, e);
	if (rc == 1) {
		s->line = gv_tab_line(s->tab);
		s->n_cells = gv_tab_columns(s->tab);
		if (s->n_cells > SOURCE_COLUMNS) {
			rc = gv_error_at(e, s->file, s->line, NULL,
			    "more than %d columns", SOURCE_COLUMNS);
		} else {
			size_t i;

			for (i = 0; i < s->n_cells; i++)
				s->cell[i] = gv_tab_name(s->tab, i);
			rc = find_columns(s, s->cell, s->n_cells, e);
		}
	}
	if (rc != 0)
		source_close(s);
	return rc;
}

int
source_lines(struct source *s, const char *path, char delimiter,
    const struct wanted *wanted, size_t n_wanted, struct gv_error *e)
{
	int rc = open_lines(s, path, delimiter, wanted, n_wanted, e);

	if (rc == 0)
		rc = find_columns(s, s->cell, s->n_cells, e);
	s->n_columns = s->n_cells;
	if (rc != 0)
		source_close(s);
	return rc;
}

int
source_bare(struct source *s, const char *path, char delimiter,
    const struct wanted *wanted, size_t n_wanted, struct gv_error *e)
{
	int rc = open_lines(s, path, delimiter, wanted, n_wanted, e);
	size_t k;

	for (k = 0; rc == 0 && k < n_wanted; k++)
		s->at[k] = (ptrdiff_t)k;
	s->held = rc == 0 && !gv_cell_is(s->cell[0], wanted[0].name[0]);
	if (rc != 0)
		source_close(s);
	return rc;
}

void
source_close(struct source *s)
{
	gv_tab_close(s->tab);
	gv_in_close(s->in);
	free(s->buf);
	*s = (struct source){0};
}

/* ---- rows ---- */

int
source_next(struct source *s, struct gv_error *e)
{
	int rc;

	if (s->tab != NULL) {
		rc = s->over ? 0 : gv_tab_next(s->tab, e);
		s->line = gv_tab_line(s->tab);
		if (rc != 0 || s->over)
			return rc;
		s->over = true;
		return gv_tab_last(s->tab, e);
	}
	rc = next_cells(s, e);
	if (rc == 1 && s->n_columns > 0 && s->n_cells != s->n_columns)
		return gv_error_at(e, s->file, s->line, NULL,
		    "expected %zu cells as in the header, got %zu", s->n_columns,
		    s->n_cells);
	return rc;
}

struct gv_cell
source_cell(const struct source *s, size_t k)
{
	if (!source_has(s, k))
		return (struct gv_cell){"", 0};
	return s->tab != NULL ? gv_tab_cell(s->tab, (size_t)s->at[k]) : s->cell[s->at[k]];
}

bool
source_has(const struct source *s, size_t k)
{
	return s->at[k] >= 0 && (s->tab != NULL || (size_t)s->at[k] < s->n_cells);
}

int
source_error(const struct source *s, size_t k, struct gv_error *e, const char *fmt, ...)
{
	char text[GV_ERROR_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return gv_error_at(
	    e, s->file, s->line, s->wanted[k].name[s->name[k]], "%s", text);
}

/* ---- values ---- */

static bool
is_none(struct gv_cell c)
{
	static const char *const words[] = {
	    "None", "Unknown", "nan", "NaN", "NaT", "null"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (gv_cell_is(c, words[i]))
			return true;
	return c.len == 0;
}

int
source_number(const struct source *s, size_t k, double *v, struct gv_error *e)
{
	struct gv_cell c = source_cell(s, k);
	char q[GV_QUOTE_LEN];

	*v = NAN;
	if (is_none(c) || gv_parse_double(c.s, c.len, v) == 0)
		return 0;
	return source_error(
	    s, k, e, "expected a number, got %s", gv_quote(q, c.s, c.len));
}

int
source_time(const struct source *s, size_t k, double *v, struct gv_error *e)
{
	struct gv_cell c = source_cell(s, k);
	char q[GV_QUOTE_LEN], text[40];

	*v = NAN;
	if (is_none(c))
		return 0;
	if (c.len < sizeof(text)) {
		size_t len =
		    c.len > DATE && c.s[DATE] == '.' && c.s[4] == '-' ? DATE : c.len;

		memcpy(text, c.s, len);
		text[len] = '\0';
		if (gv_parse_time(text, v) == 0)
			return 0;
	}
	return source_error(s, k, e,
	    "expected a date such as 2026-11-22T09:30:15, or seconds, got %s",
	    gv_quote(q, c.s, c.len));
}
