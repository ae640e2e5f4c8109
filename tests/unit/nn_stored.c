/* Numbers that a device stores as bfloat16: the nearest ones, of two as near the even one. */
#include "nn/parts.h"
#include "nn_help.h"
#include "nn_slow.h"

enum { N = 4096 };

static double
value(uint16_t v)
{
	uint32_t bits = (uint32_t)v << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return (double)f;
}

/* Of a number that is finite: what is nearest, tried below and above. */
static bool
is_nearest(float x, uint16_t got)
{
	uint32_t bits;
	uint16_t low, high;
	double below, above;

	memcpy(&bits, &x, sizeof(bits));
	low = (uint16_t)(bits >> 16);
	high = (uint16_t)(low + 1); /* farther from 0 */
	below = fabs((double)x - value(low));
	above = isinf(value(high)) ? 0x1p128 - fabs((double)x)
				   : fabs(value(high) - (double)x);
	if (below < above)
		return got == low;
	if (above < below)
		return got == high;
	return got == (low % 2 == 0 ? low : high);
}

/* Of any bits, those that are half way between two more often. */
static float
draw_float(size_t i)
{
	uint32_t bits = (uint32_t)gv_random(5, 0, 0, i);
	float f;

	if (i % 3 == 0)
		bits = (bits & 0xffff0000U) | 0x8000;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

int
main(void)
{
	struct gv_nn_backend *be = slow_new();
	struct gv_error e = {0};
	void *to = be->alloc(be, GV_NN_ACTIVATIONS, N * sizeof(gv_real), &e);
	size_t i, wrong = 0, wrong_nan = 0, wrong_back = 0;
	static uint16_t stored[N + 1];
	static gv_real v[N], back[N];

	for (i = 0; i < N; i++)
		v[i] = draw_float(i);
	v[1] = (gv_real)NAN;
	v[2] = (gv_real)INFINITY;
	v[3] = 0;
	ok(gv_nn_put_stored(be, to, v, N, 2) == 0, "stored");
	be->get(be, stored, to, N * sizeof(*stored));
	ok(gv_nn_get_stored(be, back, to, N, 2) == 0, "and read");
	for (i = 0; i < N; i++)
		if (v[i] != v[i]) {
			wrong_nan += stored[i] != 0x7fff || back[i] == back[i];
		} else {
			wrong += isfinite(v[i]) ? !is_nearest(v[i], stored[i])
						: value(stored[i]) != (double)v[i];
			wrong_back += (double)back[i] != value(stored[i]);
		}
	is_int((long long)wrong, 0, "the nearest numbers");
	is_int((long long)wrong_nan, 0, "what is none stays none");
	is_int((long long)wrong_back, 0, "are read as they are");
	ok(gv_nn_put_stored(be, to, v, N, sizeof(*v)) == 0 &&
		gv_nn_get_stored(be, back, to, N, sizeof(*v)) == 0 &&
		memcmp(v, back, sizeof(v)) == 0,
	    "numbers of the host's type are copied");
	be->release(be, GV_NN_ACTIVATIONS, to);
	be->free(be);
	return done_testing();
}
