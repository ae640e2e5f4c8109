/* The allocation table of a run: checked, merged with the one kept, written. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/fileio.h"
#include "jobs.h"
#include "node.h"
#include "policy/told.h"
#include "sched/cluster.h"
#include "sched/rates.h"

/*
 * Reads an allocation table and checks what gv-run needs of it; shares: it must have
 * some, and what is left to other nodes
 * is left out.  *slips gets what looks like one, to be warned about.  0 or -1.
 */
int table_read(struct gv_rates *t, const char *path, const struct gv_cluster *c,
    const struct node_choice *node, bool shares, struct gv_error *slips,
    struct gv_error *e);
/*
 * Writes a table of the jobs of fresh, and before them those of known (may be
 * NULL) that fresh lacks.  0 or -1.
 */
int table_merge(const struct gv_rates *known, const struct gv_rates *fresh,
    const char *path, struct gv_error *e);
/* The name in the column policy, NULL = none.  Rows that differ: *e and -1. */
int table_policy(const struct gv_rates *t, const char **name, struct gv_error *e);

/*
 * Writes the table as it stands now: shares, steps_remaining and elapsed times,
 * isolated_s[m] of job m; and the pairs that the policy has named since, as rows of
 * their first job.  0 or -1.
 */
int table_write(
    const struct jobs *j, const double *isolated_s, const char *path, struct gv_error *e);
void table_write_to(const struct jobs *j, const double *isolated_s, struct gv_out *out);
/* Columns that the run computes, and does not take from who describes jobs. */
bool table_computes(struct gv_cell name);
/* Writes the rows of the active jobs without shares: what a policy is asked. */
void table_write_rates(
    const struct jobs *j, const double *isolated_s, struct gv_out *out);

/* Jobs asked[0..n) as a policy is told them, into now [n]. */
void table_told(const struct jobs *j, const double *isolated_s, const size_t *asked,
    size_t n, struct gv_told_job *now);
/* Whether changes of the table say all that a policy must hear. */
bool table_can_change(const struct jobs *j);
/* Writes what has changed since told, change[0..n) of gv_told_compare() with now. */
void table_write_changes(const struct jobs *j, const double *isolated_s,
    const struct gv_told *told, const struct gv_told_job *now,
    const struct gv_told_change *change, size_t n, struct gv_out *out);

#endif
