/* Which pools of the cluster table are this machine's. */
#ifndef NODE_H
#define NODE_H

#include <stdbool.h>

#include "base/err.h"
#include "sched/cluster.h"
#include "sched/rates.h"

/* The node that was chosen, of a cluster of several. */
struct node_choice {
	const char *name; /* NULL = the cluster has no other */
	bool *elsewhere;  /* [n_types] other nodes have GPUs of the type */
	char host[256];
};

/*
 * Keeps the pools of one machine: those of node, or without one (NULL) those of
 * this host and without a name, or all when all are of the same node.  -1: *e.
 * Free choice with node_free.
 */
int node_select(struct gv_cluster *c, const char *file, const char *node,
    struct node_choice *choice, struct gv_error *e);
void node_free(struct node_choice *choice);
/* The one node that pools are of which have one, or NULL. */
const char *node_only(const struct gv_cluster *c);

/*
 * Of a table for several nodes, leaves out the rows that the column node gives to
 * others; empty cells are everybody's.  0, or -1 with *e set: a job has several nodes, or
 * one in some rows only, and would run on each.  Cost: a sort of the rows by their job.
 */
int node_take_rows(
    const struct node_choice *choice, struct gv_frame *f, struct gv_error *e);
/*
 * That no job of the table, those of one node left out, could run on this node and on
 * another one, too, where gv-run with the same table would run it as well.  0 or -1.
 */
int node_check_jobs(const struct node_choice *choice, const struct gv_rates *t,
    const struct gv_cluster *c, struct gv_error *e);
/* Writes the rows of the cluster table f that are left in c.  0 or -1. */
int node_write(const struct gv_cluster *c, const struct gv_frame *f, const char *path,
    struct gv_error *e);

#endif
