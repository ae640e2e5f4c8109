/* Functions with the bits of common/nn/cpu/exp.h: its polynomials, unfused. */
#ifndef GV_CUDA_FUNCTIONS_H
#define GV_CUDA_FUNCTIONS_H

#include "device.h"

/* For x <= 88; below -87 it is 0, NaN stays. */
GV_DEVICE float
gv_exp(float v)
{
	float x = v > -88.0f ? v : -88.0f;
	float k = (x * 1.44269504f + 12582912.0f) - 12582912.0f, y = 1.9875691500e-4f;
	union {
		unsigned bits;
		float v;
	} power = {(unsigned)((int)k + 127) << 23};

	x = (x - k * 0.693359375f) - k * -2.12194440e-4f;
	y = y * x + 1.3981999507e-3f;
	y = y * x + 8.3334519073e-3f;
	y = y * x + 4.1665795894e-2f;
	y = y * x + 1.6666665459e-1f;
	y = y * x + 5.0000001201e-1f;
	y = (y * (x * x) + x + 1.0f) * power.v;
	return v < -87.0f ? 0 : v != v ? v : y;
}

GV_DEVICE float
gv_erf(float v)
{
	float x = v > 4.0f ? 4.0f : v < -4.0f ? -4.0f : v, s = x * x;
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
	return x * p / q;
}

GV_DEVICE float
gv_sigmoid(float v)
{
	return 1.0f / (1.0f + gv_exp(v < -88.0f ? 88.0f : -v));
}

GV_DEVICE float
gv_tanh(float v)
{
	float x = v < 0 ? -v : v, s = v * v, y = -5.70498872745e-3f;
	float far = 1.0f - 2.0f / (gv_exp(x > 20.0f ? 40.0f : 2 * x) + 1.0f);

	/* where the difference would cancel */
	y = y * s + 2.06390887954e-2f;
	y = y * s - 5.37397155531e-2f;
	y = y * s + 1.33314422036e-1f;
	y = y * s - 3.33332819422e-1f;
	y = y * s * v + v;
	return s < 0.390625f ? y : v < 0 ? -far : far;
}

#endif
