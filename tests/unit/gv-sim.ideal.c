/*
 * gv-sim without rounds beside a slow, obvious fluid: random jobs, gangs, pairs and types,
 * shares that stay or change with every answer, questions that wait, runs that end before
 * everybody is done.
 */
#include "tap.h"

#include <math.h>
#include <string.h>

#include "draws.h"
#include "gv-sim/core/sim.h"

enum { JOBS = 6, TYPES = 3, PAIRS = JOBS - 1, ALL = JOBS + PAIRS, TRIALS = 3000 };

/* Jobs, and pairs of neighbours behind them, of equal gangs. */
struct scenario {
	struct gv_cluster c;
	struct gv_pool pool[TYPES];
	struct gv_gpu_type type[TYPES];
	struct gv_rates table;
	struct gv_job job[JOBS];
	struct gv_rate rate[ALL * TYPES];
	size_t n_all; /* jobs and pairs */
	size_t member[ALL][2];
	double speed[ALL][TYPES][2], share[ALL][TYPES];
	struct sim_settings o;
	bool asks;
	uint64_t seed;
};

static double
answer(
    const struct scenario *w, size_t first, size_t second, size_t type, size_t question)
{
	uint32_t who = (uint32_t)(first * JOBS + second);
	double u = gv_random_uniform(w->seed, who, (uint32_t)type, question);

	return u < .4 ? 0 : u / ALL;
}

static int
policy(void *ctx, struct sim *s, struct gv_error *e)
{
	const struct scenario *w = ctx;
	const struct gv_rounds *r = &s->life.rounds;
	size_t i, j;

	(void)e;
	for (i = 0; i < r->n_live; i++)
		for (j = 0; j < r->n_types; j++) {
			const size_t *member = r->job[r->live[i]].member;
			size_t a = member[0] < member[1] ? member[0] : member[1];

			gv_life_set_share(&s->life, r->live[i], j,
			    answer(w, a, member[0] + member[1] - a, j, s->questions));
		}
	return 0;
}

/* ---- scenarios ---- */

static void
add(struct scenario *w, size_t a, size_t b)
{
	size_t i = w->n_all++;
	size_t j;

	w->member[i][0] = a;
	w->member[i][1] = b;
	for (j = 0; j < w->c.n_types; j++) {
		double *speed = w->speed[i][j];

		/* who can run nowhere alone is dropped */
		speed[0] = (a != b || j > 0) && below(6) == 0 ? 0 : 1 + uniform();
		speed[1] = a != b && below(6) > 0 ? 1 + uniform() : 0;
		w->share[i][j] = below(3) == 0 ? 0 : uniform() / ALL;
		w->rate[w->table.n_rates++] = (struct gv_rate){.job = a,
		    .type = (ptrdiff_t)j,
		    .with = a != b ? (ptrdiff_t)b : -1,
		    .steps_per_s = speed[0],
		    .with_steps_per_s = speed[1],
		    .share = w->share[i][j]};
	}
}

static void
draw_scenario(struct scenario *w, uint64_t trial)
{
	size_t n = 1 + below(JOBS);
	size_t i;

	*w = (struct scenario){.seed = trial, .asks = below(3) > 0};
	w->c = (struct gv_cluster){
	    .n_types = 1 + below(TYPES), .type = w->type, .pool = w->pool};
	w->c.n_pools = w->c.n_types;
	for (i = 0; i < w->c.n_types; i++) {
		w->type[i] = (struct gv_gpu_type){.name = "t",
		    .gpus = (int64_t)(4 + below(4)),
		    .usd_per_h = 1 + uniform()};
		w->pool[i] =
		    (struct gv_pool){.type = i, .gpus = w->type[i].gpus, .node = ""};
	}
	w->table.job = w->job;
	w->table.rate = w->rate;
	w->table.n_jobs = n;
	w->o = (struct sim_settings){.round_s = 60,
	    .ideal = true,
	    .interval_s = below(2) == 0 ? 0 : (double)(20 + below(100)),
	    .first = below(3) == 0 ? below(n) : 0,
	    .last = below(3) == 0 ? below(n) : SIZE_MAX,
	    .until_s = below(4) == 0 ? 1 + 2000 * uniform() : HUGE_VAL,
	    .most_waiting = below(4) == 0 ? 1 + below(JOBS) : SIZE_MAX};
	for (i = 0; i < n; i++)
		w->job[i] = (struct gv_job){.scale_factor = (int64_t)(1 + below(2)),
		    .total_steps = 1 + 300 * uniform(),
		    .arrival_s = below(3) == 0 ? 0 : (double)below(1500)};
	for (i = 0; i < n; i++)
		add(w, i, i);
	for (i = 0; i + 1 < n; i++)
		if (w->job[i].scale_factor == w->job[i + 1].scale_factor && below(2) == 0)
			add(w, i, i + 1);
}

/* ---- the fluid ---- */

struct fluid {
	const struct scenario *w;
	double now_s, asked_s;
	bool came[JOBS], left[JOBS], asks;
	double share[ALL][TYPES];
	size_t questions;
	double steps[JOBS], start_s[JOBS], finish_s[JOBS], running_s[JOBS], gpu_s[JOBS];
	double busy_gpu_s[TYPES], usd[TYPES];
	size_t most_waited;
	double waited_s;
};

static bool
is_there(const struct fluid *f, size_t m)
{
	return f->came[m] && !f->left[m];
}

static bool
are_there(const struct fluid *f, size_t i)
{
	return is_there(f, f->w->member[i][0]) && is_there(f, f->w->member[i][1]);
}

static size_t
how_many(const struct fluid *f)
{
	size_t n = 0;
	size_t m;

	for (m = 0; m < f->w->table.n_jobs; m++)
		n += is_there(f, m);
	return n;
}

static double
speed_of(const struct fluid *f, size_t m)
{
	const struct scenario *w = f->w;
	double sum = 0;
	size_t i, j;

	for (i = 0; i < w->n_all; i++)
		for (j = 0; j < w->c.n_types && are_there(f, i); j++)
			sum += w->member[i][0] == m   ? f->share[i][j] * w->speed[i][j][0]
			       : w->member[i][1] == m ? f->share[i][j] * w->speed[i][j][1]
						      : 0;
	return sum;
}

static void
come_and_go(struct fluid *f)
{
	size_t m;

	for (m = 0; m < f->w->table.n_jobs; m++) {
		if (!f->came[m] && f->w->job[m].arrival_s <= f->now_s)
			f->came[m] = f->asks = true;
		if (is_there(f, m) &&
		    f->steps[m] >= f->w->job[m].total_steps * (1 - 1e-11)) {
			f->left[m] = f->asks = true;
			f->steps[m] = f->w->job[m].total_steps;
			f->finish_s[m] = f->now_s;
		}
	}
}

static void
ask(struct fluid *f)
{
	size_t i, j;

	if (!f->w->asks || !f->asks || how_many(f) == 0 ||
	    f->now_s < f->asked_s + f->w->o.interval_s)
		return;
	f->asks = false;
	f->asked_s = f->now_s;
	f->questions++;
	for (i = 0; i < f->w->n_all; i++)
		for (j = 0; j < f->w->c.n_types && are_there(f, i); j++)
			f->share[i][j] = answer(f->w, f->w->member[i][0],
			    f->w->member[i][1], j, f->questions);
}

/* Everybody gets on until then. */
static void
flow(struct fluid *f, double until_s)
{
	const struct scenario *w = f->w;
	double dt = until_s - f->now_s;
	size_t i, j, k;

	for (i = 0; i < w->table.n_jobs; i++)
		f->steps[i] += is_there(f, i) ? speed_of(f, i) * dt : 0;
	for (i = 0; i < w->n_all; i++)
		for (j = 0; j < w->c.n_types && are_there(f, i); j++) {
			double t = f->share[i][j] * dt;
			double gpus = (double)w->job[w->member[i][0]].scale_factor;

			f->busy_gpu_s[j] += t * gpus;
			f->usd[j] += t * gpus * w->type[j].usd_per_h / 3600;
			for (k = 0; k < (i < w->table.n_jobs ? 1 : 2); k++) {
				size_t m = w->member[i][k];

				f->running_s[m] += t;
				f->gpu_s[m] += t * gpus;
				if (t > 0 && isnan(f->start_s[m]))
					f->start_s[m] = f->now_s;
			}
		}
	f->now_s = until_s;
}

/* When something happens next; HUGE_VAL = nothing does. */
static double
next_s(const struct fluid *f)
{
	double t = HUGE_VAL;
	size_t m;

	for (m = 0; m < f->w->table.n_jobs; m++)
		if (!f->came[m])
			t = fmin(t, f->w->job[m].arrival_s);
		else if (is_there(f, m) && speed_of(f, m) > 0)
			t = fmin(t, f->now_s + (f->w->job[m].total_steps - f->steps[m]) /
						   speed_of(f, m));
	if (f->w->asks && f->asks && how_many(f) > 0)
		t = fmin(t, f->asked_s + f->w->o.interval_s);
	return t;
}

static enum sim_end
run(const struct scenario *w, struct fluid *f)
{
	size_t m;

	*f = (struct fluid){.w = w, .asked_s = -HUGE_VAL};
	memcpy(f->share, w->share, sizeof(f->share));
	for (m = 0; m < JOBS; m++)
		f->start_s[m] = f->finish_s[m] = NAN;
	for (;;) {
		size_t left = 0;
		size_t n;
		double t;

		come_and_go(f);
		ask(f);
		n = how_many(f);
		for (m = w->o.first; m < w->table.n_jobs && m < w->o.last; m++)
			left += !f->left[m];
		if (w->o.most_waiting < SIZE_MAX && n > f->most_waited) {
			f->most_waited = n;
			f->waited_s = f->now_s;
		}
		t = next_s(f);
		if (left == 0)
			return SIM_DONE;
		if (n > w->o.most_waiting)
			return SIM_SATURATED;
		if (t == HUGE_VAL)
			return SIM_STUCK;
		if (f->now_s >= w->o.until_s)
			return SIM_UNTIL;
		flow(f, fmin(t, w->o.until_s));
	}
}

/* ---- side by side ---- */

static bool
equal(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-7 * fmax(1, fabs(a));
}

static long
differ(const struct sim *s, const struct fluid *f)
{
	long n = 0;
	size_t m, j;

	for (m = 0; m < f->w->table.n_jobs; m++) {
		const struct sim_job *job = &s->job[m];

		n += !equal(sim_steps(s, m), f->steps[m]) ||
		     !equal(job->start_s, f->start_s[m]) ||
		     !equal(job->finish_s, f->finish_s[m]) ||
		     !equal(job->running_s, f->running_s[m]) ||
		     !equal(job->gpu_s, f->gpu_s[m]);
		n += f->left[m] && s->life.job[m].steps != f->w->job[m].total_steps;
	}
	for (j = 0; j < f->w->c.n_types; j++)
		n += !equal(s->type[j].busy_gpu_s, f->busy_gpu_s[j]) ||
		     !equal(s->type[j].usd, f->usd[j]) ||
		     !equal(s->type[j].available_gpu_s,
			 (double)f->w->type[j].gpus * f->now_s);
	n += !equal(s->life.now_s, f->now_s) || s->questions != f->questions;
	n += s->most_waited != f->most_waited || !equal(s->waited_s, f->waited_s);
	return n;
}

static void
show(const struct scenario *w, const struct sim *s, const struct fluid *f, int trial,
    enum sim_end end)
{
	size_t m;

	printf(
	    "# scenario %d: ends %d and %d at %.12g and %.12g s, %zu and %zu questions\n",
	    trial, (int)s->end, (int)end, s->life.now_s, f->now_s, s->questions,
	    f->questions);
	for (m = 0; m < w->table.n_jobs; m++)
		printf(
		    "# job %zu from %g s: %.12g and %.12g steps, starts %.12g and %.12g, "
		    "done %.12g and %.12g, runs %.12g and %.12g s\n",
		    m, w->job[m].arrival_s, sim_steps(s, m), f->steps[m],
		    s->job[m].start_s, f->start_s[m], s->job[m].finish_s, f->finish_s[m],
		    s->job[m].running_s, f->running_s[m]);
}

int
main(void)
{
	size_t ends[SIM_FAILED + 1] = {0};
	long wrong = 0;
	int trial;

	for (trial = 0; trial < TRIALS; trial++) {
		struct gv_error e = {0};
		struct scenario w;
		struct fluid f;
		struct sim s;
		enum sim_end end;
		bool bad;

		draws_begin((uint64_t)trial, 1, 0);
		draw_scenario(&w, (uint64_t)trial);
		sim_init(&s, &w.o, &w.c, &w.table);
		s.ask = w.asks ? policy : NULL;
		s.ctx = &w;
		end = run(&w, &f);
		bad = sim_run(&s, &e) != end || differ(&s, &f) > 0;
		ends[end]++;
		if (bad && wrong++ == 0)
			show(&w, &s, &f, trial, end);
		sim_free(&s);
	}
	is_int(wrong, 0, "%d scenarios without rounds, as a fluid", TRIALS);
	ok(ends[SIM_DONE] > 300 && ends[SIM_UNTIL] > 300 && ends[SIM_SATURATED] > 100 &&
		ends[SIM_STUCK] > 100,
	    "%zu end done, %zu in time, %zu with too many, %zu stuck", ends[SIM_DONE],
	    ends[SIM_UNTIL], ends[SIM_SATURATED], ends[SIM_STUCK]);
	return done_testing();
}
