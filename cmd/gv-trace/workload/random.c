#include "random.h"

#include <math.h>

enum { N = 624, M = 397 };

/* init_genrand(s) of the reference implementation. */
static void
seed_word(struct random *r, uint32_t s)
{
	size_t i;

	r->state[0] = s;
	for (i = 1; i < N; i++)
		r->state[i] =
		    UINT32_C(1812433253) * (r->state[i - 1] ^ (r->state[i - 1] >> 30)) +
		    (uint32_t)i;
	r->at = N;
}

/* init_by_array(key) of the reference implementation, with the 1 or 2 words of the seed. */
void
random_seed(struct random *r, uint64_t seed)
{
	const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	const size_t length = key[1] != 0 ? 2 : 1;
	size_t i = 1, j = 0, k;

	seed_word(r, UINT32_C(19650218));
	for (k = 0; k < 2 * (size_t)N - 1; k++) {
		uint32_t last = r->state[i - 1] ^ (r->state[i - 1] >> 30);

		if (k < N) {
			r->state[i] = (r->state[i] ^ (last * UINT32_C(1664525))) +
				      key[j] + (uint32_t)j;
			j = j + 1 < length ? j + 1 : 0;
		} else {
			r->state[i] =
			    (r->state[i] ^ (last * UINT32_C(1566083941))) - (uint32_t)i;
		}
		if (++i == N) {
			r->state[0] = r->state[N - 1];
			i = 1;
		}
	}
	r->state[0] = UINT32_C(0x80000000);
}

static void
next_state(struct random *r)
{
	size_t i;

	for (i = 0; i < N; i++) {
		uint32_t y = (r->state[i] & UINT32_C(0x80000000)) |
			     (r->state[(i + 1) % N] & UINT32_C(0x7fffffff));

		r->state[i] = r->state[(i + M) % N] ^ (y >> 1) ^
			      ((y & 1) != 0 ? UINT32_C(0x9908b0df) : 0);
	}
	r->at = 0;
}

uint32_t
random_word(struct random *r)
{
	uint32_t y;

	if (r->at == N)
		next_state(r);
	y = r->state[r->at++];
	y ^= y >> 11;
	y ^= (y << 7) & UINT32_C(0x9d2c5680);
	y ^= (y << 15) & UINT32_C(0xefc60000);
	return y ^ (y >> 18);
}

double
random_double(struct random *r)
{
	uint32_t a = random_word(r) >> 5;
	uint32_t b = random_word(r) >> 6;

	return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

double
random_uniform(struct random *r, double a, double b)
{
	return a + (b - a) * random_double(r);
}

size_t
random_below(struct random *r, size_t n)
{
	int bits = 0;
	size_t v;

	while (n >> bits != 0)
		bits++;
	do
		v = random_word(r) >> (32 - bits);
	while (v >= n);
	return v;
}

double
random_exponential(struct random *r)
{
	return -log(1.0 - random_double(r));
}
