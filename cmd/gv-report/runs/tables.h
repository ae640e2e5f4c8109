/* The tables of a run, row by row into it. */
#ifndef GV_REPORT_TABLES_H
#define GV_REPORT_TABLES_H

#include "run.h"

/* The run of that name; it is new when there was none. */
struct run *runs_named(struct runs *r, const char *name, size_t len);

/* The job of that id, new ones with nothing known of them; *is_new tells. */
struct outcome *run_job(struct run *r, const char *id, size_t len, bool *is_new);
struct run_type *run_type_named(struct run *r, const char *name, size_t len);

/* That the run knows no table of the kind yet.  0, or -1 with *e set. */
int run_claim(struct run *r, enum run_table kind, const char *file, struct gv_error *e);

/* What became of jobs: job_id, completion_s and more. */
int runs_jobs(
    struct runs *r, const char *name, const struct gv_frame *f, struct gv_error *e);
/* A summary: measure, value and gpu_type. */
int runs_summary(
    struct runs *r, const char *name, const struct gv_frame *f, struct gv_error *e);

#endif
