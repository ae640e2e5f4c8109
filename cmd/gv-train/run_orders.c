/* The orders in which models see the samples. */
#include "base/mem.h"
#include "run.h"

void
run_orders_make(struct run *r)
{
	const uint64_t *seed = r->array.order_seed;
	size_t b, k;

	r->order = gv_xcalloc(r->array.n, sizeof(*r->order));
	r->order_of = gv_xcalloc(r->array.n, sizeof(*r->order_of));
	for (b = 0; b < r->array.n; b++) {
		for (k = 0; k < r->orders && r->order[k].seed != seed[b];)
			k++;
		if (k == r->orders)
			gv_data_order_init(&r->order[r->orders++], r->data.n, seed[b]);
		r->order_of[b] = k;
	}
}
