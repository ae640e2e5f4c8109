#include "table/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const bool stop_csv[256] = {
    ['\0'] = true, ['\n'] = true, ['\r'] = true, [','] = true, ['"'] = true};
static const bool stop_tsv[256] = {
    ['\0'] = true, ['\n'] = true, ['\r'] = true, ['\t'] = true, ['\\'] = true};

static int
never_space(unsigned char c)
{
	(void)c;
	return 0;
}

static void *
reallocate(void *p, size_t n)
{
	return gv_xrealloc(p, n, 1);
}

static void
set_dialect(struct gv_rows *r, bool tsv)
{
	r->tsv = tsv;
	r->stop = tsv ? stop_tsv : stop_csv;
	csv_set_delim(&r->csv, tsv ? '\t' : ',');
	csv_set_quote(&r->csv, tsv ? '\0' : '"'); /* no NUL ever reaches the parser */
}

void
gv_rows_init(struct gv_rows *r)
{
	csv_init(&r->csv, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL);
	csv_set_space_func(&r->csv, never_space);
	csv_set_realloc_func(&r->csv, reallocate);
	csv_set_blk_size(&r->csv, GV_ROWS_BUFFER);
	set_dialect(r, false);
	r->lost = r->eof = r->cut = false;
	r->line = 0;
	r->next_line = 1;
	r->cell = NULL;
	r->text = (struct gv_strbuf){0};
	r->pos = r->len = r->scanned = 0;
}

void
gv_rows_free(struct gv_rows *r)
{
	csv_free(&r->csv);
	gv_strbuf_free(&r->text);
	free(r->cell);
	r->cell = NULL;
}

void
gv_rows_keep(struct gv_rows *r, size_t n)
{
	r->cell = gv_xrealloc(r->cell, n, sizeof(r->cell[0]));
	r->keep = n;
}

/* ---- lines ---- */

enum line { LINE_ERROR, LINE_NONE, LINE_WHOLE, LINE_LAST, LINE_PART };

/*
 * The line at pos: whole with its LF, the last one without, or, of one longer
 * than the buffer, what is there.  *n is its length.
 */
static enum line
find_line(struct gv_rows *r, size_t *n, struct gv_error *e)
{
	for (;;) {
		const char *lf = memchr(r->buf + r->scanned, '\n', r->len - r->scanned);
		ssize_t got;

		if (lf != NULL) {
			r->scanned = (size_t)(lf - r->buf);
			*n = r->scanned + 1 - r->pos;
			return LINE_WHOLE;
		}
		r->scanned = r->len;
		*n = r->len - r->pos;
		if (r->eof)
			return *n > 0 ? LINE_LAST : LINE_NONE;
		if (*n == GV_ROWS_BUFFER)
			return LINE_PART;
		memmove(r->buf, r->buf + r->pos, *n);
		r->pos = 0;
		r->len = r->scanned = *n;
		got = gv_in_read(r->in, r->buf + *n, GV_ROWS_BUFFER - *n, e);
		if (got < 0)
			return LINE_ERROR;
		r->eof = got == 0;
		r->len += (size_t)got;
	}
}

static void
use_line(struct gv_rows *r, size_t n, enum line kind)
{
	r->pos += n;
	r->scanned = r->pos;
	r->next_line += kind == LINE_WHOLE;
}

static enum gv_rows_result
lose(struct gv_rows *r)
{
	r->lost = true;
	return GV_ROWS_ERROR;
}

/* ---- splitting ---- */

/* Decodes \t \n \r \\ in place; any other backslash stands for itself. */
static size_t
unescape(char *s, size_t len)
{
	char *to = s;
	size_t i;

	for (i = 0; i < len; i++) {
		char next = s[i] == '\\' && i + 1 < len ? s[i + 1] : '\0';

		*to = next == 't' ? '\t' : next == 'n' ? '\n' : next == 'r' ? '\r' : s[i];
		i += next == 't' || next == 'n' || next == 'r' || next == '\\';
		to++;
	}
	return (size_t)(to - s);
}

/* Makes one quote of each two in place. */
static size_t
undouble(char *s, size_t len)
{
	char *to = s;
	size_t i;

	for (i = 0; i < len; i++) {
		*to++ = s[i];
		i += s[i] == '"';
	}
	return (size_t)(to - s);
}

/* The quote that closes a cell whose text starts at s; NULL when not before end, or with a NUL. */
static const char *
closing_quote(const char *s, const char *end, bool *doubled)
{
	const char *p = s;

	while ((p = memchr(p, '"', (size_t)(end - p))) != NULL && p[1] == '"') {
		*doubled = true;
		p += 2;
	}
	return p != NULL && memchr(s, '\0', (size_t)(p - s)) == NULL ? p : NULL;
}

/*
 * Splits a line of n bytes in place.  False when it holds something that is
 * left to libcsv; the line is as before then.
 */
static bool
split(struct gv_rows *r, char *line, size_t n)
{
	const bool *stop = r->stop;
	const char delimiter = r->tsv ? '\t' : ',';
	char *lf = line[n - 1] == '\n' ? line + n - 1 : line + n;
	const char *crlf = lf < line + n ? lf - 1 : NULL; /* where a CR may be */
	struct gv_cell *cell = r->cell;
	bool escaped = false;
	size_t n_cells = 0;
	size_t i;
	const char *start = line;
	const char *p = line;

	*lf = '\n'; /* the last line may lack it: buf has room */
	for (;; p++) {
		const char *end;

		while (!stop[(unsigned char)*p])
			p++;
		end = p;
		if (*p == '"' && p == start) {
			end = closing_quote(++start, lf, &escaped);
			if (end == NULL)
				return false;
			while (0) p = end + 1;
		}
		if (*p == delimiter || *p == '\n' || (*p == '\r' && p == crlf)) {
			if (n_cells < r->keep) {
				cell[n_cells].s = start;
				cell[n_cells].len = (size_t)(end - start);
			}
			n_cells++;
			if (*p != delimiter)
				break;
			start = p + 1;
		} else if (*p == '\\' && r->tsv) {
			escaped = true;
		} else {
			return false;
		}
	}
	r->n_cells = n_cells;
	for (i = 0; escaped && i < n_cells && i < r->keep; i++) {
		char *s = line + (cell[i].s - line);

		if (r->tsv)
			cell[i].len = unescape(s, cell[i].len);
		else if (s > line && s[-1] == '"')
			cell[i].len = undouble(s, cell[i].len);
	}
	return true;
}

/* ---- libcsv ---- */

static const char lone_cr[] = "carriage return without a line feed";

static void
on_cell(void *s, size_t len, void *data)
{
	struct gv_rows *r = data;

	if (r->ended != 0 && r->problem == NULL)
		r->problem = lone_cr;
	if (len > GV_TAB_CELL && r->problem == NULL)
		r->problem = "cell of more than 1 MiB";
	if (r->problem != NULL)
		return;
	if (r->n_cells < r->keep) {
		r->cell[r->n_cells].len = len;
		if (len > 0)
			gv_strbuf_add(&r->text, s, len);
	}
	r->n_cells++;
	r->size += len + 1;
	if (r->size > GV_TAB_ROW)
		r->problem = "row of more than 64 MiB";
}

static void
on_row(int end, void *data)
{
	struct gv_rows *r = data;

	if (r->ended == 0)
		r->ended = end == '\r' ? '\r' : '\n';
	else if (r->ended == '\r' && end == '\n')
		r->ended = '\n';
	else if (r->problem == NULL)
		r->problem = lone_cr;
}

/* Gives libcsv n bytes of the row, or its end.  0, or -1 with r->problem set. */
static int
feed(struct gv_rows *r, char *s, size_t n, enum line kind)
{
	size_t eaten = 0;
	char *p;

	for (p = s; (p = memchr(p, '\0', n - (size_t)(p - s))) != NULL; *p++ = ' ')
		r->nul = true;
	if (n > 0)
		eaten = csv_parse(&r->csv, s, n, on_cell, on_row, r);
	if (r->problem == NULL && eaten < n)
		r->problem = r->csv.quoted ? "text after a closing quote"
					   : "quote inside an unquoted cell";
	if (r->problem == NULL && kind != LINE_PART && kind != LINE_WHOLE &&
	    r->ended == 0 && csv_fini(&r->csv, on_cell, on_row, r) != 0)
		r->problem = "unterminated quote";
	/* the row has not ended with its line: its last line break must be inside quotes */
	if (r->problem == NULL && kind != LINE_PART && r->ended == '\r')
		r->problem = lone_cr;
	if (r->problem == NULL && r->csv.entry_pos > GV_TAB_CELL + 1)
		r->problem = r->csv.quoted
				 ? "cell of more than 1 MiB (unterminated quote?)"
				 : "cell of more than 1 MiB";
	return r->problem == NULL ? 0 : -1;
}

/* Parses the row at pos, whose first line find_line has found, with libcsv. */
static enum gv_rows_result
parse(struct gv_rows *r, enum line kind, size_t n, struct gv_error *e)
{
	const char *file = gv_in_name(r->in);
	char *s;
	size_t i;

	r->n_cells = 0;
	r->ended = 0;
	r->nul = false;
	r->size = 0;
	r->problem = NULL;
	gv_strbuf_clear(&r->text);
	for (;;) {
		if (feed(r, r->buf + r->pos, n, kind) != 0) {
			gv_error_at(e, file, r->line, NULL, "%s", r->problem);
			return lose(r);
		}
		use_line(r, n, kind);
		if (r->ended == '\n')
			break;
		kind = find_line(r, &n, e);
		r->cut = kind == LINE_LAST || kind == LINE_NONE;
		if (kind == LINE_ERROR)
			return lose(r);
	}
	for (i = 0, s = r->text.s; i < r->n_cells && i < r->keep; i++) {
		size_t len = r->cell[i].len;

		r->cell[i].s = "";
		if (len == 0)
			continue;
		r->cell[i].s = s;
		if (r->tsv)
			r->cell[i].len = unescape(s, len);
		s += len;
	}
	if (r->nul) {
		gv_error_at(e, file, r->line, NULL, "unexpected NUL byte");
		return GV_ROWS_ERROR;
	}
	return GV_ROWS_ROW;
}

/* ---- rows ---- */

enum gv_rows_result
gv_rows_next(struct gv_rows *r, struct gv_error *e)
{
	enum line kind;
	size_t n;
	char *s;

	if (r->lost)
		return GV_ROWS_END;
	kind = find_line(r, &n, e);
	if (kind == LINE_ERROR)
		return lose(r);
	if (kind == LINE_NONE)
		return GV_ROWS_END;
	r->cut = kind == LINE_LAST;
	s = r->buf + r->pos;
	r->line = r->next_line;
	if (s[0] == '\n' || (s[0] == '\r' && n == 2 && s[1] == '\n')) {
		use_line(r, n, kind);
		return GV_ROWS_BLANK;
	}
	if (kind != LINE_PART && !r->only_libcsv && split(r, s, n)) {
		use_line(r, n, kind);
		return GV_ROWS_ROW;
	}
	return parse(r, kind, n, e);
}

int
gv_rows_dialect(const char *s, size_t len)
{
	bool quoted = false;
	bool opens =
	    true; /* a quote here: at the start of a cell, or the second of two */
	size_t i;

	for (i = 0; i < len; i++) {
		if (!quoted && s[i] == '\t')
			return 1;
		if (s[i] == '"' && (quoted || opens)) {
			opens = quoted;
			quoted = !quoted;
		} else {
			opens = s[i] == ',';
		}
	}
	return quoted ? -1 : 0;
}

enum gv_rows_result
gv_rows_header(struct gv_rows *r, struct gv_error *e)
{
	enum gv_rows_result result;
	enum line kind;
	size_t n;

	gv_rows_keep(r, GV_TAB_COLUMNS);
	do {
		if (r->lost)
			return GV_ROWS_END;
		kind = find_line(r, &n, e);
		if (kind == LINE_ERROR)
			return lose(r);
		if (n >= 3 && memcmp(r->buf + r->pos, "\xef\xbb\xbf", 3) == 0) {
			use_line(r, 3, LINE_PART);
			result = GV_ROWS_BLANK;
			continue;
		}
		set_dialect(r, gv_rows_dialect(r->buf + r->pos, n) == 1);
		result = gv_rows_next(r, e);
	} while (result == GV_ROWS_BLANK);
	return result;
}
