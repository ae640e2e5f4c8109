/* A topology drawn: its links, and each tree over them. */
#ifndef GV_REPORT_TOPOLOGY_DRAW_H
#define GV_REPORT_TOPOLOGY_DRAW_H

#include "draw/svg.h"
#include "topology.h"

/*
 * Draws it from y down, as wide as figures are (charts/figure.h), and returns its
 * height; s NULL: only that.  topology_place was called.  Of the trees as many as there
 * are panels for.
 */
double topology_draw(struct gv_svg *s, const struct topology *t, double y);

#endif
