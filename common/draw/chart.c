#include "draw/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/text.h"

void
gv_chart_begin(struct gv_svg *s, double w, double h, const char *title, bool in_page,
    const char *rules)
{
	gv_svg_begin(s, w, h, title);
	if (!in_page || rules != NULL) {
		gv_svg_open(s, "style");
		/* the sheet is written as it is: nothing in it needs an escape */
		gv_svg_str(s, "");
		if (!in_page)
			gv_chart_style(s->out, false);
		gv_out_str(s->out, rules != NULL ? rules : "");
		gv_svg_close(s);
	}
	if (!in_page)
		gv_svg_rect(s, "c-page", 0, 0, w, h);
	gv_svg_open(s, "g");
	gv_svg_attr(s, "class", "chart");
	gv_svg_str(s, "");
}

void
gv_chart_end(struct gv_svg *s)
{
	gv_svg_close(s);
	gv_svg_close(s);
}

#define LEFT   48.0 /* of a plot: names of ticks */
#define RIGHT  14.0
#define BOTTOM 36.0
#define HALF   0.5  /* pixels that nobody misses */
#define SEEN   0.05 /* what paths are written to */

static void
label(struct gv_svg *s, const char *cls, double x, double y, const char *text)
{
	gv_svg_label(s, cls, x, y, text, strlen(text));
}

/* ---- the frame ---- */

static void
x_axis(const struct gv_panel *p)
{
	const struct gv_box *b = &p->plot;
	double free_from = -1e9, bottom = b->y + b->h;
	struct gv_tick tick[GV_TICKS];
	size_t n = gv_scale_ticks(&p->x, (int)(b->w / 70) + 1, tick), i;

	for (i = 0; i < n; i++) {
		double x = gv_scale_px(&p->x, tick[i].value);
		double half_w = gv_text_px(tick[i].name, strlen(tick[i].name)) / 2;

		gv_svg_line(p->s, tick[i].named ? "c-grid" : "c-axis", x,
		    tick[i].named ? b->y : bottom - 3, x, bottom);
		if (!tick[i].named || x - half_w < free_from)
			continue;
		label(p->s, "c-dim c-mid", x, bottom + 15, tick[i].name);
		free_from = x + half_w + 6;
	}
	gv_svg_line(p->s, "c-axis", b->x, bottom, b->x + b->w, bottom);
	if (p->x_name != NULL)
		label(p->s, "c-dim c-end", b->x + b->w, bottom + 31, p->x_name);
}

static void
y_axis(const struct gv_panel *p)
{
	const struct gv_box *b = &p->plot;
	struct gv_tick tick[GV_TICKS];
	size_t n = gv_scale_ticks(&p->y, (int)(b->h / 40) + 1, tick), i;
	double free_from = 1e9;

	for (i = 0; i < n; i++) {
		double y = gv_scale_px(&p->y, tick[i].value);

		if (!tick[i].named)
			continue;
		gv_svg_line(p->s, "c-grid", b->x, y, b->x + b->w, y);
		if (y > free_from)
			continue;
		label(p->s, "c-dim c-end", b->x - 6, y + 4, tick[i].name);
		free_from = y - 12;
	}
	if (p->y_name != NULL)
		label(p->s, "c-dim", p->box.x, b->y - 12, p->y_name);
}

void
gv_panel_begin(struct gv_panel *p)
{
	double top = (p->title != NULL ? 20 : 0) + (p->y_name != NULL ? 26 : 4);
	struct gv_strbuf b = {0};

	p->plot =
	    (struct gv_box){p->box.x + LEFT, p->box.y + top, p->box.w - LEFT - RIGHT,
		p->box.h - top - (p->x_name != NULL ? BOTTOM : BOTTOM - 14)};
	p->x.from_px = p->plot.x;
	p->x.to_px = p->plot.x + p->plot.w;
	p->y.from_px = p->plot.y + p->plot.h;
	p->y.to_px = p->plot.y;
	if (p->title != NULL) {
		double note_w =
		    p->note != NULL ? gv_text_px(p->note, strlen(p->note)) + 16 : 0;

		gv_text_fit(&b, p->title, strlen(p->title), (p->box.w - note_w) / 1.15);
		gv_svg_label(p->s, "c-head", p->box.x, p->box.y + 12, b.s, b.len);
		if (p->note != NULL)
			label(p->s, "c-dim c-end", p->plot.x + p->plot.w, p->box.y + 12,
			    p->note);
	}
	gv_strbuf_free(&b);
	x_axis(p);
	y_axis(p);
}

/* ---- lines and areas ---- */

#define DOT 2.0 /* how long a line is that is but a point */

/* A number of a path: one digit behind the point, none where it is 0. */
static void
number(struct gv_strbuf *d, char command, double v)
{
	double tenths = round(v * 10);
	long whole = (long)(fabs(tenths) / 10);
	int rest = (int)(fabs(tenths) - (double)whole * 10);

	gv_strbuf_fmt(d, "%c%s%ld", command, tenths < 0 ? "-" : "", whole);
	if (rest > 0)
		gv_strbuf_fmt(d, ".%d", rest);
}

static void
to(struct gv_curve *c, double x, double y)
{
	if (c->d.len == 0) {
		number(&c->d, 'M', x);
		number(&c->d, ' ', y);
	} else if (c->steps) {
		if (fabs(x - c->x) >= 0.05)
			number(&c->d, 'H', x);
		if (fabs(y - c->y) >= 0.05)
			number(&c->d, 'V', y);
	} else {
		number(&c->d, 'L', x);
		number(&c->d, ' ', y);
	}
	c->x = x;
	c->y = y;
}

/* Draws what is open. */
static void
flush(struct gv_curve *c)
{
	if (c->open && c->low < c->y - SEEN)
		to(c, c->from_x, c->low);
	if (c->open && c->high > c->y + SEEN)
		to(c, c->from_x, c->high);
	if (c->open && (fabs(c->last_y - c->y) > SEEN || c->last_x != c->x))
		to(c, c->last_x, c->last_y);
}

void
gv_curve_point(struct gv_curve *c, double x, double y)
{
	x = gv_scale_px(&c->p->x, x);
	y = gv_scale_px(&c->p->y, y);
	if (!c->open || fabs(x - c->from_x) >= HALF) {
		flush(c);
		to(c, x, y);
		c->open = true;
		c->from_x = x;
		c->low = c->high = y;
	}
	c->low = fmin(c->low, y);
	c->high = fmax(c->high, y);
	c->last_x = x;
	c->last_y = y;
}

/* <path class d>, with its title. */
static void
path(struct gv_svg *s, const char *cls, const char *title, const char *d)
{
	gv_svg_open(s, "path");
	gv_svg_attr(s, "class", cls);
	gv_svg_attr(s, "d", d);
	if (title != NULL) {
		gv_svg_open(s, "title");
		gv_svg_str(s, title);
		gv_svg_close(s);
	}
	gv_svg_close(s);
}

void
gv_curve_draw(struct gv_curve *c, const char *cls, const char *title)
{
	flush(c);
	if (c->d.len > 0 &&
	    strpbrk(c->d.s, "LHV") == NULL) /* of one point nothing is drawn */
		number(&c->d, 'H', c->x + DOT);
	if (c->d.len > 0)
		path(c->p->s, cls, title, c->d.s);
	gv_strbuf_free(&c->d);
}

void
gv_area(const struct gv_panel *p, const char *cls, const char *title, const double *x,
    const double *low, const double *high, size_t n)
{
	struct gv_curve c = {.p = p, .steps = true};
	size_t i;

	if (n == 0)
		return;
	for (i = 0; i < n; i++) {
		gv_curve_point(&c, x[i], high[i]);
		gv_curve_point(&c, x[i + 1], high[i]);
	}
	for (i = n; i-- > 0;) {
		gv_curve_point(&c, x[i + 1], low[i]);
		gv_curve_point(&c, x[i], low[i]);
	}
	flush(&c);
	gv_strbuf_char(&c.d, 'Z');
	path(p->s, cls, title, c.d.s);
	gv_strbuf_free(&c.d);
}

void
gv_rule_x(const struct gv_panel *p, double x, const char *name)
{
	double px = gv_scale_px(&p->x, x);
	bool left = px > p->plot.x + p->plot.w * 0.7;

	gv_svg_line(p->s, "c-rule", px, p->plot.y, px, p->plot.y + p->plot.h);
	label(p->s, left ? "c-text c-end" : "c-text", left ? px - 5 : px + 5,
	    p->plot.y + p->plot.h - 6, name);
}

/* ---- legends and bars ---- */

enum { LEGEND_H = 18, SAMPLE_W = 30 };

static void
sample(struct gv_svg *s, const struct gv_legend *l, double x, double y)
{
	char cls[GV_CLASS_LEN];

	if (l->area)
		gv_svg_rect(s, gv_fill_class(l->series), x, y - 5, 10, 10);
	else
		gv_svg_line(s, gv_line_class(cls, l->series), x, y, x + SAMPLE_W, y);
}

double
gv_legend(
    struct gv_svg *s, const struct gv_legend *of, size_t n, double x, double y, double w)
{
	struct gv_strbuf b = {0};
	double at = x, height = n > 0 ? LEGEND_H : 0;
	size_t i;

	for (i = 0; i < n; i++) {
		double sample_w = of[i].area ? 16 : SAMPLE_W + 6, need;

		gv_text_fit(&b, of[i].name, of[i].len, fmin(w - sample_w, 220));
		need = sample_w + gv_text_px(b.s, b.len) + 18;
		if (at > x && at + need - 18 > x + w) {
			at = x;
			height += LEGEND_H;
		}
		if (s != NULL) {
			sample(s, &of[i], at, y + height - LEGEND_H);
			gv_svg_label(s, "c-text", at + sample_w,
			    y + height - LEGEND_H + 4, b.s, b.len);
		}
		at += need;
	}
	gv_strbuf_free(&b);
	return height;
}

double
gv_bars(struct gv_svg *s, struct gv_box box, const char *title, double name_w,
    double most, const struct gv_bar *bar, size_t n)
{
	double value_w = 78, x = box.x + name_w, w = box.w - name_w - value_w;
	struct gv_strbuf b = {0};
	size_t i;

	gv_text_fit(&b, title, strlen(title), box.w / 1.15);
	gv_svg_label(s, "c-head", box.x, box.y + 12, b.s, b.len);
	for (i = 0; i < n; i++) {
		double y = box.y + 22 + (double)i * GV_BAR_H;
		double px =
		    most > 0 && bar[i].value > 0 ? w * fmin(bar[i].value / most, 1) : 0;

		gv_text_fit(&b, bar[i].name, bar[i].len, name_w - 8);
		gv_svg_label(
		    s, "c-text c-end", x - 8, y + GV_BAR_H / 2.0 + 3, b.s, b.len);
		gv_svg_rect(s, "c-track", x, y + 2, w, GV_BAR_H - 5);
		if (px > 0)
			gv_svg_rect(s, gv_fill_class(bar[i].series), x, y + 2,
			    fmax(px, HALF), GV_BAR_H - 5);
		label(s, "c-text", x + w + 6, y + GV_BAR_H / 2.0 + 3, bar[i].text);
	}
	gv_strbuf_free(&b);
	return 22 + (double)n * GV_BAR_H;
}
