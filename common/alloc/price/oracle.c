#include "oracle.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define X86 1
#else
#define X86 0
#endif

#ifdef __GNUC__
#define GV_INLINE __attribute__((always_inline))
#else
#define GV_INLINE
#endif

/* Sums of 8 numbers, also where vectors are shorter; of CHUNK jobs, then added to the whole. */
enum { SUMS = 8, CHUNK = 2048 };

enum { FEW_TYPES = 4 }; /* so many that all pairs of them are looked at soonest */

struct sums {
	double *used, *used_slope; /* [m][SUMS] */
	double gain[SUMS], lambda[SUMS];
};

/* What each of SUMS jobs takes: xj of type j and xk of type k, -1 = none. */
struct vertices {
	double j[SUMS], k[SUMS], xj[SUMS], xk[SUMS], lambda[SUMS];
};

#if X86
#define NAME(x)       x##_avx512
#define TARGET        __attribute__((target("avx512f,avx512dq")))
#define V             __m512d
#define LANES         8
#define M             __mmask8
#define LOAD(p)       _mm512_loadu_pd(p)
#define STORE(p, v)   _mm512_storeu_pd(p, v)
#define SET1(x)       _mm512_set1_pd(x)
#define ADD(x, y)     _mm512_add_pd(x, y)
#define SUB(x, y)     _mm512_sub_pd(x, y)
#define MUL(x, y)     _mm512_mul_pd(x, y)
#define DIV(x, y)     _mm512_div_pd(x, y)
#define MAX(x, y)     _mm512_max_pd(x, y)
#define LT(x, y)      _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ)
#define LE(x, y)      _mm512_cmp_pd_mask(x, y, _CMP_LE_OQ)
#define EQ(x, y)      _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ)
#define AND(a, b)     ((__mmask8)((a) & (b)))
#define OR(a, b)      ((__mmask8)((a) | (b)))
#define ANDN(a, b)    ((__mmask8)(~(a) & (b)))
#define PICK(m, x, y) _mm512_mask_blend_pd(m, y, x)
#define BITS(m)       ((int)(m))
#include "oracle_loops.h"

#define NAME(x)       x##_avx2
#define TARGET        __attribute__((target("avx2")))
#define V             __m256d
#define LANES         4
#define M             __m256d
#define LOAD(p)       _mm256_loadu_pd(p)
#define STORE(p, v)   _mm256_storeu_pd(p, v)
#define SET1(x)       _mm256_set1_pd(x)
#define ADD(x, y)     _mm256_add_pd(x, y)
#define SUB(x, y)     _mm256_sub_pd(x, y)
#define MUL(x, y)     _mm256_mul_pd(x, y)
#define DIV(x, y)     _mm256_div_pd(x, y)
#define MAX(x, y)     _mm256_max_pd(x, y)
#define LT(x, y)      _mm256_cmp_pd(x, y, _CMP_LT_OQ)
#define LE(x, y)      _mm256_cmp_pd(x, y, _CMP_LE_OQ)
#define EQ(x, y)      _mm256_cmp_pd(x, y, _CMP_EQ_OQ)
#define AND(a, b)     _mm256_and_pd(a, b)
#define OR(a, b)      _mm256_or_pd(a, b)
#define ANDN(a, b)    _mm256_andnot_pd(a, b)
#define PICK(m, x, y) _mm256_blendv_pd(y, x, m)
#define BITS(m)       _mm256_movemask_pd(m)
#include "oracle_loops.h"
#endif

#define NAME(x) x##_c
#define TARGET
#define V             double
#define LANES         1
#define M             bool
#define LOAD(p)       (*(p))
#define STORE(p, v)   (*(p) = (v))
#define SET1(x)       ((double)(x))
#define ADD(x, y)     ((x) + (y))
#define SUB(x, y)     ((x) - (y))
#define MUL(x, y)     ((x) * (y))
#define DIV(x, y)     ((x) / (y))
#define MAX(x, y)     ((x) > (y) ? (x) : (y))
#define LT(x, y)      ((x) < (y))
#define LE(x, y)      ((x) <= (y))
#define EQ(x, y)      ((x) == (y))
#define AND(a, b)     ((a) && (b))
#define OR(a, b)      ((a) || (b))
#define ANDN(a, b)    (!(a) && (b))
#define PICK(m, x, y) ((m) ? (x) : (y))
#define BITS(m)       ((int)(m))
#include "oracle_loops.h"

struct loops {
	int lanes;
	void (*demand)(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
	    size_t from, size_t to, struct sums *s);
	size_t (*fix)(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
	    const double *lo, const double *hi, double part, size_t from, size_t to,
	    struct sums *s, size_t *free_jobs);
	void (*vertices)(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
	    size_t i, struct vertices *out);
};

static const struct loops kinds[] = {
#if X86
    {8, demand_avx512, fix_avx512, vertices_avx512},
    {4, demand_avx2, fix_avx2, vertices_avx2},
#endif
    {1, demand_c, fix_c, vertices_c},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const struct loops *forced;

static bool
runs_here(const struct loops *l)
{
#if X86
	if (l->lanes == 8)
		return __builtin_cpu_supports("avx512f") &&
		       __builtin_cpu_supports("avx512dq");
	if (l->lanes == 4)
		return __builtin_cpu_supports("avx2");
#endif
	return l->lanes == 1;
}

static const struct loops *
loops(void)
{
	const struct loops *l = forced;

	for (l = l != NULL ? l : kinds; !runs_here(l); l++)
		continue;
	return l;
}

bool
gv_oracle_force(int lanes)
{
	size_t i;

	forced = NULL;
	for (i = 0; i < KINDS && lanes > 0; i++)
		if (kinds[i].lanes == lanes && runs_here(&kinds[i]))
			forced = &kinds[i];
	return lanes == 0 || forced != NULL;
}

/* ---- the columns ---- */

static void
make_room(struct gv_oracle_jobs *c, size_t n, size_t m, bool gains)
{
	enum { ALIGN = 64 };
	size_t stride = (n + SUMS - 1) / SUMS * SUMS;
	char *memory;

	c->n = n;
	c->m = m;
	c->stride = stride;
	c->of = NULL;
	c->memory =
	    gv_xrealloc(NULL, ((gains ? 2 : 1) * m + 1) * stride + SUMS, sizeof(double));
	memory = c->memory;
	memory += (ALIGN - (uintptr_t)memory % ALIGN) % ALIGN;
	c->use = (double *)(void *)memory;
	c->a = c->use + stride;
	c->gain = gains ? c->a + m * stride : NULL;
}

/* Of a, and after them of gain. */
static size_t
columns(const struct gv_oracle_jobs *c)
{
	return c->gain != NULL ? 2 * c->m : c->m;
}

/* Zeros after the last job. */
static void
fill_up(struct gv_oracle_jobs *c)
{
	size_t i, j;

	for (i = c->n; i < c->stride; i++) {
		c->use[i] = 0;
		for (j = 0; j < columns(c); j++)
			c->a[j * c->stride + i] = 0;
	}
}

void
gv_oracle_jobs_alloc(struct gv_oracle_jobs *c, size_t n, size_t m, bool gains)
{
	make_room(c, n, m, gains);
	fill_up(c);
}

void
gv_oracle_jobs_fill(struct gv_oracle_jobs *c, size_t n, size_t m, const double *a,
    const double *use, const double *gain)
{
	size_t i, j;

	gv_oracle_jobs_alloc(c, n, m, true);
	for (i = 0; i < n; i++) {
		c->use[i] = use[i];
		for (j = 0; j < m; j++) {
			c->a[j * c->stride + i] = a[i * m + j];
			c->gain[j * c->stride + i] = gain[i * m + j];
		}
	}
}

void
gv_oracle_jobs_sample(
    struct gv_oracle_jobs *to, const struct gv_oracle_jobs *c, size_t from, size_t step)
{
	size_t n = c->n > from ? (c->n - from + step - 1) / step : 0;
	size_t i, j;

	gv_oracle_jobs_alloc(to, n, c->m, c->gain != NULL);
	for (i = 0; i < n; i++)
		to->use[i] = c->use[from + i * step];
	for (j = 0; j < columns(c); j++)
		for (i = 0; i < n; i++)
			to->a[j * to->stride + i] = c->a[j * c->stride + from + i * step];
}

void
gv_oracle_jobs_pick(
    struct gv_oracle_jobs *to, const struct gv_oracle_jobs *c, size_t *of, size_t n)
{
	size_t i, j;

	gv_oracle_jobs_alloc(to, n, c->m, c->gain != NULL);
	for (i = 0; i < n; i++)
		to->use[i] = c->use[of[i]];
	for (j = 0; j < columns(c); j++)
		for (i = 0; i < n; i++)
			to->a[j * to->stride + i] = c->a[j * c->stride + of[i]];
	for (i = 0; c->of != NULL && i < n; i++)
		of[i] = c->of[of[i]];
	to->of = of;
}

void
gv_oracle_jobs_free(struct gv_oracle_jobs *c)
{
	free(c->memory);
	free(c->of);
	*c = (struct gv_oracle_jobs){0};
}

/* ---- what they demand ---- */

static double
sum_of(const double *s)
{
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

static void
clear(struct gv_demand *t, size_t m)
{
	memset(t->used, 0, m * sizeof(*t->used));
	memset(t->used_slope, 0, m * sizeof(*t->used_slope));
	t->gain = t->lambda = 0;
}

/* Adds the sums of a chunk and clears them. */
static void
collect(struct gv_demand *t, struct sums *s, size_t m)
{
	size_t j;

	for (j = 0; j < m; j++) {
		t->used[j] += sum_of(s->used + j * SUMS);
		t->used_slope[j] += sum_of(s->used_slope + j * SUMS);
	}
	t->gain += sum_of(s->gain);
	t->lambda += sum_of(s->lambda);
	memset(s->used, 0, 2 * m * SUMS * sizeof(*s->used));
	memset(s->gain, 0, sizeof(s->gain));
	memset(s->lambda, 0, sizeof(s->lambda));
}

static void
sums_init(struct sums *s, size_t m)
{
	*s = (struct sums){.used = gv_xcalloc(2 * m, SUMS * sizeof(*s->used))};
	s->used_slope = s->used + m * SUMS;
}

double
gv_oracle_effort(const struct gv_oracle_jobs *c, const struct gv_dual_point *o)
{
	double m = (double)c->m, pairs = 1.3 * m * (m - 1) / 2;
	double cheapest = c->m <= FEW_TYPES ? pairs : 1.6 * m;
	double each = 1 + .9 * m;

	if (o->level > 0 && o->gains)
		each += pairs;
	if (o->level > 0 && (!o->gains || o->face != NULL))
		each += cheapest;
	return (double)c->n * each;
}

void
gv_oracle_demand(
    const struct gv_oracle_jobs *c, const struct gv_dual_point *o, struct gv_demand *t)
{
	const struct loops *l = loops();
	struct sums s;
	size_t i;

	sums_init(&s, c->m);
	clear(t, c->m);
	for (i = 0; i < c->stride; i += CHUNK) {
		l->demand(c, o, i, c->stride - i < CHUNK ? c->stride : i + CHUNK, &s);
		collect(t, &s, c->m);
	}
	free(s.used);
}

size_t
gv_oracle_fix(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
    const double *lo, const double *hi, double part, struct gv_demand *t,
    size_t *free_jobs)
{
	const struct loops *l = loops();
	struct sums s;
	size_t i, n = 0;

	sums_init(&s, c->m);
	clear(t, c->m);
	for (i = 0; i < c->stride; i += CHUNK) {
		n += l->fix(c, o, lo, hi, part, i,
		    c->stride - i < CHUNK ? c->stride : i + CHUNK, &s, free_jobs + n);
		collect(t, &s, c->m);
	}
	free(s.used);
	return n;
}

/* Of 8 jobs from i on; add false: their shares are set. */
static void
add_shares(const struct gv_oracle_jobs *c, const struct vertices *out, size_t i,
    double factor, bool add, double *x)
{
	size_t k;

	for (k = 0; k < SUMS && i + k < c->n; k++) {
		double *row = &x[(c->of != NULL ? c->of[i + k] : i + k) * c->m];

		if (!add)
			memset(row, 0, c->m * sizeof(*row));
		if (out->j[k] >= 0)
			row[(size_t)out->j[k]] += factor * out->xj[k];
		if (out->k[k] >= 0)
			row[(size_t)out->k[k]] += factor * out->xk[k];
	}
}

static void
shares(const struct gv_oracle_jobs *c, const struct gv_dual_point *o, double factor,
    bool add, double *x, double *lambda)
{
	const struct loops *l = loops();
	struct vertices out;
	size_t i, k;

	for (i = 0; i < c->n; i += SUMS) {
		l->vertices(c, o, i, &out);
		if (x != NULL)
			add_shares(c, &out, i, factor, add, x);
		for (k = 0; lambda != NULL && k < SUMS && i + k < c->n; k++)
			lambda[c->of != NULL ? c->of[i + k] : i + k] = out.lambda[k];
	}
}

void
gv_oracle_add_shares(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
    double factor, double *x, double *lambda)
{
	shares(c, o, factor, true, x, lambda);
}

void
gv_oracle_set_shares(const struct gv_oracle_jobs *c, const struct gv_dual_point *o,
    double factor, double *x, double *lambda)
{
	shares(c, o, factor, false, x, lambda);
}

double
gv_oracle_time_bound(const struct gv_oracle_jobs *c, size_t *job)
{
	double bound = INFINITY;
	size_t i, j;

	*job = 0;
	for (i = 0; i < c->n; i++) {
		double best = 0;

		for (j = 0; j < c->m; j++)
			best = c->a[j * c->stride + i] > best ? c->a[j * c->stride + i]
							      : best;
		if (best < bound) {
			bound = best;
			*job = i;
		}
	}
	return bound;
}
