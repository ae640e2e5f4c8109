#include <math.h>
#include <string.h>

#include "nn/cpu/exp.h"
#include "nn/cpu/simd.h"

#ifdef GV_REAL_DOUBLE
void
gv_cpu_sigmoid(gv_real *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = 1 / (1 + exp(-v[i]));
}

void
gv_cpu_tanh(gv_real *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = tanh(v[i]);
}
#else
enum { CHUNK = 256 };

GV_HOT static void
minus(float *restrict v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = v[i] < -88.0f ? 88.0f : -v[i];
}

GV_HOT static void
one_over(float *restrict v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = 1.0f / (1.0f + v[i]);
}

void
gv_cpu_sigmoid(gv_real *v, size_t n)
{
	size_t at, some;

	for (at = 0; at < n; at += some) {
		some = n - at < CHUNK ? n - at : CHUNK;
		minus(v + at, some);
		gv_cpu_exp(v + at, some);
		one_over(v + at, some);
	}
}

GV_HOT static void
twice(float *restrict e, const float *restrict v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		float x = v[i] < 0 ? -v[i] : v[i];

		e[i] = x > 20.0f ? 40.0f : 2 * x;
	}
}

/* Of e^2|x| and x; a polynomial where the difference would cancel (Cephes, tanhf). */
GV_HOT static void
finish(float *restrict v, const float *restrict e, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		float x = v[i], s = x * x, far = 1.0f - 2.0f / (e[i] + 1.0f);
		float y = -5.70498872745e-3f;

		y = y * s + 2.06390887954e-2f;
		y = y * s - 5.37397155531e-2f;
		y = y * s + 1.33314422036e-1f;
		y = y * s - 3.33332819422e-1f;
		y = y * s * x + x;
		far = x < 0 ? -far : far;
		v[i] = s < 0.390625f ? y : far;
	}
}

void
gv_cpu_tanh(gv_real *v, size_t n)
{
	float e[CHUNK];
	size_t at, some;

	for (at = 0; at < n; at += some) {
		some = n - at < CHUNK ? n - at : CHUNK;
		twice(e, v + at, some);
		gv_cpu_exp(e, some);
		finish(v + at, e, some);
	}
}
#endif
