/* GPU time by type, and what it costs. */
#include "sim_parts.h"

static const double hour_s = 3600;

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
		s->type[j].usd +=
		    s->type[j].busy * dt / hour_s * s->cluster->type[j].usd_per_h;
	}
	s->counted_s = s->life.now_s;
}

void
sim_busy(struct sim *s, size_t type, double gpus)
{
	sim_count(s);
	s->type[type].busy += gpus;
}
