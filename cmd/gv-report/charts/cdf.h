/* Figures of how numbers of jobs lie. */
#ifndef GV_REPORT_CDF_H
#define GV_REPORT_CDF_H

#include "frame.h"

double draw_completion(struct gv_svg *s, const struct runs *r, double y);
double draw_lengths(struct gv_svg *s, const struct runs *r, double y);
double draw_queueing(struct gv_svg *s, const struct runs *r, double y);
double draw_fairness(struct gv_svg *s, const struct runs *r, double y);

/* Whether any job of any run has that number. */
bool any_number(const struct runs *r, size_t offset);

#endif
