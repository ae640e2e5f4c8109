/* The order in which training visits the samples. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "data/data.h"

enum { STREAM_ORDER = 0x6f726465 };

void
gv_data_order_init(struct gv_data_order *o, size_t n, uint64_t seed)
{
	o->n = n;
	o->seed = seed;
	o->epoch = UINT64_MAX;
	o->perm = gv_xcalloc(n, sizeof(*o->perm));
}

/* Fisher-Yates; a 64-bit draw modulo k is uneven by k / 2^64, which nobody can see. */
static void
shuffle(struct gv_data_order *o, uint64_t epoch)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		o->perm[i] = (uint32_t)i;
	for (i = o->n; i > 1; i--) {
		size_t j =
		    (size_t)(gv_random(o->seed, STREAM_ORDER, (uint32_t)epoch, i) % i);
		uint32_t t = o->perm[i - 1];

		o->perm[i - 1] = o->perm[j];
		o->perm[j] = t;
	}
	o->epoch = epoch;
}

void
gv_data_order_take(
    struct gv_data_order *o, uint64_t position, size_t count, uint32_t *out)
{
	uint64_t epoch = position / o->n;
	size_t at = (size_t)(position % o->n);
	size_t j;

	for (j = 0; j < count; j++) {
		if (o->epoch != epoch)
			shuffle(o, epoch);
		out[j] = o->perm[at++];
		if (at == o->n) {
			at = 0;
			epoch++;
		}
	}
}

void
gv_data_order_free(struct gv_data_order *o)
{
	free(o->perm);
	o->perm = NULL;
}
