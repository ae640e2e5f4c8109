#include "grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/term.h"
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
		bool steers = gv_utf8_steers(s + i, len - i, &n);

		gv_utf8_next(s + i, len - i, &c);
		if (!steers && c != GV_UTF8_BAD)
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

/* ---- to a terminal, or anywhere ---- */

/* How a grid is printed: its columns' widths, and what the terminal can do. */
struct layout {
	size_t *width; /* [n_columns] */
	bool colour;
};

/* Colours of the words that say how a job is; NULL: none. */
static const char *
colour_of(const char *s)
{
	static const char *const coloured[][2] = {{"finished", "32"}, {"running", "36"},
	    {"failed", "31"}, {"dropped", "31"}, {"never", "31"}, {"preempted", "33"},
	    {"waiting", "33"}};
	size_t i;

	for (i = 0; i < sizeof(coloured) / sizeof(coloured[0]); i++)
		if (strcmp(s, coloured[i][0]) == 0)
			return coloured[i][1];
	return NULL;
}

/* A cell, no wider than its column: cut, with ".." at its end. */
static void
print_cell(const struct grid *g, size_t i, const struct layout *l, struct gv_out *out)
{
	const char *s = g->cell[i];
	size_t most = l->width[i % g->n_columns];
	const char *colour = !l->colour ? NULL : i < g->n_columns ? "1" : colour_of(s);

	if (colour != NULL)
		gv_out_fmt(out, "\033[%sm", colour);
	if (gv_utf8_count(s) <= most) {
		gv_out_str(out, s);
	} else {
		size_t n = 0, end = 0;

		for (; n < most - 2 || ((unsigned char)s[end] & 0xc0) == 0x80; end++)
			n += ((unsigned char)s[end] & 0xc0) != 0x80;
		gv_out_write(out, s, end);
		gv_out_str(out, "..");
	}
	if (colour != NULL)
		gv_out_str(out, "\033[0m");
}

/* The first column and those from first to end, of all rows. */
static void
print_columns(const struct grid *g, const bool *right, const struct layout *l,
    size_t first, size_t end, struct gv_out *out)
{
	size_t row, k;

	for (row = 0; row < g->n / g->n_columns; row++) {
		size_t gap = 0;

		for (k = first == 0 ? 0 : first - 1; k < end; k++) {
			size_t column = first > 0 && k == first - 1 ? 0 : k;
			size_t i = row * g->n_columns + column,
			       len = gv_utf8_count(g->cell[i]);
			size_t rest = l->width[column] > len ? l->width[column] - len : 0;

			gv_out_pad(out, right[column] ? gap + rest : gap);
			print_cell(g, i, l, out);
			gap = right[column] ? 2 : rest + 2;
		}
		gv_out_char(out, '\n');
	}
}

enum { NARROWEST = 12 }; /* of a text that is cut */

static size_t
sum_of(const struct grid *g, const size_t *widths)
{
	size_t i, total = 0;

	for (i = 0; i < g->n_columns; i++)
		total += widths[i] + (i > 0 ? 2 : 0);
	return total;
}

/*
 * Makes texts narrower, the widest first, until a row fits; where it cannot, only
 * what would not fit beside the first column.
 */
static void
squeeze(const struct grid *g, const bool *right, size_t *widths, size_t room)
{
	size_t *fitted = gv_xcalloc(g->n_columns, sizeof(*fitted));
	size_t i, most, total = sum_of(g, widths);

	memcpy(fitted, widths, g->n_columns * sizeof(*fitted));
	for (most = 0; total > room && most < g->n_columns; total--) {
		most = g->n_columns;
		for (i = 0; i < g->n_columns; i++)
			if (!right[i] && fitted[i] > NARROWEST &&
			    (most == g->n_columns || fitted[i] > fitted[most]))
				most = i;
		if (most < g->n_columns)
			fitted[most]--;
	}
	if (sum_of(g, fitted) <= room) {
		memcpy(widths, fitted, g->n_columns * sizeof(*fitted));
	} else {
		if (!right[0] && widths[0] > NARROWEST && widths[0] > room / 2)
			widths[0] = room / 2 > NARROWEST ? room / 2 : NARROWEST;
		for (i = 1; i < g->n_columns; i++)
			if (!right[i] && widths[i] > NARROWEST &&
			    widths[0] + 2 + widths[i] > room)
				widths[i] = widths[0] + 2 + NARROWEST < room
						? room - widths[0] - 2
						: NARROWEST;
	}
	free(fitted);
}

void
grid_print(const struct grid *g, const bool *right, struct gv_out *out)
{
	bool here = out == gv_stdout();
	size_t room = here ? gv_term_width() : 0;
	struct layout l = {gv_xcalloc(g->n_columns, sizeof(*l.width)), false};
	size_t i, first, end, total;

	l.colour = here && gv_term_colour();
	for (i = 0; i < g->n; i++)
		if (gv_utf8_count(g->cell[i]) > l.width[i % g->n_columns])
			l.width[i % g->n_columns] = gv_utf8_count(g->cell[i]);
	if (room > 0)
		squeeze(g, right, l.width, room);
	/* what still does not fit goes below, the first column again in front of it */
	for (first = 0; first < g->n_columns; first = end) {
		total = l.width[first == 0 ? 0 : first];
		if (first > 0)
			total += l.width[0] + 2;
		for (end = first + 1; end < g->n_columns; end++) {
			total += l.width[end] + 2;
			if (room > 0 && total > room)
				break;
		}
		if (first > 0)
			gv_out_char(out, '\n');
		print_columns(g, right, &l, first, end, out);
	}
	free(l.width);
}

static void
html_row(const struct grid *g, const bool *right, size_t row, struct gv_svg *s)
{
	size_t k;

	gv_svg_open(s, "tr");
	for (k = 0; k < g->n_columns; k++) {
		gv_svg_open(s, row == 0 ? "th" : "td");
		if (row == 0)
			gv_svg_attr(s, "scope", "col");
		if (right[k])
			gv_svg_attr(s, "class", "r");
		gv_svg_str(s, g->cell[row * g->n_columns + k]);
		gv_svg_close(s);
	}
	gv_svg_close(s);
}

void
grid_html(const struct grid *g, const bool *right, struct gv_out *out)
{
	struct gv_svg s = {.out = out};
	size_t row;

	gv_svg_open(&s, "div");
	gv_svg_open(&s, "table");
	gv_svg_open(&s, "thead");
	html_row(g, right, 0, &s);
	gv_svg_close(&s);
	gv_svg_open(&s, "tbody");
	for (row = 1; row < g->n / g->n_columns; row++)
		html_row(g, right, row, &s);
	gv_svg_str(&s, ""); /* HTML knows no <tbody/> */
	gv_svg_close(&s);
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

/* Text from a column on, broken between words; lines that follow begin in that column. */
static void
put_broken(const char *text, size_t from, size_t room, struct gv_out *out)
{
	size_t used = from, len, wide, gap;
	struct gv_strbuf word = {0};

	for (; *text != '\0'; text += strspn(text, " ") + len) {
		gap = strspn(text, " ");
		len = strcspn(text + gap, " ");
		gv_strbuf_clear(&word);
		gv_strbuf_add(&word, text + gap, len);
		wide = gv_utf8_count(word.s);
		if (used > from && used + gap + wide > room) {
			gv_out_fmt(out, "\n%*s", (int)from, "");
			used = from;
			gap = 0;
		}
		gv_out_fmt(out, "%*s%s", (int)gap, "", word.s);
		used += gap + wide;
	}
	gv_out_char(out, '\n');
	gv_strbuf_free(&word);
}

void
grid_note(const char *text, bool html, struct gv_out *out)
{
	size_t room = out == gv_stdout() ? gv_term_width() : 0;

	if (html || room == 0)
		gv_out_fmt(out, "%s%s%s\n", html ? "<p>" : "", text, html ? "</p>" : "");
	else
		put_broken(text, 0, room, out);
}

void
grid_line(const char *label, const char *text, struct gv_out *out)
{
	enum { LABEL = 12 };
	size_t room = out == gv_stdout() ? gv_term_width() : 0;

	gv_out_fmt(out, "%-*s", (int)LABEL, label);
	if (room == 0)
		gv_out_fmt(out, "%s\n", text);
	else
		put_broken(text, LABEL, room, out);
}
