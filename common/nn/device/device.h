/*
 * Devices by name: what --device says.  The CPU is linked; GPUs come with gv-cuda.so,
 * which is opened only when it is asked for and links nothing of ours and of
 * CUDA's but what it opens in turn.
 */
#ifndef GV_NN_DEVICE_H
#define GV_NN_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct gv_nn_backend;

/* How the factors of products are rounded on their way; the CPU knows fp32 alone. */
enum gv_nn_math { GV_NN_FP32, GV_NN_TF32, GV_NN_BF16 };

enum gv_nn_device_kind { GV_NN_CPU, GV_NN_CUDA, GV_NN_AUTO };

struct gv_nn_device {
	enum gv_nn_device_kind kind;
	int number; /* CUDA: which, from 0; -1: LOCAL_RANK's where so many are seen, or 0 */
	enum gv_nn_math math;
	size_t threads; /* of the CPU */
};

/* "cpu", "cuda", "cuda:N" or "auto" to kind and number; 0, or -1. */
int gv_nn_device_parse(const char *text, struct gv_nn_device *d);

/*
 * Opens it.  NULL with *e, one sentence: no gv-cuda.so, one of another version, no
 * driver, one too old, no GPU of that number.  AUTO takes a GPU as -1 does, or the CPU;
 * then why [GV_ERROR_LEN] says why, and is "" otherwise.
 */
struct gv_nn_backend *gv_nn_device_open(
    const struct gv_nn_device *d, char why[GV_ERROR_LEN], struct gv_error *e);

/*
 * What gv-cuda.so exports as gv_nn_plugin.  interface changes with backend.h and
 * plan.h; sizes of their structs are compared beside it.
 */
enum { GV_NN_INTERFACE = 3, GV_NN_SIZES = 5 };
struct gv_nn_plugin {
	unsigned interface;
	size_t size[GV_NN_SIZES]; /* GV_NN_SIZES_HERE */
	const char *version;      /* of gv */
	struct gv_nn_backend *(*open)(const struct gv_nn_device *d, struct gv_error *e);
};
#define GV_NN_SIZES_HERE                                                                 \
	{                                                                                \
		sizeof(struct gv_nn_backend), sizeof(struct gv_nn_plan),                 \
		    sizeof(struct gv_nn_row), sizeof(struct gv_nn_call), sizeof(gv_real) \
	}

#endif
