/* Who has which GPU when, and numbers of runs as bars. */
#ifndef GV_REPORT_ROUNDS_H
#define GV_REPORT_ROUNDS_H

#include "frame.h"

double draw_rounds(struct gv_svg *s, const struct runs *r, double y);

/* Whether events of any run name the GPUs that jobs had. */
bool any_gpus(const struct runs *r);

#endif
