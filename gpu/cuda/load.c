/* The tables from the libraries of this machine. */
#include <dlfcn.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "cuda/nccl.h"

/* C has no conversion from an object's to a function's pointer; POSIX has this */
static bool
find(void *library, const char *name, void *field)
{
	void *p = dlsym(library, name);

	memcpy(field, &p, sizeof(p));
	return p != NULL;
}

int
gv_cuda_load_driver(struct gv_cuda_driver *d, struct gv_error *e)
{
	static const char name[] = "libcuda.so.1";
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	/* streams that share one of the usual 8 queues wait for each other: messages of one
	   way for those of another, and ranks in a circle */
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
	if (library == NULL)
		return gv_error_set(e, "no NVIDIA driver: %s is not there", name);
#define X(field, symbol, args)                  \
	if (!find(library, #symbol, &d->field)) \
		return gv_error_set(            \
		    e, "the NVIDIA driver is too old: %s has no %s", name, #symbol);
	GV_CUDA_DRIVER(X)
#undef X
	return 0;
}

int
gv_cuda_load_nccl(struct gv_cuda_nccl *n, struct gv_error *e)
{
	static const char *const names[] = {
	    "libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"};
	void *library = NULL;
	int version = 0;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && library == NULL; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return gv_error_set(e, "no NCCL: %s is not there", names[0]);
#define X(field, symbol, args)                  \
	if (!find(library, #symbol, &n->field)) \
		return gv_error_set(e, "NCCL is too old: it has no %s", #symbol);
	GV_CUDA_NCCL(X)
#undef X
	if (!find(library, "ncclGetErrorString", &n->error_string) ||
	    !find(library, "ncclGetLastError", &n->last_error))
		return gv_error_set(
		    e, "NCCL is too old: it has no %s", "ncclGetLastError");
	if (n->version(&version) != GV_NCCL_SUCCESS || version < GV_NCCL_LEAST)
		return gv_error_set(e,
		    "NCCL is too old: it is %d.%d.%d, at least %d.%d is needed",
		    version / 10000, version / 100 % 100, version % 100,
		    GV_NCCL_LEAST / 10000, GV_NCCL_LEAST / 100 % 100);
	return 0;
}

int
gv_cuda_load_blas(struct gv_cuda_blas *b, struct gv_error *e)
{
	static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
	    "/usr/local/cuda/lib64/libcublas.so.13",
	    "/usr/local/cuda/lib64/libcublas.so.12"};
	void *library = NULL;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && library == NULL; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return gv_error_set(
		    e, "no cuBLAS: %s is not there; --math=fp32 needs none", names[0]);
#define X(field, symbol, args)                  \
	if (!find(library, #symbol, &b->field)) \
		return gv_error_set(e, "cuBLAS is too old: it has no %s", #symbol);
	GV_CUDA_BLAS(X)
#undef X
	if (!find(library, "cublasGetStatusString", &b->status_string))
		return gv_error_set(
		    e, "cuBLAS is too old: it has no %s", "cublasGetStatusString");
	return 0;
}
