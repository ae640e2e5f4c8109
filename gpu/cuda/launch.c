#include "cuda/launch.h"

const char *const gv_cuda_kernel_name[] = {
#define GV_CUDA_KERNEL(name, args, threads) "gv_kernel_" #name,
#include "cuda/kernels_list.h"
#undef GV_CUDA_KERNEL
};

static const unsigned block_threads[] = {
#define GV_CUDA_KERNEL(name, args, threads) threads,
#include "cuda/kernels_list.h"
#undef GV_CUDA_KERNEL
};

enum { MOST_ROWS = 65535 };
#define MOST ((size_t)1 << 31) /* numbers that are counted in 32 bits; blocks of a row */

int
gv_cuda_run(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel, size_t blocks,
    size_t batch, const void *args, size_t bytes)
{
	struct gv_cuda_grid grid = {
	    (unsigned)blocks, (unsigned)(batch < MOST_ROWS ? batch : MOST_ROWS), 1};

	if (blocks >= MOST)
		return GV_CUDA_TOO_LARGE;
	if (blocks == 0 || batch == 0)
		return 0;
	return q->run(q, kernel, grid, block_threads[kernel], args, bytes);
}

int
gv_cuda_run_each(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel, size_t n,
    size_t batch, const void *args, size_t bytes)
{
	if (n >= MOST)
		return GV_CUDA_TOO_LARGE;
	return gv_cuda_run(
	    q, kernel, gv_cuda_ceil(n, block_threads[kernel]), batch, args, bytes);
}
