/* Runs as a view. */
#ifndef GV_REPORT_SHEET_RUNS_H
#define GV_REPORT_SHEET_RUNS_H

#include "gv-report/runs/run.h"
#include "sheet.h"

/*
 * What people compare runs by, and the sheets run and type; in full also job and curve,
 * which grow with the jobs.  Texts are those of the runs, which must outlive the view.
 */
void view_runs(struct view *v, const struct runs *r, bool full);

#endif
