/* The CPU as a backend: vectors, threads, blocks of samples that stay in cache. */
#ifndef GV_NN_CPU_CPU_H
#define GV_NN_CPU_CPU_H

#include "nn/backend.h"

/*
 * On threads threads: one is the caller, the others are started with the net (0 is
 * as good as 1).  For one net, which frees it.
 */
struct gv_nn_backend *gv_cpu_new(size_t threads);

#endif
