/*
 * Jobs that say on which node they run (the column node): then the GPUs of a type on each
 * node are a type of their own, named TYPE@NODE, that the jobs of that node alone can
 * have.
 */
#ifndef GV_ALLOC_NODES_H
#define GV_ALLOC_NODES_H

#include "base/hash.h"
#include "sched/cluster.h"
#include "sched/rates.h"

/*
 * Whether the cluster has several nodes.  GPUs without a node are of whichever node is
 * asked about: then none is told apart.
 */
bool gv_nodes_several(const struct gv_cluster *c);

/* Whether jobs of r say so, and the cluster has several nodes. */
bool gv_nodes_tied(const struct gv_rates *r, const struct gv_cluster *c);

/* A cluster by nodes. */
struct gv_nodes {
	struct gv_cluster split; /* of those types, a pool each */
	struct gv_hash nodes;    /* their names */
	size_t *
	    type; /* [nodes][types of the cluster] the type of split that each is there */
};

/*
 * Types of which a node has no GPUs are types of no GPUs there, each if it is said so, where
 * what one GPU more would bring is asked; else one such type, TYPE@, is that of all nodes.
 * c must outlive it.
 */
void gv_nodes_split(struct gv_nodes *s, const struct gv_cluster *c, bool each);
void gv_nodes_free(struct gv_nodes *s); /* also of a zeroed one */

/*
 * The rates of r, read with c, get the types of its split cluster; rows of gangs across
 * nodes (TYPE_unconsolidated) get none.  A job without a node, whose GPUs are all of one, gets
 * that.  0, or -1 with *e set: a job could run on several nodes, has one that the cluster
 * lacks, or shares GPUs with another job.
 */
int gv_nodes_tie(struct gv_rates *r, const struct gv_cluster *c, const struct gv_nodes *s,
    struct gv_error *e);

#endif
