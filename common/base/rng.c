#include "base/rng.h"

#include <math.h>

static void
draw(uint64_t seed, uint32_t a, uint32_t b, uint64_t i, uint64_t out[2])
{
	uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), a, b};
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	uint32_t w[4];

	gv_philox(counter, key, w);
	out[0] = (uint64_t)w[1] << 32 | w[0];
	out[1] = (uint64_t)w[3] << 32 | w[2];
}

uint64_t
gv_random(uint64_t seed, uint32_t a, uint32_t b, uint64_t i)
{
	uint64_t w[2];

	draw(seed, a, b, i, w);
	return w[0];
}

double
gv_random_uniform(uint64_t seed, uint32_t a, uint32_t b, uint64_t i)
{
	return (double)(gv_random(seed, a, b, i) >> 11) * 0x1p-53;
}

double
gv_random_normal(uint64_t seed, uint32_t a, uint32_t b, uint64_t i)
{
	uint64_t w[2];
	double u, v;

	draw(seed, a, b, i, w);
	u = (double)((w[0] >> 11) + 1) * 0x1p-53; /* (0,1] */
	v = (double)(w[1] >> 11) * 0x1p-53;
	return sqrt(-2 * log(u)) * cos(6.283185307179586476925 * v);
}
