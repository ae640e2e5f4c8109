/*
 * Units: the least sets of layers such that every plan that keeps tied layers
 * (gv_graph.tie) in one stage keeps each unit in one stage, and the other way round.
 *
 * A stage is what is between two prefixes, so with two layers it holds all on the ways
 * between them.  Units are the strongly connected components of the graph with an edge
 * there and back for each tie; without ties each layer is one.
 */
#ifndef GV_PARTITION_UNITS_H
#define GV_PARTITION_UNITS_H

#include "plan/graph.h"
#include "sets.h"

struct units {
	/*
	 * The units by their first layers, with the sums of their layers; no ties.  What of
	 * activation leaves a unit is not known here: bytes are to be taken from the layers.
	 */
	struct gv_graph g;
	uint32_t *of; /* [layers] the unit of each */
};

/* Cost: layers + edges + ties. */
void units_open(struct units *u, const struct gv_graph *g);
void units_close(struct units *u);

/* Adds to found, sets of n layers, what sets of units are in layers. */
void units_expand(
    struct sets *found, const struct units *u, size_t n, const struct sets *of_units);

/* The stage of each unit [u->g.n], of a plan that splits none; to be freed. */
uint32_t *units_stages(const struct units *u, size_t n, const uint32_t *of);

#endif
