/* The operators' functions, as ops.h describes them.  Private to common/nn. */
#ifndef GV_NN_PASSES_H
#define GV_NN_PASSES_H

#include "nn/impl.h"

#define GV_OP_SHAPE(name) \
	const char *name(struct gv_layer *l, const char **column, char text[200])
#define GV_OP_PASS(name)                                                                 \
	void name(struct gv_net *net, const struct row *r, size_t b, size_t i, size_t n, \
	    gv_real *scratch)
#define GV_OP_GRADIENT(name)                                                      \
	void name(struct gv_net *net, const struct row *r, const struct piece *p, \
	    size_t b, size_t i, size_t n, gv_real *dw, size_t ldw, gv_real *scratch)

GV_OP_SHAPE(linear_shape);
GV_OP_PASS(linear_forward);
GV_OP_PASS(linear_backward);
GV_OP_GRADIENT(linear_gradient);
size_t linear_scratch(const struct row *r);

GV_OP_SHAPE(conv_shape);
GV_OP_PASS(conv_forward);
GV_OP_PASS(conv_backward);
GV_OP_GRADIENT(conv_gradient);
size_t conv_scratch(const struct row *r);

GV_OP_SHAPE(pool_shape);
GV_OP_PASS(maxpool_forward);
GV_OP_PASS(maxpool_backward);
GV_OP_PASS(avgpool_forward);
GV_OP_PASS(avgpool_backward);

GV_OP_SHAPE(same_shape);
GV_OP_PASS(relu_forward);
GV_OP_PASS(relu_backward);

GV_OP_SHAPE(bn_shape);
GV_OP_PASS(bn_forward);
GV_OP_PASS(bn_backward);
size_t bn_scratch(const struct row *r);

GV_OP_SHAPE(xent_shape);
GV_OP_PASS(xent_forward);
GV_OP_PASS(xent_backward);

/*
 * Output length of a window k, stride s, padding p over in numbers; 0 when the
 * window does not fit, and text says so.
 */
size_t window_out(
    const char *what, size_t in, size_t k, size_t s, size_t p, char text[200]);

#endif
