#include "table/names.h"

#include <stdio.h>
#include <string.h>

ptrdiff_t
gv_names_find(const struct gv_cell *name, size_t n, const char *wanted)
{
	size_t len = strlen(wanted);
	size_t i;

	for (i = 0; i < n; i++)
		if (name[i].len == len && memcmp(name[i].s, wanted, len) == 0)
			return (ptrdiff_t)i;
	return -1;
}

int
gv_names_missing(const struct gv_cell *name, size_t n, const char *wanted,
    const char *file, long line, struct gv_error *e)
{
	char found[200];
	size_t len = 0;
	size_t i;

	found[0] = '\0';
	for (i = 0; i < n; i++) {
		size_t room = sizeof(found) - len;
		int r = snprintf(found + len, room, "%s%s", i > 0 ? ", " : "", name[i].s);

		if ((size_t)r + sizeof(", ...") > room) {
			snprintf(found + len, room, "%s...", i > 0 ? ", " : "");
			break;
		}
		len += (size_t)r;
	}
	return gv_error_at(
	    e, file, line, NULL, "missing column \"%s\" (found: %s)", wanted, found);
}

char *
gv_cell_shown(char buf[GV_QUOTE_LEN], struct gv_cell c)
{
	if (c.len == 0)
		return strcpy(buf, "nothing");
	return gv_quote(buf, c.s, c.len);
}
