/*
 * Operators: one row of gv_ops each.  Private to common/nn.
 *
 * A row of the model runs on blocks of samples: forward and backward of one
 * model b and samples [i, i + n) of this rank, in any order and on any thread,
 * with the same bits.  What is summed over samples is made elsewhere: weights'
 * gradients in pieces (gradient), statistics of bn between the rows (bn.h).
 */
#ifndef GV_NN_OPS_H
#define GV_NN_OPS_H

#include "nn/model.h"
#include "nn/real.h"

struct gv_net;
struct row;
struct piece;

struct ops {
	const char *name;
	bool has_out, has_window, has_groups, has_act,
	    has_bias; /* columns that mean something */
	/*
	 * Fills out_shape, weights, biases, running and flops from in_shape.
	 * NULL, or what is wrong, with *column set to the column to name.
	 */
	const char *(*shape)(struct gv_layer *l, const char **column, char text[200]);
	/* y of the row from x */
	void (*forward)(struct gv_net *net, const struct row *r, size_t b, size_t i,
	    size_t n, gv_real *scratch);
	/* dx of the row's input from dy; not called when the input is the sample */
	void (*backward)(struct gv_net *net, const struct row *r, size_t b, size_t i,
	    size_t n, gv_real *scratch);
	/*
	 * The gradient of a piece of the weights [row->l.g][grad_rows][grad_columns]
	 * for samples [i, i + n) into dw, whose rows are ldw apart; the bias is not
	 * part of it.  NULL for a row without a weight matrix.
	 */
	void (*gradient)(struct gv_net *net, const struct row *r, const struct piece *p,
	    size_t b, size_t i, size_t n, gv_real *dw, size_t ldw, gv_real *scratch);
	/* numbers of scratch that these need, whatever n; NULL = none */
	size_t (*scratch)(const struct row *r);
};

extern const struct ops gv_ops[GV_OPS];

#endif
