/* Arrays of the emulated device: exactly as long as they are, in either type. */
#ifndef TENSOR_H
#define TENSOR_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "cuda/kernels.h"

static const char *const type_name[] = {"fp32", "bf16"};

/* Of a float, to the nearest, ties to even: slower than the kernels', by the bits left out. */
static inline uint16_t
bf16_of(float v)
{
	uint32_t bits, low;

	memcpy(&bits, &v, sizeof(bits));
	if (isnan(v))
		return 0x7fff;
	low = bits & 0xffff;
	bits >>= 16;
	return (uint16_t)(bits + (low > 0x8000 || (low == 0x8000 && (bits & 1))));
}

static inline float
bf16_value(uint16_t b)
{
	uint32_t bits = (uint32_t)b << 16;
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* What v becomes when it is stored. */
static inline float
rounded(enum gv_cuda_type type, float v)
{
	return type == GV_CUDA_F32 ? v : bf16_value(bf16_of(v));
}

struct tensor {
	enum gv_cuda_type type;
	size_t n;
	void *p;
};

/* n numbers of type, those of v; NULL: what nobody may read. */
static inline struct tensor
tensor(enum gv_cuda_type type, size_t n, const float *v)
{
	size_t bytes = n * (type == GV_CUDA_F32 ? 4 : 2), i;
	struct tensor t = {type, n, malloc(bytes)};

	if (t.p == NULL)
		gv_die("out of memory");
	memset(t.p, 0xff, bytes); /* NaN of both types */
	for (i = 0; i < n && v != NULL; i++)
		if (type == GV_CUDA_F32)
			((float *)t.p)[i] = v[i];
		else
			((uint16_t *)t.p)[i] = bf16_of(v[i]);
	return t;
}

static inline float
number(const struct tensor *t, size_t i)
{
	return t->type == GV_CUDA_F32 ? ((const float *)t->p)[i]
				      : bf16_value(((const uint16_t *)t->p)[i]);
}

/*
 * Numbers [first, last) of t that are not those of v as they are stored: tolerance 0: in any bit but
 * the sign of 0.  Above it: apart by more than so much of what is larger, 1 or the number
 * (and, in bfloat16, one unit of its last place).
 */
static inline size_t
differing(
    const struct tensor *t, size_t first, size_t last, const float *v, double tolerance)
{
	double unit = t->type == GV_CUDA_BF16 && tolerance > 0 ? 0x1p-7 : 0;
	size_t i, n = 0;

	for (i = first; i < last; i++) {
		double got = (double)number(t, i), want = (double)rounded(t->type, v[i]);
		double size = fabs(want) > 1 ? fabs(want) : 1;

		if (isnan(want)
			? !isnan(got)
			: got != want &&
			      !(fabs(got - want) <= tolerance * size + unit * fabs(want)))
			n++;
	}
	return n;
}

/* Normal numbers that type holds exactly, as floats; draw k.  To be freed. */
static inline float *
normals(enum gv_cuda_type type, size_t n, uint64_t k)
{
	float *v = gv_xcalloc(n + 1, sizeof(*v));
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = rounded(type, (float)gv_random_normal(31, 0, (uint32_t)k, i));
	return v;
}

#endif
