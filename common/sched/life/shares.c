#include "sched/life/life.h"

void
gv_life_take_shares(struct gv_life *l, const struct gv_rates *table)
{
	struct gv_rounds *r = &l->rounds;
	size_t i;

	for (i = 0; i < table->n_rates; i++) {
		const struct gv_rate *rate = &table->rate[i];
		struct gv_round_claim *c;
		size_t m = rate->job;
		bool first;

		if (rate->type < 0)
			continue;
		if (rate->with >= 0)
			m = gv_rounds_pair(r, rate->job, (size_t)rate->with);
		first = r->job[m].member[0] == rate->job;
		c = gv_rounds_claim(r, m, (size_t)rate->type);
		c->rate = first ? rate->steps_per_s : rate->with_steps_per_s;
		c->with_rate = first ? rate->with_steps_per_s : rate->steps_per_s;
		gv_life_set_share(l, m, (size_t)rate->type, rate->share);
	}
}
