/* Layers with all that they need, or that need them: what goes with one that moves over a cut. */
#ifndef GV_PARTITION_CLOSURES_H
#define GV_PARTITION_CLOSURES_H

#include "plan/graph.h"

struct closures {
	size_t n, words;       /* of a set of layers: 64 each */
	uint64_t *need, *feed; /* [n][words] */
};

/* Cost: n * n, and edges * words. */
void closures_open(struct closures *c, const struct gv_graph *g);
void closures_close(struct closures *c);

/* The layer with all that it needs. */
static inline const uint64_t *
closures_need(const struct closures *c, size_t v)
{
	return c->need + v * c->words;
}

/* The layer with all that need it. */
static inline const uint64_t *
closures_feed(const struct closures *c, size_t v)
{
	return c->feed + v * c->words;
}

/* Only what each needs, [g->n][words]; to be freed. */
uint64_t *closures_needs(const struct gv_graph *g);

#endif
