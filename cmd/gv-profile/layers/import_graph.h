/* Reading the graph.txt of PipeDream's profiler. */
#ifndef GV_PROFILE_IMPORT_GRAPH_H
#define GV_PROFILE_IMPORT_GRAPH_H

#include "base/fileio.h"
#include "table/tab.h"

/*
 * Reads nodes and edges as their line says:
 *
 *	ID -- DESCRIPTION -- forward_compute_time=F, backward_compute_time=B,
 *	activation_size=A, parameter_size=P [-- stage_id=K]
 *	<TAB>ID -- ID
 *
 * (the first on one line; times in ms, sizes in bytes; A may be a list [A; A; ...],
 * which is summed) into two tables: layers (node_id, layer, forward_ms,
 * backward_ms, activation_bytes, parameter_bytes, and stage if all nodes have
 * one), and edges (src, dst).  Nodes and edges may be mixed.  0, or -1 with *e
 * set and located.
 */
int import_graph(struct gv_frame *layers, struct gv_frame *edges, const char *path,
    struct gv_error *e);

#endif
