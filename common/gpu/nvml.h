/*
 * What NVIDIA GPUs this machine has, asked of NVML: libnvidia-ml.so.1, which
 * comes with the driver and is opened at run time, so that nothing needs it to
 * be there.
 */
#ifndef GV_GPU_NVML_H
#define GV_GPU_NVML_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { GV_GPU_TEXT = 96 };

struct gv_gpu {
	int index; /* NVML's: the order of PCI bus ids, as CUDA_DEVICE_ORDER=PCI_BUS_ID counts */
	char uuid[GV_GPU_TEXT]; /* "" where NVML would not tell; so are the others */
	char name[GV_GPU_TEXT];
	char pci_bus_id[GV_GPU_TEXT];
	int64_t memory_bytes;      /* -1 = not told */
	int64_t memory_free_bytes; /* -1 = not told */
	/*
	 * "" = usable, else NVML's words ("GPU is lost"), or what must be done before it
	 * can be used again ("it must be reset (nvidia-smi -r)")
	 */
	char problem[GV_GPU_TEXT];
};

/* = {0} is none. */
struct gv_gpus {
	size_t n;
	struct gv_gpu *gpu;       /* [n] by index */
	char driver[GV_GPU_TEXT]; /* its version; "" = there is no driver */
	char why[GV_ERROR_LEN];   /* why there is no driver, in words */
};

/*
 * Lists them all.  0, also when there is no driver (n = 0, driver "", why set);
 * -1 with *e set when NVML is there but fails.
 */
int gv_gpus_list(struct gv_gpus *g, struct gv_error *e);
void gv_gpus_free(struct gv_gpus *g);

#endif
