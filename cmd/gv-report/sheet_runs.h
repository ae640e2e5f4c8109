/* Runs as a view. */
#ifndef GV_REPORT_SHEET_RUNS_H
#define GV_REPORT_SHEET_RUNS_H

#include "gv-report/runs/run.h"
#include "sheet.h"

/*
 * Sheets run, type, job and curve for machines, and what people compare runs by; texts
 * are those of the runs, which must outlive the view.
 */
void view_runs(struct view *v, const struct runs *r);

#endif
