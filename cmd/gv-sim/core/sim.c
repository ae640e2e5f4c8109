/* A simulation: made, the policy asked, the end seen. */
#include "sim.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim_parts.h"

void
sim_init(struct sim *s, const struct sim_settings *o, const struct gv_cluster *cluster,
    const struct gv_rates *table)
{
	size_t n = table->n_jobs;
	size_t m;
	size_t j;

	*s = (struct sim){
	    .o = o, .cluster = cluster, .table = table, .asked_s = -HUGE_VAL};
	gv_life_init(
	    &s->life, cluster, o->round_s, o->max_failures > 0 ? o->max_failures : 1);
	s->life.rounds.order = o->order;
	s->life.rounds.strict = o->strict;
	s->job = gv_xcalloc(n + 1, sizeof(*s->job));
	s->type = gv_xcalloc(cluster->n_types + 1, sizeof(*s->type));
	for (j = 0; j < cluster->n_types; j++)
		s->type[j].gpus = (double)cluster->type[j].gpus;
	for (m = 0; m < n; m++) {
		struct gv_life_spec spec = {.gang = (size_t)table->job[m].scale_factor,
		    .total_steps = table->job[m].total_steps,
		    .arrival_s = table->job[m].arrival_s};

		gv_life_add(&s->life, &spec);
		s->job[m] =
		    (struct sim_job){.due_s = HUGE_VAL, .start_s = NAN, .finish_s = NAN};
		s->left += m >= o->first && m < o->last;
	}
	s->away_why = gv_xcalloc(cluster->n_pools + 1, sizeof(*s->away_why));
	sim_offers(s, NULL, cluster->n_types);
	sim_faults_init(s);
	gv_life_take_shares(&s->life, s->table);
	gv_life_tell_pools(&s->life);
}

void
sim_free(struct sim *s)
{
	gv_life_free(&s->life);
	free(s->job);
	free(s->type);
	free(s->due);
	free(s->offer);
	free(s->offer_of);
	free(s->away_why);
	free(s->node);
	free(s->node_of);
	*s = (struct sim){0};
}

/* ---- the policy ---- */

/* Jobs that came since the last question may run from now on. */
static void
let_run(struct sim *s)
{
	size_t i;

	for (i = 0; s->o->ask_first && i < s->life.n_active; i++) {
		size_t m = s->life.active[i];

		if (!s->job[m].unasked)
			continue;
		s->job[m].unasked = false;
		s->life.rounds.job[m].ready = true;
		s->life.fill = true;
	}
}

int
sim_ask(struct sim *s, struct gv_error *e)
{
	if (s->o->ask_every_s > 0 && s->life.now_s >= s->again_s) {
		s->asks = true;
		s->again_s =
		    s->o->ask_every_s * (floor(s->life.now_s / s->o->ask_every_s) + 1);
	}
	if (!s->asks || s->life.n_active == 0 ||
	    s->life.now_s < s->asked_s + s->o->interval_s)
		return 0;
	s->asks = false;
	if (s->ask == NULL)
		return 0;
	s->asked_s = s->life.now_s;
	s->questions++;
	if (s->ask(s->ctx, s, e) != 0)
		return -1;
	let_run(s);
	gv_life_renew(&s->life);
	gv_life_announce(&s->life);
	sim_obey(s);
	return 0;
}

/* ---- the end ---- */

/* Jobs wait, nobody runs, and no time will change that. */
static bool
is_stuck(const struct sim *s)
{
	bool asks = s->asks && s->ask != NULL;

	if (s->life.n_active == 0 || s->life.n_timers > 0 || asks ||
	    s->next_change < s->n_changes || s->next_price < s->n_prices ||
	    sim_any_down(s) || (s->o->ask_every_s > 0 && s->ask != NULL))
		return false;
	return s->o->ideal ? s->rates_sum == 0 : !gv_life_any_open(&s->life);
}

bool
sim_is_over(struct sim *s)
{
	size_t waiting = s->life.n[GV_LIFE_WAITING];

	if (s->o->ideal) /* nobody has GPUs of their own there */
		waiting = s->o->most_waiting == SIZE_MAX ? 0 : s->life.n_active;
	if (waiting > s->most_waited) {
		s->most_waited = waiting;
		s->waited_s = s->life.now_s;
	}
	s->end = s->left == 0                     ? SIM_DONE
		 : waiting > s->o->most_waiting   ? SIM_SATURATED
		 : is_stuck(s)                    ? SIM_STUCK
		 : s->life.now_s >= s->o->until_s ? SIM_UNTIL
						  : SIM_GOING;
	return s->end != SIM_GOING;
}
