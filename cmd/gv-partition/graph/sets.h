/* Sets of layers, or of groups of layers, and families of such sets. */
#ifndef GV_PARTITION_SETS_H
#define GV_PARTITION_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/graph.h"

/* A family of sets, each once, in the order in which they came.  = {.words = w} is empty. */
struct sets {
	size_t words; /* of a set: 64 members each */
	size_t n, cap;
	uint64_t *bits; /* [n][words] */
	size_t n_slots; /* a power of two */
	uint32_t *slot; /* 1 + row by hash, 0 = free */
};

static inline bool
set_has(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static inline void
set_put(uint64_t *bits, size_t i)
{
	bits[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Whether all of a [words] are in b. */
static inline bool
set_in(const uint64_t *a, const uint64_t *b, size_t words)
{
	size_t i;

	for (i = 0; i < words && (a[i] & ~b[i]) == 0; i++)
		;
	return i == words;
}

/* Adds the set unless it is there. */
void sets_add(struct sets *s, const uint64_t *bits);
void sets_free(struct sets *s);

/* ---- families of prefixes; each 0, or -1 when there are more than limit ---- */

/* All that split no group, as sets of groups, the smaller ones first. */
int sets_all(struct sets *found, const struct gv_graph *g, const uint32_t *group,
    size_t n_groups, size_t limit);

/*
 * Those of PipeDream's program, as sets of layers: from the first source on, one more
 * neighbour with all that it needs.  Other sources come in only when needed.
 */
int sets_upstream(struct sets *found, const struct gv_graph *g, size_t limit);

/* Those of a sequence of all layers, as sets of layers: its beginnings. */
void sets_sequence(struct sets *found, const struct gv_graph *g, const uint32_t *order);

/*
 * Those near a plan, of of[v] < n_stages: the beginnings of the layers in the order of
 * their stages, and each cut with one layer of the stages beside it moved over it, and
 * what has to go with it; or also with two.
 */
void sets_near(struct sets *found, const struct gv_graph *g, const uint32_t *of,
    size_t n_stages, bool twice);

/* The layers by their stages, of[v] < n_stages, in each in an order in which they can run; to be freed. */
uint32_t *sets_stage_order(const struct gv_graph *g, const uint32_t *of, size_t n_stages);

#endif
