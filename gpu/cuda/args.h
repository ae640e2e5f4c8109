/* Parameters of kernels that are more than what kernels.h was asked.  Private to gpu/cuda. */
#ifndef GV_CUDA_ARGS_H
#define GV_CUDA_ARGS_H

#include "cuda/kernels.h"

/*
 * Divides numbers up to 2^31 by one that stays: times is 2^32 (2^shift - d) / d, rounded
 * down, and 1, with 2^shift the power of two from d on.  Source: Granlund, Montgomery 1994,
 * Division by Invariant Integers using Multiplication, section 4.
 */
struct gv_cuda_divider {
	uint32_t times, shift;
};

/* A conv, and what places of outputs and elements of windows are divided by; in, out: of a group. */
struct gv_cuda_conv_run {
	struct gv_cuda_conv c;
	struct gv_cuda_divider in, out, k, out_width, out_height;
	struct gv_cuda_divider taps[2]; /* of k / s, and of one more: what classes have */
};

/*
 * The gradient of conv: a block makes the sum over inner (1, 2 or 4) shards that follow
 * one another, or over one of pieces of one shard; parts of these make the whole.
 * out [B][parts][weights], or dw itself.
 */
struct gv_cuda_conv_parts {
	struct gv_cuda_conv_run r;
	float *out;
	size_t parts, inner, pieces, out_apart, part_apart;
	bool add; /* to what out holds */
};

/* The gradient of depthwise conv: parts as those of struct gv_cuda_conv_parts, inner 1. */
struct gv_cuda_depthwise_parts {
	struct gv_cuda_conv c;
	size_t pieces;
};

struct gv_cuda_acts_run {
	struct gv_cuda_acts a;
	enum gv_cuda_act act;
	bool wide; /* as of gv_cuda_map */
};

/* The longest sum of strips: GV_CUDA_STRIP rows in float. */
enum { GV_CUDA_STRIP = 32 };
struct gv_cuda_sums_run {
	struct gv_cuda_sums s;
	size_t width; /* n, or 2 n */
	/* of a shard, at most: room in scratch [B][shards][strips][width] */
	size_t strips;
};

/* So many threads, a power of two, add a number's parts: as many of its branches. */
struct gv_cuda_tree_run {
	struct gv_cuda_tree t;
	unsigned branches;
};

/* Losses and hits of targets [n][targets], on their way to those of samples. */
struct gv_cuda_head_run {
	struct gv_cuda_head h;
	float *loss, *hit; /* hit: NULL = training */
	size_t loss_apart, hit_apart;
};

struct gv_cuda_stat_run {
	struct gv_cuda_stat s;
	enum gv_cuda_stats what;
};

#endif
