/* Numbers of runs side by side. */
#ifndef GV_REPORT_BARS_H
#define GV_REPORT_BARS_H

#include "frame.h"

double draw_measures(struct gv_svg *s, const struct runs *r, double y);
/* Whether any measure that is drawn is known of more than one run. */
bool any_measures(const struct runs *r);

#endif
