/* The axis of a time below rows of bars. */
#ifndef GV_REPORT_AXIS_H
#define GV_REPORT_AXIS_H

#include "draw/svg.h"

struct axis {
	double x, width;    /* px, of time 0 and on */
	double top, bottom; /* px, of the lines down */
	double last;        /* the last time, in units */
	double unit, px;    /* of a unit, in times; px of a time */
	const char *name;   /* of the unit */
	int ticks;          /* about so many */
};

/* Lines down at the ticks, their names below, the unit's behind the last. */
void axis_draw(struct gv_svg *s, const struct axis *a);

#endif
