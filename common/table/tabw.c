#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "table/rows.h"

enum { IN_CSV = 1, IN_TSV = 2, IN_HEADER = 4 };

/* The bytes that make a cell need quotes in CSV, in the header of CSV, or escapes in TSV. */
static const unsigned char special[256] = {[','] = IN_CSV,
    ['"'] = IN_CSV,
    ['\n'] = IN_CSV | IN_TSV,
    ['\r'] = IN_CSV | IN_TSV,
    ['\t'] = IN_TSV | IN_HEADER,
    ['\\'] = IN_TSV};

static bool
is_special(struct gv_cell c, int which)
{
	size_t i;

	for (i = 0; i < c.len; i++)
		if (special[(unsigned char)c.s[i]] & which)
			return true;
	return false;
}

static void
put_quoted(struct gv_out *out, struct gv_cell c)
{
	const char *end = c.s + c.len;
	const char *from = c.s;
	const char *p;

	gv_out_char(out, '"');
	while ((p = memchr(from, '"', (size_t)(end - from))) != NULL) {
		gv_out_write(out, from, (size_t)(p + 1 - from));
		gv_out_char(out, '"');
		from = p + 1;
	}
	gv_out_write(out, from, (size_t)(end - from));
	gv_out_char(out, '"');
}

static void
put_escaped(struct gv_out *out, struct gv_cell c)
{
	size_t i;

	for (i = 0; i < c.len; i++) {
		char s = c.s[i];
		char code = s == '\t'   ? 't'
			    : s == '\n' ? 'n'
			    : s == '\r' ? 'r'
			    : s == '\\' ? s
					: 0;

		if (code != 0)
			gv_out_char(out, '\\');
		gv_out_char(out, code != 0 ? code : s);
	}
}

/* Whether a stream that starts so would be taken for one with a BOM, or for gzip. */
static bool
is_mark(struct gv_cell c)
{
	return (c.len >= 3 && memcmp(c.s, "\xef\xbb\xbf", 3) == 0) ||
	       (c.len >= 2 && memcmp(c.s, "\x1f\x8b", 2) == 0);
}

static bool
steers(struct gv_cell c)
{
	size_t i, n;

	for (i = 0; i < c.len; i += n)
		if (gv_utf8_steers(c.s + i, c.len - i, &n))
			return true;
	return false;
}

static struct gv_cell
make_visible(struct gv_strbuf *b, struct gv_cell c)
{
	size_t i, k, n;

	for (i = 0; i < c.len; i += n)
		if (gv_utf8_steers(c.s + i, c.len - i, &n))
			for (k = 0; k < n; k++)
				gv_strbuf_fmt(b, "\\x%02x", (unsigned char)c.s[i + k]);
		else
			gv_strbuf_add(b, c.s + i, n);
	return (struct gv_cell){b->s, b->len};
}

static void
put_cell(struct gv_tabw *w, struct gv_cell c)
{
	int which = w->tsv ? IN_TSV : w->header ? IN_CSV | IN_HEADER : IN_CSV;

	if (!is_special(c, which) && !(w->header && !w->tsv && is_mark(c)))
		gv_out_write(w->out, c.s, c.len);
	else if (w->tsv)
		put_escaped(w->out, c);
	else
		put_quoted(w->out, c);
}

static void
put(struct gv_tabw *w, struct gv_cell c)
{
	struct gv_strbuf shown = {0};

	if (w->terminal && steers(c)) {
		c = make_visible(&shown, c);
		if (w->tsv)
			gv_out_write(w->out, c.s, c.len);
		else
			put_cell(w, c);
		gv_strbuf_free(&shown);
	} else {
		put_cell(w, c);
	}
}

void
gv_tabw_init(struct gv_tabw *w, struct gv_out *out, bool tsv)
{
	*w = (struct gv_tabw){.out = out,
	    .asked_tsv = tsv,
	    .tsv = tsv,
	    .header = true,
	    .terminal = out != NULL && gv_out_is_terminal(out)};
}

/* Whether a TSV header that starts so would be taken for what it is. */
static bool
starts_tsv(struct gv_cell c)
{
	return gv_rows_dialect(c.s, c.len) == 0 && !is_mark(c);
}

/* The first name, now that the dialect is known. */
static void
put_first(struct gv_tabw *w)
{
	put(w, (struct gv_cell){w->first, w->first_len});
	free(w->first);
	w->first = NULL;
}

void
gv_tabw_cell(struct gv_tabw *w, struct gv_cell c)
{
	if (w->n_cells++ == 0) {
		w->blank = c.len == 0;
		if (w->header && w->tsv) {
			w->first = gv_xstrndup(c.s, c.len);
			w->first_len = c.len;
			return;
		}
	} else {
		if (w->first != NULL) {
			struct gv_cell first = {w->first, w->first_len};

			w->tsv = starts_tsv(first);
			put_first(w);
		}
		gv_out_char(w->out, w->tsv ? '\t' : ',');
	}
	put(w, c);
}

void
gv_tabw_end(struct gv_tabw *w)
{
	if (w->first != NULL) {
		w->tsv = false; /* no tab would tell */
		put_first(w);
	}
	if (w->n_cells == 1 && w->blank)
		gv_out_write(w->out, "\"\"", 2); /* an empty line would end the table */
	gv_out_char(w->out, '\n');
	w->n_cells = 0;
	w->header = false;
}

void
gv_tabw_str(struct gv_tabw *w, const char *s)
{
	gv_tabw_cell(w, (struct gv_cell){s, strlen(s)});
}

void
gv_tabw_double(struct gv_tabw *w, double v)
{
	char buf[GV_NUM_LEN];

	if (isfinite(v))
		gv_tabw_cell(w, (struct gv_cell){buf, gv_format_double(buf, v)});
	else
		gv_tabw_empty(w);
}

void
gv_tabw_int(struct gv_tabw *w, int64_t v)
{
	char buf[GV_NUM_LEN];

	gv_tabw_cell(w, (struct gv_cell){buf, gv_format_int(buf, v)});
}

void
gv_tabw_empty(struct gv_tabw *w)
{
	gv_tabw_cell(w, (struct gv_cell){"", 0});
}

void
gv_tabw_between(struct gv_tabw *w)
{
	gv_out_char(w->out, '\n');
	gv_out_flush(w->out);
	w->header = true;
	w->tsv = w->asked_tsv;
}
