/*
 * Without rounds: each job gets on by exactly its shares, as if GPUs could be divided
 * (Gavel's Figure 15b).  What rounds cost is the difference to this.
 */
#include <math.h>

#include "base/mem.h"
#include "sim_parts.h"

/* Steps/s of a job, or of one of the members of a pair, by the shares as they are. */
static double
gain(const struct gv_rounds *r, size_t m, bool second)
{
	double sum = 0;
	size_t j;

	for (j = 0; j < r->n_types; j++) {
		const struct gv_round_claim *c = gv_rounds_claim(r, m, j);

		sum += c->share * (second ? c->with_rate : c->rate);
	}
	return sum;
}

/* Everybody's rate, and the GPUs that are busy, from now on. */
static void
set_rates(struct sim *s)
{
	const struct gv_rounds *r = &s->life.rounds;
	size_t i;
	size_t j;

	for (j = 0; j < r->n_types; j++)
		s->type[j].busy = 0;
	for (i = 0; i < s->life.n_active; i++) {
		struct sim_job *job = &s->job[s->life.active[i]];

		job->steps = sim_steps(s, s->life.active[i]);
		job->from_s = s->life.now_s;
		job->rate = 0;
	}
	s->rates_sum = 0;
	for (i = 0; i < r->n_live; i++) {
		size_t m = r->live[i];
		const size_t *member = r->job[m].member;

		s->job[member[0]].rate += gain(r, m, false);
		if (member[0] != member[1])
			s->job[member[1]].rate += gain(r, m, true);
		for (j = 0; j < r->n_types; j++)
			s->type[j].busy +=
			    gv_rounds_claim(r, m, j)->share * (double)r->job[m].gang;
	}
	for (i = 0; i < s->life.n_active; i++)
		s->rates_sum += s->job[s->life.active[i]].rate;
	for (j = 0; j < r->n_types; j++)
		s->offer[j].busy = s->type[j].busy;
}

/* GPU time in the next dt seconds of everybody who is there. */
static void
count_jobs(struct sim *s, double dt)
{
	const struct gv_rounds *r = &s->life.rounds;
	size_t i;
	size_t j;

	for (i = 0; i < r->n_live; i++)
		for (j = 0; j < r->n_types; j++) {
			size_t m = r->live[i];
			const size_t *member = r->job[m].member;
			double share = gv_rounds_claim(r, m, j)->share;
			size_t k;

			for (k = 0; k < 1 + (size_t)(member[0] != member[1]); k++) {
				struct sim_job *job = &s->job[member[k]];

				job->running_s += share * dt;
				job->gpu_s += share * dt * (double)r->job[m].gang;
				if (share > 0 && isnan(job->start_s))
					job->start_s = s->life.now_s;
			}
		}
}

/* When the first of them is done, if nothing happens before. */
static double
first_done_s(const struct sim *s)
{
	double t = HUGE_VAL;
	size_t i;

	for (i = 0; i < s->life.n_active; i++) {
		size_t m = s->life.active[i];
		const struct sim_job *j = &s->job[m];
		double left = s->life.job[m].spec.total_steps - j->steps;

		if (j->rate > 0)
			t = fmin(t, j->from_s + fmax(0, left) / j->rate);
	}
	return t;
}

/* Those that are done; a rounding of time is no reason to come again. */
static void
end_jobs(struct sim *s)
{
	size_t i;

	for (i = s->life.n_active; i-- > 0;) {
		size_t m = s->life.active[i];
		struct sim_job *j = &s->job[m];
		double total = s->life.job[m].spec.total_steps;
		double left_s = (total - sim_steps(s, m)) / j->rate;

		if (j->rate > 0 && left_s <= 1e-12 * s->life.now_s) {
			j->steps = total;
			j->rate = 0;
			j->finish_s = s->life.now_s;
			gv_life_report(&s->life, m, total, -1);
			gv_life_finish(&s->life, m);
		}
	}
}

static double
next_s(const struct sim *s)
{
	double t = fmin(first_done_s(s), s->o->until_s);

	if (s->life.n_timers > 0)
		t = fmin(t, s->life.timer[0].time_s);
	if (s->asks && s->life.n_active > 0)
		t = fmin(t, s->asked_s + s->o->interval_s);
	return fmax(t, s->life.now_s);
}

enum sim_end
sim_run_ideal(struct sim *s, struct gv_error *e)
{
	for (;;) {
		double until_s;

		gv_life_time(&s->life, s->life.now_s);
		end_jobs(s);
		sim_obey(s);
		if (sim_ask(s, e) != 0)
			return s->end = SIM_FAILED;
		gv_life_announce(&s->life);
		sim_obey(s);
		set_rates(s);
		if (s->progress != NULL)
			s->progress(s->ctx, s);
		if (sim_is_over(s))
			break;
		until_s = next_s(s);
		count_jobs(s, until_s - s->life.now_s); /* before others come */
		gv_life_time(&s->life, until_s);
		sim_count(s);
	}
	gv_life_tell(&s->life, GV_EVENT_END);
	sim_obey(s);
	return s->end;
}
