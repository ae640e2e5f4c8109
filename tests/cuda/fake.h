/* The fake driver, seen from tests that are linked with it; fake.c says what it is. */
#ifndef TESTS_CUDA_FAKE_H
#define TESTS_CUDA_FAKE_H

#include <stddef.h>

#include "cuda/nccl.h"

/* What is broken; may be set between calls. */
struct gv_fake_cuda {
	char fail[48]; /* "" = nothing: this call, */
	size_t at;     /* the at-th time, from 1 on, */
	int result;    /* returns this */
	size_t memory;
	int devices, driver, capability, nccl;
	int processors; /* multiprocessors; 0: it does not say */
};
extern struct gv_fake_cuda gv_fake_cuda;

/* Everything whole again, no call counted. */
void gv_fake_cuda_reset(void);
/* How often a function was called. */
size_t gv_fake_cuda_called(const char *name);
/* The names of all functions that can fail: i from 0 on, NULL behind the last. */
const char *gv_fake_cuda_name(size_t i);
/* Blocks of memory that nobody has given back. */
size_t gv_fake_cuda_blocks(void);
/* Gives all memory back, whose ever it is. */
void gv_fake_cuda_forget(void);
/* The tables as load.c would fill them. */
void gv_fake_cuda_tables(struct gv_cuda_driver *d, struct gv_cuda_blas *b);
void gv_fake_nccl_table(struct gv_cuda_nccl *n);

#endif
