/* The figures that runs can be drawn as; each stands alone, for a slide. */
#ifndef GV_REPORT_FIGURE_H
#define GV_REPORT_FIGURE_H

#include "draw/chart.h"
#include "gv-report/runs/run.h"

enum figure {
	FIGURE_MEASURES,
	FIGURE_COMPLETION,
	FIGURE_LENGTHS,
	FIGURE_QUEUEING,
	FIGURE_FAIRNESS,
	FIGURE_BUSY,
	FIGURE_WAITING,
	FIGURE_HELD,
	FIGURE_ROUNDS,
	FIGURES
};

#define FIGURE_W 960.0

/* As --chart names it: "completion". */
const char *figure_name(enum figure f);

/* Whether the runs tell what it shows. */
bool figure_has(const struct runs *r, enum figure f);

/*
 * Draws it from y down, FIGURE_W wide, and returns its height; s NULL: only that.
 * Its size is bounded by the runs, whatever the number of jobs, GPUs and events.
 */
double figure_draw(struct gv_svg *s, const struct runs *r, enum figure f, double y);

/* What it shows, for those who cannot see it: onto b. */
void figure_describe(struct gv_strbuf *b, const struct runs *r, enum figure f);

#endif
