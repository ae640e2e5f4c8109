/* What gv-cuda.so shows to whoever opens it. */
#include <stdlib.h>

#include "cuda/cuda.h"
#include "cuda/nccl.h"

#ifndef GV_VERSION
#define GV_VERSION "unknown"
#endif

extern const struct gv_nn_plugin gv_nn_plugin;

/* Workers of a host that see all of its GPUs take one each. */
static int
choose(const struct gv_cuda_driver *d, int number)
{
	const char *local = getenv("LOCAL_RANK");
	struct gv_error ignored = {0};
	int n;

	if (number >= 0)
		return number;
	n = local == NULL ? 0 : atoi(local);
	return n > 0 && n < gv_cuda_count(d, &ignored) ? n : 0;
}

static struct gv_nn_backend *
open_cuda(const struct gv_nn_device *d, struct gv_error *e)
{
	static struct gv_cuda_driver driver;
	static struct gv_cuda_blas blas;
	struct gv_cuda_config c = {.driver = &driver,
	    .image = gv_cuda_image,
	    .built = gv_cuda_image_built,
	    .math = d->math,
	    .load_nccl = gv_cuda_load_nccl,
	    .no_graphs = getenv("GV_CUDA_NO_GRAPHS") != NULL};

	if (gv_cuda_load_driver(&driver, e) != 0)
		return NULL;
	c.device = choose(&driver, d->number);
	if (d->math != GV_NN_FP32) {
		if (gv_cuda_load_blas(&blas, e) != 0)
			return NULL;
		c.blas = &blas;
	}
	return gv_cuda_new(&c, e);
}

__attribute__((visibility("default")))
const struct gv_nn_plugin gv_nn_plugin = {.interface = GV_NN_INTERFACE,
    .size = GV_NN_SIZES_HERE,
    .version = GV_VERSION,
    .open = open_cuda};
