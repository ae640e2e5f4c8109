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

void
gv_cpu_erf(gv_real *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = erf(v[i]);
}
#else
/*
 * e^x = 2^k e^r, k whole, |r| <= log(2) / 2; ln 2 in two parts, the first of few bits,
 * and a polynomial for e^r (Cephes, expf; S. Moshier, 1992).
 */
GV_HOT void
gv_cpu_exp(float *restrict v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		float x = v[i] > -88.0f ? v[i] : -88.0f;
		float k = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
		float r = (x - k * 0.693359375f) - k * -2.12194440e-4f;
		float y = 1.9875691500e-4f, power;
		uint32_t bits = (uint32_t)((int32_t)k + 127) << 23;

		memcpy(&power, &bits, sizeof(power));
		y = y * r + 1.3981999507e-3f;
		y = y * r + 8.3334519073e-3f;
		y = y * r + 4.1665795894e-2f;
		y = y * r + 1.6666665459e-1f;
		y = y * r + 5.0000001201e-1f;
		y = (y * (r * r) + r + 1.0f) * power;
		v[i] = v[i] < -87.0f ? 0 : v[i] != v[i] ? v[i] : y;
	}
}

/* x p(x^2) / q(x^2), beyond 4 as at 4 (Eigen's coefficients). */
GV_HOT void
gv_cpu_erf(gv_real *restrict v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		float x = v[i] > 4.0f ? 4.0f : v[i] < -4.0f ? -4.0f : v[i], s = x * x;
		float p = -2.72614225801306e-10f, q = -1.45660718464996e-05f;

		p = p * s + 2.77068142495902e-08f;
		p = p * s - 2.10102402082508e-06f;
		p = p * s - 5.69250639462346e-05f;
		p = p * s - 7.34990630326855e-04f;
		p = p * s - 2.95459980854025e-03f;
		p = p * s - 1.60960333262415e-02f;
		q = q * s - 2.13374055278905e-04f;
		q = q * s - 1.68282697438203e-03f;
		q = q * s - 7.37332916720468e-03f;
		q = q * s - 1.42647390514189e-02f;
		v[i] = x * p / q;
	}
}
#endif

enum { LANES = 16 };

GV_INLINE static inline gv_real
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

GV_HOT static gv_real
largest(const gv_real *v, size_t n)
{
	gv_real lane[LANES], top = v[0];
	size_t i, j;

	for (j = 0; j < LANES; j++)
		lane[j] = v[0];
	for (i = 0; i + LANES <= n; i += LANES)
		for (j = 0; j < LANES; j++)
			lane[j] = v[i + j] > lane[j] ? v[i + j] : lane[j];
	for (; i < n; i++)
		top = v[i] > top ? v[i] : top;
	for (j = 0; j < LANES; j++)
		top = lane[j] > top ? lane[j] : top;
	return top;
}

GV_HOT static void
shift(gv_real *v, size_t n, gv_real top, gv_real scale)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = (v[i] - top) * scale;
}

GV_HOT void
gv_cpu_scale(gv_real *v, size_t n, gv_real by)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] *= by;
}

gv_real
gv_cpu_softmax(gv_real *v, size_t n, gv_real scale, gv_real *top)
{
	gv_real sum;

	*top = largest(v, n);
	shift(v, n, *top, scale);
	gv_cpu_exp(v, n);
	sum = gv_cpu_sum(v, n);
	gv_cpu_scale(v, n, 1 / sum);
	return sum;
}
