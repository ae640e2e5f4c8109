/*
 * Charts: panels with axes, and lines, areas, bars and legends in them.
 *
 * Everything goes into the present element of an SVG, whose root has the class
 * "chart" and whose style sheet is gv_chart_style's.  What is drawn grows with the
 * pixels, never with the numbers behind it.
 */
#ifndef GV_DRAW_CHART_H
#define GV_DRAW_CHART_H

#include "base/strbuf.h"
#include "draw/palette.h"
#include "draw/scale.h"
#include "draw/svg.h"

/*
 * A drawing of that size for charts: its root element, its style sheet with further rules
 * (NULL = none), and the group of the class "chart", into which they go.  In a page of
 * HTML, which has the style sheet, only what it lacks.  gv_chart_end closes both.
 */
void gv_chart_begin(struct gv_svg *s, double w, double h, const char *title, bool in_page,
    const char *rules);
void gv_chart_end(struct gv_svg *s);

struct gv_box {
	double x, y, w, h;
};

/* A box with an axis on the left and one below. */
struct gv_panel {
	struct gv_svg *s;
	struct gv_box box;           /* all of it */
	struct gv_box plot;          /* between the axes; set by gv_panel_begin */
	const char *title;           /* NULL = none */
	const char *note;            /* dim, on the right of the title; NULL = none */
	const char *x_name, *y_name; /* with units; NULL = none */
	struct gv_scale x, y;        /* their pixels are set by gv_panel_begin */
};

/* Draws the frame: titles, grid, ticks and their names, as many as there is room for. */
void gv_panel_begin(struct gv_panel *p);

/*
 * A line through points that come from left to right.  Of those within half a pixel's
 * width only the first, the lowest, the highest and the last are drawn, so that it
 * never has more than 8 w of them and shows every peak; a single point is a dot.  = {.p = panel} is
 * an empty one; gv_curve_draw ends it.
 */
struct gv_curve {
	const struct gv_panel *p;
	bool steps; /* goes right, then up or down, instead of straight */
	struct gv_strbuf d;
	double x, y; /* the last point drawn */
	/* what came since from_x and is not drawn */
	bool open;
	double from_x, low, high, last_x, last_y;
};

void gv_curve_point(struct gv_curve *c, double x, double y);
/* With a class and, if any, a title that a pointer shows. */
void gv_curve_draw(struct gv_curve *c, const char *cls, const char *title);

/*
 * The area between low[i] and high[i] from x[i] to x[i + 1], for each i < n: x has n + 1
 * values.
 */
void gv_area(const struct gv_panel *p, const char *cls, const char *title,
    const double *x, const double *low, const double *high, size_t n);

/* A dashed line at that x across the plot, and what it is. */
void gv_rule_x(const struct gv_panel *p, double x, const char *name);

struct gv_legend {
	const char *name; /* any bytes */
	size_t len;
	size_t series; /* its colour and dashes */
	bool area;     /* a box instead of a line */
};

/*
 * Names of series beside samples of them, in as many lines as they need within w
 * from x; y is the middle of the first line.  Returns the height of all lines (svg
 * NULL: draws nothing).
 */
double gv_legend(
    struct gv_svg *s, const struct gv_legend *of, size_t n, double x, double y, double w);

struct gv_bar {
	const char *name; /* any bytes */
	size_t len;
	double value;     /* NAN: no bar */
	const char *text; /* behind it */
	size_t series;
};

enum { GV_BAR_H = 20 };

/*
 * Bars to the right, GV_BAR_H below each other under a title, from 0 to most;
 * names on the left take name_w.  Returns the height.
 */
double gv_bars(struct gv_svg *s, struct gv_box box, const char *title, double name_w,
    double most, const struct gv_bar *bar, size_t n);

#endif
