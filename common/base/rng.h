/*
 * Counter-based random numbers: a draw is a function of a key and a counter, so
 * serial, fused, pipelined and restored runs draw the same.
 *
 * Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011, section 3.3); known-answer vectors are in tests/unit.
 */
#ifndef GV_BASE_RNG_H
#define GV_BASE_RNG_H

#include <stdint.h>

/* out = Philox of the counter under the key; here, so that loops over many are vectors'. */
static inline void
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

/* 64 random bits for draw i of stream (a, b) under a seed. */
uint64_t gv_random(uint64_t seed, uint32_t a, uint32_t b, uint64_t i);

/* A double in [0,1), 53 bits; and a standard normal (Box-Muller on one draw). */
double gv_random_uniform(uint64_t seed, uint32_t a, uint32_t b, uint64_t i);
double gv_random_normal(uint64_t seed, uint32_t a, uint32_t b, uint64_t i);

#endif
