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

/* out = Philox of the counter under the key. */
void gv_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* 64 random bits for draw i of stream (a, b) under a seed. */
uint64_t gv_random(uint64_t seed, uint32_t a, uint32_t b, uint64_t i);

/* A double in [0,1), 53 bits; and a standard normal (Box-Muller on one draw). */
double gv_random_uniform(uint64_t seed, uint32_t a, uint32_t b, uint64_t i);
double gv_random_normal(uint64_t seed, uint32_t a, uint32_t b, uint64_t i);

#endif
