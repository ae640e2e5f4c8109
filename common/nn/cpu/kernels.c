#include "nn/cpu/kernels.h"

#include <math.h>
#include <string.h>

#include "nn/cpu/simd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define X86 1
#else
#define X86 0
#endif

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 16")
#else
#define UNROLL
#endif

#ifdef __GNUC__
#define PREFETCH(p) __builtin_prefetch(p, 0, 2)
#define OWN(p)      __builtin_prefetch(p, 1, 3)
#else
#define PREFETCH(p) (void)(p)
#define OWN(p)      (void)(p)
#endif

enum { STEPS = GV_CPU_STEPS, SOME_PLACES = 4 };

#ifdef GV_REAL_DOUBLE
#define PER_VECTOR(bytes) ((bytes) / 8)
#else
#define PER_VECTOR(bytes) ((bytes) / 4)
#endif

#if X86
#define KERNEL      kernel_avx512
#define TILE        tile_avx512
#define SMALL_TILES small_tiles_avx512
#define CHAIN       chain_avx512
#define CHAINS      chains_avx512
#define SPREAD      spread_avx512
#define SPREADS     spreads_avx512
#define SQUARE      square_avx512
#define SHARDS      shards_avx512
#define SHARDS_TILE shards_tile_avx512
#define TARGET      __attribute__((target("avx512f,fma,prfchw")))
#define LANES       PER_VECTOR(64)
#define ROWS        12
#ifdef GV_REAL_DOUBLE
#define V                      __m512d
#define LOAD(p)                _mm512_loadu_pd(p)
#define STORE(p, v)            _mm512_storeu_pd(p, v)
#define SOME                   __mmask8
#define FIRST(n)               ((__mmask8)((1u << (n)) - 1))
#define LOAD_SOME(p, some)     _mm512_maskz_loadu_pd(some, p)
#define STORE_SOME(p, some, v) _mm512_mask_storeu_pd(p, some, v)
#define SET1(x)                _mm512_set1_pd(x)
#define FMA(x, y, z)           _mm512_fmadd_pd(x, y, z)
#define ADD(x, y)              _mm512_add_pd(x, y)
#define LOW(x, y)              _mm512_permutex2var_pd(x, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), y)
#define HIGH(x, y) \
	_mm512_permutex2var_pd(x, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), y)
#define RELU(v)           _mm512_max_pd(_mm512_setzero_pd(), v)
#define HALF              __m256d
#define HALF_OF(v)        _mm512_castpd512_pd256(v)
#define WHOLE_OF(h)       _mm512_castpd256_pd512(h)
#define HALF_LOAD(p)      _mm256_loadu_pd(p)
#define HALF_FMA(x, y, z) _mm256_fmadd_pd(x, y, z)
#else
#define V                      __m512
#define LOAD(p)                _mm512_loadu_ps(p)
#define STORE(p, v)            _mm512_storeu_ps(p, v)
#define SOME                   __mmask16
#define FIRST(n)               ((__mmask16)((1u << (n)) - 1))
#define LOAD_SOME(p, some)     _mm512_maskz_loadu_ps(some, p)
#define STORE_SOME(p, some, v) _mm512_mask_storeu_ps(p, some, v)
#define SET1(x)                _mm512_set1_ps(x)
#define FMA(x, y, z)           _mm512_fmadd_ps(x, y, z)
#define ADD(x, y)              _mm512_add_ps(x, y)
#define LOW(x, y)                 \
	_mm512_permutex2var_ps(x, \
	    _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0), y)
#define HIGH(x, y)                                                             \
	_mm512_permutex2var_ps(x,                                              \
	    _mm512_set_epi32(                                                  \
		31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8), \
	    y)
#define RELU(v)           _mm512_max_ps(_mm512_setzero_ps(), v)
#define HALF              __m256
#define HALF_OF(v)        _mm512_castps512_ps256(v)
#define WHOLE_OF(h)       _mm512_castps256_ps512(h)
#define HALF_LOAD(p)      _mm256_loadu_ps(p)
#define HALF_FMA(x, y, z) _mm256_fmadd_ps(x, y, z)
#endif
#include "nn/cpu/tile.h"

#define KERNEL       kernel_avx2
#define TILE         tile_avx2
#define SMALL_TILES  small_tiles_avx2
#define CHAIN        chain_avx2
#define CHAINS       chains_avx2
#define SPREAD       spread_avx2
#define SPREADS      spreads_avx2
#define SQUARE       square_avx2
#define SHARDS       shards_avx2
#define SHARDS_TILE  shards_tile_avx2
#define TARGET       __attribute__((target("avx2,fma,prfchw")))
#define SOME_IS_SLOW /* AMD's store of some takes 12 cycles or more */
#define LANES        PER_VECTOR(32)
#define ROWS         6
#ifdef GV_REAL_DOUBLE
#define V           __m256d
#define LOAD(p)     _mm256_loadu_pd(p)
#define STORE(p, v) _mm256_storeu_pd(p, v)
#define SOME        __m256i
#define FIRST(n)            \
	_mm256_cmpgt_epi64( \
	    _mm256_set1_epi64x((long long)(n)), _mm256_setr_epi64x(0, 1, 2, 3))
#define LOAD_SOME(p, some)     _mm256_maskload_pd(p, some)
#define STORE_SOME(p, some, v) _mm256_maskstore_pd(p, some, v)
#define SET1(x)                _mm256_set1_pd(x)
#define FMA(x, y, z)           _mm256_fmadd_pd(x, y, z)
#define ADD(x, y)              _mm256_add_pd(x, y)
#define LOW(x, y) \
	_mm256_permute2f128_pd(_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y), 0x20)
#define HIGH(x, y) \
	_mm256_permute2f128_pd(_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y), 0x31)
#define RELU(v) _mm256_max_pd(_mm256_setzero_pd(), v)
#else
#define V           __m256
#define LOAD(p)     _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define SOME        __m256i
#define FIRST(n)            \
	_mm256_cmpgt_epi32( \
	    _mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define LOAD_SOME(p, some)     _mm256_maskload_ps(p, some)
#define STORE_SOME(p, some, v) _mm256_maskstore_ps(p, some, v)
#define SET1(x)                _mm256_set1_ps(x)
#define FMA(x, y, z)           _mm256_fmadd_ps(x, y, z)
#define ADD(x, y)              _mm256_add_ps(x, y)
#define LOW(x, y) \
	_mm256_permute2f128_ps(_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y), 0x20)
#define HIGH(x, y) \
	_mm256_permute2f128_ps(_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y), 0x31)
#define RELU(v) _mm256_max_ps(_mm256_setzero_ps(), v)
#endif
#include "nn/cpu/tile.h"
#endif

/* Any other CPU: vectors of one number; fused where that is one instruction. */
#define KERNEL      kernel_c
#define TILE        tile_c
#define SMALL_TILES small_tiles_c
#define CHAIN       chain_c
#define CHAINS      chains_c
#define SPREAD      spread_c
#define SPREADS     spreads_c
#define SHARDS      shards_c
#define SHARDS_TILE shards_tile_c
/* gcc 12 makes vectors of strided lines of which the last ends behind the array */
#if defined(__GNUC__) && !defined(__clang__)
#define TARGET __attribute__((optimize("no-tree-loop-vectorize")))
#else
#define TARGET
#endif
#define LANES                  1
#define ROWS                   4
#define V                      gv_real
#define LOAD(p)                (*(p))
#define STORE(p, v)            (*(p) = (v))
#define SOME                   size_t
#define FIRST(n)               (n)
#define LOAD_SOME(p, some)     ((void)(some), *(p))
#define STORE_SOME(p, some, v) ((void)(some), *(p) = (v))
#define SET1(x)                (x)
#define ADD(x, y)              ((x) + (y))
#ifdef GV_REAL_DOUBLE
#ifdef FP_FAST_FMA
#define FMA(x, y, z) fma(x, y, z)
#endif
#else
#ifdef FP_FAST_FMAF
#define FMA(x, y, z) fmaf(x, y, z)
#endif
#endif
#ifndef FMA
#define FMA(x, y, z) ((x) * (y) + (z))
#endif
#define RELU(v) (0 > (v) ? 0 : (v))
#include "nn/cpu/tile.h"

static const struct gv_cpu_kernel kernels[] = {
#if X86
    {"avx512", kernel_avx512, chain_avx512, spread_avx512, square_avx512, shards_avx512,
	PER_VECTOR(64), 12, 8, 8},
    {"avx2", kernel_avx2, chain_avx2, spread_avx2, square_avx2, shards_avx2,
	PER_VECTOR(32), 6, 6, 4},
#endif
    {"c", kernel_c, chain_c, spread_c, NULL, shards_c, 1, 4, 4, 4},
};
enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

static const struct gv_cpu_kernel *forced;

static bool
runs_here(const struct gv_cpu_kernel *ch)
{
#if X86
	if (ch->run == kernel_avx512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
	if (ch->run == kernel_avx2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
	return ch->run == kernel_c;
}

const struct gv_cpu_kernel *
gv_cpu_kernel(void)
{
	const struct gv_cpu_kernel *ch = kernels;

	if (forced != NULL)
		return forced;
	while (!runs_here(ch))
		ch++;
	return ch;
}

const char *
gv_cpu_gemm_kernel(void)
{
	return gv_cpu_kernel()->name;
}

bool
gv_cpu_gemm_use(const char *name)
{
	int i;

	forced = NULL;
	for (i = 0; name != NULL && i < KERNELS; i++)
		if (strcmp(kernels[i].name, name) == 0 && runs_here(&kernels[i]))
			forced = &kernels[i];
	return name == NULL || forced != NULL;
}
