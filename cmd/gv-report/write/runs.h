/* Runs in the formats that people look at and Prometheus reads. */
#ifndef GV_REPORT_WRITE_RUNS_H
#define GV_REPORT_WRITE_RUNS_H

#include "gv-report/runs/run.h"
#include "gv-report/sheet/sheet.h"

/* Of which figures: a bit for each. */
#define ALL_CHARTS (~0u)

/* The figures of which charts has the bit, below each other. */
void write_runs_svg(struct gv_out *out, const struct runs *r, unsigned charts);
/* A page: the tables of the view that people see, then the figures. */
void write_runs_html(struct gv_out *out, const struct runs *r, const struct view *v,
    unsigned charts, int digits);
void write_runs_prom(struct gv_out *out, const struct runs *r);

#endif
