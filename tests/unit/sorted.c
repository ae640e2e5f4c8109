/* common/base/sorted: ascending lists beside an array of flags. */
#include "tap.h"

#include <stdbool.h>

#include "base/rng.h"
#include "base/sorted.h"

enum { MOST = 40 };

/* How many below x are in. */
static size_t
below(const bool *in, size_t x)
{
	size_t n = 0, i;

	for (i = 0; i < x; i++)
		n += in[i];
	return n;
}

int
main(void)
{
	size_t list[MOST] = {0}, n = 0, wrong = 0, i, round;
	bool in[MOST] = {false};

	is_int(
	    (int)gv_sorted_place(list, 0, 3), 0, "in an empty list everything is first");
	for (round = 0; round < 20000; round++) {
		size_t x = gv_random(7, 0, 0, round) % MOST;
		size_t place = gv_sorted_place(list, n, x);

		wrong += place != below(in, x);
		if (in[x])
			gv_sorted_remove(list, &n, place);
		else
			gv_sorted_insert(list, &n, place, x);
		in[x] = !in[x];
		wrong += n != below(in, MOST);
		for (i = 0; i < n; i++)
			wrong += !in[list[i]] || (i > 0 && list[i - 1] >= list[i]);
	}
	is_int((int)wrong, 0, "places, and what stands there, as flags tell");
	return done_testing();
}
