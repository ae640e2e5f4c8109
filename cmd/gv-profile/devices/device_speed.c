#include "device_speed.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/backend.h"

/* What is measured takes at least so long, and is measured so often; the best counts. */
static const double ENOUGH_S = 0.02;
/* copies larger than what caches hold */
enum {
	TIMES = 5,
	COPY_BYTES = 256 << 20,
	LAUNCHES = 200,
	LARGEST = 8192,
	FILL = 1 << 20
};

/* Seconds of n repetitions of something small enough for the queue. */
struct work {
	struct gv_nn_backend *be;
	float *a, *b, *c;
	size_t n; /* of a product; 0 = a copy of */
	size_t bytes;
};

static int
do_once(const struct work *w)
{
	struct gv_nn_gemm g = {.batch = 1,
	    .m = w->n,
	    .n = w->n,
	    .k = w->n,
	    .a = w->a,
	    .b = w->b,
	    .c = w->c,
	    .lda = w->n,
	    .ldb = w->n,
	    .ldc = w->n,
	    .stored = true};

	return w->n > 0 ? w->be->gemm(w->be, 0, &g)
			: w->be->copy(w->be, w->b, w->a, w->bytes);
}

/* Seconds that one takes, of repeats one behind the other; -1: the device failed. */
static double
seconds(const struct work *w, size_t repeats)
{
	double start_s;
	size_t i;

	if (w->be->sync(w->be) != 0)
		return -1;
	start_s = gv_clock_s();
	for (i = 0; i < repeats; i++)
		if (do_once(w) != 0)
			return -1;
	if (w->be->sync(w->be) != 0)
		return -1;
	return (gv_clock_s() - start_s) / (double)repeats;
}

/* The best of some times of enough repetitions. */
static double
best(const struct work *w)
{
	double s = seconds(w, 1), t;
	size_t repeats = s > 0 && s < ENOUGH_S ? (size_t)(ENOUGH_S / s) + 1 : 1, i;

	repeats = repeats < LAUNCHES ? repeats : LAUNCHES;
	for (i = 0; i < TIMES && s >= 0; i++) {
		t = seconds(w, repeats);
		s = t < 0 || t < s ? t : s;
	}
	return s;
}

static int
make_room(struct work *w, size_t bytes, struct gv_error *e)
{
	float **at[3] = {&w->a, &w->b, &w->c};
	size_t i;

	for (i = 0; i < 3; i++) {
		*at[i] = w->be->alloc(w->be, GV_NN_SCRATCH, bytes, e);
		if (*at[i] == NULL)
			return -1;
	}
	return 0;
}

static int
failed(const struct work *w, struct gv_error *e)
{
	const char *why = w->be->error(w->be);

	return gv_error_set(e, "%s", why != NULL ? why : "");
}

/* Two numbers in (-1, 1) as bfloat16, which are one as float, too. */
static uint32_t
pair(uint64_t i)
{
	float v[2] = {(float)(2 * gv_random_uniform(1, 0, 0, i) - 1),
	    (float)(2 * gv_random_uniform(1, 1, 0, i) - 1)};
	uint32_t bits[2];

	memcpy(bits, v, sizeof(bits));
	return (bits[0] & 0xffff0000u) | bits[1] >> 16;
}

/* Numbers that differ: on zeros processors are faster than on what there is to compute. */
static int
fill(const struct work *w, float *to, size_t bytes, struct gv_error *e)
{
	size_t some = bytes < FILL ? bytes : FILL, done, i;
	uint32_t *v = gv_xcalloc(some / sizeof(*v), sizeof(*v));
	int status;

	for (i = 0; i < some / sizeof(*v); i++)
		v[i] = pair(i);
	status = w->be->put(w->be, to, v, some);
	for (done = some; done < bytes && status == 0; done += some) {
		some = done < bytes - done ? done : bytes - done;
		status = w->be->copy(w->be, (char *)to + done, to, some);
	}
	if (status == 0)
		status = w->be->sync(w->be);
	free(v);
	return status == 0 ? 0 : failed(w, e);
}

static void
give_room(struct work *w)
{
	float **at[3] = {&w->a, &w->b, &w->c};
	size_t i;

	for (i = 0; i < 3; i++) {
		w->be->release(w->be, GV_NN_SCRATCH, *at[i]);
		*at[i] = NULL;
	}
}

/* Products twice as large each time, until one takes long enough. */
static int
measure_products(double *gflops, struct work *w, struct gv_error *e)
{
	double s = 0;
	int status = 0;

	for (w->n = 64; status == 0; w->n *= 2) {
		status = make_room(w, w->n * w->n * sizeof(float), e);
		if (status == 0)
			status = fill(w, w->a, w->n * w->n * sizeof(float), e);
		if (status == 0)
			status = fill(w, w->b, w->n * w->n * sizeof(float), e);
		if (status == 0 && (s = best(w)) < 0)
			status = failed(w, e);
		give_room(w);
		if (status == 0)
			*gflops = 2e-9 * (double)(w->n * w->n * w->n) / s;
		if (s > ENOUGH_S || w->n >= LARGEST)
			break;
	}
	return status;
}

static int
measure_copies(struct device_speed *speed, struct work *w, struct gv_error *e)
{
	double s = 0;
	int status = make_room(w, COPY_BYTES, e);
	size_t i;

	w->n = 0;
	w->bytes = COPY_BYTES;
	if (status == 0)
		status = fill(w, w->a, COPY_BYTES, e);
	if (status == 0 && (s = best(w)) < 0)
		status = failed(w, e);
	if (status == 0) {
		speed->copy_gbytes_per_s = 2e-9 * COPY_BYTES / s;
		w->bytes = sizeof(float);
		s = seconds(w, 1);
		for (i = 0; i < LAUNCHES && s >= 0; i++) {
			double t = seconds(w, 1);

			s = t < s ? t : s;
		}
		speed->launch_us = 1e6 * s;
		status = s < 0 ? failed(w, e) : 0;
	}
	give_room(w);
	return status;
}

int
device_speed(struct device_speed *s, const struct gv_nn_device *d, struct gv_error *e)
{
	struct gv_nn_device one = *d;
	struct work w = {0};
	char why[GV_ERROR_LEN];
	int status = 0;
	size_t i;

	for (i = 0; i < DEVICE_MATHS && status == 0; i++) {
		one.math = (enum gv_nn_math)i;
		if (d->kind == GV_NN_CPU && i > 0)
			break;
		w.be = gv_nn_device_open(&one, why, e);
		if (w.be == NULL)
			return -1;
		if (i == 0)
			status = measure_copies(s, &w, e);
		if (status == 0)
			status = measure_products(&s->gflops_per_s[i], &w, e);
		w.be->free(w.be);
	}
	return status;
}
