/*
 * The model to be cut, from tables of layers and of the edges between them,
 * gv-tables(5).
 */
#ifndef GV_PLAN_LAYERS_H
#define GV_PLAN_LAYERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "plan/graph.h"
#include "table/tab.h"

/* = {0} is empty. */
struct gv_layers {
	struct gv_frame rows;
	struct gv_frame edges;
	bool edges_behind; /* the edges came behind the layers, on one stream */
	bool chain;        /* there are none: each layer feeds the next */
	struct gv_graph g; /* without what costs nothing */
	size_t *row;       /* [g.n] the row of each layer of g */
	ptrdiff_t *layer;  /* [rows.n_rows] the layer of g of each row, -1: in none */
};

/*
 * Reads the layers from input and their edges from the file edges, or if that is
 * NULL from a second table on input; if there is none, from each row to the next.
 * Rows named Input... without predecessors are data loading: not planned, in the
 * first stage.  Rows named __getitem__... that nobody reads take no part either
 * and are where their predecessor is.  Ties are those of the column tied_with, of layers
 * that are planned.  0, or -1 with *e set.
 */
int gv_layers_read(
    struct gv_layers *l, const char *input, const char *edges, struct gv_error *e);
void gv_layers_free(struct gv_layers *l);

#endif
