/* The least of numbers that change, against looking at all of them. */
#include "alloc/problem/least.h"
#include "draws.h"
#include "tap.h"

enum { MOST = 40 };

static size_t
first_least(const double *key, size_t n)
{
	size_t least = 0, i;

	for (i = 1; i < n; i++)
		if (key[i] < key[least])
			least = i;
	return least;
}

int
main(void)
{
	size_t n, k, wrong = 0, looks = 0;

	draws_begin(3, 7, 7);
	for (n = 1; n <= MOST; n++) {
		double key[MOST] = {0};
		struct gv_least l;

		gv_least_open(&l, n);
		wrong += gv_least_first(&l) != 0;
		for (k = 0; k < 200; k++) {
			size_t at = (size_t)(uniform() * (double)n);

			key[at] = (double)(int)(uniform() * 6); /* many are equal */
			gv_least_set(&l, at, key[at]);
			looks++;
			wrong += gv_least_first(&l) != first_least(key, n);
		}
		gv_least_close(&l);
	}
	is_int(wrong, 0, "the first of the least, %zu times", looks);
	return done_testing();
}
