/* GPU time by type, and what it costs. */
#include <stdlib.h>

#include "base/mem.h"
#include "sim_parts.h"

static const double hour_s = 3600;

void
sim_offers(struct sim *s, const size_t *offer_of, size_t n_offers)
{
	size_t p;

	free(s->offer);
	free(s->offer_of);
	s->n_offers = n_offers;
	s->offer = gv_xcalloc(n_offers + 1, sizeof(*s->offer));
	s->offer_of = gv_xcalloc(s->cluster->n_pools + 1, sizeof(*s->offer_of));
	for (p = 0; p < s->cluster->n_pools; p++) {
		size_t k = offer_of != NULL ? offer_of[p] : s->cluster->pool[p].type;
		size_t type = s->cluster->pool[p].type;

		s->offer_of[p] = k;
		s->offer[k].type = type;
		s->offer[k].usd_per_h = s->cluster->type[type].usd_per_h;
	}
}

void
sim_count(struct sim *s)
{
	double dt = s->life.now_s - s->counted_s;
	size_t j;

	if (!(dt > 0))
		return;
	for (j = 0; j < s->cluster->n_types; j++) {
		s->type[j].available_gpu_s += s->type[j].gpus * dt;
		s->type[j].busy_gpu_s += s->type[j].busy * dt;
	}
	for (j = 0; j < s->n_offers; j++)
		if (s->offer[j].busy > 0 || s->n_prices == 0) /* else not yet offered */
			s->type[s->offer[j].type].usd +=
			    s->offer[j].busy * dt / hour_s * s->offer[j].usd_per_h;
	s->counted_s = s->life.now_s;
}

void
sim_busy(struct sim *s, size_t m, bool busy)
{
	const struct gv_life_job *j = &s->life.job[m];
	size_t i;

	sim_count(s);
	s->type[j->type].busy += (busy ? 1 : -1) * (double)j->n_gpus;
	for (i = 0; i < j->n_gpus; i++)
		s->offer[s->offer_of[s->life.rounds.gpu_pool[j->gpu[i]]]].busy +=
		    busy ? 1 : -1;
}
