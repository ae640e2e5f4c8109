/*
 * Runs kernels on the CPU.  The threads of a block are fibers of one thread of the
 * host; they change places where they wait for each other (a barrier, a shuffle) and
 * nowhere else, in an order that is the caller's: what depends on it lacks a barrier.
 * A warp whose lanes wait for each other alone goes on as far as it can, ahead of others.
 *
 * Copies into shared memory that go on beside the threads are made when they are waited
 * for, no earlier, or at once as well, as the order says.
 *
 * Noticed: threads of a block that wait at different barriers, or end while others
 * wait; lanes of a warp that part at a shuffle; with the address sanitizer every
 * number outside of what was allocated.  Shared memory begins as NaN.  What is not:
 * the memory model between blocks, speed.
 */
#ifndef EMULATOR_H
#define EMULATOR_H

#include "cuda/args.h"

/* Order of threads between two barriers, and of blocks: 0 as numbered, 1 backwards,
 * another is the seed of a random one for each. */
extern unsigned emulator_order;
/* What a kernel did wrong, since it was last emptied. */
extern char emulator_error[256];
/* [GV_CUDA_KERNELS] launches */
extern unsigned emulator_ran[GV_CUDA_KERNELS];

/* Runs a kernel before it comes back; -1 with emulator_error set. */
extern const struct gv_cuda_queue emulator;

/* One that is in no list: run on blocks of threads each. */
int emulator_run(void (*kernel)(const void *), struct gv_cuda_grid grid, unsigned threads,
    const void *args);

#endif
