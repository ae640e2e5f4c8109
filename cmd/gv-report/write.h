/* The formats of a report. */
#ifndef GV_REPORT_WRITE_H
#define GV_REPORT_WRITE_H

#include "parts.h"

/*
 * For people: the summary, the GPU types and the jobs, or (part not NULL) one
 * part.  Numbers have digits digits behind the point.
 */
void write_text(struct gv_out *out, const struct report *r, const struct part *part, int digits);

/* One part as a table. */
void write_table(struct gv_out *out, const struct report *r, const struct part *part, bool tsv);

/* All parts, or (part not NULL) one, as one JSON object. */
void write_json(struct gv_out *out, const struct report *r, const struct part *part);

/*
 * For Prometheus' text file collector, without time stamps; per_job adds series
 * of every job on every type.
 */
void write_prom(struct gv_out *out, const struct report *r, bool per_job);

#endif
