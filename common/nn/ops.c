#include "nn/ops.h"

#include "nn/passes.h"

const struct ops gv_ops[GV_OPS] = {
    [GV_OP_LINEAR] = {.name = "linear", .has_out = true, .has_act = true, .has_bias = true,
	.shape = linear_shape, .forward = linear_forward, .backward = linear_backward,
	.gradient = linear_gradient, .scratch = linear_scratch},
    [GV_OP_CONV] = {.name = "conv", .has_out = true, .has_window = true, .has_groups = true,
	.has_act = true, .has_bias = true, .shape = conv_shape, .forward = conv_forward,
	.backward = conv_backward, .gradient = conv_gradient, .scratch = conv_scratch},
    [GV_OP_MAXPOOL] = {.name = "maxpool", .has_window = true, .shape = pool_shape,
	.forward = maxpool_forward, .backward = maxpool_backward},
    [GV_OP_AVGPOOL] = {.name = "avgpool", .has_window = true, .shape = pool_shape,
	.forward = avgpool_forward, .backward = avgpool_backward},
    [GV_OP_RELU] = {.name = "relu", .shape = same_shape, .forward = relu_forward,
	.backward = relu_backward},
    [GV_OP_BN] = {.name = "bn", .has_act = true, .shape = bn_shape, .forward = bn_forward,
	.backward = bn_backward, .scratch = bn_scratch},
    [GV_OP_XENT] = {.name = "xent", .shape = xent_shape, .forward = xent_forward,
	.backward = xent_backward},
};
