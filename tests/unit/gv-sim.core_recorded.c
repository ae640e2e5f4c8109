/*
 * cmd/gv-sim/core: drawn jobs on drawn GPUs, simulated with all settings there are, under a
 * policy that promises whatever; every row, what was asked and when, how it ended and what
 * each job and GPU type came to.
 */
#include "sched_draws.h"

#include "gv-sim/core/sim.h"

enum {
	WORLDS = 5000,
	PER_ANSWER = 25,
	JOBS = 30,
	RATES = 500,
	CHANGES = 12,
	QUESTIONS = 300
};

struct world {
	struct drawn d;
	struct gv_rates table;
	struct gv_job job[JOBS];
	struct gv_rate rate[RATES];
	struct sim_settings o;
	struct sim_change change[CHANGES];
	size_t n_changes;
	struct sim_price price[CHANGES];
	size_t n_prices;
	size_t offer_of[DRAWN_POOLS];
	size_t n_offers; /* 0 = one for each type */
	double bid[DRAWN_TYPES];
	bool bids;
	bool by_chance; /* times come out of log1p() */
	struct recorded *rec;
	long progress;
};

/* ---- a world ---- */

static double
draw_total(void)
{
	switch (below(4)) {
	case 0:
		return (double)(1 + below(20));
	case 1:
		return 100;
	case 2:
		return 1 + 3000 * uniform();
	default:
		return 1 + 200 * uniform();
	}
}

static void
draw_rate_of(struct world *w, size_t m, ptrdiff_t with, size_t type)
{
	struct gv_rate *rate = &w->rate[w->table.n_rates++];

	*rate = (struct gv_rate){.job = m, .type = (ptrdiff_t)type, .with = with};
	rate->steps_per_s = draw_rate(&w->d);
	if (with >= 0)
		rate->with_steps_per_s = draw_rate(&w->d);
	rate->share = one_in(4) ? 0 : draw_share(&w->d);
}

static void
draw_jobs(struct world *w)
{
	size_t n = 1 + below(one_in(3) ? JOBS : 8), m, j;

	w->table = (struct gv_rates){.job = w->job, .rate = w->rate, .n_jobs = n};
	for (m = 0; m < n; m++) {
		struct gv_job *job = &w->job[m];

		*job = (struct gv_job){.id = {"j", 1}, .scale_factor = 1};
		job->scale_factor = (int64_t)draw_gang(&w->d);
		job->total_steps = draw_total();
		job->arrival_s = one_in(2)   ? 0
				 : one_in(3) ? 400 * uniform()
					     : (double)below(60);
		for (j = 0; j < w->d.c.n_types; j++)
			draw_rate_of(w, m, -1, j);
	}
	for (m = 1; m < n && w->d.gangs < 3 && one_in(3); m++)
		for (j = 0; j < w->d.c.n_types; j++)
			if (w->job[m].scale_factor == w->job[m - 1].scale_factor)
				draw_rate_of(w, m, (ptrdiff_t)m - 1, j);
}

static void
draw_faults(struct world *w)
{
	struct sim_settings *o = &w->o;

	o->max_failures = (int)below(5);
	o->fault_seed = below(100);
	o->repair_s = 10 + (double)below(50);
	if (one_in(3))
		o->node_mtbf_s = 100 + (double)below(300);
	if (one_in(3))
		o->job_mtbf_s = 40 + (double)below(300);
	w->by_chance = o->node_mtbf_s > 0 || o->job_mtbf_s > 0;
}

static void
draw_settings(struct world *w)
{
	struct sim_settings *o = &w->o;

	*o = (struct sim_settings){.until_s = 4000, .most_waiting = SIZE_MAX};
	o->round_s = one_in(2) ? 16 : 1 + 20 * uniform();
	o->order = one_in(2) ? GV_ROUND_GAVEL : GV_ROUND_OWED;
	o->shuffle = one_in(3);
	o->seed = below(50);
	o->strict = one_in(4);
	o->in_step = one_in(3);
	o->ask_first = one_in(3);
	o->ideal = one_in(4);
	o->interval_s = one_in(2) ? 0 : 50 * uniform();
	o->load_s = one_in(2) ? 0 : 3 * uniform();
	o->save_s = one_in(2) ? 0 : 3 * uniform();
	o->first = one_in(4) ? below(w->table.n_jobs) : 0;
	o->last = one_in(4) ? 1 + below(w->table.n_jobs) : SIZE_MAX;
	o->checkpoint_s = one_in(2) ? 0 : one_in(2) ? uniform() : 20 * uniform();
	o->ask_every_s = one_in(3) ? 1 + (double)below(60) : 0;
	if (one_in(4))
		o->until_s = 500 * uniform();
	if (one_in(6))
		o->most_waiting = below(6);
	if (one_in(2) && !o->ideal)
		draw_faults(w);
	if (!o->ideal)
		return;
	o->in_step = o->strict = o->shuffle = o->ask_first = false;
	o->load_s = o->save_s = o->checkpoint_s = o->ask_every_s = 0;
	o->order = GV_ROUND_OWED;
}

/* Pools go and come, most are back by the end; what they cost. */
static void
draw_market(struct world *w)
{
	double time_s = 0;
	size_t p;

	while (w->n_changes < CHANGES && one_in(2)) {
		struct sim_change *c = &w->change[w->n_changes++];

		time_s += one_in(4) ? 0 : (double)below(90);
		*c = (struct sim_change){.time_s = time_s, .pool = below(w->d.c.n_pools)};
		c->away = one_in(2);
	}
	if (one_in(2)) {
		w->n_offers = 1 + below(w->d.c.n_pools);
		for (p = 0; p < w->d.c.n_pools; p++)
			w->offer_of[p] = below(w->n_offers);
		for (p = 0; p < w->d.c.n_pools; p++) /* each is of one type */
			w->d.pool[p].type = w->offer_of[p] % w->d.c.n_types;
		for (p = 0; p < w->d.c.n_types; p++)
			w->d.type[p].gpus = 0;
		for (p = 0; p < w->d.c.n_pools; p++)
			w->d.type[w->d.pool[p].type].gpus += w->d.pool[p].gpus;
	}
	for (p = 0, time_s = 0; one_in(2) && w->n_prices < CHANGES; p++) {
		struct sim_price *price = &w->price[w->n_prices++];

		time_s += one_in(3) ? 0 : (double)below(60);
		*price = (struct sim_price){.time_s = time_s};
		price->offer = below(w->n_offers > 0 ? w->n_offers : w->d.c.n_types);
		price->usd_per_h = (double)(1 + below(4));
	}
	w->bids = one_in(2);
	for (p = 0; p < DRAWN_TYPES; p++)
		w->bid[p] = (double)(1 + below(5));
}

static void
world_init(struct world *w, struct recorded *rec)
{
	memset(w, 0, sizeof *w);
	w->rec = rec;
	draw_cluster(&w->d);
	draw_jobs(w);
	draw_settings(w);
	if (!w->o.ideal)
		draw_market(w);
}

/* ---- what comes out ---- */

static void
recorded_time(const struct world *w, double v)
{
	if (w->by_chance)
		recorded_rounded(w->rec, v, 9);
	else
		recorded_double(w->rec, v);
}

static void
hear(void *ctx, const struct sim *s, const struct gv_life_row *row)
{
	const struct world *w = ctx;

	recorded_time(w, s->life.now_s);
	recorded_whole(w->rec, row->kind);
	recorded_whole(w->rec, row->job);
	recorded_whole(w->rec, row->with);
	recorded_whole(w->rec, row->type);
	recorded_wholes(w->rec, row->gpu, row->n_gpus);
	recorded_time(w, row->steps);
	recorded_whole(w->rec, row->round);
	recorded_double(w->rec, row->share);
	recorded_text(w->rec, row->reason);
}

static void
look(void *ctx, const struct sim *s)
{
	struct world *w = ctx;

	w->progress++;
	recorded_time(w, s->life.now_s);
}

/* Whatever it likes; of two members together no more than all. */
static int
promise(void *ctx, struct sim *s, struct gv_error *e)
{
	const struct world *w = ctx;
	const struct gv_rounds *r = &s->life.rounds;
	size_t i, j;

	recorded_time(w, s->life.now_s);
	recorded_wholes(w->rec, s->life.active, s->life.n_active);
	if (s->questions > QUESTIONS)
		return gv_error_set(e, "asked too often");
	for (i = 0; i < r->n_live; i++)
		for (j = 0; j < r->n_types; j++)
			if (one_in(2))
				gv_life_set_share(
				    &s->life, r->live[i], j, draw_share(&w->d) / 4);
	return 0;
}

static void
recorded_end(const struct world *w, struct sim *s)
{
	size_t m, j;

	recorded_whole(w->rec, s->end);
	recorded_time(w, s->life.now_s);
	recorded_time(w, s->counted_s);
	recorded_whole(w->rec, (long long)s->questions);
	recorded_whole(w->rec, (long long)s->left);
	recorded_whole(w->rec, (long long)s->most_waited);
	recorded_time(w, s->waited_s);
	recorded_whole(w->rec, (long long)s->node_failures);
	recorded_whole(w->rec, (long long)s->job_failures);
	for (m = 0; m < w->table.n_jobs; m++) {
		const struct sim_job *job = &s->job[m];

		recorded_time(w, sim_steps(s, m));
		recorded_time(w, job->start_s);
		recorded_time(w, job->finish_s);
		recorded_time(w, job->safe);
		recorded_time(w, job->lost);
		recorded_time(w, job->gpu_s);
		recorded_time(w, job->running_s);
		recorded_time(w, job->loading_s);
		recorded_whole(w->rec, (long long)job->launches);
		recorded_whole(w->rec, (long long)job->preemptions);
		recorded_whole(w->rec, (long long)job->failures);
		recorded_whole(w->rec, s->life.job[m].state);
	}
	for (j = 0; j < w->d.c.n_types; j++) {
		recorded_time(w, s->type[j].available_gpu_s);
		recorded_time(w, s->type[j].busy_gpu_s);
		recorded_time(w, s->type[j].gpus);
		recorded_time(w, s->type[j].busy);
		recorded_time(w, s->type[j].usd);
	}
	for (j = 0; j < s->n_offers; j++)
		recorded_time(w, s->offer[j].busy);
}

static long wrong, ends[SIM_FAILED + 1];

static void
simulate(struct world *w)
{
	struct gv_error e = {0};
	struct sim s;

	sim_init(&s, &w->o, &w->d.c, &w->table);
	if (w->n_offers > 0)
		sim_offers(&s, w->offer_of, w->n_offers);
	s.change = w->change;
	s.n_changes = w->n_changes;
	s.price = w->price;
	s.n_prices = w->n_prices;
	s.bid = w->bids ? w->bid : NULL;
	s.ask = one_in(5) ? NULL : promise;
	s.row = one_in(20) ? NULL : hear;
	s.progress = one_in(3) ? NULL : look;
	s.ctx = w;
	ends[sim_run(&s, &e)]++;
	recorded_text(w->rec, e.text[0]);
	recorded_whole(w->rec, w->progress);
	recorded_end(w, &s);
	if (s.end != SIM_FAILED && sim_check(&s, &e) != 0) {
		printf("# %s\n", e.text[0]);
		wrong++;
	}
	sim_free(&s);
}

/* Sums that do not add up are said to. */
static void
test_laws(struct recorded *rec)
{
	size_t i;

	for (i = 0; i < 1500; i++) {
		struct gv_error e = {0};
		struct world w;
		struct sim s;
		double by;

		draws_begin(i, 52, 0);
		world_init(&w, rec);
		w.by_chance = true;
		sim_init(&s, &w.o, &w.d.c, &w.table);
		sim_run(&s, &e);
		by = one_in(2) ? 0 : 2 * uniform() - 1;
		by = 1 + ldexp(by, -(int)below(30));
		s.job[below(w.table.n_jobs)].steps *= by;
		if (one_in(3))
			s.type[below(w.d.c.n_types)].busy_gpu_s *= by;
		recorded_whole(rec, sim_check(&s, &e));
		recorded_text(rec, e.text[0]);
		sim_free(&s);
	}
	recorded_answer(rec, "sums that were changed");
}

int
main(void)
{
	struct recorded rec;
	size_t i;

	recorded_open(&rec);
	for (i = 0; i < WORLDS; i++) {
		struct world w;

		draws_begin(i, 51, 0);
		world_init(&w, &rec);
		simulate(&w);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(&rec, "simulations to %zu", i);
	}
	is_int(wrong, 0, "everything adds up");
	ok(ends[SIM_DONE] > 500 && ends[SIM_UNTIL] > 100 && ends[SIM_SATURATED] > 50 &&
		ends[SIM_STUCK] > 50 && ends[SIM_FAILED] > 5,
	    "ends of all kinds: %ld, %ld, %ld, %ld, %ld", ends[SIM_DONE], ends[SIM_UNTIL],
	    ends[SIM_SATURATED], ends[SIM_STUCK], ends[SIM_FAILED]);
	test_laws(&rec);
	recorded_close(&rec);
	return done_testing();
}
