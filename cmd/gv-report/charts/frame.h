/* What figures have in common: a heading, a legend, panels side by side, units of time. */
#ifndef GV_REPORT_FRAME_H
#define GV_REPORT_FRAME_H

#include "draw/chart.h"
#include "gv-report/runs/run.h"

#define FRAME_W 960.0
#define FRAME_X 24.0
#define INNER_W (FRAME_W - 2 * FRAME_X)

/* Names and their numbers; = {0} is empty. */
struct series {
	size_t n, cap;
	struct gv_legend *of;
};

void series_add(struct series *s, const char *name, size_t len, bool area);
/* The runs as lines. */
struct series series_of_runs(const struct runs *r);
void series_free(struct series *s);

/*
 * The heading and the legend (NULL: none) from y down; the height of both.  note
 * may be NULL.  s NULL: only the height.
 */
double frame_head(struct gv_svg *s, double y, const char *title, const char *note,
    const struct series *legend);

/* A unit for times of about that length, and one for the time of a whole run. */
struct time_unit {
	const char *name;
	double s;
};
struct time_unit unit_of_job(double s);
struct time_unit unit_of_run(double s);

/* Panels of n runs in rows: where the i-th is. */
enum { MOST_PANELS = 24 };
struct grid_of {
	size_t n, columns;
	double w, h; /* of a panel, gaps included */
};
struct grid_of grid_of(size_t n, double h);
struct grid_of grid_in(size_t n, size_t columns, double h);
struct gv_box grid_box(const struct grid_of *g, size_t i, double y);
double grid_height(const struct grid_of *g);

#endif
