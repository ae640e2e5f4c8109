/*
 * Plans that others make, to be compared with: Blink's own packing, one-hop trees,
 * rings and chains.  Each fills *t; 0, or -1 with *e.
 */
#ifndef TREE_NAMED_H
#define TREE_NAMED_H

#include "base/err.h"
#include "gv-tree/forest/forest.h"

/*
 * Blink (Wang et al., MLSys 2020): trees by multiplicative weights (eps = .1), of
 * which an integer program keeps few: weight 1 lane each, and where that loses more
 * than 5 %, steps of a tenth.  root NULL: undirected trees, of an all-reduce.
 * Direct links only.
 */
int named_blink(
    struct forest *t, const struct fabric *f, const size_t *root, struct gv_error *e);

/* Each root sends straight to every other GPU: one link, or two about one switch. */
int named_one_hop(
    struct forest *t, const struct fabric *f, const struct demand *d, struct gv_error *e);

/*
 * As many rings at once as direct links hold (a whole number of units each); where
 * they hold none, one ring in the order of the GPUs over switches, as NCCL fell
 * back on PCIe until 2.8.  A root's tree is the ring without its last link.
 * At most 10 GPUs with direct links.  relayed: before that, rings in which GPUs without a link
 * meet about a third one, as NCCL has them since 2.8 (NVB).
 */
int named_ring(struct forest *t, const struct fabric *f, const struct demand *d,
    bool relayed, struct gv_error *e);

/* As many paths through all GPUs as fit, from the root, or up and down for an all-reduce (root NULL). */
int named_chain(
    struct forest *t, const struct fabric *f, const size_t *root, struct gv_error *e);

/*
 * Blink's plan for an allreduce over several servers, in three phases: each server
 * adds up its part of the data to a root of its own, the roots of a part exchange with one hop, and
 * each hands the sum on.  A part is a local tree (direct links; else a star about a GPU), and each
 * server's root owns as much of it, so that a part becomes as many trees as there are servers.
 * Roots go where the way out is least used.
 */
int named_phases(struct forest *t, const struct fabric *f, struct gv_error *e);

#endif
