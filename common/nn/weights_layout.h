/* Tensors of files and where their numbers lie in a net.  Private to common/nn/weights_*.c. */
#ifndef GV_NN_WEIGHTS_LAYOUT_H
#define GV_NN_WEIGHTS_LAYOUT_H

#include "base/strbuf.h"
#include "nn/net.h"
#include "nn/tensors.h"

enum { GV_WEIGHTS_AXES = 5, GV_WEIGHTS_PIECES = 4 };

/*
 * A tensor of a file, and the numbers that it is of one of the net: our number (i0, .., i4),
 * row-major over n and from offset on, is theirs at the sum of i * stride.
 */
struct gv_weights_piece {
	char name[32]; /* behind the row's name and a dot */
	size_t offset;
	size_t n[GV_WEIGHTS_AXES], stride[GV_WEIGHTS_AXES];
	uint64_t shape[GV_TENSOR_DIMS]; /* theirs */
	size_t dims;
	bool added; /* to what the piece before it has left there: written as zeros */
};

/* The pieces of a tensor of the net; how many. */
size_t gv_weights_pieces(const struct gv_layer *l, const struct gv_net_tensor *t,
    struct gv_weights_piece v[GV_WEIGHTS_PIECES]);

/* Calls for each of our numbers, in order, with the place of theirs. */
void gv_weights_walk(const struct gv_weights_piece *p,
    void (*move)(void *, size_t ours, size_t theirs), void *ctx);

/* "ID.NAME", or with the row's own name for ID. */
void gv_weights_name(
    struct gv_strbuf *name, const struct gv_model *m, size_t row, const char *piece);

/* Params and running statistics of a model of a net, by gv_weights_move; = {0} at first. */
struct gv_weights_arrays {
	gv_real *params, *running;
};
/* From the net, or (in) into it.  0, or -1 with *e. */
int gv_weights_move(struct gv_net *net, size_t b, struct gv_weights_arrays *a, bool in,
    struct gv_error *e);
void gv_weights_arrays_free(struct gv_weights_arrays *a);

/* Where a tensor's numbers are. */
static inline gv_real *
gv_weights_place(const struct gv_weights_arrays *a, const struct gv_net_tensor *t)
{
	return (t->running ? a->running : a->params) + t->offset;
}

#endif
