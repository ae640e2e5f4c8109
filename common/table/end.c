#include "table/end.h"

#include <string.h>

/* A line feed outside quotes.  Whether it ends the table. */
static bool
line_feed(struct gv_table_end *e)
{
	bool empty = !e->inside || e->cr;

	e->inside = e->cr = false;
	e->opens = true;
	if (empty)
		return e->header;
	e->header = e->first_over = true;
	return false;
}

/* Any other byte, and a line feed inside quotes. */
static void
take(struct gv_table_end *e, char c)
{
	e->cr = c == '\r' && !e->inside;
	e->inside = true;
	if (e->tsv)
		return;
	if (c == '\t' && !e->quoted && !e->first_over)
		e->tsv = true;
	if (c == '"' && (e->quoted || e->opens)) {
		e->opens = e->quoted;
		e->quoted = !e->quoted;
	} else {
		e->opens = c == ',';
	}
	if (c == '\n')
		e->first_over = true;
}

/* Whether the byte is one of a BOM at the start. */
static bool
is_bom(struct gv_table_end *e, char c)
{
	static const char bom[] = "\xef\xbb\xbf";

	if (e->bom == 3 || e->header || e->inside || c != bom[e->bom])
		return false;
	e->bom++;
	return true;
}

/* The bytes of a whole line that says nothing of the end: not empty, without quotes; else 0. */
static size_t
plain_line(const struct gv_table_end *e, const char *s, size_t len)
{
	const char *end;

	if (!e->first_over || e->quoted || e->inside)
		return 0;
	end = memchr(s, '\n', len);
	if (end == NULL || end < s + 2 || /* one CR is an empty line, too */
	    (!e->tsv && memchr(s, '"', (size_t)(end - s)) != NULL))
		return 0;
	return (size_t)(end - s) + 1;
}

size_t
gv_table_end(struct gv_table_end *e, const char *s, size_t len)
{
	size_t plain;
	size_t i;

	e->opens = e->opens || (!e->header && !e->inside);
	for (i = 0; i < len && !e->found; i++)
		if ((plain = plain_line(e, s + i, len - i)) > 0)
			i += plain - 1;
		else if (s[i] == '\n' && !e->quoted)
			e->found = line_feed(e);
		else if (!is_bom(e, s[i]))
			take(e, s[i]);
	return i;
}
