/* Tables of jobs that are to be added to a run: what they must be, and the run's table with them. */
#ifndef SUBMISSION_H
#define SUBMISSION_H

#include <stdbool.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "sched/cluster.h"
#include "sched/rates.h"

/* What it is added to. */
struct submission_run {
	const struct gv_cluster *cluster;
	const struct gv_frame *table; /* jobs.csv, or as it is in memory */
	const struct gv_hash *known;  /* ids of its jobs, and of those that wait */
	bool shares;                  /* nobody can be asked: the rows must have some */
};

/*
 * Takes over a table (also on error) and checks it: the columns of the run's, rates on its
 * types, commands, jobs that it does not have.  Columns that it does not have go to
 * *slips, and so does what looks like one.  0, or -1 with *e set, located.
 */
int submission_from(struct gv_rates *t, struct gv_frame *f,
    const struct submission_run *run, struct gv_error *slips, struct gv_error *e);

/* Appends its rows to the text of a table, which has the columns and first row of like. */
void submission_add(
    struct gv_strbuf *text, const struct gv_rates *t, const struct gv_frame *like);

/* The ids of a table's jobs that ids does not have yet, copied to the arena. */
void submission_ids(
    struct gv_hash *ids, struct gv_arena *arena, const struct gv_frame *f);

#endif
