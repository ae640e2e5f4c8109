/* Kernels, the device and cuBLAS of the fake driver. */
#include "parts.h"

/* ---- kernels ---- */

static const size_t size_of[] = {
#define GV_CUDA_KERNEL(name, args, threads) sizeof(struct args),
#include "cuda/kernels_list.h"
#undef GV_CUDA_KERNEL
};
static const unsigned threads_of[] = {
#define GV_CUDA_KERNEL(name, args, threads) threads,
#include "cuda/kernels_list.h"
#undef GV_CUDA_KERNEL
};

int
cuModuleLoadData(gv_cu_module *m, const void *image)
{
	static char module;

	(void)image;
	ENTER(cuModuleLoadData);
	if (gv_fake_cuda.capability < 80)
		return GV_CU_NO_BINARY_FOR_GPU;
	*m = (gv_cu_module)(void *)&module;
	return 0;
}

int
cuModuleUnload(gv_cu_module m)
{
	(void)m;
	ENTER(cuModuleUnload);
	return 0;
}

int
cuModuleGetFunction(gv_cu_function *f, gv_cu_module m, const char *name)
{
	uintptr_t i;

	(void)m;
	ENTER(cuModuleGetFunction);
	for (i = 0; i < GV_CUDA_KERNELS; i++)
		if (strcmp(gv_cuda_kernel_name[i], name) == 0) {
			*f = (gv_cu_function)(i + 1);
			return 0;
		}
	return 500;
}

int
cuFuncSetAttribute(gv_cu_function f, int attribute, int value)
{
	(void)f;
	(void)attribute;
	(void)value;
	ENTER(cuFuncSetAttribute);
	return 0;
}

int
cuLaunchKernel(gv_cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, gv_cu_stream s,
    void **args, void **extra)
{
	size_t k = (uintptr_t)f - 1;
	struct op op = {.kind = KERNEL,
	    .kernel = (enum gv_cuda_kernel)k,
	    .grid = {grid_x, grid_y, grid_z},
	    .threads = block_x};

	ENTER(cuLaunchKernel);
	/* what a GPU does not take */
	if (grid_x == 0 || grid_y == 0 || grid_z == 0 || grid_x > 0x7fffffff ||
	    grid_y > 65535 || grid_z > 65535 || block_x != threads_of[k] ||
	    block_y != 1 || block_z != 1 || shared != 0 || extra != NULL)
		return 1;
	op.bytes = size_of[k];
	op.kept = gv_fake_keep(args[0], op.bytes);
	return gv_fake_submit(s, &op);
}

/* ---- the device ---- */

static const struct {
	int result;
	const char *name, *text;
} results[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE",
	"CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
	"no kernel image is available for execution on the device"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	"system has unsupported display driver / cuda driver combination"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int
describe(int r, const char **text, int name)
{
	size_t i;

	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (results[i].result == r) {
			*text = name ? results[i].name : results[i].text;
			return 0;
		}
	*text = NULL;
	return 1;
}

int
cuGetErrorName(int r, const char **text)
{
	return describe(r, text, 1);
}

int
cuGetErrorString(int r, const char **text)
{
	return describe(r, text, 0);
}

int
cuInit(unsigned flags)
{
	(void)flags;
	ENTER(cuInit);
	return gv_fake_cuda.devices == 0 ? GV_CU_NO_DEVICE : 0;
}

int
cuDriverGetVersion(int *version)
{
	ENTER(cuDriverGetVersion);
	*version = gv_fake_cuda.driver;
	return 0;
}

int
cuDeviceGetCount(int *n)
{
	ENTER(cuDeviceGetCount);
	*n = gv_fake_cuda.devices;
	return 0;
}

int
cuDeviceGet(int *device, int ordinal)
{
	ENTER(cuDeviceGet);
	*device = ordinal;
	return 0;
}

int
cuDeviceGetName(char *name, int len, int device)
{
	(void)device;
	ENTER(cuDeviceGetName);
	snprintf(name, (size_t)len, "Fake H100");
	return 0;
}

int
cuDeviceGetPCIBusId(char *name, int len, int device)
{
	ENTER(cuDeviceGetPCIBusId);
	snprintf(name, (size_t)len, "0000:%02X:00.0", 0x1b + device);
	return 0;
}

int
cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	ENTER(cuDeviceTotalMem_v2);
	*bytes = gv_fake_cuda.memory;
	return 0;
}

int
cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	ENTER(cuDeviceGetAttribute);
	*value = attribute == GV_CU_MAJOR        ? gv_fake_cuda.capability / 10
		 : attribute == GV_CU_MINOR      ? gv_fake_cuda.capability % 10
		 : attribute == GV_CU_PROCESSORS ? gv_fake_cuda.processors
						 : 0;
	return 0;
}

int gv_fake_device;

int
cuDevicePrimaryCtxRetain(gv_cu_context *c, int device)
{
	static char context;

	gv_fake_device = device;
	ENTER(cuDevicePrimaryCtxRetain);
	*c = (gv_cu_context)(void *)&context;
	return 0;
}

int
cuDevicePrimaryCtxRelease_v2(int device)
{
	(void)device;
	ENTER(cuDevicePrimaryCtxRelease_v2);
	return 0;
}

int
cuCtxSetCurrent(gv_cu_context c)
{
	(void)c;
	ENTER(cuCtxSetCurrent);
	return 0;
}

/* ---- cuBLAS ---- */

struct cublasContext {
	gv_cu_stream stream;
	void *room;
};

int
cublasCreate_v2(gv_cu_blas *h)
{
	ENTER(cublasCreate_v2);
	return (*h = calloc(1, sizeof(**h))) == NULL ? 3 : 0;
}

int
cublasDestroy_v2(gv_cu_blas h)
{
	free(h);
	ENTER(cublasDestroy_v2);
	return 0;
}

int
cublasSetStream_v2(gv_cu_blas h, gv_cu_stream s)
{
	ENTER(cublasSetStream_v2);
	h->stream = s;
	h->room = NULL; /* as cuBLAS does */
	return 0;
}

int
cublasSetWorkspace_v2(gv_cu_blas h, void *p, size_t bytes)
{
	(void)bytes;
	ENTER(cublasSetWorkspace_v2);
	h->room = p;
	return 0;
}

int
cublasGemmStridedBatchedEx(gv_cu_blas h, int ta, int tb, int m, int n, int k,
    const void *alpha, const void *a, int a_type, int lda, long long a_stride,
    const void *b, int b_type, int ldb, long long b_stride, const void *beta, void *c,
    int c_type, int ldc, long long c_stride, int batch, int compute, int algorithm)
{
	struct op op = {.kind = PRODUCT,
	    .product = {ta, tb, m, n, k, lda, ldb, ldc, batch, compute, a_type, c_type, 0,
		0, a, b, c, a_stride, b_stride, c_stride}};

	(void)algorithm;
	ENTER(cublasGemmStridedBatchedEx);
	/* capturing it may not allocate */
	if (h->room == NULL || a_type != b_type ||
	    (a_type != GV_CU_R_32F && a_type != GV_CU_R_16BF) ||
	    (c_type != GV_CU_R_32F && c_type != a_type) ||
	    (a_type == GV_CU_R_16BF && compute != GV_CU_COMPUTE_32F) ||
	    lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m)
		return 7;
	memcpy(&op.product.alpha, alpha, sizeof(float));
	memcpy(&op.product.beta, beta, sizeof(float));
	return gv_fake_submit(h->stream, &op);
}

const char *
cublasGetStatusString(int r)
{
	return r == 7 ? "the function failed: invalid value" : "the library failed";
}

void
gv_fake_cuda_tables(struct gv_cuda_driver *d, struct gv_cuda_blas *b)
{
#define X(field, symbol, args) d->field = symbol;
	GV_CUDA_DRIVER(X)
#undef X
#define X(field, symbol, args) b->field = symbol;
	GV_CUDA_BLAS(X)
#undef X
	b->status_string = cublasGetStatusString;
}

void
gv_fake_nccl_table(struct gv_cuda_nccl *n)
{
#define X(field, symbol, args) n->field = symbol;
	GV_CUDA_NCCL(X)
#undef X
	n->error_string = ncclGetErrorString;
	n->last_error = ncclGetLastError;
}
