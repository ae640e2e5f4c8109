/*
 * The random numbers of CPython's random.Random, so that workloads that were drawn
 * there can be drawn again: Mersenne Twister MT19937 (Matsumoto and Nishimura, ACM
 * TOMACS 8(1), 1998), seeded as random.seed(int) does.
 */
#ifndef TRACE_WORKLOAD_RANDOM_H
#define TRACE_WORKLOAD_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
	uint32_t state[624];
	size_t at; /* of the next word; 624 = none is left */
};

void random_seed(struct random *r, uint64_t seed);

uint32_t random_word(struct random *r); /* getrandbits(32) */
double random_double(struct random *r); /* random(): in [0,1), 53 bits */
/* uniform(a, b) */
double random_uniform(struct random *r, double a, double b);
/* randrange(n), 0 < n < 2^32, as choice() takes it: words are drawn until one fits. */
size_t random_below(struct random *r, size_t n);
/* expovariate(1): -log(1 - random()) */
double random_exponential(struct random *r);

#endif
