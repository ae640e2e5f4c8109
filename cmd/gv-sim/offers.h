/* What GPUs cost from when on, and how much is paid at most. */
#ifndef OFFERS_H
#define OFFERS_H

#include "core/sim.h"

struct offers {
	size_t n; /* the types of the cluster, then pools with prices of their own */
	size_t *of_pool; /* [n_pools] */
	size_t n_prices;
	struct sim_price *price; /* by time */
	double *bid;             /* [n_types]; NULL = whatever it is */
};

/*
 * A table of prices (gpu_type, usd_per_h, time_s, source).  A row whose source is the
 * name of a node is of that node's GPUs; of other sources a type has the one that is
 * cheapest at the moment; before the first of them, the cluster's price.  Types that the cluster does not have are left out.  0 or -1.
 */
int offers_read(
    struct offers *o, const struct gv_cluster *c, const char *path, struct gv_error *e);
/* Bids, as 1.2 or v100:1.2,k80:0.3.  0 or -1. */
int offers_bids(
    struct offers *o, const struct gv_cluster *c, const char *list, struct gv_error *e);
void offers_free(struct offers *o); /* also of a zeroed one */

#endif
