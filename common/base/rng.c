#include "base/rng.h"

#include <math.h>

void
gv_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
	uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
	uint32_t k0 = key[0], k1 = key[1];
	int round;

	for (round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)c0 * UINT32_C(0xD2511F53);
		uint64_t p1 = (uint64_t)c2 * UINT32_C(0xCD9E8D57);

		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += UINT32_C(0x9E3779B9);
		k1 += UINT32_C(0xBB67AE85);
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

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
