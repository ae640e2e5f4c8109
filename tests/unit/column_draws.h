/* Tables of columns that are said, drawn.  Behind draws.h. */
#ifndef COLUMN_DRAWS_H
#define COLUMN_DRAWS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"

/* What a cell holds: one of texts, or else a number. */
struct column_drawn {
	const char *name;
	size_t absent; /* one of so many tables lacks it, 0 = none */
	size_t empty;  /* so is one of so many cells, 0 = none */
	const char *const *text;
	size_t n_texts;
	double most;
	enum { ANY, WHOLE, ROWS } kind; /* ROWS: the number of the row, or one before */
};

enum { MOST_DRAWN_COLUMNS = 24 };

static inline void
put_column_cell(struct gv_strbuf *s, const struct column_drawn *c, size_t row, size_t odd)
{
	static const char *const odd_cells[] = {
	    "", "x", "-1", "nan", "0", "1e30", "2147483649", "1.5", "a;b", "1e300"};
	size_t kind = below(8);
	double part = uniform();
	double v = kind == 0   ? 0
		   : kind == 1 ? c->most
		   : kind < 5  ? c->most / 8 * (double)(1 + below(8))
			       : c->most * part;

	if (odd > 0 && below(odd) == 0)
		gv_strbuf_str(s, odd_cells[below(10)]);
	else if (c->empty > 0 && below(c->empty) == 0)
		return;
	else if (c->text != NULL)
		gv_strbuf_str(s, c->text[below(c->n_texts)]);
	else if (c->kind == ROWS)
		gv_strbuf_fmt(s, "%zu", below(5) == 0 && row > 0 ? row - 1 : row);
	else if (c->kind == WHOLE)
		gv_strbuf_fmt(s, "%zu", below((size_t)c->most + 1));
	else
		gv_strbuf_fmt(s, "%.9g", v);
}

/* wrong: one of so many cells is odd, 0 = none. */
static inline void
draw_columns(struct gv_strbuf *s, const struct column_drawn *c, size_t n, size_t rows,
    size_t wrong)
{
	bool has[MOST_DRAWN_COLUMNS];
	size_t i, k, put = 0;

	for (k = 0; k < n; k++) {
		has[k] = c[k].absent == 0 || below(c[k].absent) > 0;
		if (has[k])
			gv_strbuf_fmt(s, "%s%s", put++ > 0 ? "," : "", c[k].name);
	}
	gv_strbuf_char(s, '\n');
	for (i = 0; i < rows; i++) {
		for (k = 0, put = 0; k < n; k++) {
			if (!has[k])
				continue;
			if (put++ > 0)
				gv_strbuf_char(s, ',');
			put_column_cell(s, &c[k], i, wrong);
		}
		gv_strbuf_char(s, '\n');
	}
}

#endif
