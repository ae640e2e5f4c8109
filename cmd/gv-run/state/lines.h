/*
 * Lines of the journal.  Each carries a seal in a last column: its number among the rows,
 * from 1, as 8 hexadecimal digits, and the checksum of all of the line before it, as 8 more
 * (ISO 3309, zlib's).  So a line that a kill has torn and one that was damaged can be told
 * from those that are whole, whatever their quotes say, and one that was moved, copied or
 * taken out is missed where it stood.  A quoted cell may hold line feeds.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Journals of before had fewer of these; they are read, and written anew to go on. */
enum lines_form {
	LINES_BARE, /* no seal: nothing can be told */
	LINES_SUMS, /* the checksum alone, of what stands before the comma */
	LINES_ROWS
};

/* The name of the column, "" = there is none. */
const char *lines_column(enum lines_form form);
/* How many bytes at the end of a line are its seal, from the comma on. */
size_t lines_seal_len(enum lines_form form);

/*
 * Ends a line without line feed, b->s[from..): adds its seal and the line feed.  lines_seal:
 * its checksum alone.
 */
void lines_seal(struct gv_strbuf *b, size_t from);
void lines_seal_row(struct gv_strbuf *b, size_t from, uint32_t number);

/* The length of the line at s[0..len), its line feed included; 0 = it has no
 * end. */
size_t lines_next(const char *s, size_t len);

/* Whether s[0..len), as of lines_next, is whole. */
bool lines_is_whole(const char *s, size_t len, enum lines_form form);

/* The number in the seal of the row that ends with s[0..len); 0 = no row does. */
uint32_t lines_number(const char *s, size_t len);

/* What is wrong at a line. */
enum lines_fault {
	LINES_DAMAGED, /* it is not whole, with others behind it or with an end */
	LINES_MOVED,   /* it is whole, and belongs before others that stand before it */
	LINES_TWICE,   /* it is whole, and stands before as well */
	LINES_MISSING  /* count rows before it, which stand nowhere */
};

struct lines_damage {
	enum lines_fault fault;
	size_t at; /* bytes of the text */
	size_t len;
	size_t count; /* of rows that are missing */
	long line;    /* the number of the first, from 1 */
};

/* A line that is whole. */
struct lines_row {
	size_t at, len;
	size_t number; /* among the rows */
	size_t hidden; /* line feeds in the damage before it */
	long line;
};

struct lines {
	size_t rows;           /* whole ones, each counted once */
	size_t lost;           /* that are not, or are missing */
	struct lines_row *row; /* [rows], by their numbers; of LINES_BARE none */
	size_t cap_row;
	size_t torn_at; /* the text ends within a line that begins here; its length =
			   none */
	size_t n_damaged;
	size_t cap_damaged;
	struct lines_damage *damaged;
};

/*
 * Looks at the lines of a whole journal behind its header, s[header..len).
 * Where it has no header that is known header is 0, and its first line is
 * damaged.  A last line that is the beginning of one,
 * or NULs, is torn; others that are not whole are damaged, also a last one whose
 * quotes or line feed are.  By their numbers rows are missed that stand nowhere, and those
 * found that do not stand where they were written.  l->damaged is in the order of the text.
 * Linear but for damage: 64 KiB for each line of it.
 */
void lines_check(
    struct lines *l, const char *s, size_t len, size_t header, enum lines_form form);
void lines_free(struct lines *l);

#endif
