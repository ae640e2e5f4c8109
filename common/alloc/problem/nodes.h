/*
 * Jobs that say on which node they run (the column node): then the GPUs of a type on each
 * node are a type of their own, named TYPE@NODE, that the jobs of that node alone can
 * have.
 */
#ifndef GV_ALLOC_NODES_H
#define GV_ALLOC_NODES_H

#include "sched/cluster.h"
#include "sched/rates.h"

/*
 * Whether the cluster has several nodes.  GPUs without a node are of whichever node is
 * asked about: then none is told apart.
 */
bool gv_nodes_several(const struct gv_cluster *c);

/* Whether jobs of r say so, and the cluster has several nodes. */
bool gv_nodes_tied(const struct gv_rates *r, const struct gv_cluster *c);

/*
 * The cluster of those types, a pool each, also of those of which a node has none; c must
 * outlive it.  Frees by gv_cluster_free().
 */
void gv_nodes_split(struct gv_cluster *to, const struct gv_cluster *c);

/*
 * The rates of r, read with c, get the types of its split cluster; rows of gangs across
 * nodes (TYPE_unconsolidated) get none.  A job without a node, whose GPUs are all of one, gets
 * that.  0, or -1 with *e set: a job could run on several nodes, has one that the cluster
 * lacks, or shares GPUs with another job.
 */
int gv_nodes_tie(struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_cluster *split, struct gv_error *e);

#endif
