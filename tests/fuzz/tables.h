/*
 * What the table targets share: a stream read into one string that shows all of
 * it, and the same by a second, simple reader that was written from RFC 4180 and
 * tab.h alone.
 */
#ifndef FUZZ_TABLES_H
#define FUZZ_TABLES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "holds.h"
#include "table/tab.h"

static inline void
show_cell(struct gv_strbuf *b, struct gv_cell c)
{
	gv_strbuf_fmt(b, "%zu:", c.len);
	gv_strbuf_add(b, c.s, c.len);
	gv_strbuf_char(b, ' ');
}

static inline bool
same_text(const struct gv_strbuf *a, const struct gv_strbuf *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->s, b->s, a->len) == 0);
}

struct reading {
	size_t piece;     /* bytes a read, 0 = all */
	bool only_libcsv; /* no splitting of our own */
	bool lines;       /* show line numbers and errors, too */
	bool frame;       /* by whole tables */
	int write;        /* 0, or the dialect to write in: 'c' or 't' */
};

static inline void
show_frame(struct gv_strbuf *b, struct gv_tab *t, struct gv_error *e)
{
	struct gv_frame f;
	size_t i, j;

	if (gv_frame_read(&f, t, e) != 0)
		return;
	for (i = 0; i < f.n_rows; i++) {
		for (j = 0; j < f.n_columns; j++)
			show_cell(b, gv_frame_cell(&f, i, (ptrdiff_t)j));
		gv_strbuf_char(b, '\n');
	}
	gv_frame_free(&f);
}

static inline void
show_rows(struct gv_strbuf *b, struct gv_tabw *w, struct gv_tab *t, struct gv_error *e,
    const struct reading *how)
{
	size_t n = gv_tab_columns(t);
	size_t i;
	int r;

	while ((r = gv_tab_next(t, e)) != 0) {
		if (how->lines)
			gv_strbuf_fmt(b, "line %ld %d ", gv_tab_line(t), r);
		for (i = 0; i < n && r == 1; i++) {
			show_cell(b, gv_tab_cell(t, i));
			if (how->write)
				gv_tabw_cell(w, gv_tab_cell(t, i));
		}
		if (how->write && r == 1)
			gv_tabw_end(w);
		gv_strbuf_char(b, '\n');
	}
}

/*
 * Reads s[0..len) into b, writes it to *out when how->write.  The number of
 * errors.
 */
static inline size_t
show(struct gv_strbuf *b, struct gv_strbuf *out, const char *s, size_t len,
    struct reading how)
{
	struct gv_error e = {0};
	struct gv_in *in;
	struct gv_tab *t;
	struct gv_out *sink = out != NULL ? gv_out_memory(out) : NULL;
	struct gv_tabw w;
	size_t i, n_tables = 0;

	gv_tabw_init(&w, sink, how.write == 't');
	if (gv_in_memory(&in, "x", s, len, how.piece, &e) == 0) {
		t = gv_tab_from(in);
		if (how.only_libcsv)
			gv_tab_only_libcsv(t);
		while (gv_tab_table(t, &e) == 1) {
			if (how.write && n_tables > 0)
				gv_tabw_between(&w);
			n_tables++;
			gv_strbuf_str(b, "table ");
			if (how.lines)
				gv_strbuf_fmt(b, "at %ld tsv %d ", gv_tab_line(t),
				    gv_tab_is_tsv(t));
			for (i = 0; i < gv_tab_columns(t); i++) {
				show_cell(b, gv_tab_name(t, i));
				if (how.write)
					gv_tabw_cell(&w, gv_tab_name(t, i));
			}
			gv_strbuf_char(b, '\n');
			if (how.write)
				gv_tabw_end(&w);
			if (how.frame)
				show_frame(b, t, &e);
			else
				show_rows(b, &w, t, &e, &how);
		}
		gv_tab_close(t);
	}
	if (how.lines)
		gv_strbuf_fmt(b, "%zu errors\n", e.count);
	for (i = 0; how.lines && i < e.count && i < GV_ERROR_KEPT; i++)
		gv_strbuf_fmt(b, "%s\n", e.text[i]);
	if (sink != NULL)
		HOLDS(gv_out_close(sink, &e) == 0);
	return e.count;
}

/* ---- the second reader: shows the same, or says that the stream is in error ---- */

struct ref {
	const char *s;
	size_t len;
	size_t pos;
	bool tsv;
};

static inline bool
ref_at(const struct ref *r, const char *what)
{
	size_t n = strlen(what);

	return r->len - r->pos >= n && memcmp(r->s + r->pos, what, n) == 0;
}

static inline bool
ref_line_end(const struct ref *r)
{
	return r->pos == r->len || ref_at(r, "\n") || ref_at(r, "\r\n");
}

/* One cell up to the delimiter or the end of its line; false = error. */
static inline bool
ref_cell(struct ref *r, struct gv_strbuf *cell)
{
	const char *delimiter = r->tsv ? "\t" : ",";
	bool quoted = !r->tsv && ref_at(r, "\"");

	r->pos += quoted;
	while (
	    r->pos < r->len && (quoted || (!ref_at(r, delimiter) && !ref_line_end(r)))) {
		char c = r->s[r->pos++];

		if (c == '\0' || (!quoted && (c == '\r' || (c == '"' && !r->tsv))))
			return false;
		if (quoted && c == '"') {
			if (!ref_at(r, "\""))
				return ref_at(r, delimiter) || ref_line_end(r);
			r->pos++;
		}
		if (r->tsv && c == '\\' && r->pos < r->len) {
			char code = r->s[r->pos];

			c = code == 't'   ? '\t'
			    : code == 'n' ? '\n'
			    : code == 'r' ? '\r'
					  : c;
			r->pos += c != '\\' || code == '\\';
		}
		gv_strbuf_char(cell, c);
	}
	return !quoted;
}

/* One row with its line end, shown; the number of its cells, 0 = error. */
static inline size_t
ref_row(struct ref *r, struct gv_strbuf *b)
{
	struct gv_strbuf cell = {0};
	size_t n = 0;

	for (;;) {
		gv_strbuf_clear(&cell);
		if (!ref_cell(r, &cell)) {
			n = 0;
			break;
		}
		gv_strbuf_fmt(b, "%zu:", cell.len);
		if (cell.len > 0)
			gv_strbuf_add(b, cell.s, cell.len);
		gv_strbuf_char(b, ' ');
		n++;
		if (ref_line_end(r)) {
			r->pos += ref_at(r, "\r\n") ? 2 : ref_at(r, "\n");
			break;
		}
		r->pos++;
	}
	gv_strbuf_char(b, '\n');
	gv_strbuf_free(&cell);
	return n;
}

/* Whether the n names behind b->s + at are all there and differ. */
static inline bool
ref_names(const struct gv_strbuf *b, size_t at, size_t n)
{
	struct gv_cell name[64];
	size_t i, j;

	for (i = 0; i < n; i++) {
		name[i].len = strtoul(b->s + at, NULL, 10);
		at += strcspn(b->s + at, ":") + 1;
		name[i].s = b->s + at;
		at += name[i].len + 1;
		if (name[i].len == 0)
			return false;
		for (j = 0; j < i; j++)
			if (gv_cell_equal(name[i], name[j]))
				return false;
	}
	return true;
}

static inline bool
ref_first_line_has_tab(const struct ref *r)
{
	const char *p = r->s + r->pos;
	const char *end = r->s + r->len;

	while (p < end && *p != '\n') {
		if (*p == '"') { /* at the start of a cell: to behind its closing quote */
			for (p++; p < end && *p != '\n'; p++)
				if (*p == '"' && (p + 1 == end || *++p != '"'))
					break;
		}
		while (p < end && *p != '\n' && *p != ',')
			if (*p++ == '\t')
				return true;
		if (p < end && *p == ',')
			p++;
	}
	return false;
}

/* 1 shown, 0 the stream is in error, -1 too many columns for this reader. */
static inline int
ref_show(struct gv_strbuf *b, const char *s, size_t len)
{
	struct ref r = {s, len, 0, false};
	size_t n, n_tables = 0;

	for (;;) {
		size_t at;

		while (r.pos < r.len && (ref_line_end(&r) || ref_at(&r, "\xef\xbb\xbf")))
			r.pos += ref_at(&r, "\n") ? 1 : ref_at(&r, "\r\n") ? 2 : 3;
		if (r.pos == r.len)
			return n_tables > 0;
		n_tables++;
		r.tsv = ref_first_line_has_tab(&r);
		gv_strbuf_str(b, "table ");
		at = b->len;
		n = ref_row(&r, b);
		if (n > 64)
			return -1;
		if (n == 0 || !ref_names(b, at, n))
			return 0;
		while (r.pos < r.len && !ref_line_end(&r))
			if (ref_row(&r, b) != n)
				return 0;
	}
}

#endif
