/* The GPUs of an allocation of Slurm as a cluster table, and those that a table names. */
#ifndef GV_POOLS_ALLOCATION_H
#define GV_POOLS_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "launch/slurm/allocation.h"
#include "sched/cluster.h"
#include "table/tab.h"

/*
 * The pools as a table: the rows of the file given whose nodes are in the allocation,
 * checked against what tasks see there; NULL = what Slurm says.  Nodes of the table that
 * are not there are warned about, unless quiet.  0, or -1 with *e set.
 */
int gv_pools_table(const struct gv_slurm_allocation *s, const char *given, bool quiet,
    struct gv_frame *f, struct gv_error *e);
/*
 * That no gang can come to lie on nodes of two groups of a heterogeneous job: a step
 * cannot.  gang: the largest.  0, or -1 with *e set.
 */
int gv_pools_check_groups(const struct gv_slurm_allocation *s, const struct gv_cluster *c,
    size_t gang, struct gv_error *e);

#endif
