/*
 * Every kernel: its name behind gv_kernel_, the struct that is its parameter, the threads
 * of a block.  Included with GV_CUDA_KERNEL defined; no guard.
 */
#define GV_CUDA_TYPES(name, args, threads)        \
	GV_CUDA_KERNEL(name##_f32, args, threads) \
	GV_CUDA_KERNEL(name##_bf16, args, threads)

GV_CUDA_KERNEL(gather_16, gv_cuda_gather, 256)
GV_CUDA_KERNEL(gather_4, gv_cuda_gather, 256)
GV_CUDA_KERNEL(gather_1, gv_cuda_gather, 256)
GV_CUDA_TYPES(convert, gv_cuda_convert, 256)

/* a tile is 128, 64 or 32 numbers wide and high; bfloat16 and tf32 are for tensor cores */
GV_CUDA_TYPES(gemm_64, gv_cuda_gemm, 256)
GV_CUDA_KERNEL(gemm_128_f32, gv_cuda_gemm, 256)
GV_CUDA_KERNEL(gemm_32_f32, gv_cuda_gemm, 256)
GV_CUDA_KERNEL(gemm_64_mixed, gv_cuda_gemm, 256)
GV_CUDA_TYPES(conv_forward_64, gv_cuda_conv_run, 256)
GV_CUDA_TYPES(conv_forward_128, gv_cuda_conv_run, 256)
GV_CUDA_KERNEL(conv_forward_32_f32, gv_cuda_conv_run, 256)
GV_CUDA_KERNEL(conv_forward_128_tf32, gv_cuda_conv_run, 256)
GV_CUDA_KERNEL(conv_forward_64_tf32, gv_cuda_conv_run, 256)
GV_CUDA_TYPES(conv_backward_64, gv_cuda_conv_run, 256)
GV_CUDA_TYPES(conv_backward_128, gv_cuda_conv_run, 256)
GV_CUDA_KERNEL(conv_backward_32_f32, gv_cuda_conv_run, 256)
GV_CUDA_KERNEL(conv_backward_128_tf32, gv_cuda_conv_run, 256)
GV_CUDA_KERNEL(conv_backward_64_tf32, gv_cuda_conv_run, 256)
GV_CUDA_TYPES(conv_gradient_64, gv_cuda_conv_parts, 256)
GV_CUDA_KERNEL(conv_gradient_128_bf16, gv_cuda_conv_parts, 256)
GV_CUDA_KERNEL(conv_gradient_32_f32, gv_cuda_conv_parts, 256)
GV_CUDA_KERNEL(conv_gradient_128_tf32, gv_cuda_conv_parts, 256)
GV_CUDA_KERNEL(conv_gradient_64_tf32, gv_cuda_conv_parts, 256)
GV_CUDA_TYPES(depthwise_forward, gv_cuda_conv, 256)
GV_CUDA_TYPES(depthwise_backward, gv_cuda_conv, 256)
GV_CUDA_TYPES(depthwise_gradient, gv_cuda_depthwise_parts, 256)

GV_CUDA_TYPES(maxpool_forward, gv_cuda_pool, 256)
GV_CUDA_TYPES(maxpool_backward, gv_cuda_pool, 256)
GV_CUDA_TYPES(avgpool_forward, gv_cuda_pool, 256)
GV_CUDA_TYPES(avgpool_backward, gv_cuda_pool, 256)

GV_CUDA_TYPES(bias, gv_cuda_bias, 256)
GV_CUDA_TYPES(relu_forward, gv_cuda_map, 256)
GV_CUDA_TYPES(relu_backward, gv_cuda_map, 256)
GV_CUDA_TYPES(gelu_forward, gv_cuda_map, 256)
GV_CUDA_TYPES(gelu_backward, gv_cuda_map, 256)
GV_CUDA_TYPES(add_forward, gv_cuda_map, 256)
GV_CUDA_TYPES(add_backward, gv_cuda_map, 256)

GV_CUDA_TYPES(act_forward, gv_cuda_acts_run, 256)
GV_CUDA_TYPES(act_backward, gv_cuda_acts_run, 256)
GV_CUDA_TYPES(move, gv_cuda_move, 256)
GV_CUDA_TYPES(dropout, gv_cuda_dropout, 256)

/* sums of one strip of rows each; of whole shards, from these or at once */
GV_CUDA_TYPES(strips_sum, gv_cuda_sums_run, 256)
GV_CUDA_TYPES(strips_squares, gv_cuda_sums_run, 256)
GV_CUDA_TYPES(strips_products, gv_cuda_sums_run, 256)
GV_CUDA_TYPES(strips_scaled, gv_cuda_sums_run, 256)
GV_CUDA_KERNEL(totals, gv_cuda_sums_run, 256)
GV_CUDA_TYPES(sums_sum, gv_cuda_sums_run, 256)
GV_CUDA_TYPES(sums_squares, gv_cuda_sums_run, 256)
GV_CUDA_TYPES(sums_products, gv_cuda_sums_run, 256)
GV_CUDA_TYPES(sums_scaled, gv_cuda_sums_run, 256)
GV_CUDA_KERNEL(tree, gv_cuda_tree_run, 256)
GV_CUDA_KERNEL(losses, gv_cuda_losses, 256)

GV_CUDA_TYPES(bn_forward, gv_cuda_bn, 256)
GV_CUDA_TYPES(bn_backward, gv_cuda_bn, 256)
GV_CUDA_KERNEL(stats, gv_cuda_stat_run, 256)

GV_CUDA_TYPES(ln_forward, gv_cuda_ln, 256)
GV_CUDA_TYPES(ln_backward, gv_cuda_ln, 256)
GV_CUDA_TYPES(embed_forward, gv_cuda_embed, 256)
GV_CUDA_KERNEL(embed_lists, gv_cuda_embed, 256)
GV_CUDA_KERNEL(embed_zero, gv_cuda_embed, 256)
GV_CUDA_TYPES(embed_gradient, gv_cuda_embed, 128)
GV_CUDA_TYPES(cell_forward, gv_cuda_cell, 256)
GV_CUDA_TYPES(cell_backward, gv_cuda_cell, 256)
GV_CUDA_TYPES(shift, gv_cuda_shift, 256)
GV_CUDA_TYPES(attention_forward, gv_cuda_attention, 256)
GV_CUDA_TYPES(attention_forward_wide, gv_cuda_attention, 256)
GV_CUDA_TYPES(attention_dots, gv_cuda_attention, 256)
GV_CUDA_TYPES(attention_queries, gv_cuda_attention, 256)
GV_CUDA_TYPES(attention_queries_wide, gv_cuda_attention, 256)
GV_CUDA_TYPES(attention_keys, gv_cuda_attention, 256)
GV_CUDA_TYPES(attention_keys_wide, gv_cuda_attention, 256)
/* bfloat16 on tensor cores, heads up to so many channels */
GV_CUDA_KERNEL(flash_forward_64, gv_cuda_attention, 128)
GV_CUDA_KERNEL(flash_forward_128, gv_cuda_attention, 128)
GV_CUDA_KERNEL(flash_queries_64, gv_cuda_attention, 128)
GV_CUDA_KERNEL(flash_queries_128, gv_cuda_attention, 128)
GV_CUDA_KERNEL(flash_keys_64, gv_cuda_attention, 128)
GV_CUDA_KERNEL(flash_keys_128, gv_cuda_attention, 128)

GV_CUDA_TYPES(xent_narrow, gv_cuda_head_run, 128)
GV_CUDA_TYPES(xent_wide, gv_cuda_head_run, 256)
GV_CUDA_TYPES(mse, gv_cuda_head_run, 128)
GV_CUDA_TYPES(bce, gv_cuda_head_run, 128)
GV_CUDA_KERNEL(head_mean, gv_cuda_head_run, 128)

GV_CUDA_KERNEL(sgd, gv_cuda_update, 256)
GV_CUDA_KERNEL(adam, gv_cuda_update, 256)

#undef GV_CUDA_TYPES
