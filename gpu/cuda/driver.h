/*
 * What of NVIDIA's libraries the backend calls: tables of functions.  On a machine
 * with a GPU load.c fills them from libcuda.so.1 and libcublas, opened at run
 * time; tests fill them with a fake.  Nothing of CUDA is linked, and none of its
 * headers is needed: these are their declarations, whose ABI is kept by the names.
 */
#ifndef GV_CUDA_DRIVER_H
#define GV_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Handles and results as the driver has them; device memory is a number. */
typedef unsigned long long gv_cu_ptr;
typedef struct CUctx_st *gv_cu_context;
typedef struct CUmod_st *gv_cu_module;
typedef struct CUfunc_st *gv_cu_function;
typedef struct CUstream_st *gv_cu_stream;
typedef struct CUevent_st *gv_cu_event;
typedef struct CUgraph_st *gv_cu_graph;
typedef struct CUgraphExec_st *gv_cu_graph_exec;

/* Results, attributes and flags that are looked at or given. */
enum {
	GV_CU_SUCCESS = 0,
	GV_CU_OUT_OF_MEMORY = 2,
	GV_CU_NO_DEVICE = 100,
	GV_CU_INVALID_IMAGE = 200,
	GV_CU_NO_BINARY_FOR_GPU = 209,
	GV_CU_NOT_READY = 600,
	GV_CU_LAUNCH_FAILED = 719,
	GV_CU_PROCESSORS = 16, /* cuDeviceGetAttribute: multiprocessors, */
	GV_CU_MAJOR = 75,      /* compute capability */
	GV_CU_MINOR = 76,
	GV_CU_SHARED_OPTIN = 97,
	GV_CU_FUNC_SHARED = 8, /* cuFuncSetAttribute: dynamic shared memory */
	GV_CU_NON_BLOCKING = 1,
	GV_CU_CAPTURE_THREAD = 1,
	GV_CU_EVENT_BLOCKING = 1, /* who waits for it sleeps; */
	GV_CU_EVENT_NO_TIME = 2   /* it tells no time */
};

/* field, its name in libcuda.so.1, parameters; all of them return 0 or a CUresult */
#define GV_CUDA_DRIVER(X)                                                              \
	X(init, cuInit, (unsigned flags))                                              \
	X(driver_version, cuDriverGetVersion, (int *version))                          \
	X(error_name, cuGetErrorName, (int r, const char **text))                      \
	X(error_string, cuGetErrorString, (int r, const char **text))                  \
	X(device_count, cuDeviceGetCount, (int *n))                                    \
	X(device_get, cuDeviceGet, (int *device, int ordinal))                         \
	X(device_name, cuDeviceGetName, (char *name, int len, int device))             \
	X(device_bus, cuDeviceGetPCIBusId, (char *name, int len, int device))          \
	X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, int device))            \
	X(device_attribute, cuDeviceGetAttribute,                                      \
	    (int *value, int attribute, int device))                                   \
	X(context_retain, cuDevicePrimaryCtxRetain, (gv_cu_context * c, int device))   \
	X(context_release, cuDevicePrimaryCtxRelease_v2, (int device))                 \
	X(context_set, cuCtxSetCurrent, (gv_cu_context c))                             \
	X(module_load, cuModuleLoadData, (gv_cu_module * m, const void *image))        \
	X(module_unload, cuModuleUnload, (gv_cu_module m))                             \
	X(module_function, cuModuleGetFunction,                                        \
	    (gv_cu_function * f, gv_cu_module m, const char *name))                    \
	X(function_set, cuFuncSetAttribute,                                            \
	    (gv_cu_function f, int attribute, int value))                              \
	X(memory_info, cuMemGetInfo_v2, (size_t * left, size_t * total))               \
	X(alloc, cuMemAlloc_v2, (gv_cu_ptr * p, size_t bytes))                         \
	X(release, cuMemFree_v2, (gv_cu_ptr p))                                        \
	X(host_alloc, cuMemHostAlloc, (void **p, size_t bytes, unsigned flags))        \
	X(host_free, cuMemFreeHost, (void *p))                                         \
	X(fill, cuMemsetD8Async,                                                       \
	    (gv_cu_ptr p, unsigned char v, size_t n, gv_cu_stream s))                  \
	X(put, cuMemcpyHtoDAsync_v2,                                                   \
	    (gv_cu_ptr to, const void *from, size_t bytes, gv_cu_stream s))            \
	X(get, cuMemcpyDtoHAsync_v2,                                                   \
	    (void *to, gv_cu_ptr from, size_t bytes, gv_cu_stream s))                  \
	X(copy, cuMemcpyDtoDAsync_v2,                                                  \
	    (gv_cu_ptr to, gv_cu_ptr from, size_t bytes, gv_cu_stream s))              \
	X(stream_create, cuStreamCreate, (gv_cu_stream * s, unsigned flags))           \
	X(stream_destroy, cuStreamDestroy_v2, (gv_cu_stream s))                        \
	X(stream_sync, cuStreamSynchronize, (gv_cu_stream s))                          \
	X(stream_wait, cuStreamWaitEvent,                                              \
	    (gv_cu_stream s, gv_cu_event e, unsigned flags))                           \
	X(capture, cuStreamBeginCapture_v2, (gv_cu_stream s, int mode))                \
	X(captured, cuStreamEndCapture, (gv_cu_stream s, gv_cu_graph * g))             \
	X(graph_instantiate, cuGraphInstantiateWithFlags,                              \
	    (gv_cu_graph_exec * x, gv_cu_graph g, unsigned long long flags))           \
	X(graph_launch, cuGraphLaunch, (gv_cu_graph_exec x, gv_cu_stream s))           \
	X(graph_destroy, cuGraphDestroy, (gv_cu_graph g))                              \
	X(graph_exec_destroy, cuGraphExecDestroy, (gv_cu_graph_exec x))                \
	X(event_create, cuEventCreate, (gv_cu_event * e, unsigned flags))              \
	X(event_destroy, cuEventDestroy_v2, (gv_cu_event e))                           \
	X(event_record, cuEventRecord, (gv_cu_event e, gv_cu_stream s))                \
	X(event_sync, cuEventSynchronize, (gv_cu_event e))                             \
	X(event_query, cuEventQuery, (gv_cu_event e))                                  \
	X(event_elapsed, cuEventElapsedTime,                                           \
	    (float *ms, gv_cu_event from, gv_cu_event to))                             \
	X(launch, cuLaunchKernel,                                                      \
	    (gv_cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z,      \
		unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, \
		gv_cu_stream s, void **args, void **extra))

struct gv_cuda_driver {
#define X(field, name, args) int(*field) args;
	GV_CUDA_DRIVER(X)
#undef X
};

/* cuBLAS: column-major products; results are cublasStatus_t. */
typedef struct cublasContext *gv_cu_blas;
enum {
	GV_CU_BLAS_N = 0,
	GV_CU_BLAS_T = 1,
	GV_CU_R_32F = 0,
	GV_CU_R_16BF = 14,
	GV_CU_COMPUTE_32F = 68,
	GV_CU_COMPUTE_32F_PEDANTIC = 69,
	GV_CU_COMPUTE_32F_FAST_16BF = 75,
	GV_CU_COMPUTE_32F_FAST_TF32 = 77,
	GV_CU_BLAS_DEFAULT = -1 /* the algorithm is cuBLAS's choice */
};

#define GV_CUDA_BLAS(X)                                                                \
	X(create, cublasCreate_v2, (gv_cu_blas * h))                                   \
	X(destroy, cublasDestroy_v2, (gv_cu_blas h))                                   \
	X(set_stream, cublasSetStream_v2, (gv_cu_blas h, gv_cu_stream s))              \
	X(set_workspace, cublasSetWorkspace_v2, (gv_cu_blas h, void *p, size_t bytes)) \
	X(gemm, cublasGemmStridedBatchedEx,                                            \
	    (gv_cu_blas h, int ta, int tb, int m, int n, int k, const void *alpha,     \
		const void *a, int a_type, int lda, long long a_stride, const void *b, \
		int b_type, int ldb, long long b_stride, const void *beta, void *c,    \
		int c_type, int ldc, long long c_stride, int batch, int compute,       \
		int algorithm))

struct gv_cuda_blas {
#define X(field, name, args) int(*field) args;
	GV_CUDA_BLAS(X)
#undef X
	const char *(*status_string)(int r);
};

/*
 * Fills the tables from the libraries of this machine, which stay open.  0, or -1 with
 * *e: no driver, or one that is too old to have a function.
 */
int gv_cuda_load_driver(struct gv_cuda_driver *d, struct gv_error *e);
/* The same of cuBLAS, wherever it is installed (LD_LIBRARY_PATH, CUDA's own folder). */
int gv_cuda_load_blas(struct gv_cuda_blas *b, struct gv_error *e);

#endif
