/* gv-train's data sets: digits, scaling, the order of visits. */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"

static void
test_digits(void)
{
	struct gv_data a = {0}, b = {0}, other = {0};
	size_t seen[10] = {0}, i, odd = 0;
	double mean[10][256];
	int least = 1 << 30, k;

	gv_data_digits(&a, 2000, 1);
	gv_data_digits(&b, 50, 1);
	gv_data_digits(&other, 50, 2);
	ok(memcmp(a.x, b.x, 50 * a.size * sizeof(*a.x)) == 0 &&
		memcmp(a.y, b.y, 50 * sizeof(*a.y)) == 0,
	    "sample i does not depend on how many there are");
	ok(memcmp(b.x, other.x, b.size * sizeof(*b.x)) != 0, "another seed gives others");
	memset(mean, 0, sizeof(mean));
	for (i = 0; i < a.n; i++) {
		seen[a.y[i]]++;
		for (k = 0; k < 256; k++) {
			float v = a.x[i * a.size + (size_t)k];

			odd += !(v >= 0 && v <= 255) || v != floorf(v);
			mean[a.y[i]][k] += v;
		}
	}
	is_int((long long)odd, 0, "pixels are bytes");
	for (k = 0; k < 10; k++)
		if ((int)seen[k] < least)
			least = (int)seen[k];
	ok(least > 150, "each digit comes about as often: %d of 2000", least);
	/* a 1 has no ink on its left, an 8 none in its holes: means tell them apart */
	ok(mean[8][8 * 16 + 5] / (double)seen[8] >
		mean[1][8 * 16 + 5] / (double)seen[1] + 15,
	    "the mean 8 has ink where the mean 1 has none");
	gv_data_free(&a);
	gv_data_free(&b);
	gv_data_free(&other);
}

/* The same bytes on every machine and by every compiler: a checksum, once and for all. */
static void
test_frozen(void)
{
	struct gv_data_spec spec = {.text = "digits:100:3"};
	struct gv_data d;
	struct gv_error e = {0};

	ok(gv_data_open(&d, &spec, &e) == 0, "digits:100:3");
	is_int(d.crc, 2339858446, "their checksum");
	gv_data_free(&d);
}

static struct gv_data
small(size_t h, size_t w, size_t c)
{
	struct gv_data d = {
	    .n = 3, .h = h, .w = w, .c = c, .size = h * w * c, .classes = 2};
	size_t i;

	d.x = malloc(d.n * d.size * sizeof(*d.x));
	d.y = calloc(d.n, sizeof(*d.y));
	for (i = 0; i < d.n * d.size; i++)
		d.x[i] = (float)(i * i % 17);
	d.low = 0;
	d.high = 16;
	return d;
}

static void
test_scale(void)
{
	struct gv_data d = small(2, 2, 3), t = small(2, 2, 3), raw = small(2, 2, 3);
	size_t c, i, n = d.n * d.size;
	int bad = 0;

	gv_data_scale(&d, &t, GV_DATA_STANDARD);
	for (c = 0; c < d.c; c++) {
		double sum = 0, squares = 0;

		for (i = c; i < n; i += d.c) {
			sum += d.x[i];
			squares += (double)d.x[i] * d.x[i];
		}
		is_near(sum, 0, 1e-5, "channel %zu: mean 0", c);
		is_near(
		    squares / (double)(n / d.c), 1, 1e-5, "channel %zu: variance 1", c);
	}
	for (i = 0; i < n; i++)
		bad += t.x[i] != d.x[i];
	is_int(bad, 0, "the test set is scaled by the same numbers");
	gv_data_free(&t);
	t = small(2, 2, 3);
	gv_data_scale(&t, NULL, GV_DATA_UNIT);
	for (i = 0, bad = 0; i < n; i++)
		bad += t.x[i] != raw.x[i] / 16;
	is_int(bad, 0, "unit: divided by the range");
	gv_data_free(&t);
	t = small(2, 2, 3);
	gv_data_scale(&t, NULL, GV_DATA_UNSCALED);
	is_int(memcmp(t.x, raw.x, n * sizeof(*t.x)), 0, "none: as it is");
	for (i = 0; i < n; i++)
		t.x[i] = 7;
	gv_data_scale(&t, NULL, GV_DATA_STANDARD);
	for (i = 0, bad = 0; i < n; i++)
		bad += t.x[i] != 0;
	is_int(bad, 0, "constants become 0, not NaN");
	gv_data_free(&d);
	gv_data_free(&t);
	gv_data_free(&raw);
}

static void
test_order(void)
{
	enum { N = 37 };
	struct gv_data_order o, p;
	uint32_t all[5 * N], some[64];
	int count[N], wrong = 0, moved = 0;
	size_t i, j;

	gv_data_order_init(&o, N, 1);
	gv_data_order_init(&p, N, 1);
	gv_data_order_take(&o, 0, 5 * N, all);
	for (i = 0; i < 5; i++) {
		memset(count, 0, sizeof(count));
		for (j = 0; j < N; j++)
			count[all[i * N + j]]++;
		for (j = 0; j < N; j++)
			wrong += count[j] != 1;
	}
	is_int(wrong, 0, "each epoch visits each sample once");
	ok(memcmp(all, all + N, N * sizeof(*all)) != 0, "epochs differ");
	for (i = 0; i < N; i++)
		moved += all[i] != i;
	ok(moved > N / 2, "and are not the order of the file");
	for (i = 5 * N, wrong = 0; i-- > 0;) { /* backwards: no state is needed */
		size_t n = 5 * N - i < 64 ? 5 * N - i : 64;

		gv_data_order_take(&p, i, n, some);
		wrong += memcmp(some, all + i, n * sizeof(*all)) != 0;
	}
	is_int(wrong, 0, "a place in the order is a function of the position");
	gv_data_order_free(&p);
	gv_data_order_init(&p, N, 2);
	gv_data_order_take(&p, 0, N, some);
	ok(memcmp(some, all, N * sizeof(*all)) != 0, "another seed, another order");
	gv_data_order_free(&o);
	gv_data_order_free(&p);
}

int
main(void)
{
	test_digits();
	test_frozen();
	test_scale();
	test_order();
	return done_testing();
}
