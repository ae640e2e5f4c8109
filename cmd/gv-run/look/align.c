#include "align.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/term.h"
#include "base/utf8.h"

enum { LONGEST = GV_QUOTE_LEN };

static bool
is_plain(struct gv_cell c)
{
	size_t i;

	for (i = 0; i < c.len; i++)
		if (c.s[i] < ' ' || c.s[i] > '~')
			return false;
	return c.len < LONGEST;
}

static bool
is_number(struct gv_cell c, double *v)
{
	return gv_parse_double(c.s, c.len, v) == 0;
}

/* The text of a cell; buf or the cell's. */
static const char *
text(struct gv_cell c, char buf[LONGEST])
{
	double v;

	if (!is_plain(c))
		return gv_quote(buf, c.s, c.len);
	if (memchr(c.s, '.', c.len) == NULL || !is_number(c, &v))
		return c.s;
	snprintf(buf, LONGEST, "%.4g", v);
	return buf;
}

struct layout {
	size_t *wide; /* of each column */
	bool *right;
};

/* Cells of the columns first..end-1; where that is not from 0, that of 0 before them. */
static void
write_row(const struct gv_frame *f, const struct gv_cell *cell, const struct layout *l,
    size_t first, size_t end, struct gv_out *out)
{
	char buf[LONGEST];
	size_t i, k, last = 0;

	for (k = first; k < end; k++)
		last = cell[k].len > 0 ? k : last;
	for (k = first > 0 ? first - 1 : 0; k < end && k < f->n_columns; k++) {
		const char *s;
		size_t rest;

		i = first > 0 && k == first - 1 ? 0 : k;
		if (k > last && i > 0)
			break;
		s = text(cell[i], buf);
		rest = l->wide[i] - gv_utf8_count(s);
		if (i > 0)
			gv_out_str(out, "  ");
		if (l->right[i] && cell[i].len > 0)
			gv_out_pad(out, rest);
		gv_out_str(out, s);
		if (last > k && (!l->right[i] || cell[i].len == 0))
			gv_out_pad(out, rest);
	}
	gv_out_char(out, '\n');
}

/* All rows, of those columns. */
static void
write_columns(const struct gv_frame *f, const struct layout *l, size_t first, size_t end,
    struct gv_out *out)
{
	struct gv_cell *cell = gv_xcalloc(f->n_columns + 1, sizeof(*cell));
	size_t row, i;

	write_row(f, f->name, l, first, end, out);
	for (row = 0; row < f->n_rows; row++) {
		for (i = 0; i < f->n_columns; i++)
			cell[i] = gv_frame_cell(f, row, (ptrdiff_t)i);
		write_row(f, cell, l, first, end, out);
	}
	free(cell);
}

/* The end of the columns from first on that fit, at least one. */
static size_t
fit(const struct gv_frame *f, const struct layout *l, size_t first, size_t room)
{
	size_t used = l->wide[0] + (first > 0 ? 2 + l->wide[first] : 0);
	size_t end = first + 1;

	while (end < f->n_columns && (room == 0 || used + 2 + l->wide[end] <= room))
		used += 2 + l->wide[end++];
	return end;
}

void
align_write(const struct gv_frame *f, struct gv_out *out)
{
	struct layout l = {gv_xcalloc(f->n_columns + 1, sizeof(*l.wide)),
	    gv_xcalloc(f->n_columns + 1, sizeof(*l.right))};
	size_t room = out == gv_stdout() ? gv_term_width() : 0;
	char buf[LONGEST];
	double v;
	size_t row, i, first, end;

	for (i = 0; i < f->n_columns; i++) {
		l.wide[i] = gv_utf8_count(text(f->name[i], buf));
		l.right[i] = f->n_rows > 0;
		for (row = 0; row < f->n_rows; row++) {
			struct gv_cell c = gv_frame_cell(f, row, (ptrdiff_t)i);
			size_t n = gv_utf8_count(text(c, buf));

			l.wide[i] = n > l.wide[i] ? n : l.wide[i];
			l.right[i] &= c.len == 0 || is_number(c, &v);
		}
	}
	for (first = 0; first < f->n_columns; first = end) {
		end = fit(f, &l, first, room);
		if (first > 0)
			gv_out_char(out, '\n');
		write_columns(f, &l, first, end, out);
	}
	free(l.wide);
	free(l.right);
}
