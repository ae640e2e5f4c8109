/*
 * Rows of cells out of bytes, for struct gv_tab; private to common/table.
 *
 * libcsv defines what a row is.  A row of one line without errors and NULs, as
 * nearly all are, is split here instead, in place, about twice as fast;
 * tests/fuzz proves that both ways give the same.
 */
#ifndef GV_TABLE_ROWS_H
#define GV_TABLE_ROWS_H

#include <csv.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "table/tab.h"

enum { GV_ROWS_BUFFER = 64 * 1024 };

enum gv_rows_result {
	GV_ROWS_ERROR = -1,
	GV_ROWS_END = 0, /* of the stream, also after an error that lost the position */
	GV_ROWS_ROW = 1,
	GV_ROWS_BLANK = 2 /* an empty line: the end of a table */
};

struct gv_rows {
	struct gv_in *in;
	struct csv_parser csv;
	const bool *stop; /* [256] the bytes at which splitting must look */
	bool tsv;
	bool only_libcsv; /* never split here: for the tests */
	bool lost;        /* no position to go on from */
	bool eof;
	/* the present row, good or bad, ends with the input, not with a line feed */
	bool cut;
	long line;            /* where the present row starts, from 1 */
	long next_line;       /* the line at pos */
	size_t n_cells;       /* of the present row, those not kept included */
	size_t keep;          /* cells of a row that are kept */
	struct gv_cell *cell; /* [keep] */

	/* a row that libcsv parses */
	struct gv_strbuf text; /* its kept cells, one after another */
	size_t size;           /* bytes of all its cells, each with its delimiter */
	int ended; /* the byte that ended it: LF, CR (its LF is still to come), 0 = none */
	bool nul;
	const char *problem; /* what a callback found */

	size_t pos; /* bytes not yet used: buf[pos..len) */
	size_t len;
	size_t scanned;               /* no LF in buf[pos..scanned) */
	char buf[GV_ROWS_BUFFER + 1]; /* room for an LF after the last line */
};

/* All of *r is set but r->in, r->only_libcsv, and what each header or row sets anew. */
void gv_rows_init(struct gv_rows *r);
void gv_rows_free(struct gv_rows *r); /* not r->in */

/*
 * Reads a header: passes empty lines and a BOM, sees which dialect it is, keeps
 * up to GV_TAB_COLUMNS cells.  Like gv_rows_next, but never GV_ROWS_BLANK.
 */
enum gv_rows_result gv_rows_header(struct gv_rows *r, struct gv_error *e);

/* Keeps n cells of each row from now on. */
void gv_rows_keep(struct gv_rows *r, size_t n);

/*
 * Reads a row into r->cell and r->n_cells.  An error is fatal (r->lost), but
 * for a NUL: then the next call goes on after the row.
 */
enum gv_rows_result gv_rows_next(struct gv_rows *r, struct gv_error *e);

/*
 * Whether a header that starts with s[0..len) is TSV: 1 a tab outside quotes,
 * 0 no tab there, -1 no tab there, and the end is inside quotes.
 */
int gv_rows_dialect(const char *s, size_t len);

#endif
