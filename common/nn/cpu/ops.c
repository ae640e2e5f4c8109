/* Which functions an operator has on the CPU. */
#include "nn/cpu/parts.h"

const struct gv_cpu_op gv_cpu_ops[GV_OPS] = {
    [GV_OP_LINEAR] = {gv_cpu_linear_forward, gv_cpu_linear_backward,
	gv_cpu_linear_gradient, gv_cpu_linear_scratch, gv_cpu_linear_shards},
    [GV_OP_CONV] = {gv_cpu_conv_forward, gv_cpu_conv_backward, gv_cpu_conv_gradient,
	gv_cpu_conv_scratch, NULL},
    [GV_OP_MAXPOOL] = {gv_cpu_maxpool_forward, gv_cpu_maxpool_backward, NULL, NULL, NULL},
    [GV_OP_AVGPOOL] = {gv_cpu_avgpool_forward, gv_cpu_avgpool_backward, NULL, NULL, NULL},
    [GV_OP_RELU] = {gv_cpu_relu_forward, gv_cpu_relu_backward, NULL, NULL, NULL},
    [GV_OP_GELU] = {gv_cpu_gelu_forward, gv_cpu_gelu_backward, NULL, NULL, NULL},
    [GV_OP_ADD] = {gv_cpu_add_forward, gv_cpu_add_backward, NULL, NULL, NULL},
    [GV_OP_CONCAT] = {gv_cpu_concat_forward, gv_cpu_concat_backward, NULL, NULL, NULL},
    [GV_OP_DROPOUT] = {gv_cpu_dropout_forward, gv_cpu_dropout_backward, NULL, NULL, NULL},
    [GV_OP_BN] = {gv_cpu_bn_forward, gv_cpu_bn_backward, NULL, gv_cpu_bn_scratch, NULL},
    [GV_OP_XENT] = {gv_cpu_xent_forward, gv_cpu_head_backward, NULL, NULL, NULL},
    [GV_OP_MSE] = {gv_cpu_mse_forward, gv_cpu_head_backward, NULL, NULL, NULL},
    [GV_OP_BCE] = {gv_cpu_bce_forward, gv_cpu_head_backward, NULL, NULL, NULL},
};
