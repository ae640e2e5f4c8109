#include "frame.h"

#include <stdlib.h>
#include <string.h>

#define GAP 20.0 /* between panels */

void
series_add(struct series *s, const char *name, size_t len, bool area)
{
	s->of = gv_xgrow(s->of, &s->cap, s->n + 1, sizeof(*s->of));
	s->of[s->n] = (struct gv_legend){name, len, s->n, area};
	s->n++;
}

struct series
series_of_runs(const struct runs *r)
{
	struct series s = {0};
	size_t i;

	for (i = 0; i < r->n; i++)
		series_add(&s, r->run[i].name, strlen(r->run[i].name), false);
	return s;
}

void
series_free(struct series *s)
{
	free(s->of);
	*s = (struct series){0};
}

double
frame_head(struct gv_svg *s, double y, const char *title, const char *note,
    const struct series *legend)
{
	double height = 26;

	if (s != NULL)
		gv_svg_label(s, "c-title", FRAME_X, y + 16, title, strlen(title));
	if (note != NULL) {
		if (s != NULL)
			gv_svg_label(s, "c-dim", FRAME_X, y + 33, note, strlen(note));
		height += 16;
	}
	if (legend != NULL)
		height += 8 + gv_legend(s, legend->of, legend->n, FRAME_X,
				  y + height + 10, INNER_W);
	return height + 8;
}

struct time_unit
unit_of_job(double s)
{
	return s < 300          ? (struct time_unit){"s", 1}
	       : s < 3 * 3600   ? (struct time_unit){"min", 60}
	       : s < 14 * 86400 ? (struct time_unit){"h", 3600}
				: (struct time_unit){"d", 86400};
}

struct time_unit
unit_of_run(double s)
{
	return s < 600         ? (struct time_unit){"s", 1}
	       : s < 10 * 3600 ? (struct time_unit){"min", 60}
	       : s < 7 * 86400 ? (struct time_unit){"h", 3600}
			       : (struct time_unit){"d", 86400};
}

struct grid_of
grid_in(size_t n, size_t columns, double h)
{
	return (struct grid_of){.n = n < MOST_PANELS ? n : MOST_PANELS,
	    .columns = columns,
	    .w = (INNER_W + GAP) / (double)columns,
	    .h = h};
}

struct grid_of
grid_of(size_t n, double h)
{
	return grid_in(n, n <= 1 ? 1 : n == 2 || n == 4 ? 2 : 3, h);
}

struct gv_box
grid_box(const struct grid_of *g, size_t i, double y)
{
	return (struct gv_box){FRAME_X + (double)(i % g->columns) * g->w,
	    y + (double)(i / g->columns) * g->h, g->w - GAP, g->h - 14};
}

double
grid_height(const struct grid_of *g)
{
	return (double)((g->n + g->columns - 1) / g->columns) * g->h;
}
