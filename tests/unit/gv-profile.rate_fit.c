/* gv-profile: rates and standard errors from progress reports. */
#include "tap.h"

#include <stdlib.h>

#include "base/rng.h"
#include "gv-profile/devices/gpu_type.h"
#include "gv-profile/rates/rate_fit.h"

enum { N = 200 };

static const struct fit_rule rule = {2, 5};

/* Reports of a job of the given rate; speed and the times of the reports may be noisy. */
static void
make(struct report *r, size_t n, double rate, double every_s, double speed_noise,
    double time_noise, uint64_t seed)
{
	double steps = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		r[i].time_s = 1e6 + every_s * (double)i +
			      time_noise * gv_random_normal(seed, 1, 0, i);
		r[i].steps = steps;
		steps +=
		    rate * every_s * (1 + speed_noise * gv_random_normal(seed, 2, 0, i));
	}
}

static void
test_exact(void)
{
	struct report r[N];
	struct rate_fit f;

	make(r, N, 123.25, 0.25, 0, 0, 1);
	ok(rate_fit(&f, r, N), "a line");
	is_near(f.steps_per_s, 123.25, 1e-12, "its slope");
	is_near(f.standard_error, 0, 1e-6, "no error");
	is_near(f.span_s, 0.25 * (N - 1), 1e-9, "its span");
	is_int((long long)f.n, N, "of so many reports");
	ok(rate_fit(&f, r, 2) && isinf(f.standard_error),
	    "two reports tell nothing of the error");
	is_near(f.steps_per_s, 123.25, 1e-9, "but a rate");
	ok(!rate_fit(&f, r, 1) && !rate_fit(&f, r, 0), "one tells nothing");
}

/* A clock whose zero is far away, and steps that were done long before. */
static void
test_far(void)
{
	const double far = 17592186044416; /* 2^44: quarters are exact */
	struct report r[N];
	struct rate_fit f;
	size_t i;

	for (i = 0; i < N; i++)
		r[i] = (struct report){far + 0.25 * (double)i, far + 3 * (double)i};
	rate_fit(&f, r, N);
	is_near(f.steps_per_s, 12, 1e-9, "a slope far away");
	is_near(f.standard_error, 0, 1e-6, "without an error");
}

/* Against scipy.stats.linregress (slope, stderr). */
static void
test_regression(void)
{
	static const struct report r[] = {{0, 0}, {1, 9}, {2, 22}, {3, 28}};
	struct report zigzag[17];
	struct rate_fit f;
	size_t i;

	rate_fit(&f, r, 4);
	is_near(f.steps_per_s, 9.7, 1e-12, "slope");
	/* the regression's is 0.911; batch means: 9, 13, 6 around 28/3 give sqrt(24.67 / 6) */
	is_near(f.standard_error, 2.0275875100994063, 1e-9,
	    "batch means have the larger error");

	/* steady over each of 8 batches, but not within */
	for (i = 0; i < 17; i++)
		zigzag[i] = (struct report){(double)i, 10 * (double)i + (double)(i % 2)};
	rate_fit(&f, zigzag, 17);
	is_near(f.steps_per_s, 10, 1e-9, "slope");
	is_near(f.standard_error, 0.02630668208830743, 1e-9, "here the regression has");
}

/* The true rate lies within 2 standard errors about as often as it should, for either noise. */
static void
test_coverage(double speed_noise, double time_noise, const char *name)
{
	int inside = 0;
	int tight = 0;
	int trial;

	for (trial = 0; trial < 400; trial++) {
		struct report r[N];
		struct rate_fit f;

		make(r, N, 50, 0.05, speed_noise, time_noise, (uint64_t)trial + 1);
		rate_fit(&f, r, N);
		inside += fabs(f.steps_per_s - 50) <= 2 * f.standard_error;
		tight += f.standard_error < 0.1 * 50;
	}
	ok(inside >= 340, "%s: %d of 400 within two standard errors", name, inside);
	is_int(tight, 400, "%s: which are useful", name);
}

static void
test_window(void)
{
	struct report r[N];
	struct rate_fit f;
	bool complete;
	size_t i;

	/* four times slower during the first 2 s */
	for (i = 0; i < N; i++) {
		r[i].time_s = 100 + 0.1 * (double)i;
		r[i].steps = r[i].time_s < 102 ? 10 * (r[i].time_s - 100)
					       : 20 + 40 * (r[i].time_s - 102);
	}
	is_int((long long)fit_window(&rule, r, N), 20,
	    "the window begins behind the warm-up");
	is_int((long long)fit_window(&rule, r, 15), 15, "or not yet");
	for (i = 0; i < N && !fit_enough(&rule, r, i); i++)
		;
	is_int((long long)i, 71, "enough after warm-up and window");
	ok(fit_best(&f, &complete, &rule, 99, r, i) && complete, "complete");
	is_near(f.steps_per_s, 40, 1e-9, "the warm-up is left out");
	ok(fit_best(&f, &complete, &rule, 99, r, 40) && !complete,
	    "less than half a window");
	is_int((long long)f.n, 40, "uses all there is");
	ok(fit_best(&f, &complete, &rule, 99, r + 1, 1) && !complete, "one report");
	is_near(f.steps_per_s, 1 / 1.1, 1e-9, "counts from the start");
	ok(!fit_best(&f, &complete, &rule, 99, r, 0), "none");

	/* reports every 4 s: the window waits for three of them */
	for (i = 0; i < 10; i++)
		r[i] = (struct report){4.0 * (double)i, 4.0 * (double)i};
	for (i = 0; i < 10 && !fit_enough(&rule, r, i); i++)
		;
	is_int((long long)i, 4, "three reports at least");
	r[0] = r[1] = r[2] = (struct report){0, 0};
	r[1].time_s = 2;
	r[2].time_s = 40;
	ok(!fit_enough(&rule, r, 3), "not two, however long");
	/* unsteady: at most four windows */
	for (i = 0; i < N; i++)
		r[i] = (struct report){
		    0.25 * (double)i, i / 20 % 2 == 0 ? (double)i : 3 * (double)i};
	for (i = 0; i < N && !fit_enough(&rule, r, i); i++)
		;
	is_int((long long)i, 4 * 22 + 1, "an unsteady one ends after four windows");
}

static void
short_name(const char *model, const char *want)
{
	char out[96];

	gpu_type_name(out, sizeof(out), model);
	is_str(out, want, "%s", model);
}

static void
test_names(void)
{
	static const char *entries[] = {
	    "h100-80gb-hbm3=h100", "NVIDIA A100-SXM4-40GB=a100", "odd=name=x", "v100=v"};
	static const struct gpu_type_map map = {entries, 4, 4};
	char out[96];

	short_name("NVIDIA H100 80GB HBM3", "h100-80gb-hbm3");
	short_name("Tesla V100-SXM2-16GB", "v100-sxm2-16gb");
	short_name("NVIDIA GeForce RTX 3090", "rtx-3090");
	short_name("Quadro RTX 6000", "quadro-rtx-6000");
	short_name("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a100-sxm4-40gb-mig-1g.5gb");
	short_name("  NVIDIA   L4 ", "l4");
	short_name("NVIDIA", "gpu");
	short_name("", "gpu");
	short_name("\xc3\xa9,;\"\n", "gpu");
	gpu_type_name(out, 8, "NVIDIA H100 80GB HBM3");
	is_str(out, "h100", "whole words that fit");
	gpu_type_mapped(out, sizeof(out), "NVIDIA H100 80GB HBM3", &map);
	is_str(out, "h100", "mapped by its short name");
	gpu_type_mapped(out, sizeof(out), "NVIDIA A100-SXM4-40GB", &map);
	is_str(out, "a100", "mapped by its model");
	gpu_type_mapped(out, sizeof(out), "odd=name", &map);
	is_str(out, "x", "the last = counts");
	gpu_type_mapped(out, sizeof(out), "Tesla V100-SXM2-16GB", &map);
	is_str(out, "v100-sxm2-16gb", "no part of a name");
}

int
main(void)
{
	test_exact();
	test_far();
	test_regression();
	test_coverage(0.2, 0, "speed");
	test_coverage(0, 0.005, "times");
	test_coverage(0.1, 0.005, "both");
	test_window();
	test_names();
	return done_testing();
}
