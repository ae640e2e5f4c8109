/* How grids are made.  Private to gpu/cuda. */
#ifndef GV_CUDA_LAUNCH_H
#define GV_CUDA_LAUNCH_H

#include "cuda/args.h"

/* Kernels come in pairs of types, that of floats first. */
static inline enum gv_cuda_kernel
gv_cuda_of(enum gv_cuda_kernel f32, enum gv_cuda_type type)
{
	return (enum gv_cuda_kernel)((int)f32 + (int)type);
}

static inline size_t
gv_cuda_ceil(size_t a, size_t b)
{
	return (a + b - 1) / b;
}

/* What divides by d, below 2^31; of 0, which nothing is divided by, that of 1. */
struct gv_cuda_divider gv_cuda_divider_of(size_t d);

/*
 * blocks of a kernel, repeated for each of batch; nothing where there is nothing to do.
 * Kernels go through the rest of a batch beyond a grid's 65535 themselves.
 */
int gv_cuda_run(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel, size_t blocks,
    size_t batch, const void *args, size_t bytes);
/* As many blocks as give each of n a thread; n is what a kernel counts in 32 bits. */
int gv_cuda_run_each(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel, size_t n,
    size_t batch, const void *args, size_t bytes);

#endif
