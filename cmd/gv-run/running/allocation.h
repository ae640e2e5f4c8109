/* The pools of a run that has an allocation of Slurm. */
#ifndef ALLOCATION_H
#define ALLOCATION_H

#include "base/err.h"
#include "gv-run/core/settings.h"
#include "launch/slurm/slurm.h"
#include "sched/cluster.h"
#include "table/tab.h"

/* = {0} is none. */
struct allocation {
	struct gv_slurm *slurm; /* NULL = workers run on this node */
	char *given;            /* where a table given with -c is kept */
};

/* Finds the allocation, and looks at its nodes; makes the state's directory.  0 or -1. */
int allocation_open(struct allocation *a, const struct settings *o, struct gv_error *e);
/*
 * Its pools as a table: the rows of -c, or of the table of -c that a run before was given,
 * whose nodes are in the allocation, checked against what tasks see there; without one
 * what Slurm says.  Nodes of the table that are not there are warned about.  0 or -1.
 */
int allocation_table(const struct allocation *a, const struct settings *o,
    struct gv_frame *f, struct gv_error *e);
/* Keeps the table of -c for a later --resume on other nodes.  0 or -1. */
int allocation_keep(
    const struct allocation *a, const struct settings *o, struct gv_error *e);
/*
 * That no gang can come to lie on nodes of two groups of a heterogeneous job: a step
 * cannot.  gang: the largest.  0 or -1.
 */
int allocation_check_groups(const struct allocation *a, const struct gv_cluster *c,
    size_t gang, struct gv_error *e);
void allocation_close(struct allocation *a);

#endif
