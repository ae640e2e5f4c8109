#include "nn/cpu/exp.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "nn/cpu/simd.h"

#ifdef GV_REAL_DOUBLE
void
gv_cpu_exp(gv_real *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = v[i] < -87 ? 0 : exp(v[i]);
}
#else
enum { CHUNK = 64 };

/*
 * e^x = 2^k e^r, k whole, |r| <= log(2) / 2; ln 2 in two parts, the first of few bits,
 * and a polynomial for e^r (Cephes, expf; S. Moshier, 1992).
 */
GV_HOT static void
chunk(float *restrict v, size_t n)
{
	float r[CHUNK], p[CHUNK], power[CHUNK];
	uint32_t bits[CHUNK];
	size_t i;

	for (i = 0; i < n; i++) {
		float x = v[i] > -88.0f ? v[i] : -88.0f;
		float k = (x * 1.44269504f + 12582912.0f) - 12582912.0f;

		r[i] = (x - k * 0.693359375f) - k * -2.12194440e-4f;
		bits[i] = (uint32_t)((int32_t)k + 127) << 23;
	}
	memcpy(power, bits, n * sizeof(*power));
	for (i = 0; i < n; i++) {
		float x = r[i], y = 1.9875691500e-4f;

		y = y * x + 1.3981999507e-3f;
		y = y * x + 8.3334519073e-3f;
		y = y * x + 4.1665795894e-2f;
		y = y * x + 1.6666665459e-1f;
		y = y * x + 5.0000001201e-1f;
		p[i] = (y * (x * x) + x + 1.0f) * power[i];
	}
	for (i = 0; i < n; i++)
		v[i] = v[i] < -87.0f ? 0 : v[i] != v[i] ? v[i] : p[i];
}

void
gv_cpu_exp(gv_real *v, size_t n)
{
	size_t at;

	for (at = 0; at + CHUNK <= n; at += CHUNK)
		chunk(v + at, CHUNK);
	if (at < n)
		chunk(v + at, n - at);
}
#endif

enum { LANES = 16 };

static gv_real
across(gv_real *lane)
{
	size_t step, i;

	for (step = LANES / 2; step > 0; step /= 2)
		for (i = 0; i < step; i++)
			lane[i] += lane[i + step];
	return lane[0];
}

GV_HOT gv_real
gv_cpu_sum(const gv_real *restrict v, size_t n)
{
	gv_real lane[LANES] = {0};
	size_t i, j;

	for (i = 0; i + LANES <= n; i += LANES)
		for (j = 0; j < LANES; j++)
			lane[j] += v[i + j];
	for (j = 0; i + j < n; j++)
		lane[j] += v[i + j];
	return across(lane);
}

GV_HOT gv_real
gv_cpu_dot(const gv_real *restrict a, const gv_real *restrict b, size_t n)
{
	gv_real lane[LANES] = {0};
	size_t i, j;

	for (i = 0; i + LANES <= n; i += LANES)
		for (j = 0; j < LANES; j++)
			lane[j] += a[i + j] * b[i + j];
	for (j = 0; i + j < n; j++)
		lane[j] += a[i + j] * b[i + j];
	return across(lane);
}
