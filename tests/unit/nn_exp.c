/* Functions of many numbers beside the C library's in double, and sums in lanes. */
#include "tap.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/rng.h"
#include "nn/cpu/exp.h"
#include "nn/cpu/gemm.h"

static void
test_exp(void)
{
	gv_real v[100];
	double worst = 0, x;
	size_t i, k;

	for (k = 0; k < 2000; k++) {
		for (i = 0; i < 100; i++)
			v[i] = (gv_real)(-87 +
					 175 * gv_random_uniform(1, 0, (uint32_t)k, i));
		x = (double)v[k % 100];
		gv_cpu_exp(v, 100);
		worst = fmax(worst, fabs((double)v[k % 100] / exp(x) - 1));
	}
	ok(worst < 1.5e-7, "exp: the worst of 2000 is off by %.2g of the value", worst);
	v[0] = 0;
	v[1] = -88;
	v[2] = -INFINITY;
	v[3] = NAN;
	v[4] = 88;
	v[5] = -87;
	gv_cpu_exp(v, 6);
	ok((double)v[5] > 1e-38, "not 0 at -87");
	ok(v[0] == 1 && v[1] == 0 && v[2] == 0 && isnan(v[3]), "its ends");
	ok(fabs((double)v[4] / exp(88) - 1) < 1.5e-7, "the largest");
}

static void
test_erf(void)
{
	double worst = 0, at = 0;
	gv_real v[8] = {0, INFINITY, -INFINITY, NAN};
	size_t k;

	gv_cpu_erf(v, 4);
	ok(v[0] == 0 && fabs((double)v[1] - 1) < 1e-7 && fabs((double)v[2] + 1) < 1e-7 &&
		isnan(v[3]),
	    "erf: its ends");
	for (k = 0; k < 20000; k++) {
		double x = 10 * gv_random_uniform(2, 0, 0, k) - 5, off;

		v[0] = (gv_real)x;
		x = (double)v[0];
		gv_cpu_erf(v, 1);
		off = fabs((double)v[0] - erf(x)) / fmax(fabs(erf(x)), 1e-6);
		if (off > worst) {
			worst = off;
			at = x;
		}
	}
	ok(worst < 4e-7, "erf: the worst of 20000 is off by %.2g of the value, at %g",
	    worst, at);
}

static double
sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* sigmoid and tanh, from small to large, and at their ends. */
static void
test_squash(void (*ours)(gv_real *, size_t), double (*right)(double), double low,
    const char *name)
{
	gv_real v[4] = {INFINITY, -INFINITY, NAN, 0};
	double worst = 0, at = 0;
	size_t k;

	ours(v, 4);
	ok((double)v[0] == 1 && fabs((double)v[1] - low) < 1e-37 && isnan(v[2]) &&
		(double)v[3] == right(0),
	    "%s: its ends", name);
	for (k = 0; k < 20000; k++) {
		double x = pow(10, 8 * gv_random_uniform(5, 0, 0, k) - 6), off;

		v[0] = (gv_real)(k % 2 == 0 ? x : -x / 2);
		x = (double)v[0];
		ours(v, 1);
		off = fabs((double)v[0] - right(x)) / fmax(fabs(right(x)), 1e-30);
		if (off > worst) {
			worst = off;
			at = x;
		}
	}
	ok(worst < 3e-7, "%s: the worst of 20000 is off by %.2g of the value, at %g",
	    name, worst, at);
}

/* As long as it may be: the lanes, what is left over; the same bits at any length. */
static void
test_sums(void)
{
	gv_real v[70], w[70], lane[16], top;
	size_t n, i, step, wrong = 0, off = 0;

	for (n = 1; n < 70; n++) {
		double sum = 0, dot = 0, all = 0;

		for (i = 0; i < 16; i++)
			lane[i] = 0;
		for (i = 0; i < n; i++) {
			v[i] = (gv_real)gv_random_normal(3, 0, (uint32_t)n, i);
			w[i] = (gv_real)gv_random_normal(4, 0, (uint32_t)n, i);
			lane[i % 16] += v[i];
			sum += (double)v[i];
			dot += (double)v[i] * (double)w[i];
		}
		for (step = 8; step > 0; step /= 2)
			for (i = 0; i < step; i++)
				lane[i] += lane[i + step];
		wrong += lane[0] != gv_cpu_sum(v, n);
		off += fabs((double)gv_cpu_sum(v, n) - sum) > 1e-5;
		off += fabs((double)gv_cpu_dot(v, w, n) - dot) > 1e-5;
		gv_cpu_softmax(v, n, (gv_real)0.5, &top);
		for (i = 0; i < n; i++)
			all += (double)v[i];
		off += fabs(all - 1) > 1e-6;
	}
	is_int((long long)wrong, 0, "sums are of 16 lanes, at every length");
	is_int((long long)off, 0, "and near those in double; softmax sums to 1");
}

static void
scaled(gv_real *v, size_t n)
{
	gv_cpu_scale(v, n, 3);
}

static void
softmax(gv_real *v, size_t n)
{
	gv_real top;

	if (n > 0)
		gv_cpu_softmax(v, n, 1, &top);
}

/* As many as are said, and none behind them. */
static void
test_bounds(void)
{
	static void (*const each[])(gv_real *, size_t) = {
	    gv_cpu_exp, gv_cpu_erf, gv_cpu_sigmoid, gv_cpu_tanh, scaled, softmax};
	size_t f, i, n, wrong = 0;

	for (f = 0; f < sizeof(each) / sizeof(each[0]); f++)
		for (n = 0; n < 300; n = n < 40 ? n + 1 : n + 13) {
			gv_real v[310];

			for (i = 0; i < 310; i++)
				v[i] = 2;
			each[f](v, n);
			for (i = 0; i < 310; i++)
				wrong += (v[i] == 2) != (i >= n);
		}
	is_int(wrong, 0, "nothing is left out, and nothing behind is changed");
}

/* A softmax number for number, with its sum and the largest wherever that is. */
static void
test_softmax(void)
{
	size_t n, at, i, wrong = 0;

	for (n = 1; n < 70; n++)
		for (at = 0; at < n; at++) {
			gv_real v[70], w[70], top = 0, sum;
			double all = 0;

			for (i = 0; i < n; i++)
				v[i] = w[i] = (gv_real)(i == at ? 1.5
								: gv_random_uniform(6, 0,
								      (uint32_t)n, i));
			for (i = 0; i < n; i++)
				all += exp(0.5 * ((double)v[i] - 1.5));
			sum = gv_cpu_softmax(w, n, (gv_real)0.5, &top);
			wrong += top != v[at] || fabs((double)sum / all - 1) > 1e-6;
			for (i = 0; i < n; i++)
				wrong +=
				    fabs((double)w[i] -
					 exp(0.5 * ((double)v[i] - 1.5)) / all) > 1e-6;
		}
	is_int(wrong, 0, "softmax, its sum and the largest number");
}

int
main(void)
{
	gv_init("nn_exp");
	test_exp();
	test_erf();
	test_squash(gv_cpu_sigmoid, sigmoid, 0, "sigmoid");
	test_squash(gv_cpu_tanh, tanh, -1, "tanh");
	test_sums();
	test_bounds();
	test_softmax();
	return done_testing();
}
