/*
 * gv-sim beside two slow, obvious simulators, on random small scenarios: one that counts
 * second after second (jobs of one GPU, one type, what is owed), and one that goes round
 * by round as Gavel's program does (gangs, several types, Gavel's order, in step).
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "draws.h"
#include "gv-sim/core/sim.h"

enum { JOBS = 8, TYPES = 3 };

/* A scenario: jobs, GPUs, and shares by who is there. */
struct scenario {
	struct gv_cluster c;
	struct gv_pool pool[TYPES];
	struct gv_gpu_type type[TYPES];
	struct gv_rates table;
	struct gv_job job[JOBS];
	struct gv_rate rate[2 * JOBS * TYPES];
	double weight[JOBS][TYPES]; /* shares are in proportion to these */
	struct sim_settings o;
	struct sim_change change[8];
	size_t n_changes;
	struct sim_price price[8];
	size_t n_prices;
	double bid[TYPES];
	bool bids;
};

static void
scenario_init(struct scenario *w, size_t n_types, size_t n_jobs)
{
	size_t j;

	*w = (struct scenario){0};
	w->c = (struct gv_cluster){
	    .n_types = n_types, .type = w->type, .n_pools = n_types, .pool = w->pool};
	for (j = 0; j < n_types; j++) {
		w->type[j] = (struct gv_gpu_type){
		    .name = "t", .gpus = 1 + below(4), .usd_per_h = NAN};
		w->pool[j] =
		    (struct gv_pool){.type = j, .gpus = w->type[j].gpus, .node = ""};
	}
	w->table.job = w->job;
	w->table.rate = w->rate;
	w->table.n_jobs = n_jobs;
}

static void
add_rate(struct scenario *w, size_t m, size_t j, double steps_per_s)
{
	w->rate[w->table.n_rates++] = (struct gv_rate){
	    .job = m, .type = (ptrdiff_t)j, .with = -1, .steps_per_s = steps_per_s};
}

/* The shares when so many are there: the same part of each, by weight, exact in binary. */
static double
share_of(const struct scenario *w, size_t m, size_t j, size_t n_there)
{
	size_t parts = 4;

	while (parts < 4 * n_there)
		parts *= 2;
	return w->weight[m][j] / (double)parts;
}

static int
policy(void *ctx, struct sim *s, struct gv_error *e)
{
	const struct scenario *w = ctx;
	size_t i;
	size_t j;

	(void)e;
	for (i = 0; i < s->life.n_active; i++)
		for (j = 0; j < w->c.n_types; j++)
			gv_life_set_share(&s->life, s->life.active[i], j,
			    share_of(w, s->life.active[i], j, s->life.n_active));
	return 0;
}

/* What both came to. */
struct result {
	double finish_s[JOBS];
	double busy_gpu_s[TYPES];
	size_t launches[JOBS];
	double lost[JOBS];
	double usd;
};

static long bad_checks;

/* GPUs that go and come, and what they cost. */
static void
set_world(struct sim *s, const struct scenario *w)
{
	s->change = w->change;
	s->n_changes = w->n_changes;
	s->price = w->price;
	s->n_prices = w->n_prices;
	s->bid = w->bids ? w->bid : NULL;
}

static void
simulate(const struct scenario *w, struct result *r)
{
	struct gv_error e = {0};
	struct sim s;
	size_t i;

	sim_init(&s, &w->o, &w->c, &w->table);
	s.ask = policy;
	s.ctx = (void *)(uintptr_t)w;
	set_world(&s, w);
	if (sim_run(&s, &e) != SIM_DONE || sim_check(&s, &e) != 0) {
		printf("# %s\n", e.text[0]);
		bad_checks++;
	}
	memset(r, 0, sizeof(*r));
	for (i = 0; i < w->table.n_jobs; i++) {
		r->finish_s[i] = s.job[i].finish_s;
		r->launches[i] = s.job[i].launches;
		r->lost[i] = s.job[i].lost;
	}
	for (i = 0; i < w->c.n_types; i++)
		r->busy_gpu_s[i] = s.type[i].busy_gpu_s;
	r->usd = w->n_prices > 0 ? s.type[0].usd : 0;
	sim_free(&s);
}

/* In how many numbers the two differ. */
static long
differ(const struct scenario *w, const struct result *a, const struct result *b)
{
	long n = 0;
	size_t i;

	for (i = 0; i < w->table.n_jobs; i++) {
		n += !(fabs(a->finish_s[i] - b->finish_s[i]) <= 1e-6);
		n += a->launches[i] != b->launches[i];
		n += !(fabs(a->lost[i] - b->lost[i]) <= 1e-6);
	}
	n += !(fabs(a->usd - b->usd) <= 1e-9);
	for (i = 0; i < w->c.n_types; i++)
		n += !(fabs(a->busy_gpu_s[i] - b->busy_gpu_s[i]) <= 1e-6);
	return n;
}

static void
show(const struct scenario *w, int trial, const struct result *a, const struct result *b)
{
	size_t m;

	printf("# scenario %d differs: round %g s, interval %g s\n", trial, w->o.round_s,
	    w->o.interval_s);
	for (m = 0; m < w->c.n_types; m++)
		printf("# type %zu: %zu GPUs, busy %.15g s and %.15g s\n", m,
		    w->type[m].gpus, a->busy_gpu_s[m], b->busy_gpu_s[m]);
	for (m = 0; m < w->table.n_jobs; m++)
		printf("# job %zu: gang %lld, %g steps from %g s on: done at %.15g s and "
		       "%.15g s, %zu and %zu launches\n",
		    m, (long long)w->job[m].scale_factor, w->job[m].total_steps,
		    w->job[m].arrival_s, a->finish_s[m], b->finish_s[m], a->launches[m],
		    b->launches[m]);
	for (m = 0; m < w->n_changes; m++)
		printf("# at %g s GPUs %s\n", w->change[m].time_s,
		    w->change[m].away ? "away" : "back");
	for (m = 0; m < w->n_prices; m++)
		printf("# at %g s %g USD/h, bid %g\n", w->price[m].time_s,
		    w->price[m].usd_per_h, w->bids ? w->bid[0] : HUGE_VAL);
	printf("# %.15g and %.15g USD\n", a->usd, b->usd);
}

/* ---- second after second ---- */

struct second_job {
	bool there, runs, ran;
	double done, safe, lag, share, told, waited;
};

struct seconds {
	const struct scenario *w;
	struct second_job job[JOBS];
	long now, round_end;
	bool changed, begun;
	bool away, dear;
	double usd_per_h;
};

static size_t
how_many(const struct seconds *t, bool running)
{
	size_t n = 0;
	size_t m;

	for (m = 0; m < t->w->table.n_jobs; m++)
		n += running ? t->job[m].runs : t->job[m].there;
	return n;
}

/* Debts beyond a round are forgotten when jobs come or go, and time beyond a promise. */
static void
settle(struct seconds *t)
{
	double round_s = t->w->o.round_s;
	size_t m;

	for (m = 0; m < t->w->table.n_jobs; m++) {
		double *lag = &t->job[m].lag;

		*lag = t->job[m].share == 0 ? 0 : fmin(fmax(*lag, 0), round_s);
	}
}

/* Whether a goes before b: owed more, then the larger share, then the row. */
static bool
before(const struct seconds *t, size_t a, size_t b)
{
	double r = t->w->o.round_s;
	const struct second_job *x = &t->job[a];
	const struct second_job *y = &t->job[b];
	double p = x->lag / r + x->share;
	double q = y->lag / r + y->share;
	bool pays = x->share > 0 && p > 1e-9;
	bool qays = y->share > 0 && q > 1e-9;

	if (pays != qays)
		return pays;
	if ((p >= GV_ROUND_DEBT) != (q >= GV_ROUND_DEBT))
		return p >= GV_ROUND_DEBT;
	if (pays && p >= GV_ROUND_DEBT && x->waited != y->waited)
		return x->waited > y->waited;
	if (pays && p >= GV_ROUND_DEBT)
		p = q;
	if (!pays) { /* left over: whoever was promised something, by lag */
		if ((x->share > 0) != (y->share > 0))
			return x->share > 0;
		p = x->lag;
		q = y->lag;
	}
	if (p != q)
		return p > q;
	if (x->share != y->share)
		return x->share > y->share;
	return a < b;
}

/* The next that shall run, of those who do not; JOBS = nobody. */
static size_t
next_of(const struct seconds *t)
{
	size_t best = JOBS;
	size_t m;

	for (m = 0; m < t->w->table.n_jobs; m++)
		if (t->job[m].there && !t->job[m].runs &&
		    (best == JOBS || before(t, m, best)))
			best = m;
	return best;
}

static void
give_gpus(struct seconds *t, struct result *r)
{
	bool had[JOBS];
	size_t m;

	for (m = 0; m < t->w->table.n_jobs; m++)
		had[m] = t->job[m].runs;
	if (t->now >= t->round_end) {
		/* on a grid, but for idle times */
		long end = t->round_end + (long)t->w->o.round_s;

		t->round_end =
		    end <= t->now || !t->begun ? t->now + (long)t->w->o.round_s : end;
		t->begun = true;
		for (m = 0; m < t->w->table.n_jobs; m++)
			t->job[m].runs = false;
	}
	while (!t->away && !t->dear && how_many(t, true) < t->w->type[0].gpus &&
	       (m = next_of(t)) < JOBS)
		t->job[m].runs = true;
	for (m = 0; m < t->w->table.n_jobs; m++)
		if (t->job[m].runs && !had[m]) {
			r->launches[m]++;
			t->job[m].safe = t->job[m].done;
		}
}

/* GPUs go or come, by the table or since their price is above the bid. */
static void
change_gpus(struct seconds *t, struct result *r)
{
	size_t i;

	for (i = 0; i < t->w->n_changes; i++)
		if (t->w->change[i].time_s == (double)t->now)
			t->away = t->w->change[i].away;
	for (i = 0; i < t->w->n_prices; i++)
		if (t->w->price[i].time_s == (double)t->now)
			t->usd_per_h = t->w->price[i].usd_per_h;
	t->dear = t->w->bids && t->usd_per_h > t->w->bid[0];
	for (i = 0; i < t->w->table.n_jobs && (t->away || t->dear); i++) {
		struct second_job *j = &t->job[i];

		if (!j->runs)
			continue;
		r->lost[i] += j->done - j->safe;
		j->done = j->safe;
		j->runs = false;
	}
}

static void
come_and_go(struct seconds *t, struct result *r)
{
	size_t m;

	for (m = 0; m < t->w->table.n_jobs; m++) {
		struct second_job *j = &t->job[m];

		if (!j->there && t->w->job[m].arrival_s <= (double)t->now &&
		    isnan(r->finish_s[m])) {
			j->there = t->changed = true;
		} else if (j->there && j->done >= t->w->job[m].total_steps) {
			j->there = j->runs = false;
			t->changed = true;
			r->finish_s[m] = (double)t->now;
		}
	}
}

static void
count_seconds(const struct scenario *w, struct result *r)
{
	struct seconds t = {.w = w};
	size_t left = w->table.n_jobs;
	size_t m;

	memset(r, 0, sizeof(*r));
	for (m = 0; m < w->table.n_jobs; m++)
		r->finish_s[m] = NAN;
	for (t.now = 0; left > 0; t.now++) {
		come_and_go(&t, r);
		change_gpus(&t, r);
		if (t.changed)
			for (m = 0; m < w->table.n_jobs; m++)
				if (t.job[m].there)
					t.job[m].share =
					    share_of(w, m, 0, how_many(&t, false));
		if (t.changed)
			settle(&t);
		t.changed = false;
		if (how_many(&t, false) > 0)
			give_gpus(&t, r);
		left = 0;
		for (m = 0; m < w->table.n_jobs; m++) {
			struct second_job *j = &t.job[m];

			left += isnan(r->finish_s[m]);
			if (j->there)
				j->lag = fmin(j->lag + j->share - (j->runs ? 1 : 0),
				    GV_ROUND_DEBT * w->o.round_s);
			j->waited = j->runs ? 0 : j->waited + j->there;
			if (!j->runs)
				continue;
			j->done += w->rate[m].steps_per_s;
			r->busy_gpu_s[0]++;
			r->usd += t.usd_per_h / 3600;
		}
	}
}

static void
draw_seconds(struct scenario *w)
{
	size_t n = 1 + below(JOBS);
	size_t m;

	scenario_init(w, 1, n);
	w->o = (struct sim_settings){.round_s = (double)(4 + below(20)),
	    .last = SIZE_MAX,
	    .until_s = HUGE_VAL,
	    .most_waiting = SIZE_MAX};
	for (m = 0; m < n; m++) {
		double rate = (double)(1 + below(3));

		w->job[m] = (struct gv_job){.scale_factor = 1,
		    .total_steps = rate * (double)(1 + below(150)),
		    .arrival_s = below(3) > 0 ? 0 : (double)below(200)};
		/* in 64ths, so that sums of them are exact */
		w->weight[m][0] = (double)(1 + below(64)) / 16;
		add_rate(w, m, 0, rate);
	}
}

/* GPUs are away for a while, twice, and cost what they cost; back by the end. */
static void
draw_market(struct scenario *w)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		double time_s = (double)(200 * i + 1 + below(100));

		w->change[w->n_changes++] = (struct sim_change){time_s, 0, true};
		w->change[w->n_changes++] =
		    (struct sim_change){time_s + (double)(1 + below(90)), 0, false};
	}
	for (i = 0; i < 5; i++)
		w->price[w->n_prices++] =
		    (struct sim_price){(double)(i == 0 ? 0 : 100 * i + below(90)), 0,
			i < 4 ? (double)(1 + below(4)) : 1};
	w->bids = below(2) == 0;
	w->bid[0] = 2.5;
}

static void
test_market(void)
{
	double lost = 0;
	long wrong = 0;
	int trial;

	for (trial = 0; trial < 1000; trial++) {
		struct scenario w;
		struct result a, b;
		size_t m;
		long n;

		draws_begin((uint64_t)trial, 5, 0);
		draw_seconds(&w);
		draw_market(&w);
		simulate(&w, &a);
		count_seconds(&w, &b);
		n = differ(&w, &a, &b);
		if (n > 0 && wrong == 0)
			show(&w, trial, &a, &b);
		wrong += n > 0;
		for (m = 0; m < w.table.n_jobs; m++)
			lost += b.lost[m];
	}
	is_int(wrong, 0, "1,000 scenarios whose GPUs go, come and cost more or less");
	ok(lost > 1000, "and jobs lose what they have done since they were safe (%.0f)",
	    lost);
}

static void
test_seconds(void)
{
	long wrong = 0;
	int trial;

	for (trial = 0; trial < 1000; trial++) {
		struct scenario w;
		struct result a, b;
		long n;

		draws_begin((uint64_t)trial, 1, 0);
		draw_seconds(&w);
		/* who is asked more often, with the same answer, changes nothing */
		w.o.ask_every_s = trial % 2 == 0 ? 0 : (double)(1 + below(40));
		simulate(&w, &a);
		count_seconds(&w, &b);
		n = differ(&w, &a, &b);
		if (n > 0 && wrong == 0)
			show(&w, trial, &a, &b);
		wrong += n > 0;
	}
	is_int(wrong, 0, "1,000 scenarios, second after second");
}

/* ---- round by round, as Gavel's program ---- */

struct gavel {
	const struct scenario *w;
	bool there[JOBS], gone[JOBS];
	double share[JOBS][TYPES], received[JOBS][TYPES], deficit[JOBS][TYPES];
	bool asked[JOBS]; /* may run: --ask-first */
	double done[JOBS], since_s, now_s;
	double end_s; /* of the round */
	ptrdiff_t on[JOBS];
};

static double
rate_on(const struct scenario *w, size_t m, size_t j)
{
	return w->rate[m * w->c.n_types + j].steps_per_s;
}

static void
gavel_ask(struct gavel *g, size_t n)
{
	size_t m, j;

	for (m = 0; m < g->w->table.n_jobs; m++) {
		g->asked[m] |= g->there[m];
		for (j = 0; j < g->w->c.n_types && g->there[m]; j++) {
			g->deficit[m][j] += g->share[m][j] * g->since_s -
					    (g->received[m][j] - g->w->o.round_s / 2);
			g->received[m][j] = g->w->o.round_s / 2;
			g->share[m][j] = share_of(g->w, m, j, n);
		}
	}
	g->since_s = 0;
}

/* Who runs where: type after type, by share over what was received. */
static void
gavel_place(struct gavel *g)
{
	const struct scenario *w = g->w;
	size_t m, j;

	for (m = 0; m < w->table.n_jobs; m++)
		g->on[m] = -1;
	for (j = 0; j < w->c.n_types; j++) {
		size_t room = w->type[j].gpus;
		bool tried[JOBS] = {false};

		for (;;) {
			size_t best = JOBS;
			double best_p = 0;

			for (m = 0; m < w->table.n_jobs; m++) {
				double p = g->share[m][j] / g->received[m][j];

				if (!g->there[m] || g->on[m] >= 0 || tried[m] ||
				    (w->o.ask_first && !g->asked[m]) ||
				    !(rate_on(w, m, j) > 0))
					continue;
				if (best == JOBS || p > best_p ||
				    (p == best_p &&
					(g->deficit[m][j] > g->deficit[best][j] ||
					    (g->deficit[m][j] == g->deficit[best][j] &&
						g->share[m][j] > g->share[best][j])))) {
					best = m;
					best_p = p;
				}
			}
			if (best == JOBS)
				break;
			tried[best] = true;
			if ((size_t)w->job[best].scale_factor <= room) {
				room -= (size_t)w->job[best].scale_factor;
				g->on[best] = (ptrdiff_t)j;
			}
		}
	}
}

static void
gavel_play(struct gavel *g, struct result *r, ptrdiff_t before[JOBS])
{
	double dt;
	size_t m;

	/* not as in Gavel's program: after idle times less than a round on the grid goes on */
	g->end_s += g->w->o.round_s;
	if (g->end_s <= g->now_s)
		g->end_s = g->now_s + g->w->o.round_s;
	dt = g->end_s - g->now_s;

	for (m = 0; m < g->w->table.n_jobs; m++) {
		ptrdiff_t j = g->on[m];

		if (j >= 0) {
			r->launches[m] += before[m] != j;
			r->busy_gpu_s[j] += dt * (double)g->w->job[m].scale_factor;
			g->received[m][j] += dt;
			r->finish_s[m] =
			    g->now_s + (g->w->job[m].total_steps - g->done[m]) /
					   rate_on(g->w, m, (size_t)j);
			g->done[m] += dt * rate_on(g->w, m, (size_t)j);
		}
		before[m] = j;
	}
	g->since_s += dt;
	g->now_s += dt;
}

static void
count_rounds(const struct scenario *w, struct result *r)
{
	struct gavel g = {.w = w, .end_s = -HUGE_VAL};
	ptrdiff_t before[JOBS];
	double asked_s = -HUGE_VAL;
	bool asks = false;
	size_t left = w->table.n_jobs;
	size_t m, j;

	memset(r, 0, sizeof(*r));
	for (m = 0; m < w->table.n_jobs; m++) {
		before[m] = -1;
		for (j = 0; j < w->c.n_types; j++)
			g.received[m][j] = w->o.round_s / 2;
	}
	for (;;) {
		double next_s = HUGE_VAL;
		size_t n = 0;

		for (m = 0; m < w->table.n_jobs; m++) {
			if (g.there[m] &&
			    g.done[m] >= w->job[m].total_steps * (1 - 1e-12)) {
				g.there[m] = false;
				g.gone[m] = asks = true;
				before[m] = -1;
				left--;
			}
			if (!g.there[m] && !g.gone[m] && w->job[m].arrival_s <= g.now_s)
				g.there[m] = asks = true;
			else if (!g.there[m] && !g.gone[m])
				next_s = fmin(next_s, w->job[m].arrival_s);
			n += g.there[m];
		}
		if (left == 0)
			return;
		if (n == 0) {
			g.since_s += next_s - g.now_s;
			g.now_s = next_s;
			continue;
		}
		if (asks && g.now_s >= asked_s + w->o.interval_s) {
			gavel_ask(&g, n);
			asks = false;
			asked_s = g.now_s;
		}
		gavel_place(&g);
		gavel_play(&g, r, before);
	}
}

static void
draw_rounds(struct scenario *w)
{
	size_t n_types = 1 + below(TYPES);
	size_t n = 1 + below(JOBS);
	size_t m, j;

	scenario_init(w, n_types, n);
	w->o = (struct sim_settings){.round_s = 16,
	    .order = GV_ROUND_GAVEL,
	    .in_step = true,
	    .ask_first = below(2) == 0,
	    .interval_s = below(2) == 0 ? 0 : 80,
	    .last = SIZE_MAX,
	    .until_s = HUGE_VAL,
	    .most_waiting = SIZE_MAX};
	for (m = 0; m < n; m++) {
		size_t gang = below(3) > 0 ? 1 : 1 + below(w->type[0].gpus);

		w->job[m] = (struct gv_job){.scale_factor = (int64_t)gang,
		    .total_steps = 1 + 500 * uniform(),
		    .arrival_s = below(3) > 0 ? 0 : floor(300 * uniform())};
		for (j = 0; j < n_types; j++) {
			w->weight[m][j] = (double)below(64) / 64;
			add_rate(w, m, j, j > 0 && below(5) == 0 ? 0 : 1 + uniform());
		}
	}
}

static void
test_rounds(void)
{
	long wrong = 0;
	int trial;

	for (trial = 0; trial < 1000; trial++) {
		struct scenario w;
		struct result a, b;
		long n;

		draws_begin((uint64_t)trial, 2, 0);
		draw_rounds(&w);
		simulate(&w, &a);
		count_rounds(&w, &b);
		n = differ(&w, &a, &b);
		if (n > 0 && wrong == 0)
			show(&w, trial, &a, &b);
		wrong += n > 0;
	}
	is_int(wrong, 0, "1,000 scenarios, as Gavel's program");
}

/* ---- pairs: no slow simulator, but everything adds up ---- */

static int
pair_policy(void *ctx, struct sim *s, struct gv_error *e)
{
	const struct gv_rounds *r = &s->life.rounds;
	size_t i;
	size_t j;

	(void)ctx;
	(void)e;
	for (i = 0; i < r->n_live; i++)
		for (j = 0; j < r->n_types; j++)
			gv_life_set_share(&s->life, r->live[i], j,
			    below(3) == 0 ? 0 : uniform() / (double)JOBS);
	return 0;
}

static void
draw_pairs(struct scenario *w)
{
	size_t m, j;

	draw_rounds(w);
	w->o.order = below(2) == 0 ? GV_ROUND_GAVEL : GV_ROUND_OWED;
	w->o.in_step = below(2) == 0;
	w->o.load_s = below(2) == 0 ? 0 : 3 * uniform();
	w->o.save_s = below(2) == 0 ? 0 : 3 * uniform();
	w->o.checkpoint_s = below(2) == 0 ? 0 : 1 + 20 * uniform();
	w->o.node_mtbf_s = below(2) == 0 ? 0 : 100 + 500 * uniform();
	w->o.repair_s = 10 + 50 * uniform();
	w->o.job_mtbf_s = below(2) == 0 ? 0 : 300 + 500 * uniform();
	w->o.max_failures = 20; /* hardly ever */
	w->o.fault_seed = below(1000);
	for (m = 0; m < 4; m++) { /* as dear as it may be at last */
		double usd = m < 3 ? (double)(1 + below(4)) : 2;

		w->price[w->n_prices++] =
		    (struct sim_price){60 * (double)m, below(w->c.n_types), usd};
	}
	w->bids = below(2) == 0;
	for (m = 0; m < TYPES; m++)
		w->bid[m] = m == w->price[3].offer ? 2.5 : 10;
	for (m = below(5); m-- > 0;) { /* pools go, and are back by the end */
		size_t pool = below(w->c.n_pools);
		double time_s = 50 * (double)(4 - m) + 40 * uniform();

		w->change[w->n_changes++] = (struct sim_change){time_s, pool, true};
		w->change[w->n_changes++] = (struct sim_change){time_s + 9, pool, false};
	}
	for (m = 1; m < w->table.n_jobs; m++)
		for (j = 0; j < w->c.n_types; j++)
			if (w->job[m].scale_factor == w->job[m - 1].scale_factor)
				w->rate[w->table.n_rates++] = (struct gv_rate){.job = m,
				    .type = (ptrdiff_t)j,
				    .with = (ptrdiff_t)m - 1,
				    .steps_per_s = uniform(),
				    .with_steps_per_s = uniform()};
}

static void
test_pairs(void)
{
	size_t node_failures = 0;
	size_t job_failures = 0;
	double lost = 0;
	long wrong = 0;
	size_t m;
	int trial;

	for (trial = 0; trial < 1000; trial++) {
		struct gv_error e = {0};
		struct scenario w;
		struct sim s;

		draws_begin((uint64_t)trial, 4, 0);
		draw_pairs(&w);
		sim_init(&s, &w.o, &w.c, &w.table);
		s.ask = pair_policy;
		set_world(&s, &w);
		if (sim_run(&s, &e) != SIM_DONE || sim_check(&s, &e) != 0) {
			if (wrong++ == 0)
				printf("# scenario %d: %s\n", trial, e.text[0]);
		}
		for (m = 0; m < w.table.n_jobs; m++)
			lost += s.job[m].lost;
		node_failures += s.node_failures;
		job_failures += s.job_failures;
		sim_free(&s);
	}
	is_int(wrong, 0,
	    "1,000 scenarios with pairs, some without GPUs for a while, add up");
	ok(lost > 1000, "steps were lost with GPUs (%.0f)", lost);
	ok(node_failures > 300 && job_failures > 300,
	    "%zu failures of nodes, %zu of jobs", node_failures, job_failures);
}

/* ---- laws that are broken are noticed ---- */

static void
test_laws(void)
{
	struct gv_error e = {0};
	struct scenario w;
	struct sim s;

	draws_begin(1, 3, 0);
	draw_seconds(&w);
	sim_init(&s, &w.o, &w.c, &w.table);
	s.ask = policy;
	s.ctx = &w;
	ok(sim_run(&s, &e) == SIM_DONE && sim_check(&s, &e) == 0, "all adds up");
	s.job[0].steps *= 1.01;
	is_int(sim_check(&s, &e), -1, "steps from nowhere");
	ok(strstr(e.text[0], "steps do not add up: job ") != NULL, "say so");
	s.job[0].steps /= 1.01;
	gv_error_clear(&e);
	s.type[0].busy_gpu_s *= .99;
	is_int(sim_check(&s, &e), -1, "GPU time that is lost");
	ok(strstr(e.text[0], "GPU time does not add up: ") != NULL, "says so");
	sim_free(&s);
}

int
main(void)
{
	test_seconds();
	test_market();
	test_rounds();
	test_pairs();
	test_laws();
	is_int(bad_checks, 0, "every run adds up");
	return done_testing();
}
