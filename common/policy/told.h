/*
 * What a policy was told of the jobs, so that it need not be told again: changes of a
 * table of rates in place of the whole one (gv-tables(5), "Changes").
 *
 *   1. A policy that answers table after table and can be told changes says so by a
 *      column "reads" in the answer to a whole table.
 *   2. From then on a question may be a table of changes: its column "change" says what
 *      has become of a job, "place" which job that is.
 *   3. Its answer has the rows whose shares have changed (sched/asking/follow.h).
 *
 * A whole table can be asked at any time, and is where nobody is there any more who
 * remembers the last one.
 *
 * Costs for a question O(jobs) numbers looked at, and text for what has changed alone.
 */
#ifndef GV_POLICY_TOLD_H
#define GV_POLICY_TOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "table/tab.h"

/* Numbers of a job that change while it is there, if only the policy looks at them. */
enum { GV_TOLD_STEPS_REMAINING, GV_TOLD_ELAPSED, GV_TOLD_ISOLATED, GV_TOLD_NUMBERS };

/* Their columns. */
extern const char *const gv_told_column[GV_TOLD_NUMBERS];

struct gv_told_job {
	size_t job; /* whatever number the asker knows it by */
	double number[GV_TOLD_NUMBERS];
};

/* = {0} has told nothing. */
struct gv_told {
	bool follows;                /* it can be told changes */
	bool reads[GV_TOLD_NUMBERS]; /* which numbers it looks at */
	size_t n, cap;
	struct gv_told_job *job; /* [n] of the last question, numbers ascending */
};

enum gv_told_kind { GV_TOLD_GONE, GV_TOLD_NOW, GV_TOLD_NEW };

struct gv_told_change {
	enum gv_told_kind kind;
	/* GONE: of the jobs that were told, else of those that are there now; from 0 */
	size_t at;
	size_t place; /* NEW: of those there now, else of those that were told; from 0 */
};

/*
 * What has changed from what was told to jobs now[0..n), numbers ascending: first those
 * that are gone or have other numbers, places ascending, then those that are new, places
 * ascending.  How many; *change is the caller's to free.
 */
size_t gv_told_compare(const struct gv_told *t, const struct gv_told_job *now, size_t n,
    struct gv_told_change **change);

/* The policy is told these jobs. */
void gv_told_set(struct gv_told *t, const struct gv_told_job *now, size_t n);

/* Takes from an answer to a whole table whether the policy can be told changes. */
void gv_told_hear(struct gv_told *t, const struct gv_frame *answer);

/* As if nothing had been told. */
void gv_told_forget(struct gv_told *t);
void gv_told_free(struct gv_told *t); /* also of a zeroed one */

/* ---- as a table ---- */

/* Writes a table of changes; private but for the calls below. */
struct gv_told_writer {
	struct gv_tabw w;
	size_t n_columns;
	signed char *column; /* a number of the job, -1 its id, -2 something else */
};

/* Writes the names: those of the whole table, name[0..n), behind change and place. */
void gv_told_begin(
    struct gv_told_writer *w, struct gv_out *out, const struct gv_cell *name, size_t n);
/* Writes a row of a job that is gone, or has other numbers than was told. */
void gv_told_row(struct gv_told_writer *w, const struct gv_told *t,
    const struct gv_told_change *change, struct gv_cell id,
    const struct gv_told_job *now);
/* Begins a row of a job that is new: the cells of the whole table must follow. */
void gv_told_new(struct gv_told_writer *w, const struct gv_told_change *change);
void gv_told_end(struct gv_told_writer *w);

#endif
