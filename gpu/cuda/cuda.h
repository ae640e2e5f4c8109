/*
 * NVIDIA's GPUs as a backend (nn/backend.h), over tables of functions: the
 * driver's and, for math other than fp32, cuBLAS's.  Everything runs in one stream,
 * in the order of the calls; nothing waits but get and sync.
 *
 * In fp32 all products are kernels of our own, whose chains of sums are those
 * of the CPU: what does not go through exp, log and erf has its bits.  tf32 rounds the
 * factors of the products of linear rows (and of convolutions of 1 x 1) to 10 bits
 * behind the point and sums in float, on tensor cores, in cuBLAS's order.  bf16 stores
 * activations and their gradients as bfloat16 and reads weights of products from a copy
 * in that type, which the update writes; the weights themselves, their gradients,
 * statistics, sums and losses stay float.
 *
 * What a step launches is gathered in a list first.  A list that comes a second time,
 * argument for argument, is captured as a CUDA graph while it runs, and from then
 * on it is one launch.  Graphs change no bits.
 */
#ifndef GV_CUDA_CUDA_H
#define GV_CUDA_CUDA_H

#include "cuda/driver.h"
#include "nn/backend.h"
#include "nn/device/device.h"

struct gv_cuda_nccl; /* nccl.h */

/* The oldest driver: CUDA 12.0, as cuDriverGetVersion counts. */
enum { GV_CUDA_LEAST_DRIVER = 12000 };

/* What a device is made over; all pointers must outlive it. */
struct gv_cuda_config {
	const struct gv_cuda_driver *driver;
	const struct gv_cuda_blas *blas; /* NULL: math must be fp32 */
	const void *image;               /* kernels, for cuModuleLoadData */
	int built; /* the CUDA of the nvcc that made them, as drivers count; 0 = unknown */
	/* fills NCCL's table when ranks want to join; NULL: there is none */
	int (*load_nccl)(struct gv_cuda_nccl *n, struct gv_error *e);
	int device; /* as the driver counts */
	enum gv_nn_math math;
	bool no_graphs; /* every launch by itself */
};

/*
 * Opens the device.  NULL with *e set: one sentence that says whether there is no
 * driver, one too old, no such device, one too old for these kernels, or no memory left.
 */
struct gv_nn_backend *gv_cuda_new(const struct gv_cuda_config *c, struct gv_error *e);

/* How many devices the driver sees; -1 with *e set as above. */
int gv_cuda_count(const struct gv_cuda_driver *d, struct gv_error *e);

/* The kernels that are built in (kernels.fatbin). */
extern const char gv_cuda_image[];
extern const int gv_cuda_image_built; /* as built above */

#endif
