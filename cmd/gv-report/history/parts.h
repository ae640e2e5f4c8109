/*
 * The parts of a report as tables: their columns and rows.  Every format that a
 * machine reads is written from these, so that they agree.
 */
#ifndef GV_REPORT_PARTS_H
#define GV_REPORT_PARTS_H

#include "gv-report/history/history.h"
#include "gv-report/history/summary.h"

struct report {
	struct history history;
	struct summary summary;
};

struct value {
	enum { NOTHING, TEXT, NUMBER, COUNT, FLAG } kind;
	struct gv_cell text;
	double number; /* NAN = nothing; FLAG: 0 or 1 */
};

enum { PART_COLUMNS = 32 }; /* at most */

struct part {
	const char *by;   /* as --by names it */
	const char *many; /* its key in JSON; NULL = one row, keyed by by */
	const char *const *column;
	size_t n_columns;
	/*
	 * Calls put with each row's values v [n_columns], in order; texts live as
	 * long as the report.
	 */
	void (*rows)(const struct report *r, void (*put)(void *to, const struct value *v),
	    void *to);
};

enum { PART_SUMMARY, PART_TYPE, PART_ENTITY, PART_JOB, PART_SHARE, PARTS };
extern const struct part parts[PARTS];

#endif
