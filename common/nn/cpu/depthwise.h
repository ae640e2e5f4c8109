/* conv with a group to each channel.  Private to common/nn/cpu. */
#ifndef GV_NN_CPU_DEPTHWISE_H
#define GV_NN_CPU_DEPTHWISE_H

#include "nn/cpu/parts.h"

/* Whether the row is one of these; the other functions are for those only. */
bool gv_cpu_is_depthwise(const struct gv_nn_row *r);

/* The weights, w [C][k][k], packed as [k][k][C]: for forward and backward. */
void gv_cpu_depthwise_pack(gv_real *packed, const gv_real *w, const struct gv_nn_row *r);

gv_cpu_pass gv_cpu_depthwise_forward, gv_cpu_depthwise_backward;
/* Weights of a piece of the gradient at most: those of some channels, from group on. */
size_t gv_cpu_depthwise_piece(const struct gv_nn_row *r);
/* Numbers of scratch that the gradient of a piece takes. */
size_t gv_cpu_depthwise_scratch(const struct gv_nn_row *r);
gv_cpu_gradient gv_cpu_depthwise_gradient;

#endif
