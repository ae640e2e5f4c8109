/*
 * The words of gpu/cuda/kernels/device.h on the CPU: a kernel is a C++ function that
 * emulate.c calls once for each thread.
 */
#ifndef EMULATE_H
#define EMULATE_H

#include <math.h>
#include <stddef.h>

/* The thread that runs. */
extern "C" struct emulated {
	unsigned thread, block_x, block_y, grid_y;
} emulated;

/* These change places with other threads of the block. */
extern "C" void emulate_sync(const char *file, int line);
extern "C" void emulate_sync_warp(const char *file, int line);
extern "C" float emulate_xor(float v, unsigned lanes, const char *file, int line);
/* What a warp does with matrices (matrix.h); copies, which are made when they are waited for. */
extern "C" void emulate_mma(float *c, const unsigned *a, unsigned b0, unsigned b1,
    int tf32, const char *file, int line);
extern "C" void emulate_load(
    unsigned *v, const void *row, int transposed, const char *file, int line);
extern "C" void emulate_copy(void *to, const void *from, bool there);
extern "C" void emulate_copies_end(void);
extern "C" void emulate_copies_wait(unsigned left);
/* Memory of the block; its first bytes are those of a NaN, whoever was there before. */
extern "C" void *emulate_shared(size_t bytes);

#define GV_DEVICE          static inline
#define GV_MEMBER          inline
#define GV_SHARED(type, s) type &s = *(type *)emulate_shared(sizeof(type))
#define gv_high(v, w)      (unsigned)((unsigned long long)(v) * (w) >> 32)
#define gv_sync()          emulate_sync(__FILE__, __LINE__)
#define gv_sync_warp()     emulate_sync_warp(__FILE__, __LINE__)
#define gv_xor(v, k)       emulate_xor(v, k, __FILE__, __LINE__)
#define gv_thread          emulated.thread
#define gv_block_x         emulated.block_x
#define gv_block_y         emulated.block_y
#define gv_grid_y          emulated.grid_y
#define GV_UNROLL
#define GV_INFINITY INFINITY
#define GV_KERNEL_OF(blocks, name, args)                 \
	static void body_##name(const struct args &a);   \
	extern "C" void gv_kernel_##name(const void *p); \
	void gv_kernel_##name(const void *p)             \
	{                                                \
		body_##name(*(const struct args *)p);    \
	}                                                \
	static void body_##name(const struct args &a)

#endif
