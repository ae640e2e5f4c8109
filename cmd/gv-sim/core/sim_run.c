/* The clock: from one thing that happens to the next. */
#include <math.h>

#include "base/rng.h"
#include "sim_parts.h"

/* Gavel takes types in a random order for policies that do not know them (Fisher, Yates). */
static void
shuffle_types(struct sim *s)
{
	struct gv_rounds *r = &s->life.rounds;
	size_t i;

	for (i = r->n_types; i-- > 1;) {
		double u = gv_random_uniform(
		    s->o->seed, 0, (uint32_t)i, (uint64_t)(s->life.round + 1));
		size_t k = (size_t)(u * (double)(i + 1));
		size_t type = r->turn[i];

		r->turn[i] = r->turn[k];
		r->turn[k] = type;
	}
}

/* The next moment at which anything can happen. */
static double
next_s(struct sim *s)
{
	double t = gv_life_wakes_s(&s->life, true);

	if (s->o->in_step)
		t = s->life.n_active > 0 ? s->life.round_end_s : t;
	else
		t = fmin(t, sim_due_s(s));
	if (!s->o->in_step && s->asks && s->life.n_active > 0)
		t = fmin(t, fmax(s->life.now_s, s->asked_s + s->o->interval_s));
	if (!s->o->in_step || s->life.n_active == 0) {
		if (s->next_change < s->n_changes)
			t = fmin(t, s->change[s->next_change].time_s);
		t = fmin(t, fmin(sim_fault_s(s), sim_price_s(s)));
	}
	if (!s->o->in_step && s->o->ask_every_s > 0 && s->life.n_active > 0)
		t = fmin(t, fmax(s->life.now_s, s->again_s));
	return fmin(t, s->o->until_s);
}

/* The GPUs that go or come by now. */
static void
change_gpus(struct sim *s)
{
	for (; s->next_change < s->n_changes &&
	       s->change[s->next_change].time_s <= s->life.now_s;
	     s->next_change++)
		sim_set_away(s, s->change[s->next_change].pool, SIM_AWAY_CHANGED,
		    s->change[s->next_change].away);
	sim_faults_due(s);
	sim_prices_due(s);
}

enum sim_end
sim_run(struct sim *s, struct gv_error *e)
{
	if (s->o->ideal)
		return sim_run_ideal(s, e);
	for (;;) {
		gv_life_time(&s->life, s->life.now_s);
		sim_come_due(s);
		change_gpus(s);
		sim_obey(s);
		if (sim_ask(s, e) != 0)
			return s->end = SIM_FAILED;
		if (s->o->shuffle)
			shuffle_types(s);
		if (s->left > 0) {
			gv_life_turn(&s->life, true);
			sim_obey(s);
			gv_life_turn(&s->life, false); /* on GPUs that were left */
			sim_obey(s);
		}
		if (s->progress != NULL)
			s->progress(s->ctx, s);
		if (sim_is_over(s))
			break;
		gv_life_time(&s->life, next_s(s));
	}
	gv_life_tell(&s->life, GV_EVENT_END);
	sim_obey(s);
	sim_count(s);
	gv_life_count(&s->life);
	return s->end;
}
