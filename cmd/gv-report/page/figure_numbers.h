/* The numbers behind a figure, as a table below it. */
#ifndef GV_REPORT_FIGURE_NUMBERS_H
#define GV_REPORT_FIGURE_NUMBERS_H

#include "gv-report/charts/figure.h"

/* Writes an HTML table, or nothing where the page has these numbers elsewhere. */
void figure_numbers(struct gv_out *out, const struct runs *r, enum figure f, int digits);

#endif
