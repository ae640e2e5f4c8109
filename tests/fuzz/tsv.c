/*
 * Any cells through a table.  The input is cut into cells at 0x1f and into rows
 * at 0x1e; its first two bytes choose the number of columns and the dialect.
 * Holds: what was written is read without error, cell for cell, in pieces and at
 * once, by splitting and by libcsv.
 */
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

enum { COLUMNS = 8 };

struct rows {
	const char *s; /* what is left to cut into cells */
	size_t len;
};

/* The next cell, cut at 0x1f, without NULs; false at the end of the input. */
static bool
next_cell(struct rows *r, struct gv_strbuf *cell)
{
	gv_strbuf_clear(cell);
	gv_strbuf_add(cell, "", 0);
	if (r->len == 0)
		return false;
	while (r->len > 0) {
		char c = *r->s++;

		r->len--;
		if (c == 0x1f)
			break;
		if (c != '\0')
			gv_strbuf_char(cell, c);
	}
	return true;
}

/* A row of n cells, in both the writer and the text to expect; false at the end. */
static bool
put_row(struct gv_tabw *w, struct gv_strbuf *want, struct rows *r, size_t n, bool header)
{
	struct gv_strbuf cell = {0};
	bool more = false;
	size_t i;

	if (header)
		gv_strbuf_str(want, "table ");
	else if (r->len == 0)
		return false;
	for (i = 0; i < n; i++) {
		more = next_cell(r, &cell);
		if (header)
			gv_strbuf_fmt(&cell, "%zu", i); /* no two equal, none empty */
		show_cell(want, (struct gv_cell){cell.s, cell.len});
		gv_tabw_cell(w, (struct gv_cell){cell.s, cell.len});
	}
	gv_strbuf_char(want, '\n');
	gv_tabw_end(w);
	gv_strbuf_free(&cell);
	return more;
}

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	struct gv_strbuf want = {0}, got = {0}, written = {0};
	struct gv_error e = {0};
	struct gv_out *out;
	struct gv_tabw w;
	struct rows r;
	size_t n;
	int i;

	if (len < 2)
		return 0;
	n = 1 + s[0] % COLUMNS;
	r = (struct rows){(const char *)s + 2, len - 2};
	out = gv_out_memory(&written);
	gv_tabw_init(&w, out, s[1] & 1);
	put_row(&w, &want, &r, n, true);
	while (put_row(&w, &want, &r, n, false))
		;
	HOLDS(gv_out_close(out, &e) == 0);
	for (i = 0; i < 4; i++) {
		HOLDS(show(&got, NULL, written.s, written.len,
			  (struct reading){.piece = i & 1 ? s[1] / 2 : 0,
			      .only_libcsv = i >= 2}) == 0);
		HOLDS(same_text(&want, &got));
		gv_strbuf_clear(&got);
	}
	gv_strbuf_free(&want);
	gv_strbuf_free(&got);
	gv_strbuf_free(&written);
	return 0;
}
