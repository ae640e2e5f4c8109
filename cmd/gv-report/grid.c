#include "grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "draw/svg.h"

void
text_add(struct gv_strbuf *b, const char *s, size_t len)
{
	size_t i, k, n;
	uint32_t c;

	if (len == 0)
		gv_strbuf_char(b, '-');
	for (i = 0; i < len; i += n) {
		n = gv_utf8_next(s + i, len - i, &c);
		if (c >= 0x20 && c != GV_UTF8_BAD && !(c >= 0x7f && c < 0xa0))
			gv_strbuf_add(b, s + i, n);
		else
			for (k = 0; k < n; k++)
				gv_strbuf_fmt(b, "\\x%02x", (unsigned char)s[i + k]);
	}
}

const char *
fixed(char buf[FIXED_LEN], double v, int digits)
{
	if (!isfinite(v))
		return strcpy(buf, "-");
	snprintf(buf, FIXED_LEN, "%.*f", digits, v);
	if (buf[0] == '-' && strspn(buf + 1, "0.") == strlen(buf + 1))
		memmove(buf, buf + 1, strlen(buf));
	return buf;
}

static void
add(struct grid *g, const char *s, size_t len)
{
	g->cell = gv_xgrow(g->cell, &g->cap, g->n + 1, sizeof(*g->cell));
	g->cell[g->n++] = gv_arena_strndup(&g->arena, s, len);
}

void
grid_text(struct grid *g, const char *s, size_t len)
{
	struct gv_strbuf b = {0};

	text_add(&b, s, len);
	add(g, b.s, b.len);
	gv_strbuf_free(&b);
}

void
grid_str(struct grid *g, const char *s)
{
	grid_text(g, s, strlen(s));
}

void
grid_number(struct grid *g, double v, int digits)
{
	char buf[FIXED_LEN];

	fixed(buf, v, digits);
	add(g, buf, strlen(buf));
}

/* Characters; s is valid UTF-8. */
static size_t
width(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void
pad(struct gv_out *out, size_t n)
{
	while (n-- > 0)
		gv_out_char(out, ' ');
}

void
grid_print(const struct grid *g, const bool *right, struct gv_out *out)
{
	size_t *widest = gv_xcalloc(g->n_columns, sizeof(*widest));
	size_t i, gap = 0;

	for (i = 0; i < g->n; i++)
		if (width(g->cell[i]) > widest[i % g->n_columns])
			widest[i % g->n_columns] = width(g->cell[i]);
	for (i = 0; i < g->n; i++) {
		size_t column = i % g->n_columns;
		size_t rest = widest[column] - width(g->cell[i]);

		pad(out, right[column] ? gap + rest : gap);
		gv_out_str(out, g->cell[i]);
		gap = right[column] ? 2 : rest + 2;
		if (column + 1 == g->n_columns) {
			gv_out_char(out, '\n');
			gap = 0;
		}
	}
	free(widest);
}

void
grid_html(const struct grid *g, const bool *right, struct gv_out *out)
{
	struct gv_svg s = {.out = out};
	size_t i;

	gv_svg_open(&s, "div");
	gv_svg_open(&s, "table");
	for (i = 0; i < g->n; i++) {
		size_t column = i % g->n_columns;

		if (column == 0)
			gv_svg_open(&s, "tr");
		gv_svg_open(&s, i < g->n_columns ? "th" : "td");
		if (right[column])
			gv_svg_attr(&s, "class", "r");
		gv_svg_str(&s, g->cell[i]);
		gv_svg_close(&s);
		if (column + 1 == g->n_columns)
			gv_svg_close(&s);
	}
	gv_svg_close(&s);
	gv_svg_close(&s);
}

void
grid_free(struct grid *g)
{
	free(g->cell);
	gv_arena_free(&g->arena);
	*g = (struct grid){0};
}
