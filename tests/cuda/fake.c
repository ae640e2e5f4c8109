/*
 * A libcuda.so.1 and a libcublas without a GPU: device memory is memory of this
 * process that only kernels and copies may touch (whoever else does dies), kernels
 * run in the emulator, and a stream is a queue of which nothing runs before
 * somebody waits for it, so that what is read too early, or changed too early, shows.
 *
 * What GV_FAKE_CUDA says, words separated by commas:
 *	fail=NAME:N:R   the Nth call of NAME returns R; from 700 on so do all that follow
 *	memory=BYTES    of the device
 *	devices=N       how many there are
 *	driver=N        the driver's version, as 12040
 *	capability=N    as 90; below 80 the kernels are not for it
 *	log=FILE        the calls are counted there when the process ends: NAME N
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda/args.h"
#include "emulator.h"
#include "fake.h"

enum { GAP = 256, POISON = 0xff, MOST = 4096, MUCH = 16 << 20 };
static const size_t ARENA = (size_t)1 << 32;

/* ---- what was asked for, what is broken ---- */

enum name {
#define X(field, symbol, args) N_##symbol,
	GV_CUDA_DRIVER(X) GV_CUDA_BLAS(X)
#undef X
	    NAMES
};
static const char *const name_of[] = {
#define X(field, symbol, args) #symbol,
    GV_CUDA_DRIVER(X) GV_CUDA_BLAS(X)
#undef X
};

struct gv_fake_cuda gv_fake_cuda = {
    .memory = 1 << 30, .devices = 1, .driver = 13000, .capability = 90};
static size_t called[NAMES];
static int broken; /* a result that stays */
static char log_path[256];

static void
write_log(void)
{
	FILE *f = fopen(log_path, "w");
	size_t i;

	for (i = 0; f != NULL && i < NAMES; i++)
		if (called[i] > 0)
			fprintf(f, "%s %zu\n", name_of[i], called[i]);
	if (f != NULL)
		fclose(f);
}

static void
read_environment(void)
{
	static int done;
	const char *s = getenv("GV_FAKE_CUDA");
	char text[512], *word, *rest = NULL;

	if (done++ || s == NULL)
		return;
	snprintf(text, sizeof(text), "%s", s);
	for (word = strtok_r(text, ",", &rest); word != NULL;
	     word = strtok_r(NULL, ",", &rest)) {
		sscanf(word, "fail=%47[^:]:%zu:%d", gv_fake_cuda.fail, &gv_fake_cuda.at,
		    &gv_fake_cuda.result);
		sscanf(word, "memory=%zu", &gv_fake_cuda.memory);
		sscanf(word, "devices=%d", &gv_fake_cuda.devices);
		sscanf(word, "driver=%d", &gv_fake_cuda.driver);
		sscanf(word, "capability=%d", &gv_fake_cuda.capability);
		if (sscanf(word, "log=%255s", log_path) == 1)
			atexit(write_log);
	}
}

void
gv_fake_cuda_reset(void)
{
	memset(called, 0, sizeof(called));
	broken = 0;
	gv_fake_cuda = (struct gv_fake_cuda){
	    .memory = 1 << 30, .devices = 1, .driver = 13000, .capability = 90};
}

size_t
gv_fake_cuda_called(const char *name)
{
	size_t i;

	for (i = 0; i < NAMES; i++)
		if (strcmp(name_of[i], name) == 0)
			return called[i];
	return SIZE_MAX;
}

const char *
gv_fake_cuda_name(size_t i)
{
	return i < NAMES ? name_of[i] : NULL;
}

/* Counts a call; what it is to return without doing anything, or 0. */
static int
enter(enum name n)
{
	read_environment();
	called[n]++;
	if (broken != 0)
		return broken;
	if (strcmp(gv_fake_cuda.fail, name_of[n]) != 0 || called[n] != gv_fake_cuda.at)
		return 0;
	if (gv_fake_cuda.result >= 700)
		broken = gv_fake_cuda.result;
	return gv_fake_cuda.result;
}
#define ENTER(n)                            \
	do {                                \
		int failure = enter(N_##n); \
		if (failure != 0)           \
			return failure;     \
	} while (0)

/* ---- memory: one arena, shut but while something of the device runs ---- */

struct block {
	char *at;
	size_t bytes;
	int host;
};
static struct block block[MOST];
static size_t blocks, used;
static char *arena;

static void
open_memory(int on)
{
	if (arena != NULL)
		mprotect(arena, ARENA, on ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static struct block *
find(const void *p)
{
	size_t i;

	for (i = 0; i < blocks; i++)
		if (block[i].at == p)
			return &block[i];
	return NULL;
}

/* A place between two blocks, or behind the last; gaps of GAP bytes stay free. */
static char *
place(size_t bytes)
{
	char *at = arena + GAP;
	size_t i, moved = 1;

	while (moved) {
		moved = 0;
		for (i = 0; i < blocks; i++) {
			struct block *b = &block[i];

			if (!b->host && at < b->at + b->bytes + GAP &&
			    b->at < at + bytes + GAP) {
				at = b->at + (b->bytes + 2 * GAP - 1) / GAP * GAP;
				moved = 1;
			}
		}
	}
	return at;
}

int cuMemAlloc_v2(gv_cu_ptr *p, size_t bytes);
int
cuMemAlloc_v2(gv_cu_ptr *p, size_t bytes)
{
	char *at;

	ENTER(cuMemAlloc_v2);
	if (bytes == 0)
		return 1;
	if (used + bytes > gv_fake_cuda.memory || blocks == MOST)
		return GV_CU_OUT_OF_MEMORY;
	if (arena == NULL)
		arena = mmap(NULL, ARENA, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	at = place(bytes);
	block[blocks++] = (struct block){at, bytes, 0};
	used += bytes;
	open_memory(1);
	memset(at - GAP, POISON, (bytes < MUCH ? bytes : 0) + GAP);
	memset(at + bytes, POISON, GAP);
	open_memory(0);
	*p = (gv_cu_ptr)(uintptr_t)at;
	return 0;
}

/* Whoever wrote beside a block. */
static void
check_gaps(const struct block *b)
{
	size_t i;

	open_memory(1);
	for (i = 0; i < GAP; i++)
		if ((unsigned char)b->at[-1 - (ptrdiff_t)i] != POISON ||
		    (unsigned char)b->at[b->bytes + i] != POISON) {
			fprintf(stderr,
			    "fake CUDA: written beside a block of %zu bytes\n", b->bytes);
			abort();
		}
	open_memory(0);
}

static void run_stream(struct CUstream_st *s);
static void run_streams(void);

int cuMemFree_v2(gv_cu_ptr p);
int
cuMemFree_v2(gv_cu_ptr p)
{
	struct block *b = find((void *)(uintptr_t)p);

	ENTER(cuMemFree_v2);
	if (b == NULL || b->host)
		return 1;
	run_streams();
	check_gaps(b);
	open_memory(1);
	memset(b->at, POISON, b->bytes < MUCH ? b->bytes : 0);
	open_memory(0);
	used -= b->bytes;
	*b = block[--blocks];
	return 0;
}

int cuMemHostAlloc(void **p, size_t bytes, unsigned flags);
int
cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
	(void)flags;
	ENTER(cuMemHostAlloc);
	if (blocks == MOST || (*p = malloc(bytes)) == NULL)
		return GV_CU_OUT_OF_MEMORY;
	memset(*p, POISON, bytes);
	block[blocks++] = (struct block){*p, bytes, 1};
	return 0;
}

int cuMemFreeHost(void *p);
int
cuMemFreeHost(void *p)
{
	struct block *b = find(p);

	ENTER(cuMemFreeHost);
	if (b == NULL || !b->host)
		return 1;
	run_streams();
	*b = block[--blocks];
	free(p);
	return 0;
}

size_t
gv_fake_cuda_blocks(void)
{
	return blocks;
}

static int
is_pinned(const void *p)
{
	size_t i;

	for (i = 0; i < blocks; i++)
		if (block[i].host && (const char *)p >= block[i].at &&
		    (const char *)p < block[i].at + block[i].bytes)
			return 1;
	return 0;
}

int cuMemGetInfo_v2(size_t *left, size_t *total);
int
cuMemGetInfo_v2(size_t *left, size_t *total)
{
	ENTER(cuMemGetInfo_v2);
	*left = gv_fake_cuda.memory - used;
	*total = gv_fake_cuda.memory;
	return 0;
}

/* ---- streams: queues ---- */

enum kind { KERNEL, PRODUCT, FILL, COPY, RECORD };
struct product {
	int ta, tb, m, n, k, lda, ldb, ldc, batch, compute;
	float alpha, beta;
	const float *a, *b;
	float *c;
	long long a_stride, b_stride, c_stride;
};
struct op {
	enum kind kind;
	void *to;
	const void *from;
	char *kept; /* what was at from, when it may change; freed with the op */
	size_t bytes;
	enum gv_cuda_kernel kernel;
	struct gv_cuda_grid grid;
	unsigned threads;
	struct product product;
	struct CUevent_st *event;
};
struct ops {
	struct op *op;
	size_t n, cap;
};
struct CUstream_st {
	struct ops queue, graph;
	int capturing;
	struct CUstream_st *next;
};
struct CUgraph_st {
	struct ops ops;
};
struct CUgraphExec_st {
	struct ops ops;
};
struct CUevent_st {
	float ms;
	int recorded;
};
static struct CUstream_st *streams;
static float now_ms; /* of the device: something more with every operation */

static void
append(struct ops *o, const struct op *op)
{
	if (o->n == o->cap) {
		o->cap = o->cap == 0 ? 64 : 2 * o->cap;
		o->op = realloc(o->op, o->cap * sizeof(*o->op));
		if (o->op == NULL)
			abort();
	}
	o->op[o->n++] = *op;
}

static void
empty(struct ops *o)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		free(o->op[i].kept);
	free(o->op);
	*o = (struct ops){0};
}

void
gv_fake_cuda_forget(void)
{
	for (; streams != NULL; streams = streams->next) {
		empty(&streams->queue);
		empty(&streams->graph);
	}
	while (blocks > 0)
		if (block[--blocks].host)
			free(block[blocks].at);
	used = 0;
	broken = 0;
}

static void *
keep(const void *from, size_t bytes)
{
	void *p = malloc(bytes + 1);

	if (p == NULL)
		abort();
	return memcpy(p, from, bytes);
}

static int
submit(struct CUstream_st *s, const struct op *op)
{
	if (s == NULL)
		return 400; /* the default stream, which nothing here uses */
	append(s->capturing ? &s->graph : &s->queue, op);
	return 0;
}

/* To 10 bits behind the point (TF32), or 7 (bfloat16); nearest, ties to even. */
static float
rounded(float v, int compute)
{
	unsigned drop = compute == GV_CU_COMPUTE_32F_FAST_TF32   ? 13
			: compute == GV_CU_COMPUTE_32F_FAST_16BF ? 16
								 : 0;
	uint32_t bits;

	if (drop == 0 || v != v)
		return v;
	memcpy(&bits, &v, sizeof(bits));
	bits += (1u << (drop - 1)) - 1 + (bits >> drop & 1);
	bits &= ~((1u << drop) - 1);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Column-major: element (i, l) of a is a[l * lda + i], transposed a[i * lda + l]. */
static void
multiply(const struct product *p)
{
	long long z, i, j, l;

	for (z = 0; z < p->batch; z++)
		for (j = 0; j < p->n; j++)
			for (i = 0; i < p->m; i++) {
				const float *a = p->a + z * p->a_stride;
				const float *b = p->b + z * p->b_stride;
				float *c = p->c + z * p->c_stride + j * p->ldc + i,
				      sum = 0;

				for (l = 0; l < p->k; l++)
					sum += rounded(a[p->ta ? i * p->lda + l
							       : l * p->lda + i],
						   p->compute) *
					       rounded(b[p->tb ? l * p->ldb + j
							       : j * p->ldb + l],
						   p->compute);
				/* cuBLAS does not read c where beta is 0 */
				*c = p->alpha * sum + (p->beta != 0 ? p->beta * *c : 0);
			}
}

static void
run_op(const struct op *op)
{
	now_ms += 0.001f;
	switch (op->kind) {
	case KERNEL:
		if (emulator.run(&emulator, op->kernel, op->grid, op->threads, op->kept,
			op->bytes) != 0) {
			fprintf(stderr, "fake CUDA: %s: %s\n",
			    gv_cuda_kernel_name[op->kernel], emulator_error);
			broken = GV_CU_LAUNCH_FAILED;
		}
		break;
	case PRODUCT:
		multiply(&op->product);
		break;
	case FILL:
		memset(op->to, (int)(uintptr_t)op->from, op->bytes);
		break;
	case COPY:
		memcpy(op->to, op->kept != NULL ? op->kept : op->from, op->bytes);
		break;
	case RECORD:
		op->event->ms = now_ms;
		op->event->recorded = 1;
	}
}

static void
run_stream(struct CUstream_st *s)
{
	size_t i;

	if (s->queue.n == 0)
		return;
	open_memory(1);
	for (i = 0; i < s->queue.n && broken == 0; i++)
		run_op(&s->queue.op[i]);
	open_memory(0);
	empty(&s->queue);
}

static void
run_streams(void)
{
	struct CUstream_st *s;

	for (s = streams; s != NULL; s = s->next)
		run_stream(s);
}

int cuStreamCreate(gv_cu_stream *s, unsigned flags);
int
cuStreamCreate(gv_cu_stream *s, unsigned flags)
{
	(void)flags;
	ENTER(cuStreamCreate);
	if ((*s = calloc(1, sizeof(**s))) == NULL)
		return GV_CU_OUT_OF_MEMORY;
	(*s)->next = streams;
	streams = *s;
	return 0;
}

int cuStreamDestroy_v2(gv_cu_stream s);
int
cuStreamDestroy_v2(gv_cu_stream s)
{
	struct CUstream_st **at = &streams;

	ENTER(cuStreamDestroy_v2);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	run_stream(s);
	empty(&s->queue);
	empty(&s->graph);
	free(s);
	return 0;
}

int cuStreamSynchronize(gv_cu_stream s);
int
cuStreamSynchronize(gv_cu_stream s)
{
	ENTER(cuStreamSynchronize);
	if (s->capturing)
		return 900;
	run_stream(s);
	return broken;
}

int cuStreamWaitEvent(gv_cu_stream s, gv_cu_event e, unsigned flags);
int
cuStreamWaitEvent(gv_cu_stream s, gv_cu_event e, unsigned flags)
{
	(void)s;
	(void)e;
	(void)flags;
	ENTER(cuStreamWaitEvent);
	return 0;
}

int cuMemsetD8Async(gv_cu_ptr p, unsigned char v, size_t n, gv_cu_stream s);
int
cuMemsetD8Async(gv_cu_ptr p, unsigned char v, size_t n, gv_cu_stream s)
{
	ENTER(cuMemsetD8Async);
	return submit(s, &(struct op){.kind = FILL,
			     .to = (void *)(uintptr_t)p,
			     .from = (void *)(uintptr_t)v,
			     .bytes = n});
}

int cuMemcpyHtoDAsync_v2(gv_cu_ptr to, const void *from, size_t bytes, gv_cu_stream s);
int
cuMemcpyHtoDAsync_v2(gv_cu_ptr to, const void *from, size_t bytes, gv_cu_stream s)
{
	ENTER(cuMemcpyHtoDAsync_v2);
	if (s != NULL && s->capturing && !is_pinned(from))
		return 900;
	return submit(s, &(struct op){.kind = COPY,
			     .to = (void *)(uintptr_t)to,
			     .from = from,
			     /* pinned memory is read when its turn comes */
			     .kept = is_pinned(from) ? NULL : keep(from, bytes),
			     .bytes = bytes});
}

int cuMemcpyDtoHAsync_v2(void *to, gv_cu_ptr from, size_t bytes, gv_cu_stream s);
int
cuMemcpyDtoHAsync_v2(void *to, gv_cu_ptr from, size_t bytes, gv_cu_stream s)
{
	ENTER(cuMemcpyDtoHAsync_v2);
	return submit(s,
	    &(struct op){
		.kind = COPY, .to = to, .from = (void *)(uintptr_t)from, .bytes = bytes});
}

int cuMemcpyDtoDAsync_v2(gv_cu_ptr to, gv_cu_ptr from, size_t bytes, gv_cu_stream s);
int
cuMemcpyDtoDAsync_v2(gv_cu_ptr to, gv_cu_ptr from, size_t bytes, gv_cu_stream s)
{
	ENTER(cuMemcpyDtoDAsync_v2);
	return submit(s, &(struct op){.kind = COPY,
			     .to = (void *)(uintptr_t)to,
			     .from = (void *)(uintptr_t)from,
			     .bytes = bytes});
}

/* ---- graphs and events ---- */

int cuStreamBeginCapture_v2(gv_cu_stream s, int mode);
int
cuStreamBeginCapture_v2(gv_cu_stream s, int mode)
{
	(void)mode;
	ENTER(cuStreamBeginCapture_v2);
	if (s->capturing)
		return 901;
	s->capturing = 1;
	return 0;
}

int cuStreamEndCapture(gv_cu_stream s, gv_cu_graph *g);
int
cuStreamEndCapture(gv_cu_stream s, gv_cu_graph *g)
{
	ENTER(cuStreamEndCapture);
	if (!s->capturing || (*g = calloc(1, sizeof(**g))) == NULL)
		return 901;
	(*g)->ops = s->graph;
	s->graph = (struct ops){0};
	s->capturing = 0;
	return 0;
}

/* A copy with what its kernels were given. */
static void
append_copy(struct ops *to, const struct op *op)
{
	struct op one = *op;

	if (op->kept != NULL)
		one.kept = keep(op->kept, op->bytes);
	append(to, &one);
}

int cuGraphInstantiateWithFlags(
    gv_cu_graph_exec *x, gv_cu_graph g, unsigned long long flags);
int
cuGraphInstantiateWithFlags(gv_cu_graph_exec *x, gv_cu_graph g, unsigned long long flags)
{
	size_t i;

	(void)flags;
	ENTER(cuGraphInstantiateWithFlags);
	if ((*x = calloc(1, sizeof(**x))) == NULL)
		return GV_CU_OUT_OF_MEMORY;
	for (i = 0; i < g->ops.n; i++)
		append_copy(&(*x)->ops, &g->ops.op[i]);
	return 0;
}

int cuGraphLaunch(gv_cu_graph_exec x, gv_cu_stream s);
int
cuGraphLaunch(gv_cu_graph_exec x, gv_cu_stream s)
{
	size_t i;

	ENTER(cuGraphLaunch);
	for (i = 0; i < x->ops.n; i++)
		append_copy(s->capturing ? &s->graph : &s->queue, &x->ops.op[i]);
	return 0;
}

int cuGraphDestroy(gv_cu_graph g);
int
cuGraphDestroy(gv_cu_graph g)
{
	ENTER(cuGraphDestroy);
	empty(&g->ops);
	free(g);
	return 0;
}

int cuGraphExecDestroy(gv_cu_graph_exec x);
int
cuGraphExecDestroy(gv_cu_graph_exec x)
{
	ENTER(cuGraphExecDestroy);
	empty(&x->ops);
	free(x);
	return 0;
}

int cuEventCreate(gv_cu_event *e, unsigned flags);
int
cuEventCreate(gv_cu_event *e, unsigned flags)
{
	(void)flags;
	ENTER(cuEventCreate);
	return (*e = calloc(1, sizeof(**e))) == NULL ? GV_CU_OUT_OF_MEMORY : 0;
}

int cuEventDestroy_v2(gv_cu_event e);
int
cuEventDestroy_v2(gv_cu_event e)
{
	ENTER(cuEventDestroy_v2);
	free(e);
	return 0;
}

int cuEventRecord(gv_cu_event e, gv_cu_stream s);
int
cuEventRecord(gv_cu_event e, gv_cu_stream s)
{
	ENTER(cuEventRecord);
	e->recorded = 0;
	return submit(s, &(struct op){.kind = RECORD, .event = e});
}

int cuEventSynchronize(gv_cu_event e);
int
cuEventSynchronize(gv_cu_event e)
{
	ENTER(cuEventSynchronize);
	run_streams();
	return e->recorded ? 0 : 400;
}

int cuEventElapsedTime(float *ms, gv_cu_event from, gv_cu_event to);
int
cuEventElapsedTime(float *ms, gv_cu_event from, gv_cu_event to)
{
	ENTER(cuEventElapsedTime);
	if (!from->recorded || !to->recorded)
		return 600;
	*ms = to->ms - from->ms;
	return 0;
}

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

int cuModuleLoadData(gv_cu_module *m, const void *image);
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

int cuModuleUnload(gv_cu_module m);
int
cuModuleUnload(gv_cu_module m)
{
	(void)m;
	ENTER(cuModuleUnload);
	return 0;
}

int cuModuleGetFunction(gv_cu_function *f, gv_cu_module m, const char *name);
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

int cuFuncSetAttribute(gv_cu_function f, int attribute, int value);
int
cuFuncSetAttribute(gv_cu_function f, int attribute, int value)
{
	(void)f;
	(void)attribute;
	(void)value;
	ENTER(cuFuncSetAttribute);
	return 0;
}

int cuLaunchKernel(gv_cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, gv_cu_stream s,
    void **args, void **extra);
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
	op.kept = keep(args[0], op.bytes);
	return submit(s, &op);
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

int cuGetErrorName(int r, const char **text);
int
cuGetErrorName(int r, const char **text)
{
	return describe(r, text, 1);
}

int cuGetErrorString(int r, const char **text);
int
cuGetErrorString(int r, const char **text)
{
	return describe(r, text, 0);
}

int cuInit(unsigned flags);
int
cuInit(unsigned flags)
{
	(void)flags;
	ENTER(cuInit);
	return gv_fake_cuda.devices == 0 ? GV_CU_NO_DEVICE : 0;
}

int cuDriverGetVersion(int *version);
int
cuDriverGetVersion(int *version)
{
	ENTER(cuDriverGetVersion);
	*version = gv_fake_cuda.driver;
	return 0;
}

int cuDeviceGetCount(int *n);
int
cuDeviceGetCount(int *n)
{
	ENTER(cuDeviceGetCount);
	*n = gv_fake_cuda.devices;
	return 0;
}

int cuDeviceGet(int *device, int ordinal);
int
cuDeviceGet(int *device, int ordinal)
{
	ENTER(cuDeviceGet);
	*device = ordinal;
	return 0;
}

int cuDeviceGetName(char *name, int len, int device);
int
cuDeviceGetName(char *name, int len, int device)
{
	(void)device;
	ENTER(cuDeviceGetName);
	snprintf(name, (size_t)len, "Fake H100");
	return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device);
int
cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	ENTER(cuDeviceTotalMem_v2);
	*bytes = gv_fake_cuda.memory;
	return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device);
int
cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	ENTER(cuDeviceGetAttribute);
	*value = attribute == GV_CU_MAJOR   ? gv_fake_cuda.capability / 10
		 : attribute == GV_CU_MINOR ? gv_fake_cuda.capability % 10
					    : 0;
	return 0;
}

int cuDevicePrimaryCtxRetain(gv_cu_context *c, int device);
int
cuDevicePrimaryCtxRetain(gv_cu_context *c, int device)
{
	static char context;

	(void)device;
	ENTER(cuDevicePrimaryCtxRetain);
	*c = (gv_cu_context)(void *)&context;
	return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device);
int
cuDevicePrimaryCtxRelease_v2(int device)
{
	(void)device;
	ENTER(cuDevicePrimaryCtxRelease_v2);
	return 0;
}

int cuCtxSetCurrent(gv_cu_context c);
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

int cublasCreate_v2(gv_cu_blas *h);
int
cublasCreate_v2(gv_cu_blas *h)
{
	ENTER(cublasCreate_v2);
	return (*h = calloc(1, sizeof(**h))) == NULL ? 3 : 0;
}

int cublasDestroy_v2(gv_cu_blas h);
int
cublasDestroy_v2(gv_cu_blas h)
{
	ENTER(cublasDestroy_v2);
	free(h);
	return 0;
}

int cublasSetStream_v2(gv_cu_blas h, gv_cu_stream s);
int
cublasSetStream_v2(gv_cu_blas h, gv_cu_stream s)
{
	ENTER(cublasSetStream_v2);
	h->stream = s;
	h->room = NULL; /* as cuBLAS does */
	return 0;
}

int cublasSetWorkspace_v2(gv_cu_blas h, void *p, size_t bytes);
int
cublasSetWorkspace_v2(gv_cu_blas h, void *p, size_t bytes)
{
	(void)bytes;
	ENTER(cublasSetWorkspace_v2);
	h->room = p;
	return 0;
}

int cublasGemmStridedBatchedEx(gv_cu_blas h, int ta, int tb, int m, int n, int k,
    const void *alpha, const void *a, int a_type, int lda, long long a_stride,
    const void *b, int b_type, int ldb, long long b_stride, const void *beta, void *c,
    int c_type, int ldc, long long c_stride, int batch, int compute, int algorithm);
int
cublasGemmStridedBatchedEx(gv_cu_blas h, int ta, int tb, int m, int n, int k,
    const void *alpha, const void *a, int a_type, int lda, long long a_stride,
    const void *b, int b_type, int ldb, long long b_stride, const void *beta, void *c,
    int c_type, int ldc, long long c_stride, int batch, int compute, int algorithm)
{
	struct op op = {.kind = PRODUCT,
	    .product = {ta, tb, m, n, k, lda, ldb, ldc, batch, compute, 0, 0, a, b, c,
		a_stride, b_stride, c_stride}};

	(void)algorithm;
	ENTER(cublasGemmStridedBatchedEx);
	/* capturing it may not allocate */
	if (h->room == NULL || a_type != 0 || b_type != 0 || c_type != 0 ||
	    lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m)
		return 7;
	memcpy(&op.product.alpha, alpha, sizeof(float));
	memcpy(&op.product.beta, beta, sizeof(float));
	return submit(h->stream, &op);
}

const char *cublasGetStatusString(int r);
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
