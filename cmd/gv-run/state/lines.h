/*
 * Lines of the journal.  Each carries a checksum in a last column, crc32: of
 * the bytes of the line before the comma, as 8 hexadecimal digits (ISO 3309,
 * zlib's).  So a line that a kill has torn and one that was damaged can be told
 * from those that are whole, whatever their quotes say.  A quoted cell may hold
 * line feeds.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* The name of the column. */
extern const char lines_column[];

/* Ends a line without line feed, b->s[from..): adds its checksum and the line
 * feed. */
void lines_seal(struct gv_strbuf *b, size_t from);

/* The length of the line at s[0..len), its line feed included; 0 = it has no
 * end. */
size_t lines_next(const char *s, size_t len);

/* Whether s[0..len), as of lines_next, is whole.  Its checksum begins
 * LINES_SEAL before its end. */
enum { LINES_SEAL = 10 };
bool lines_is_whole(const char *s, size_t len);

/* Lines that are not whole, with others behind them or with an end. */
struct lines_damage {
	size_t at; /* bytes of the text */
	size_t len;
	long line; /* the number of the first, from 1 */
};

struct lines {
	bool sealed;    /* the header has the column; without it nothing can be told */
	size_t rows;    /* whole ones */
	size_t torn_at; /* the text ends within a line that begins here; its length =
                     none */
	size_t n_damaged;
	size_t cap_damaged;
	struct lines_damage *damaged;
};

/*
 * Looks at the lines of a whole journal behind its header, s[header..len).
 * Where it has no header that is known header is 0, and its first line is
 * damaged.  sealed: they have checksums.  A last line that is the beginning of one,
 * or NULs, is torn; others that are not whole are damaged, also a last one whose
 * quotes or line feed are.
 * Linear but for damage: 64 KiB for each line of it.
 */
void lines_check(struct lines *l, const char *s, size_t len, size_t header, bool sealed);
void lines_free(struct lines *l);

#endif
