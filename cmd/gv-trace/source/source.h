/*
 * Rows in columns that have one of several names: tables with a header (gv_tab), or lines that are split at
 * one byte without quotes, with a header (sacct) or without (Gavel, Alibaba 2020).
 */
#ifndef TRACE_SOURCE_SOURCE_H
#define TRACE_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/fileio.h"
#include "table/tab.h"

enum { SOURCE_COLUMNS = 512, SOURCE_NAMES = 4, SOURCE_LINE = 1 << 20 };

/* A column that is wanted, under any of its names; NULL behind the last one. */
struct wanted {
	const char *name[SOURCE_NAMES];
	bool must;
};

struct source {
	const char *file;
	long line;      /* of the present row, from 1 */
	size_t n_cells; /* of it */
	const struct wanted *wanted;
	size_t n_wanted;
	ptrdiff_t at[SOURCE_COLUMNS]; /* [n_wanted] the cell, -1 = is not there */
	size_t name[SOURCE_COLUMNS];  /* [n_wanted] under which of its names */

	/* private: either of tab and in */
	struct gv_tab *tab;
	struct gv_in *in;
	char delimiter;
	size_t n_columns; /* cells that a row must have; 0 = any number */
	struct gv_cell cell[SOURCE_COLUMNS];
	bool held; /* the present line is still to be given */
	bool over; /* nothing is to come, whatever is asked */
	size_t pos, len, cap;
	char *buf;
};

/* A table with a header.  0, or -1 with *e set, also where a column must be there. */
int source_table(struct source *s, const char *path, const struct wanted *wanted,
    size_t n_wanted, struct gv_error *e);

/* Lines split at the delimiter, whose first one is a header. */
int source_lines(struct source *s, const char *path, char delimiter,
    const struct wanted *wanted, size_t n_wanted, struct gv_error *e);

/*
 * Lines split at the delimiter, without a header: cell k is wanted[k].  A first line
 * whose first cell is wanted[0]'s name is passed over.
 */
int source_bare(struct source *s, const char *path, char delimiter,
    const struct wanted *wanted, size_t n_wanted, struct gv_error *e);

void source_close(struct source *s); /* also of a zeroed one */

/*
 * The next row: 1, 0 at the end, -1 with *e set.  Empty lines are passed over.  A row
 * with another number of cells than the header is an error; of bare lines n_cells
 * tells.
 */
int source_next(struct source *s, struct gv_error *e);

/* Cell k of those wanted, empty where its column is not there; until the next row. */
struct gv_cell source_cell(const struct source *s, size_t k);
bool source_has(const struct source *s, size_t k);

/* An error about it, "FILE:LINE: COLUMN: ...".  -1. */
int source_error(const struct source *s, size_t k, struct gv_error *e, const char *fmt,
    ...) GV_PRINTF(4, 5);

/*
 * As a number, or as a time: seconds, or a date in UTC whose fraction of a second is
 * dropped.  Empty cells, and the words
 * None, Unknown, nan and NaT that traces have, give NAN.  0, or -1 with *e set.
 */
int source_number(const struct source *s, size_t k, double *v, struct gv_error *e);
int source_time(const struct source *s, size_t k, double *v, struct gv_error *e);

#endif
