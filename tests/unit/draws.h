/* A stream of random numbers for tests: the same in every run. */
#ifndef DRAWS_H
#define DRAWS_H

#include "base/rng.h"

/* Where the stream is: gv_random's key and how many numbers were drawn. */
static struct {
	uint64_t seed;
	uint32_t a, b;
	uint64_t n;
} draws;

/* Begins stream a, b of a seed. */
static inline void
draws_begin(uint64_t seed, uint32_t a, uint32_t b)
{
	draws.seed = seed;
	draws.a = a;
	draws.b = b;
	draws.n = 0;
}

/* In [0, 1). */
static inline double
uniform(void)
{
	return gv_random_uniform(draws.seed, draws.a, draws.b, draws.n++);
}

/* 0 to n - 1. */
static inline size_t
below(size_t n)
{
	return (size_t)(uniform() * (double)n);
}

#endif
