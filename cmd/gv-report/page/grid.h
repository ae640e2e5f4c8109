/* Aligned columns of text. */
#ifndef GV_REPORT_GRID_H
#define GV_REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* = {.n_columns = n} is empty. */
struct grid {
	size_t n_columns;
	size_t n; /* cells so far, row after row */
	size_t cap;
	const char **cell; /* in the arena */
	struct gv_arena arena;
};

/* The next cell; control bytes and invalid UTF-8 are written \xHH.  NULL or nothing is "-". */
void grid_text(struct grid *g, const char *s, size_t len);
void grid_str(struct grid *g, const char *s);
/* digits behind the point; NAN is "-". */
void grid_number(struct grid *g, double v, int digits);

/*
 * Prints all rows, two spaces between columns; a column is right-aligned where
 * right says so.  No spaces at the end of lines.  On a terminal texts are cut so
 * that rows fit, what does not fit even so goes below with the first column
 * again, and there is colour.
 */
void grid_print(const struct grid *g, const bool *right, struct gv_out *out);
/* Writes it as an HTML table, the first row its head. */
void grid_html(const struct grid *g, const bool *right, struct gv_out *out);
void grid_free(struct grid *g);

/*
 * A sentence or two below a table, as HTML or text; on a terminal broken between words so
 * that they fit.
 */
void grid_note(const char *text, bool html, struct gv_out *out);

/*
 * A line of a summary: what it tells of, and in a column behind it what; on a terminal
 * broken as a note is, in that column.
 */
void grid_line(const char *label, const char *text, struct gv_out *out);

/* As grid_text, onto a string. */
void text_add(struct gv_strbuf *b, const char *s, size_t len);
/* A number as grid_number writes it. */
enum { FIXED_LEN = 400 };
const char *fixed(char buf[FIXED_LEN], double v, int digits);

#endif
