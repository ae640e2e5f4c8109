/* Which pools of the cluster table are this machine's. */
#ifndef NODE_H
#define NODE_H

#include "base/err.h"
#include "sched/cluster.h"

/*
 * Keeps the pools of one machine: those of node, or without one (NULL) those of
 * this host and without a name, or all when all are of the same node.  -1: *e.
 */
int node_select(
    struct gv_cluster *c, const char *file, const char *node, struct gv_error *e);
/* Writes the rows of the cluster table f that are left in c.  0 or -1. */
int node_write(const struct gv_cluster *c, const struct gv_frame *f, const char *path,
    struct gv_error *e);

#endif
