#include "draw/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"

static void
escaped(struct gv_out *out, const char *s, size_t len)
{
	size_t i, n;
	uint32_t c;

	for (i = 0; i < len; i += n) {
		n = gv_utf8_next(s + i, len - i, &c);
		if (c == '&')
			gv_out_str(out, "&amp;");
		else if (c == '<')
			gv_out_str(out, "&lt;");
		else if (c == '>')
			gv_out_str(out, "&gt;");
		else if (c == '"')
			gv_out_str(out, "&quot;");
		else if (c < 0x20 || c == GV_UTF8_BAD || c == 0xfffe || c == 0xffff)
			gv_out_str(out, "\xef\xbf\xbd");
		else
			gv_out_write(out, s + i, n);
	}
}

/* Completes the start tag of the present element. */
static void
content(struct gv_svg *s)
{
	if (s->depth > 0 && !s->level[s->depth - 1].has_content) {
		gv_out_char(s->out, '>');
		s->level[s->depth - 1].has_content = true;
	}
}

void
gv_svg_open(struct gv_svg *s, const char *name)
{
	content(s);
	if (s->depth >= GV_SVG_DEPTH)
		gv_die(
		    "SVG nested too deeply"); /* a mistake of the program, not of its input */
	gv_out_fmt(s->out, "<%s", name);
	s->level[s->depth].name = name;
	s->level[s->depth].has_content = false;
	s->depth++;
}

void
gv_svg_attr(struct gv_svg *s, const char *name, const char *value)
{
	gv_out_fmt(s->out, " %s=\"", name);
	escaped(s->out, value, strlen(value));
	gv_out_char(s->out, '"');
}

void
gv_svg_num(struct gv_svg *s, const char *name, double value)
{
	double cents = round(value * 100); /* halves away from zero, on every machine */
	char buf[64];
	size_t len;

	snprintf(buf, sizeof(buf), "%.2f", cents / 100);
	len = strlen(buf);
	while (buf[len - 1] == '0')
		len--;
	if (buf[len - 1] == '.')
		len--;
	buf[len] = '\0';
	gv_out_fmt(s->out, " %s=\"%s\"", name, strcmp(buf, "-0") == 0 ? "0" : buf);
}

void
gv_svg_text(struct gv_svg *s, const char *text, size_t len)
{
	content(s);
	escaped(s->out, text, len);
}

void
gv_svg_str(struct gv_svg *s, const char *text)
{
	gv_svg_text(s, text, strlen(text));
}

void
gv_svg_close(struct gv_svg *s)
{
	s->depth--;
	if (s->level[s->depth].has_content)
		gv_out_fmt(s->out, "</%s>\n", s->level[s->depth].name);
	else
		gv_out_str(s->out, "/>\n");
}

void
gv_svg_begin(struct gv_svg *s, double width, double height, const char *title)
{
	char box[80];

	snprintf(box, sizeof(box), "0 0 %.0f %.0f", ceil(width), ceil(height));
	gv_svg_open(s, "svg");
	gv_svg_attr(s, "xmlns", "http://www.w3.org/2000/svg");
	gv_svg_num(s, "width", ceil(width));
	gv_svg_num(s, "height", ceil(height));
	gv_svg_attr(s, "viewBox", box);
	gv_svg_attr(s, "role", "img");
	gv_svg_str(s, "");
	gv_out_char(s->out, '\n');
	gv_svg_open(s, "title");
	gv_svg_str(s, title);
	gv_svg_close(s);
}

static void
with_class(struct gv_svg *s, const char *name, const char *cls)
{
	gv_svg_open(s, name);
	if (cls != NULL)
		gv_svg_attr(s, "class", cls);
}

void
gv_svg_rect(struct gv_svg *s, const char *cls, double x, double y, double w, double h)
{
	with_class(s, "rect", cls);
	gv_svg_num(s, "x", x);
	gv_svg_num(s, "y", y);
	gv_svg_num(s, "width", w);
	gv_svg_num(s, "height", h);
	gv_svg_close(s);
}

void
gv_svg_line(struct gv_svg *s, const char *cls, double x1, double y1, double x2, double y2)
{
	with_class(s, "line", cls);
	gv_svg_num(s, "x1", x1);
	gv_svg_num(s, "y1", y1);
	gv_svg_num(s, "x2", x2);
	gv_svg_num(s, "y2", y2);
	gv_svg_close(s);
}

void
gv_svg_label(
    struct gv_svg *s, const char *cls, double x, double y, const char *text, size_t len)
{
	with_class(s, "text", cls);
	gv_svg_num(s, "x", x);
	gv_svg_num(s, "y", y);
	gv_svg_text(s, text, len);
	gv_svg_close(s);
}

double
gv_ticks(double max, int n, int *digits)
{
	double step = max / n, unit;

	*digits = 0;
	if (!(max > 0) || !isfinite(step) || step < 1e-300)
		return 1;
	unit = pow(10, floor(log10(step)));
	step = step / unit <= 1   ? unit
	       : step / unit <= 2 ? 2 * unit
	       : step / unit <= 5 ? 5 * unit
				  : 10 * unit;
	while (*digits < 15 &&
	       fabs(step * pow(10, *digits) - round(step * pow(10, *digits))) >
		   1e-6 * step * pow(10, *digits))
		++*digits;
	return step;
}
