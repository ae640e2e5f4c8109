/* --nodes: each job of a table gets a node. */
#ifndef GV_ALLOC_ASSIGN_H
#define GV_ALLOC_ASSIGN_H

#include "options.h"

/*
 * Chooses nodes for the jobs of r that name none (alloc/problem/choose_node.h) and sets
 * the column node; r is read anew.  *together is the policy's objective if the GPUs of
 * all nodes were on one, NAN where it has none or counts what jobs have alone, which a
 * node changes.  Nothing happens, and *together is NAN, where the cluster has one node.
 * 0, or -1 with *e set.
 */
int assign_nodes(struct gv_rates *r, const struct options *o, const struct gv_cluster *c,
    double *together, struct gv_error *e);

#endif
