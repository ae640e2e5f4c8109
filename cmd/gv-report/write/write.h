/* The formats of a report. */
#ifndef GV_REPORT_WRITE_H
#define GV_REPORT_WRITE_H

#include "gv-report/history/parts.h"
#include "gv-report/runs/run.h"

/*
 * For people: the summary, the GPU types and the jobs, or (part not NULL) one
 * part.  Numbers have digits digits behind the point.
 */
void write_text(
    struct gv_out *out, const struct report *r, const struct part *part, int digits);

/* One part as a table. */
void write_table(
    struct gv_out *out, const struct report *r, const struct part *part, bool tsv);

/* All parts, or (part not NULL) one, as one JSON object. */
void write_json(struct gv_out *out, const struct report *r, const struct part *part);

/*
 * For Prometheus' text file collector, without time stamps, each series with a
 * label run; per_job adds series of every job, and of every job on every type.
 */
void write_prom(
    struct gv_out *out, const struct report *r, const char *run, bool per_job);

/*
 * The run drawn over time: what ran on each GPU, when each job ran, and its
 * shares.  history.keep_runs was set.
 */
void write_svg(struct gv_out *out, const struct report *r, int digits);

/*
 * A page of the summary and the tables of the text, with that drawing (drawn) and the
 * figures of runs, which is this one run, of which charts has the bit.
 */
void write_html(struct gv_out *out, const struct report *r, const struct runs *runs,
    bool drawn, unsigned charts, int digits);

#endif
