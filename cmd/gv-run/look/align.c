#include "align.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
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

static void
write_row(const struct gv_frame *f, struct gv_out *out, const struct gv_cell *cell,
    const size_t *wide, const bool *right)
{
	char buf[LONGEST];
	size_t i, k;

	for (i = 0; i < f->n_columns; i++) {
		const char *s = text(cell[i], buf);
		size_t rest = wide[i] - gv_utf8_count(s);
		bool more = false;

		for (k = i + 1; k < f->n_columns; k++)
			more |= cell[k].len > 0;
		if (i > 0 && (cell[i].len > 0 || more))
			gv_out_str(out, "  ");
		if (right[i] && cell[i].len > 0)
			gv_out_pad(out, rest);
		gv_out_str(out, s);
		if (more && (!right[i] || cell[i].len == 0))
			gv_out_pad(out, rest);
	}
	gv_out_char(out, '\n');
}

void
align_write(const struct gv_frame *f, struct gv_out *out)
{
	size_t *wide = gv_xcalloc(f->n_columns + 1, sizeof(*wide));
	bool *right = gv_xcalloc(f->n_columns + 1, sizeof(*right));
	struct gv_cell *cell = gv_xcalloc(f->n_columns + 1, sizeof(*cell));
	char buf[LONGEST];
	double v;
	size_t row, i;

	for (i = 0; i < f->n_columns; i++) {
		wide[i] = gv_utf8_count(text(f->name[i], buf));
		right[i] = f->n_rows > 0;
		for (row = 0; row < f->n_rows; row++) {
			struct gv_cell c = gv_frame_cell(f, row, (ptrdiff_t)i);
			size_t n = gv_utf8_count(text(c, buf));

			wide[i] = n > wide[i] ? n : wide[i];
			right[i] &= c.len == 0 || is_number(c, &v);
		}
	}
	write_row(f, out, f->name, wide, right);
	for (row = 0; row < f->n_rows; row++) {
		for (i = 0; i < f->n_columns; i++)
			cell[i] = gv_frame_cell(f, row, (ptrdiff_t)i);
		write_row(f, out, cell, wide, right);
	}
	free(wide);
	free(right);
	free(cell);
}
