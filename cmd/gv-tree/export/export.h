/* Plans as other programs take them. */
#ifndef TREE_EXPORT_H
#define TREE_EXPORT_H

#include "base/err.h"
#include "base/fileio.h"
#include "gv-tree/plan/plan.h"

enum export {
	EXPORT_DOT,
	EXPORT_LINKS,
	EXPORT_MSCCL,
	EXPORT_NCCL_GRAPH,
	EXPORT_TUNER,
	EXPORTS
};
extern const char *const export_name[EXPORTS];

/*
 * Writes the plan:
 *
 *   dot         Graphviz: the links in grey, the trees in colours
 *   msccl       MSCCL's XML: an algorithm of thread blocks; of allreduce, allgather
 *               and broadcast, in place
 *   nccl-graph  what NCCL_GRAPH_FILE takes: rings as graphs 0 and 1, chains as 1;
 *               of one server, whose GPUs end in their NVML numbers
 *   tuner       the CSV of NVIDIA's example tuner: which algorithm, how many channels
 *
 * EXPORT_LINKS is no plan's and not written here.  0, or -1 with *e set, and then
 * nothing is written: the program cannot do what is planned.
 */
int export_write(
    enum export format, const struct plan *p, struct gv_out *out, struct gv_error *e);

#endif
