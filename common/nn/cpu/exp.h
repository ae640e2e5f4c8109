/* Functions and sums of many numbers.  Private to common/nn/cpu. */
#ifndef GV_NN_CPU_EXP_H
#define GV_NN_CPU_EXP_H

#include <stddef.h>

#include "nn/real.h"

/*
 * v[i] = e^v[i], for v[i] <= 88; below -87 it is 0, NaN stays.  In float by a
 * polynomial, to 1.2e-7 of the value: some ten times as fast as the C library's, and
 * the same bits on every CPU; in double it is the C library's.
 */
void gv_cpu_exp(gv_real *v, size_t n);

/*
 * v[i] = erf(v[i]), NaN stays.  In float a quotient of polynomials, to 4e-7 of the
 * value, with the same bits on every CPU; in double the C library's.
 */
void gv_cpu_erf(gv_real *v, size_t n);

/*
 * v[i] = 1 / (1 + e^-v[i]), and tanh v[i]; NaN stays.  In float to 2e-7 of the value,
 * by gv_cpu_exp and, for a tanh near 0, a polynomial; in double the C library's.
 */
void gv_cpu_sigmoid(gv_real *v, size_t n);
void gv_cpu_tanh(gv_real *v, size_t n);

/* The sum of v: number i is added to lane i % 16, then the lanes as a tree. */
gv_real gv_cpu_sum(const gv_real *v, size_t n);
/* of a[i] * b[i] */
gv_real gv_cpu_dot(const gv_real *a, const gv_real *b, size_t n);

/*
 * v = e^((v - top) scale) / sum of these, top the largest of v, which goes to *top;
 * the sum, as gv_cpu_sum makes it.  n >= 1.
 */
gv_real gv_cpu_softmax(gv_real *v, size_t n, gv_real scale, gv_real *top);
/* v = v * by */
void gv_cpu_scale(gv_real *v, size_t n, gv_real by);

#endif
