/* Several runs beside each other. */
#ifndef GV_REPORT_COMPARE_H
#define GV_REPORT_COMPARE_H

#include <stdbool.h>

#include "gv-report/write/runs.h"
#include "name.h"
#include "options.h"
#include "table/tab.h"

/*
 * Whether a table is reported as runs even when it is alone: what a simulation said
 * of itself or its jobs, and events where a part is asked for that only runs have.
 */
bool compare_takes(const struct gv_tab *t, const char *by);

/*
 * Reads all tables of the operands, of the first of which tab is at its first, and
 * reports them; whether all is as expected.
 */
bool compare(const struct options *o, struct gv_tab *tab, char **operand, size_t n);
/* The same of the tables of one input, the first of which tab is at; closes it. */
bool compare_one(const struct options *o, struct operand operand, struct gv_tab *tab);

/* The last row of a log is not complete, and ignored. */
void warn_of_cut(const char *file, long line);

#endif
