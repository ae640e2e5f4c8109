#include "table/names.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"

const char *
gv_header_fault(const struct gv_cell *name, size_t n)
{
	if (n == 1 && memchr(name[0].s, ';', name[0].len) != NULL)
		return "cells are separated by semicolons; expected commas or tabs";
	return NULL;
}

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

/* What may be wrong where a column is missing, to hint[size]; "" = no idea. */
static void
missing_hint(
    char *hint, size_t size, const struct gv_cell *name, size_t n, const char *wanted)
{
	char quoted[GV_QUOTE_LEN];
	size_t i;

	hint[0] = '\0';
	if (gv_header_fault(name, n) != NULL) {
		snprintf(hint, size, "; %s", gv_header_fault(name, n));
		return;
	}
	for (i = 0; i < n; i++)
		if (gv_near(name[i].s, name[i].len, &wanted, 1) != NULL) {
			snprintf(hint, size, "; column %s looks like it",
			    gv_quote(quoted, name[i].s, name[i].len));
			return;
		}
}

void
gv_names_warn(const struct gv_cell *name, size_t n, const char *const *known,
    size_t n_known, const char *file, long line, struct gv_error *w)
{
	char quoted[GV_QUOTE_LEN];
	size_t i;

	for (i = 0; i < n; i++) {
		const char *near = gv_near(name[i].s, name[i].len, known, n_known);

		/* where the known one is there, too, this is another */
		if (near == NULL || gv_names_find(name, n, near) >= 0)
			continue;
		gv_error_at(w, file, line, NULL,
		    "column %s is not known; is \"%s\" meant?",
		    gv_quote(quoted, name[i].s, name[i].len), near);
	}
}

void
gv_frame_warn_names(
    const struct gv_frame *f, const char *const *known, size_t n, struct gv_error *w)
{
	gv_names_warn(f->name, f->n_columns, known, n, f->file, f->header_line, w);
}

int
gv_names_missing(const struct gv_cell *name, size_t n, const char *wanted,
    const char *file, long line, struct gv_error *e)
{
	char found[200], hint[GV_QUOTE_LEN + 64];
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
	missing_hint(hint, sizeof(hint), name, n, wanted);
	return gv_error_at(e, file, line, NULL, "missing column \"%s\" (found: %s)%s",
	    wanted, found, hint);
}

char *
gv_cell_shown(char buf[GV_QUOTE_LEN], struct gv_cell c)
{
	if (c.len == 0)
		return strcpy(buf, "nothing");
	return gv_quote(buf, c.s, c.len);
}
