/*
 * Operators as a model table spells them: one row of gv_nn_ops each.  What they
 * compute is a backend's (backend.h).  Private to common/nn.
 */
#ifndef GV_NN_OPS_H
#define GV_NN_OPS_H

#include "nn/model.h"

struct gv_nn_op {
	const char *name;
	/* columns that mean something; has_k: k alone */
	bool has_out, has_window, has_k, has_groups, has_act, has_bias, has_rate, has_dir;
	bool has_list;         /* several inputs: add, concat */
	bool joins;            /* they may have different channels */
	bool whole_input;      /* k may be empty */
	bool has_matrix;       /* weights that are [g][rows][columns] */
	bool is_head;          /* the last row, and no other */
	enum gv_target target; /* of a head */
	/*
	 * Fills out_shape, weights, biases, running and flops from in_shape.
	 * NULL, or what is wrong, with *column set to the column to name.
	 */
	const char *(*shape)(struct gv_layer *l, const char **column, char text[200]);
};

extern const struct gv_nn_op gv_nn_ops[GV_OPS];
extern const char *const gv_nn_acts[GV_ACTS]; /* their names */

#endif
