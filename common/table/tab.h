/*
 * Tables: one row type each, CSV or TSV, a header line first, columns found by
 * name.  Reading goes row by row in constant memory (struct gv_tab) or a whole
 * table into memory (struct gv_frame); writing is struct gv_tabw.
 *
 * Input dialect.  CSV is RFC 4180 through libcsv; TSV is IANA's (no quoting;
 * \t \n \r \\ escapes).  The first line decides: it is TSV when it holds a tab
 * outside quotes.  A UTF-8 BOM and CRLF are accepted, gzip is inflated.  Errors,
 * with file and the line where the row starts: NUL bytes, a bare or unterminated
 * quote, a cell over 1 MiB, a row over 64 MiB, more than 10,000 columns, an empty
 * or repeated header name, a row with more or fewer cells than the header, a CR
 * without LF outside quotes.
 *
 * Several tables may follow each other on one stream, an empty line between
 * them, each with its own header.  Further empty lines, and those at the start
 * and end of the stream, mean nothing.  A row of one empty cell is written "".
 *
 * A table of one column has no tab to be recognised by, so it is always CSV.
 */
#ifndef GV_TABLE_TAB_H
#define GV_TABLE_TAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/mem.h"

enum {
	GV_TAB_CELL = 1 << 20, /* bytes of a cell, at most */
	GV_TAB_ROW = 64 << 20, /* of a row, quotes not counted */
	GV_TAB_COLUMNS = 10000
};

/* Bytes of a cell, unquoted and unescaped; not NUL-terminated unless said. */
struct gv_cell {
	const char *s;
	size_t len;
};

bool gv_cell_is(struct gv_cell c, const char *s);
bool gv_cell_equal(struct gv_cell a, struct gv_cell b);

/* ---- reading row by row ---- */

struct gv_tab;

/* path NULL or "-" is standard input.  0, or -1 with *e set; close with gv_tab_close. */
int gv_tab_open(struct gv_tab **t, const char *path, struct gv_error *e);
/* Reads from an opened input, which the table closes. */
struct gv_tab *gv_tab_from(struct gv_in *in);
void gv_tab_close(struct gv_tab *t); /* NULL is allowed */

/*
 * Goes to the next table and reads its header; rows of the present one that
 * were not read are skipped.  1 there is a table, 0 the stream has ended, -1
 * error.  The first call on an input of no bytes at all is an error (a table
 * needs a header); a header without rows is a table with no rows.
 */
int gv_tab_table(struct gv_tab *t, struct gv_error *e);

/* Where one table is expected: goes to its end; a further one is an error.  0 or -1. */
int gv_tab_last(struct gv_tab *t, struct gv_error *e);

size_t gv_tab_columns(const struct gv_tab *t);
struct gv_cell gv_tab_name(const struct gv_tab *t, size_t column); /* NUL-terminated */
bool gv_tab_is_tsv(const struct gv_tab *t);
const char *gv_tab_file(const struct gv_tab *t); /* for messages: the path or "<stdin>" */
long gv_tab_line(const struct gv_tab *t); /* where the present row starts, from 1 */

/* The column of that name, or -1. */
ptrdiff_t gv_tab_find(const struct gv_tab *t, const char *name);
/* Sets *column to it; a missing one is an error that lists the names found.  0 or -1. */
int gv_tab_require(
    const struct gv_tab *t, const char *name, size_t *column, struct gv_error *e);

/*
 * Reads the next row: 1 a row, 0 the table has ended, -1 error.  After an error
 * in one row (ragged, NUL) the next call goes on with the row after it, so
 * that a reader can collect the errors of a file; after an error that loses the
 * position (bad quoting, read error) it returns 0.
 */
int gv_tab_next(struct gv_tab *t, struct gv_error *e);

/*
 * Whether the row read last, good or bad, ended with the input instead of a
 * line feed: a writer may be in the middle of it.
 */
bool gv_tab_cut(const struct gv_tab *t);

/*
 * Whether the table that has ended did so at an empty line, so that another may
 * follow: whoever asked table by table waits for the answer to this one.
 */
bool gv_tab_paused(const struct gv_tab *t);

/* A cell of the present row, valid until the next gv_tab_next. */
struct gv_cell gv_tab_cell(const struct gv_tab *t, size_t column);
/* As numbers.  0, or -1 with *e located at file, line and column. */
int gv_tab_double(const struct gv_tab *t, size_t column, double *v, struct gv_error *e);
int gv_tab_int(const struct gv_tab *t, size_t column, int64_t *v, struct gv_error *e);
/* An error about a cell of the present row: "FILE:LINE: COLUMN: message".  -1. */
int gv_tab_error(const struct gv_tab *t, size_t column, struct gv_error *e,
    const char *fmt, ...) GV_PRINTF(4, 5);

/* For tests: lets libcsv parse every row, also those that need not. */
void gv_tab_only_libcsv(struct gv_tab *t);

/* ---- a whole table ---- */

/*
 * A table in memory.  Its cells live until gv_frame_free.  = {0} is an empty
 * one.  A column of -1 (not there) reads as empty cells, so optional columns
 * need no special case.  Costs the text, 5 bytes a cell and 40 a row; cells at the start of
 * a row that are as those of a row before it cost nothing.
 */
struct gv_frame {
	char *file; /* for messages */
	bool tsv;
	size_t n_columns;
	size_t n_rows;
	struct gv_cell *name; /* [n_columns], NUL-terminated */
	long header_line;
	long *line;                /* [n_rows] */
	struct gv_frame_row **row; /* [n_rows], private */
	size_t row_cap;            /* private: room in line and row */
	struct gv_arena arena;
};

/*
 * Reads the present table of t (gv_tab_table was called and returned 1), to its
 * end also when rows are bad.  0, or -1 and *f is empty.
 */
int gv_frame_read(struct gv_frame *f, struct gv_tab *t, struct gv_error *e);
/* Opens path, reads its one table, closes; a second table is an error.  0 or -1. */
int gv_frame_load(struct gv_frame *f, const char *path, struct gv_error *e);
/* The same of s[0..len), which messages call name. */
int gv_frame_parse(
    struct gv_frame *f, const char *name, const char *s, size_t len, struct gv_error *e);
void gv_frame_free(struct gv_frame *f);

/* Makes a table: starts it with its names, adds a row [n_columns]; both copy the texts. */
void gv_frame_start(struct gv_frame *f, const char *file, bool tsv,
    const struct gv_cell *name, size_t n_columns);
void gv_frame_add(struct gv_frame *f, const struct gv_cell *cell, long line);

ptrdiff_t gv_frame_find(const struct gv_frame *f, const char *name);
int gv_frame_require(
    const struct gv_frame *f, const char *name, ptrdiff_t *column, struct gv_error *e);
/*
 * Adds to *w a line for each column that is none of known[0..n) but looks like
 * one (base/near.h) which is not there.
 */
void gv_frame_warn_names(
    const struct gv_frame *f, const char *const *known, size_t n, struct gv_error *w);
/* NUL-terminated (a cell never holds a NUL). */
struct gv_cell gv_frame_cell(const struct gv_frame *f, size_t row, ptrdiff_t column);
/*
 * So many cells at the start of two rows are known to be equal without a look at them; more
 * may be.
 */
size_t gv_frame_alike(const struct gv_frame *f, size_t row, size_t other);

/*
 * A cell as a number.  An empty cell (or column -1) gives the value otherwise;
 * with otherwise NAN (INT64_MIN) it is an error: a value was expected.  0 or -1.
 */
int gv_frame_double(const struct gv_frame *f, size_t row, ptrdiff_t column,
    double otherwise, double *v, struct gv_error *e);
int gv_frame_int(const struct gv_frame *f, size_t row, ptrdiff_t column,
    int64_t otherwise, int64_t *v, struct gv_error *e);
/* As gv_frame_double, and what is below 0 is an error, too. */
int gv_frame_not_negative(const struct gv_frame *f, size_t row, ptrdiff_t column,
    double otherwise, double *v, struct gv_error *e);
/* An error about a cell: "FILE:LINE: COLUMN: message".  -1. */
int gv_frame_error(const struct gv_frame *f, size_t row, ptrdiff_t column,
    struct gv_error *e, const char *fmt, ...) GV_PRINTF(5, 6);

/* The same of a cell that holds something else: "expected WHAT, got the cell".  -1. */
int gv_frame_expected(const struct gv_frame *f, size_t row, ptrdiff_t column,
    struct gv_error *e, const char *what, ...) GV_PRINTF(5, 6);

/* ---- writing ---- */

/*
 * Writes cells one after another, the names first; CSV cells are quoted only
 * when they must be.  Errors stick in the output and show when it is closed.
 * A table that could not be recognised as TSV (one column; a first name with a
 * tab, or that opens a quote) is written as CSV.  On a terminal bytes that would steer it
 * (utf8.h) are shown as \xNN; everything else gets them as they are.
 */
struct gv_tabw {
	struct gv_out *out;
	bool asked_tsv;
	bool tsv;       /* this table */
	bool terminal;  /* the output is one */
	bool header;    /* the present row is the header */
	bool blank;     /* its first cell is empty */
	size_t n_cells; /* of the present row so far */
	char *first;    /* the first name, held back until there is a second one */
	size_t first_len;
};

void gv_tabw_init(struct gv_tabw *w, struct gv_out *out, bool tsv);
void gv_tabw_cell(struct gv_tabw *w, struct gv_cell c);
void gv_tabw_str(struct gv_tabw *w, const char *s);
void gv_tabw_double(struct gv_tabw *w, double v); /* NaN and infinity are written empty */
void gv_tabw_int(struct gv_tabw *w, int64_t v);
void gv_tabw_empty(struct gv_tabw *w);
void gv_tabw_end(struct gv_tabw *w);     /* ends the row */
void gv_tabw_between(struct gv_tabw *w); /* the empty line between two tables; flushes */

/* What is wrong with names of which a header was made otherwise, by semicolons; NULL: nothing. */
const char *gv_header_fault(const struct gv_cell *name, size_t n);

#endif
