/*
 * Few trees of the same weight: the largest weight at which so many fit, found
 * among the weights at which a link holds one tree more.
 */
#ifndef TREE_FEW_H
#define TREE_FEW_H

#include "forest.h"

/* A weight in units, as a fraction; f counted in trees of that weight, rounded down. */
void few_fabric(struct fabric *to, const struct fabric *f, struct ratio weight);

/*
 * The best k in 1 .. most and weight for which fits(ctx, fabric in trees, k):
 * k * weight is greatest; fewer trees win ties.  0/1 when not even one tree fits.
 * n log n calls of fits, n = links times most times roots.
 */
struct ratio few_weight(const struct fabric *f, size_t most, size_t roots,
    bool (*fits)(void *ctx, const struct fabric *f, size_t k), void *ctx, size_t *k);

/* As forest_pack, with at most that many trees for each root. */
int few_pack(struct forest *t, const struct fabric *f, const struct demand *d,
    size_t most, struct gv_error *e);

#endif
