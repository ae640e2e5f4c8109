/* Which layers a planner may not separate, where there are too many to look at each cut. */
#ifndef GV_PARTITION_GROUPS_H
#define GV_PARTITION_GROUPS_H

#include "plan/graph.h"

/*
 * Groups of layers, and how to make fewer of them: one by one, the second layer's
 * group joins the first's.  However many of the merges are made, from the first
 * on, the graph of the groups has no circle.  Their order:
 *
 *   branches without forks, as PipeDream's program compresses them before it plans
 *   Inception and NASNet: along edges between layers that are each other's only
 *   successor and predecessor, that into the group which takes the least time first;
 *   where more than 4096 groups are left, those next to each other in gv_graph_order,
 *   by time as well, to as many;
 *   groups along any edge, where that makes no circle, by time as well;
 *   the rest, which no edge connects.
 *
 * All of them leave one group.
 */
struct merges {
	const struct gv_graph *g;
	size_t n;
	struct gv_graph_edge *merge; /* [n], at most g->n - 1 */
};

/* Of branches without forks alone.  Cost: (edges + n) log n. */
void merges_linear(struct merges *m, const struct gv_graph *g);
/* The others, behind those.  Cost: at most 4096 * (edges + 4096) beside. */
void merges_further(struct merges *m);
void merges_free(struct merges *m);

/*
 * The groups after the first k merges: group [g->n] holds a number below the result
 * for each layer, in the order in which they appear.
 */
size_t merges_groups(const struct merges *m, size_t k, uint32_t *group);

#endif
