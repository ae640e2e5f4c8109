/*
 * Activations as the act of a row.  relu, leaky, sigmoid and tanh go back by what they
 * gave; gelu, silu and gelu-tanh, which rise and fall, by what they were given.
 */
#include <string.h>

#include "nn/cpu/exp.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

enum { CHUNK = 256 };

#define TWICE_ROOT      ((gv_real)1.5957691216057308)   /* 2 sqrt(2 / pi) */
#define TWICE_ROOT_CUBE ((gv_real)0.071354816272600253) /* 0.044715 of it */

GV_HOT static void
leaky(gv_real *y, gv_real slope, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		y[i] = 0 > y[i] ? slope * y[i] : y[i];
}

GV_HOT static void
leaky_back(gv_real *restrict dy, const gv_real *restrict y, gv_real slope, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dy[i] = y[i] <= 0 ? slope * dy[i] : dy[i];
}

GV_HOT static void
sigmoid_back(gv_real *restrict dy, const gv_real *restrict y, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dy[i] = dy[i] * (y[i] * (1 - y[i]));
}

GV_HOT static void
tanh_back(gv_real *restrict dy, const gv_real *restrict y, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dy[i] = dy[i] * (1 - y[i] * y[i]);
}

GV_HOT static void
times(gv_real *restrict y, const gv_real *restrict s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		y[i] = y[i] * s[i];
}

static void
silu(gv_real *y, size_t n)
{
	gv_real s[CHUNK];
	size_t at, some;

	for (at = 0; at < n; at += some) {
		some = gv_cpu_lesser(n - at, CHUNK);
		memcpy(s, y + at, some * sizeof(*s));
		gv_cpu_sigmoid(s, some);
		times(y + at, s, some);
	}
}

/* dy times the slope at x, whose sigmoid is s. */
GV_HOT static void
silu_slope(
    gv_real *restrict dy, const gv_real *restrict x, const gv_real *restrict s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dy[i] = dy[i] * (s[i] * (1 + x[i] * (1 - s[i])));
}

static void
silu_back(gv_real *dy, const gv_real *x, size_t n)
{
	gv_real s[CHUNK];
	size_t at, some;

	for (at = 0; at < n; at += some) {
		some = gv_cpu_lesser(n - at, CHUNK);
		memcpy(s, x + at, some * sizeof(*s));
		gv_cpu_sigmoid(s, some);
		silu_slope(dy + at, x + at, s, some);
	}
}

/*
 * gelu-tanh: x sigmoid(v), v = 2 sqrt(2 / pi) (x + 0.044715 x^3), which is x / 2 (1 + tanh(v / 2))
 * without the difference that cancels where x is far below 0.
 */
GV_HOT static void
gelu_tanh_of(gv_real *restrict v, const gv_real *restrict x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = x[i] * (TWICE_ROOT + TWICE_ROOT_CUBE * (x[i] * x[i]));
}

static void
gelu_tanh(gv_real *y, size_t n)
{
	gv_real s[CHUNK];
	size_t at, some;

	for (at = 0; at < n; at += some) {
		some = gv_cpu_lesser(n - at, CHUNK);
		gelu_tanh_of(s, y + at, some);
		gv_cpu_sigmoid(s, some);
		times(y + at, s, some);
	}
}

/* dy times the slope at x, s the sigmoid of its v. */
GV_HOT static void
gelu_tanh_slope(
    gv_real *restrict dy, const gv_real *restrict x, const gv_real *restrict s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		gv_real by = TWICE_ROOT + 3 * TWICE_ROOT_CUBE * (x[i] * x[i]);

		dy[i] = dy[i] * (s[i] * (1 + x[i] * ((1 - s[i]) * by)));
	}
}

static void
gelu_tanh_back(gv_real *dy, const gv_real *x, size_t n)
{
	gv_real s[CHUNK];
	size_t at, some;

	for (at = 0; at < n; at += some) {
		some = gv_cpu_lesser(n - at, CHUNK);
		gelu_tanh_of(s, x + at, some);
		gv_cpu_sigmoid(s, some);
		gelu_tanh_slope(dy + at, x + at, s, some);
	}
}

static void
act(const struct gv_layer *l, gv_real *y, size_t n)
{
	switch (l->act) {
	case GV_ACT_LEAKY:
		leaky(y, (gv_real)l->slope, n);
		break;
	case GV_ACT_SIGMOID:
		gv_cpu_sigmoid(y, n);
		break;
	case GV_ACT_TANH:
		gv_cpu_tanh(y, n);
		break;
	case GV_ACT_GELU:
		gv_cpu_gelu(y, y, n);
		break;
	case GV_ACT_SILU:
		silu(y, n);
		break;
	case GV_ACT_GELU_TANH:
		gelu_tanh(y, n);
		break;
	default: /* relu is applied where the sums are made */
		break;
	}
}

void
gv_cpu_act(const struct gv_layer *l, gv_real *y, gv_real *before, size_t n)
{
	enum { NEAR = 4096 }; /* numbers that are in the first cache when the act comes */
	size_t at, some;

	for (at = 0; at < n; at += some) {
		some = gv_cpu_lesser(n - at, NEAR);
		if (before != NULL)
			memcpy(before + at, y + at, some * sizeof(*y));
		act(l, y + at, some);
	}
}

void
gv_cpu_act_back(const struct gv_layer *l, gv_real *dy, const gv_real *v, size_t n)
{
	switch (l->act) {
	case GV_ACT_RELU:
		gv_cpu_relu_mask(dy, v, n);
		break;
	case GV_ACT_LEAKY:
		leaky_back(dy, v, (gv_real)l->slope, n);
		break;
	case GV_ACT_SIGMOID:
		sigmoid_back(dy, v, n);
		break;
	case GV_ACT_TANH:
		tanh_back(dy, v, n);
		break;
	case GV_ACT_GELU:
		gv_cpu_gelu_back(dy, dy, v, n, false);
		break;
	case GV_ACT_SILU:
		silu_back(dy, v, n);
		break;
	case GV_ACT_GELU_TANH:
		gelu_tanh_back(dy, v, n);
		break;
	default:
		break;
	}
}
