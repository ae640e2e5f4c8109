/*
 * Activations as the act of a row.  relu, leaky, sigmoid and tanh go back by what they
 * gave; gelu and silu, which rise and fall, by what they were given.
 */
#include <math.h>
#include <string.h>

#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

#ifdef GV_REAL_DOUBLE
#define EXP  exp
#define TANH tanh
#else
#define EXP  expf
#define TANH tanhf
#endif

static gv_real
sigmoid(gv_real x)
{
	return 1 / (1 + EXP(-x));
}

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

static gv_real
silu_slope(gv_real x)
{
	gv_real s = sigmoid(x);

	return s * (1 + x * (1 - s));
}

void
gv_cpu_act(const struct gv_layer *l, gv_real *y, gv_real *before, size_t n)
{
	size_t i;

	if (before != NULL)
		memcpy(before, y, n * sizeof(*y));
	switch (l->act) {
	case GV_ACT_LEAKY:
		leaky(y, (gv_real)l->slope, n);
		break;
	case GV_ACT_SIGMOID:
		for (i = 0; i < n; i++)
			y[i] = sigmoid(y[i]);
		break;
	case GV_ACT_TANH:
		for (i = 0; i < n; i++)
			y[i] = TANH(y[i]);
		break;
	case GV_ACT_GELU:
		gv_cpu_gelu(y, y, n);
		break;
	case GV_ACT_SILU:
		for (i = 0; i < n; i++)
			y[i] = y[i] * sigmoid(y[i]);
		break;
	default: /* relu is applied where the sums are made */
		break;
	}
}

void
gv_cpu_act_back(const struct gv_layer *l, gv_real *dy, const gv_real *v, size_t n)
{
	size_t i;

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
		for (i = 0; i < n; i++)
			dy[i] = dy[i] * silu_slope(v[i]);
		break;
	default:
		break;
	}
}
