/*
 * Which sides of a cut some layers can be on, all others as they may: choices of layers
 * that are before it, and with them what these need, and of those behind it, and with
 * them what needs these.
 */
#ifndef GV_PARTITION_SIDES_H
#define GV_PARTITION_SIDES_H

#include "closures.h"
#include "sets.h"

struct sides {
	size_t words, n, cap;
	uint64_t *before, *behind; /* [n][words] layers that must be there */
};

/*
 * All choices for as many of the layers as there are no more than limit (>= 1) for: the
 * first ones first, but a layer that would make more is left out.
 * Cost: n * limit * words.
 */
void sides_make(struct sides *s, const struct closures *c, const uint32_t *layer,
    size_t n, size_t limit);
void sides_free(struct sides *s);

/* Adds the cut with each choice: what is free stays on its side. */
void sides_add(struct sets *found, const struct sides *s, const uint64_t *cut);

/* Sorts layers by rank[layer], then by number. */
void sides_rank(uint32_t *layer, size_t n, const double *rank);

#endif
