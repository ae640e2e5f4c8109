/*
 * The words a kernel may use, so that one source is compiled by nvcc for GPUs and by a
 * C++ compiler for tests/cuda/, which runs it on the CPU:
 *
 *	GV_KERNEL(copy, gv_cuda_map) { unsigned i = gv_global(); if (i < a.n) ... }
 *
 * GV_KERNEL_OF(2, ...): its registers leave room for two of its blocks.
 * A kernel's one parameter is the struct a; blocks are threads in a row, whole warps.
 * Shared memory is GV_SHARED(type, s), at most once in a kernel.  Nothing is contracted:
 * what is to be fused is written fmaf.
 */
#ifndef GV_CUDA_DEVICE_H
#define GV_CUDA_DEVICE_H

#include "cuda/args.h"

#ifdef __CUDACC__

#define GV_DEVICE          static __device__ __forceinline__
#define GV_MEMBER          __device__ __forceinline__
#define GV_SHARED(type, s) __shared__ type s
#define gv_high(v, w)      __umulhi(v, w)
#define gv_sync()          __syncthreads()
#define gv_sync_warp()     __syncwarp()
#define gv_xor(v, k)       __shfl_xor_sync(0xffffffffu, v, k)
#define gv_thread          threadIdx.x
#define gv_block_x         blockIdx.x
#define gv_block_y         blockIdx.y
#define gv_grid_y          gridDim.y
#define GV_UNROLL          _Pragma("unroll")
#define GV_INFINITY        __int_as_float(0x7f800000)
#define GV_KERNEL_OF(blocks, name, args)                                        \
	extern "C" __global__ void __launch_bounds__(GV_THREADS_##name, blocks) \
	    gv_kernel_##name(const __grid_constant__ struct args a)

#else
#include "emulate.h"
#endif

#define GV_KERNEL(name, args) GV_KERNEL_OF(1, name, args)

enum {
#define GV_CUDA_KERNEL(name, args, threads) GV_THREADS_##name = threads,
#include "cuda/kernels_list.h"
#undef GV_CUDA_KERNEL
};

/* A kernel for both types of activations, by a function template. */
#define GV_KERNELS(name, args, body) \
	GV_KERNEL(name##_f32, args)  \
	{                            \
		body<float>(a);      \
	}                            \
	GV_KERNEL(name##_bf16, args) \
	{                            \
		body<gv_bf16>(a);    \
	}

/* ---- numbers ---- */

struct gv_bf16 {
	unsigned short bits;
};

GV_DEVICE float
gv_get(const float *p)
{
	return *p;
}

GV_DEVICE void
gv_put(float *p, float v)
{
	*p = v;
}

GV_DEVICE float
gv_get(const gv_bf16 *p)
{
	union {
		unsigned bits;
		float v;
	} u = {(unsigned)p->bits << 16};

	return u.v;
}

/* To the nearest, ties to even; any NaN to 0x7fff. */
GV_DEVICE void
gv_put(gv_bf16 *p, float v)
{
#ifdef __CUDACC__
	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(p->bits) : "f"(v));
#else
	union {
		float v;
		unsigned bits;
	} u = {v};

	p->bits = v != v ? 0x7fff
			 : (unsigned short)((u.bits + 0x7fff + (u.bits >> 16 & 1)) >> 16);
#endif
}

/*
 * N numbers that follow each other: 1, or as many as 16 bytes hold, which begin there:
 * one number a thread does not keep enough bytes on their way.
 */
template <class T> struct gv_many {
	enum { N = 16 / sizeof(T) };
};

template <int N, class T>
GV_DEVICE void
gv_get_many(float (&v)[N], const T *p)
{
#ifdef __CUDACC__
	if constexpr (N > 1) {
		union {
			uint4 all;
			T one[N];
		} u = {*(const uint4 *)(const void *)p};

		GV_UNROLL
		for (int e = 0; e < N; e++)
			v[e] = gv_get(&u.one[e]);
	} else {
		v[0] = gv_get(p);
	}
#else
	for (int e = 0; e < N; e++)
		v[e] = gv_get(p + e);
#endif
}

template <int N, class T>
GV_DEVICE void
gv_put_many(T *p, const float (&v)[N])
{
#ifdef __CUDACC__
	if constexpr (N > 1) {
		union {
			uint4 all;
			T one[N];
		} u;

		GV_UNROLL
		for (int e = 0; e < N; e++)
			gv_put(&u.one[e], v[e]);
		*(uint4 *)(void *)p = u.all;
	} else {
		gv_put(p, v[0]);
	}
#else
	for (int e = 0; e < N; e++)
		gv_put(p + e, v[e]);
#endif
}

/* N numbers of shared memory, which begin at as many bytes where N is 2 or 4. */
template <int N>
GV_DEVICE void
gv_get_some(float (&v)[N], const float *p)
{
#ifdef __CUDACC__
	if constexpr (N == 4) {
		gv_get_many(v, p);
	} else if constexpr (N == 2) {
		float2 both = *(const float2 *)(const void *)p;

		v[0] = both.x;
		v[1] = both.y;
	} else
#endif
		for (int e = 0; e < N; e++)
			v[e] = p[e];
}

/* v, the gradient of what a relu gave at p (NULL: of none), where that is above 0. */
template <int N, class T>
GV_DEVICE void
gv_mask_many(float (&v)[N], const T *p)
{
	float m[N];

	if (p == NULL)
		return;
	gv_get_many(m, p);
	GV_UNROLL
	for (int e = 0; e < N; e++)
		v[e] = m[e] <= 0 ? 0 : v[e];
}

GV_DEVICE float
gv_relu(float v)
{
	return 0 > v ? 0 : v;
}

/* The gradient v of a relu, whose output is at mask (NULL: of none). */
template <class T>
GV_DEVICE float
gv_masked(const T *mask, size_t at, float v)
{
	return mask != NULL && gv_get(mask + at) <= 0 ? 0 : v;
}

/* ---- where a thread is ---- */

/* Its number in the row of blocks. */
GV_DEVICE size_t
gv_global(unsigned threads)
{
	return (size_t)gv_block_x * threads + gv_thread;
}

GV_DEVICE bool
gv_active(const unsigned char *active, size_t b)
{
	return active == NULL || active[b] != 0;
}

/* Models, one after the other, that this row of blocks works on. */
#define GV_EACH_MODEL(b, a)                                    \
	for (size_t b = gv_block_y; b < (a).B; b += gv_grid_y) \
		if (gv_active((a).active, b))

/* An element [y][x][c] of an image, or an output, from its number. */
struct gv_place {
	unsigned sample, y, x, c;
};

GV_DEVICE gv_place
gv_place_of(size_t i, size_t height, size_t width, size_t channels)
{
	unsigned w = (unsigned)width, h = (unsigned)height, n = (unsigned)channels;
	unsigned at = (unsigned)i;
	gv_place p;

	p.c = at % n;
	at /= n;
	p.x = at % w;
	at /= w;
	p.y = at % h;
	p.sample = at / h;
	return p;
}

GV_DEVICE unsigned
gv_divided(unsigned n, const gv_cuda_divider &by)
{
	return (gv_high(n, by.times) + n) >> by.shift;
}

/* Samples [*first, *last) of a shard of this rank: gv_nn_shard. */
GV_DEVICE void
gv_shard(const struct gv_cuda_shards *s, size_t shard, unsigned *first, unsigned *last)
{
	size_t j = s->before + shard;

	*first = (unsigned)(j * s->N / s->S - s->first);
	*last = (unsigned)((j + 1) * s->N / s->S - s->first);
}

/* Of samples [*first, *last), of so many places, one of pieces: places [*first, *last). */
GV_DEVICE void
gv_piece(unsigned *first, unsigned *last, unsigned places, size_t pieces, size_t piece)
{
	size_t from = (size_t)*first * places, many = (size_t)(*last - *first) * places;

	*first = (unsigned)(from + many * piece / pieces);
	*last = (unsigned)(from + many * (piece + 1) / pieces);
}

#endif
