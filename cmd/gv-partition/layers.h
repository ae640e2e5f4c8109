/* Tables of layers and edges in, a plan's columns out. */
#ifndef GV_PARTITION_LAYERS_H
#define GV_PARTITION_LAYERS_H

#include "base/err.h"
#include "gv-partition/graph/graph.h"
#include "gv-partition/search/plan.h"
#include "table/tab.h"

/* = {0} is empty. */
struct layers {
	struct gv_frame rows;
	struct gv_frame edges;
	bool edges_behind; /* the edges came behind the layers, on one stream */
	bool chain;        /* there are none: each layer feeds the next */
	struct graph g;    /* without what costs nothing */
	size_t *row;       /* [g.n] the row of each layer of g */

	ptrdiff_t *layer;
};

/*
 * Reads the layers from input and their edges from the file edges, or if that is
 * NULL from a second table on input; if there is none, from each row to the next.
 * Rows named Input... without predecessors are data loading: not planned, in the
 * first stage.  Rows named __getitem__... that nobody reads take no part either
 * and are where their predecessor is.  0, or -1 with *e set.
 */
int layers_read(
    struct layers *l, const char *input, const char *edges, struct gv_error *e);
void layers_free(struct layers *l);

/*
 * The plan that the columns stage, replicas and, if there, recompute and place
 * describe.  *flat: place is not there for the levels of *m, so that the plan is
 * one pipeline over all GPUs.  0, or -1 with *e set.
 */
int layers_plan(struct plan *p, const struct layers *l, const struct machine *m,
    bool *flat, struct gv_error *e);

/* All rows with the plan in their columns; then the edges if they came behind the layers. */
void layers_write(const struct layers *l, const struct plan *p, const struct machine *m,
    struct gv_out *out, bool tsv);

#endif
