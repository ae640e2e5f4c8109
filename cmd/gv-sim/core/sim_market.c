/* Prices that change, and GPUs that cost more than is bid. */
#include <math.h>

#include "sim_parts.h"

double
sim_price_s(const struct sim *s)
{
	return s->next_price < s->n_prices ? s->price[s->next_price].time_s : HUGE_VAL;
}

static void
set_price(struct sim *s, const struct sim_price *p)
{
	struct sim_offer *offer = &s->offer[p->offer];
	size_t pool;

	sim_count(s);
	offer->usd_per_h = p->usd_per_h;
	for (pool = 0; s->bid != NULL && pool < s->cluster->n_pools; pool++)
		if (s->offer_of[pool] == p->offer)
			sim_set_away(
			    s, pool, SIM_AWAY_DEAR, p->usd_per_h > s->bid[offer->type]);
}

void
sim_prices_due(struct sim *s)
{
	for (; sim_price_s(s) <= s->life.now_s; s->next_price++)
		set_price(s, &s->price[s->next_price]);
}
