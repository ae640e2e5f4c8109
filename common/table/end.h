/*
 * Where a table ends in bytes that come piece by piece, for whoever must not wait
 * for the next one: the empty line of a stream of tables, by the rules of
 * table/tab.h (line breaks inside quotes are part of a cell, TSV has no quotes,
 * empty lines before the header mean nothing).
 *
 * It looks for the end and checks nothing: the table is read by struct gv_tab when
 * it is whole.
 */
#ifndef GV_TABLE_END_H
#define GV_TABLE_END_H

#include <stdbool.h>
#include <stddef.h>

/* = {0} expects a table. */
struct gv_table_end {
	bool found;  /* the empty line was seen */
	bool header; /* a line that is not empty has begun */
	/* the first line of the header has ended: the dialect is known */
	bool first_over;
	bool tsv;
	bool quoted;       /* inside a quoted cell */
	bool opens;        /* a quote here begins one, or is the second of two */
	bool inside;       /* the present line has bytes */
	bool cr;           /* and they are one CR */
	unsigned char bom; /* bytes of a BOM, 3 = all */
};

/*
 * Looks at the next bytes s[0..len).  Returns how many of them belong to the table,
 * its empty line included: len as long as it goes on.  Cost: one look at each byte.
 */
size_t gv_table_end(struct gv_table_end *e, const char *s, size_t len);

#endif
