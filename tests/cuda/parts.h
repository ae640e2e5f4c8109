/* Between the files of the fake driver; fake.c says what it is. */
#ifndef TESTS_CUDA_PARTS_H
#define TESTS_CUDA_PARTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/args.h"
#include "emulator.h"
#include "cuda/nccl.h"
#include "fake.h"

enum name {
#define X(field, symbol, args) N_##symbol,
	GV_CUDA_DRIVER(X) GV_CUDA_BLAS(X) GV_CUDA_NCCL(X)
#undef X
	    NAMES
};

/* What it stands for. */
#define X(field, symbol, args) int symbol args;
GV_CUDA_DRIVER(X)
GV_CUDA_BLAS(X)
GV_CUDA_NCCL(X)
#undef X
const char *cublasGetStatusString(int r);
const char *ncclGetErrorString(int r);
const char *ncclGetLastError(gv_nccl_comm c);

/* Counts a call; what it is to return without doing anything, or 0. */
int gv_fake_enter(enum name n);
#define ENTER(n)                                    \
	do {                                        \
		int failure = gv_fake_enter(N_##n); \
		if (failure != 0)                   \
			return failure;             \
	} while (0)
extern int gv_fake_broken; /* a result that stays */

/* Memory of the device may be touched between on and off. */
void gv_fake_open_memory(int on);
int gv_fake_is_pinned(const void *p);
void gv_fake_forget_memory(void);

/* ---- streams: queues ---- */

enum kind { KERNEL, PRODUCT, FILL, COPY, RECORD, WAIT, EXCHANGE, NOTHING };
struct product {
	int ta, tb, m, n, k, lda, ldb, ldc, batch, compute, type, c_type;
	float alpha, beta;
	const void *a, *b;
	void *c;
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
	unsigned long number;  /* of the event's record: made, or waited for */
	struct exchange *with; /* other processes: fake_nccl.c */
};
struct ops {
	struct op *op;
	size_t first, n, cap; /* the ones before first have run */
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
	unsigned long records, done; /* asked for; run */
};

/* Into the stream, or its graph; 0 or a CUresult. */
int gv_fake_submit(struct CUstream_st *s, const struct op *op);
void gv_fake_append(struct ops *o, const struct op *op);
void gv_fake_empty(struct ops *o);
void *gv_fake_keep(const void *from, size_t bytes); /* a copy */
void gv_fake_run_streams(void);
void gv_fake_forget_streams(void);

/* What ranks do with each other: true when it has ended.  It is dropped once. */
int gv_fake_exchange(struct exchange *x);
void gv_fake_exchange_drop(struct exchange *x);
/* The device and the host name of this process, as NCCL tells ranks apart. */
void gv_fake_where(char *where, size_t size);
extern int gv_fake_device; /* whose context was set last */

#endif
