#include "nn/cpu/gemm.h"

#include <math.h>
#include <string.h>

#include "nn/cpu/simd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define X86 1
#else
#define X86 0
#endif

enum { START_0, START_C, START_BIAS };

/* One tile of C: its rows of A, its panel of B, a piece of k. */
struct tile {
	size_t k, lda, ldc;
	const gv_real *a, *b, *bias;
	gv_real *c;
	int start;
	bool relu;
};

typedef void kernel(size_t rows, size_t vectors, bool transposed, const struct tile *t);

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 12")
#else
#define UNROLL
#endif

#ifdef GV_REAL_DOUBLE
#define PER_VECTOR(bytes) ((bytes) / 8)
#else
#define PER_VECTOR(bytes) ((bytes) / 4)
#endif

#ifdef GV_REAL_DOUBLE
#define FMA_OF_ONE __builtin_fma
#else
#define FMA_OF_ONE __builtin_fmaf
#endif

#if X86
#define KERNEL kernel_avx512
#define TILE   tile_avx512
#define CHAIN  chain_avx512
#define SPREAD spread_avx512
#define FMA1   FMA_OF_ONE
#define TARGET __attribute__((target("avx512f")))
#define LANES  PER_VECTOR(64)
#define ROWS   12
#ifdef GV_REAL_DOUBLE
#define V            __m512d
#define LOAD(p)      _mm512_loadu_pd(p)
#define STORE(p, v)  _mm512_storeu_pd(p, v)
#define SET1(x)      _mm512_set1_pd(x)
#define FMA(x, y, z) _mm512_fmadd_pd(x, y, z)
#define RELU(v)      _mm512_max_pd(_mm512_setzero_pd(), v)
#else
#define V            __m512
#define LOAD(p)      _mm512_loadu_ps(p)
#define STORE(p, v)  _mm512_storeu_ps(p, v)
#define SET1(x)      _mm512_set1_ps(x)
#define FMA(x, y, z) _mm512_fmadd_ps(x, y, z)
#define RELU(v)      _mm512_max_ps(_mm512_setzero_ps(), v)
#endif
#include "nn/cpu/tile.h"

#define KERNEL kernel_avx2
#define TILE   tile_avx2
#define CHAIN  chain_avx2
#define SPREAD spread_avx2
#define FMA1   FMA_OF_ONE
#define TARGET __attribute__((target("avx2,fma")))
#define LANES  PER_VECTOR(32)
#define ROWS   6
#ifdef GV_REAL_DOUBLE
#define V            __m256d
#define LOAD(p)      _mm256_loadu_pd(p)
#define STORE(p, v)  _mm256_storeu_pd(p, v)
#define SET1(x)      _mm256_set1_pd(x)
#define FMA(x, y, z) _mm256_fmadd_pd(x, y, z)
#define RELU(v)      _mm256_max_pd(_mm256_setzero_pd(), v)
#else
#define V            __m256
#define LOAD(p)      _mm256_loadu_ps(p)
#define STORE(p, v)  _mm256_storeu_ps(p, v)
#define SET1(x)      _mm256_set1_ps(x)
#define FMA(x, y, z) _mm256_fmadd_ps(x, y, z)
#define RELU(v)      _mm256_max_ps(_mm256_setzero_ps(), v)
#endif
#include "nn/cpu/tile.h"
#endif

/* Any other CPU: vectors of one number; fused where that is one instruction. */
#define KERNEL kernel_c
#define TILE   tile_c
#define CHAIN  chain_c
#define SPREAD spread_c
#define TARGET
#define LANES       1
#define ROWS        4
#define V           gv_real
#define LOAD(p)     (*(p))
#define STORE(p, v) (*(p) = (v))
#define SET1(x)     (x)
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
#define RELU(v)       (0 > (v) ? 0 : (v))
#define FMA1(x, y, z) FMA(x, y, z)
#include "nn/cpu/tile.h"

struct choice {
	const char *name;
	kernel *run;
	void (*chain)(const struct gv_cpu_chain *c);
	void (*spread)(size_t n, size_t terms, const gv_real *const *x, const gv_real *v,
	    gv_real *const *acc);
	size_t lanes, rows; /* of a vector, of the largest tile */
};

static const struct choice choices[] = {
#if X86
    {"avx512", kernel_avx512, chain_avx512, spread_avx512, PER_VECTOR(64), 12},
    {"avx2", kernel_avx2, chain_avx2, spread_avx2, PER_VECTOR(32), 6},
#endif
    {"c", kernel_c, chain_c, spread_c, 1, 4},
};
enum { CHOICES = sizeof(choices) / sizeof(choices[0]) };

static const struct choice *forced;

static bool
runs_here(const struct choice *ch)
{
#if X86
	if (ch->run == kernel_avx512)
		return __builtin_cpu_supports("avx512f");
	if (ch->run == kernel_avx2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
	return ch->run == kernel_c;
}

static const struct choice *
choice(void)
{
	const struct choice *ch = choices;

	if (forced != NULL)
		return forced;
	while (!runs_here(ch))
		ch++;
	return ch;
}

const char *
gv_cpu_gemm_kernel(void)
{
	return choice()->name;
}

bool
gv_cpu_gemm_use(const char *name)
{
	int i;

	forced = NULL;
	for (i = 0; name != NULL && i < CHOICES; i++)
		if (strcmp(choices[i].name, name) == 0 && runs_here(&choices[i]))
			forced = &choices[i];
	return name == NULL || forced != NULL;
}

/*
 * Packed b: panels of two vectors' width one after another, each [k][width];
 * the last one is as wide as it must be, in whole vectors, filled with zeros.
 */
static size_t
panel_width(const struct choice *ch, size_t left)
{
	return left > ch->lanes ? 2 * ch->lanes : ch->lanes;
}

size_t
gv_cpu_gemm_packed(size_t k, size_t n)
{
	size_t lanes = choice()->lanes;

	return k * ((n + lanes - 1) / lanes * lanes);
}

/* Columns [0, used) of one panel, from rows that lie apart: through cache lines of both sides. */
static void
pack_across(gv_real *restrict packed, const gv_real *restrict b, size_t cs, size_t rs,
    size_t k, size_t width, size_t used)
{
	enum { SQUARE = 16 };
	size_t l0, i0, l, i, l1, i1;

	for (l0 = 0; l0 < k; l0 = l1) {
		l1 = k - l0 < SQUARE ? k : l0 + SQUARE;
		for (i0 = 0; i0 < used; i0 = i1) {
			i1 = used - i0 < SQUARE ? used : i0 + SQUARE;
			for (l = l0; l < l1; l++)
				for (i = i0; i < i1; i++)
					packed[l * width + i] = b[l * rs + i * cs];
		}
	}
}

void
gv_cpu_gemm_pack_rows(gv_real *packed, const gv_real *b, size_t rs, size_t cs,
    size_t rows, size_t row, size_t k, size_t n)
{
	const struct choice *ch = choice();
	size_t j, i, l, width, used;

	for (j = 0; j < n; j += width, packed += rows * width) {
		gv_real *dst;

		width = panel_width(ch, n - j);
		used = width < n - j ? width : n - j;
		dst = packed + row * width;
		if (cs == 1)
			for (l = 0; l < k; l++)
				memcpy(
				    dst + l * width, b + l * rs + j, used * sizeof(*b));
		else
			pack_across(dst, b + j * cs, cs, rs, k, width, used);
		for (l = 0; l < k && used < width; l++)
			for (i = used; i < width; i++)
				dst[l * width + i] = 0;
	}
}

void
gv_cpu_gemm_pack(
    gv_real *packed, const gv_real *b, size_t rs, size_t cs, size_t k, size_t n)
{
	gv_cpu_gemm_pack_rows(packed, b, rs, cs, k, 0, k, n);
}

enum { PIECE = 256, WIDEST = 32 }; /* of k, so that a panel's piece stays in L1 */

/* Tiles of one panel's piece, rows 0..m; edge: the panel is wider than c. */
static void
panel(const struct choice *ch, const struct gv_cpu_gemm *g, struct tile t, size_t width,
    size_t used)
{
	gv_real edge[12 * WIDEST];
	gv_real *c = t.c;
	size_t i, r, rows, vectors = width / ch->lanes;

	for (i = 0; i < g->m; i += rows) {
		rows = ch->rows;
		while (rows > g->m - i)
			rows = rows > 4 ? rows == 12 ? 8 : 4 : rows / 2;
		t.a = g->a;
		if (used < width) {
			t.c = edge;
			t.ldc = width;
			for (r = 0; r < rows && t.start == START_C; r++)
				memcpy(edge + r * width, c + (i + r) * g->ldc,
				    used * sizeof(*c));
		} else {
			t.c = c + i * g->ldc;
		}
		t.a += g->transposed ? i : i * g->lda;
		ch->run(rows, vectors, g->transposed, &t);
		for (r = 0; r < rows && used < width; r++)
			memcpy(c + (i + r) * g->ldc, edge + r * width, used * sizeof(*c));
	}
}

void
gv_cpu_gemm(const struct gv_cpu_gemm *g)
{
	const struct choice *ch = choice();
	const gv_real *b = g->b;
	gv_real bias[WIDEST] = {0};
	struct gv_cpu_gemm piece = *g;
	size_t j, l, width, used;

	for (j = 0; j < g->n; j += width) {
		width = panel_width(ch, g->n - j);
		used = width < g->n - j ? width : g->n - j;
		if (g->bias != NULL)
			memcpy(bias, g->bias + j, used * sizeof(*bias));
		for (l = 0; l == 0 || l < g->k; l += PIECE) {
			struct tile t = {.k = g->k - l < PIECE ? g->k - l : PIECE,
			    .lda = g->lda,
			    .ldc = g->ldc,
			    .b = b + l * width,
			    .bias = bias,
			    .c = g->c + j};

			t.start = l > 0 || g->add   ? START_C
				  : g->bias != NULL ? START_BIAS
						    : START_0;
			t.relu = g->relu && l + t.k == g->k;
			piece.a = g->a + (g->transposed ? l * g->lda : l);
			panel(ch, &piece, t, width, used);
		}
		b += g->k * width;
	}
}

void
gv_cpu_chain(const struct gv_cpu_chain *c)
{
	choice()->chain(c);
}

void
gv_cpu_spread(size_t n, size_t terms, const gv_real *const *x, const gv_real *v,
    gv_real *const *acc)
{
	choice()->spread(n, terms, x, v, acc);
}
