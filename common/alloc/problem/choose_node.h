/*
 * A node for each job, where several have GPUs and gv-run runs on each: no job may run
 * on two of them at once.
 *
 * Asked first is what jobs should have were all nodes one; then they are put on nodes
 * such that each can have it there, or as much as possible.  That is vector packing, so
 * there is no quick optimum: gangs go first, large demands before small ones, each to
 * the node where GPU time is least crowded with it; then jobs move as long as that makes
 * crowds smaller (the sum over pools of the square of the GPU time asked for, over their
 * GPUs, falls with each move).  Whoever asks the policy again, with the nodes given,
 * learns what that cost, since what it said first is a bound.
 */
#ifndef GV_ALLOC_CHOOSE_NODE_H
#define GV_ALLOC_CHOOSE_NODE_H

#include "sched/cluster.h"
#include "sched/rates.h"

/*
 * The node of each job of r, [n_jobs], for free(); the names are the cluster's and the
 * table's.  Jobs that name one have that; who can run on none has one that has GPUs of
 * a type of its.  share [n_jobs][c->n_types]: what it should have.  Deterministic, but
 * for the order of the jobs.  O(passes x jobs x (log nodes + kinds x types^2)), at most 10
 * passes; nodes with as many GPUs of one type are of one kind, each of the others of its own.
 */
const char **gv_nodes_choose(
    const struct gv_rates *r, const struct gv_cluster *c, const double *share);

#endif
