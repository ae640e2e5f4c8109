/*
 * The places where a model can be cut: its prefixes, sets of layers that hold
 * with each layer all that feed it (order ideals).  A chain of n layers has
 * n + 1; a graph with branches has more, up to 2^n.
 *
 * Differs from PipeDream: the empty set is one of them, and the bytes that cross a
 * cut are those that cross it.  PipeDream's program counts for a prefix also
 * layers that nobody behind the cut reads (reference: its predecessors and
 * augmented antichains); IDEALS_UPSTREAM does as it does, to compare.
 */
#ifndef GV_PARTITION_IDEALS_H
#define GV_PARTITION_IDEALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/graph.h"
#include "sets.h"

enum ideals_kind {
	IDEALS_ALL,
	IDEALS_UPSTREAM /* those its program finds, with the bytes it counts */
};

/* Sorted so that a subset stands before its supersets: the first is empty, the last all. */
struct ideals {
	size_t n;
	size_t words;
	uint64_t *bits; /* [n][words]: bit i is layer i */
	double *time_s; /* [n] sums over the layers of the prefix */
	double *forward_s;
	double *activation;
	double *parameter;

	double *out;

	size_t sub_words;
	uint64_t *sub;  /* [n][sub_words]: bit i of row j: i is a proper subset of j */
	size_t *sup_at; /* [n + 1] */

	uint32_t *sup;
};

/*
 * All prefixes that split no group (group NULL: any).  0, or -1 when they are
 * more than limit, and *s is empty.  With groups, IDEALS_UPSTREAM is all
 * of them with the bytes that upstream counts.
 * Cost: n * layers, and n * n for the subsets.
 */
int ideals_make(struct ideals *s, const struct gv_graph *g, enum ideals_kind kind,
    const uint32_t *group, size_t n_groups, size_t limit);
/* Those of a family of sets of layers, the empty one and that of all among them. */
void ideals_of(struct ideals *s, const struct gv_graph *g, enum ideals_kind kind,
    const struct sets *found);
/* Whether all prefixes that split no group are at most limit. */
bool ideals_few(
    const struct gv_graph *g, const uint32_t *group, size_t n_groups, size_t limit);
void ideals_free(struct ideals *s);

/* Some of them, [n] ascending numbers that start with the first and end with the last. */
void ideals_pick(
    struct ideals *few, const struct ideals *s, const uint32_t *pick, size_t n);

/* Whether prefix i is a proper subset of prefix j. */
static inline bool
ideals_sub(const struct ideals *s, size_t i, size_t j)
{
	return s->sub[j * s->sub_words + i / 64] >> (i % 64) & 1;
}

/* Whether layer v is in prefix i. */
static inline bool
ideals_has(const struct ideals *s, size_t i, size_t v)
{
	return s->bits[i * s->words + v / 64] >> (v % 64) & 1;
}

/* Bytes that cross behind the set of layers bits [(g->n + 63) / 64], true or as upstream counts. */
double ideals_cut(const struct gv_graph *g, const uint64_t *bits, enum ideals_kind kind);

#endif
