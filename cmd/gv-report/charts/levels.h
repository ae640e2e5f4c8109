/* Figures of levels over time. */
#ifndef GV_REPORT_LEVELS_H
#define GV_REPORT_LEVELS_H

#include "frame.h"

double draw_busy(struct gv_svg *s, const struct runs *r, double y);
double draw_waiting(struct gv_svg *s, const struct runs *r, double y);
double draw_held(struct gv_svg *s, const struct runs *r, double y);

/* Whether the events of any run tell of GPUs that were used. */
bool any_events(const struct runs *r);

#endif
