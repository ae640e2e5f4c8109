/*
 * The policies over spot prices beside a slow, obvious reference that goes second by
 * second through small random markets, and what can be said of deadlines, moves and
 * checkpoints by hand.
 */
#include <math.h>
#include <stdlib.h>

#include "gv-trace/prices/spot.h"
#include "gv-trace/workload/random.h"
#include "tap.h"

enum { MARKETS = 4, POINTS = 3, PERIOD = 50 };

static struct gv_cell
cell(const char *s)
{
	return (struct gv_cell){s, strlen(s)};
}

static struct markets
draw_markets(struct random *r)
{
	struct markets m = {.n = MARKETS,
	    .market = calloc(MARKETS, sizeof(*m.market)),
	    .begin_s = 0,
	    .end_s = 0};
	size_t k, i;

	for (k = 0; k < MARKETS; k++) {
		struct market *to = &m.market[k];

		to->cloud = cell(k < 2 ? "aws" : "azure");
		to->zone = cell("z");
		to->gpu_type = cell(k % 2 == 0 ? "k80" : "v100");
		to->gpus = 1 + (int64_t)random_below(r, 2);
		to->mttp_s = INFINITY;
		to->n = POINTS;
		to->point = calloc(POINTS, sizeof(*to->point));
		for (i = 0; i < POINTS; i++) {
			to->point[i].time_s = i == 0 ? 0
						     : to->point[i - 1].time_s + 20 +
							   (double)random_below(r, 60);
			to->point[i].usd_per_h = 1 + (double)random_below(r, 5);
			m.end_s = fmax(m.end_s, to->point[i].time_s);
		}
	}
	return m;
}

static void
free_markets(struct markets *m)
{
	size_t k;

	for (k = 0; k < m->n; k++)
		free(m->market[k].point);
	free(m->market);
}

static bool
may(const struct market *m, enum spot_policy p)
{
	if (p == SPOT_MULTI_CLOUD || p == SPOT_DYNAMIC)
		return true;
	if (!gv_cell_is(m->cloud, "aws"))
		return false;
	return p == SPOT_MULTI_GPU ||
	       (m->gpus == 1 && (p == SPOT_GPU_TYPE || gv_cell_is(m->gpu_type, "v100")));
}

/* Whole seconds: the job has so many steps that it ends at one. */
static double
reference(const struct markets *m, const double *rate, enum spot_policy p, double steps,
    size_t *moves, double *end)
{
	double cost = 0, price = 0, t;
	ptrdiff_t now = -1;
	size_t k;

	*moves = 0;
	for (t = 0; steps > 1e-9; t++) {
		if (fmod(t, PERIOD) == 0) {
			ptrdiff_t best = now;

			for (k = 0; k < m->n && (now < 0 || p == SPOT_DYNAMIC); k++)
				if (may(&m->market[k], p) &&
				    (best < 0 ||
					market_price(&m->market[k], t) / rate[k] <
					    market_price(&m->market[best], t) /
						rate[best]))
					best = (ptrdiff_t)k;
			if (best < 0)
				return -1;
			*moves += now >= 0 && best != now;
			now = best;
			price = market_price(&m->market[now], t);
		}
		if (steps < rate[now]) { /* the last part of a second */
			cost += price * steps / rate[now];
			*end = t + steps / rate[now];
			return cost / 3600;
		}
		steps -= rate[now];
		cost += price;
	}
	*end = t;
	return cost / 3600;
}

static void
as_reference(void)
{
	struct spot_run run = {0};
	struct random r;
	size_t i, k, n_ran = 0, wrong = 0, n_moves = 0;

	random_seed(&r, 11);
	for (i = 0; i < 4000; i++) {
		struct markets m = draw_markets(&r);
		double rate[MARKETS], end = 0, cost;
		struct spot_rules rules = {
		    .policy = (enum spot_policy)(i % N_SPOT_POLICIES),
		    .home = cell("aws"),
		    .gpu_type = cell("v100"),
		    .every_s = PERIOD};
		struct spot_job job = {
		    .scale_factor = 1, .deadline_s = NAN, .rate = rate, .steps = 400};
		size_t moves;
		bool ran;

		for (k = 0; k < MARKETS; k++)
			rate[k] = 1 + (double)random_below(&r, 4);
		cost = reference(&m, rate, rules.policy, job.steps, &moves, &end);
		ran = spot_run(&run, &job, &m, &rules);
		n_ran += ran;
		n_moves += moves;
		wrong += ran != (cost >= 0) ||
			 (ran && (fabs(run.cost_usd - cost) > 1e-9 ||
				     run.moves != moves || fabs(run.end_s - end) > 1e-6));
		free_markets(&m);
	}
	is_int(wrong, 0, "4000 random jobs as the reference has them");
	ok(n_ran > 3000 && n_moves > 500, "%zu ran, %zu moves", n_ran, n_moves);
	spot_run_free(&run);
}

/* Two markets: one cheap and slow, one dear and twice as fast. */
static void
by_hand(void)
{
	struct price_point cheap[] = {{0, 1, 0}, {3600, 4, 1}}, dear[] = {{0, 3, 0}};
	struct market market[] = {{.cloud = cell("a"),
				      .gpu_type = cell("k80"),
				      .gpus = 1,
				      .n = 2,
				      .point = cheap,
				      .mttp_s = INFINITY},
	    {.cloud = cell("a"),
		.gpu_type = cell("v100"),
		.gpus = 1,
		.n = 1,
		.point = dear,
		.mttp_s = INFINITY}};
	struct markets m = {.n = 2, .market = market, .begin_s = 0, .end_s = 3600};
	double rate[] = {1, 2};
	struct spot_rules rules = {.policy = SPOT_DYNAMIC, .every_s = 3600};
	struct spot_job job = {
	    .steps = 7200, .scale_factor = 2, .deadline_s = NAN, .rate = rate};
	struct spot_run run = {0};

	ok(spot_run(&run, &job, &m, &rules) && run.moves == 1 && run.n == 2, "it moves");
	is_near(run.cost_usd, 2 * (1 + 1.5), 1e-12,
	    "an hour there, half an hour here, two GPUs");
	is_near(run.end_s, 5400, 1e-12, "its end");
	rules.move_s = 1800;
	ok(spot_run(&run, &job, &m, &rules) && run.moves == 1,
	    "a move of half an hour pays");
	is_near(run.cost_usd, 2 * (1 + 3.0), 1e-12, "and is paid");
	is_near(run.end_s, 7200, 1e-12, "and takes its time");
	rules.move_s = 3000;
	ok(spot_run(&run, &job, &m, &rules) && run.moves == 0, "a longer one does not");
	is_near(run.cost_usd, 2 * (1 + 4.0), 1e-12, "it stays at the new price");
	/* a rest that is long enough for a move of an hour and a half */
	rules.move_s = 5400;
	job.steps = 36000;
	ok(spot_run(&run, &job, &m, &rules) && run.moves == 1 && run.n == 2,
	    "a move longer than a period; hours at one price are one stay");
	is_near(run.end_s, 3600 + 5400 + 16200, 1e-12, "its end");
	is_near(run.cost_usd, 2 * (1 + 3 * 6.0), 1e-12, "its cost");
	m.end_s = 1e9;
	ok(spot_run(&run, &job, &m, &rules) && run.n == 2, "also period by period");
	is_near(run.end_s, 3600 + 5400 + 16200, 1e-12, "its end");
	m.end_s = 3600;
	job.steps = 7200;
	rules.move_s = 0;
	rules.policy = SPOT_MULTI_CLOUD;
	ok(spot_run(&run, &job, &m, &rules) && run.moves == 0 && run.n == 2,
	    "chosen once");
	rules.policy = SPOT_DYNAMIC;
	job.deadline_s = 3600;
	ok(spot_run(&run, &job, &m, &rules) && run.n == 1 && run.stay[0].market == 1,
	    "a deadline takes the fast one");
	is_near(run.end_s, 3600, 1e-12, "and is met, to the second");
	job.deadline_s = 1800;
	ok(spot_run(&run, &job, &m, &rules) && run.stay[0].market == 1 &&
		run.end_s > 1800,
	    "one that cannot be met too");
	job.deadline_s = NAN;
	market[0].mttp_s = 20000;
	rules.checkpoint_s = 100;
	rules.restart_s = 1000;
	is_near(spot_interval(&market[0], &rules), 2000, 1e-12, "sqrt(2 * 100 * 20000)");
	is_near(spot_slowdown(&market[0], &rules), 1.15, 1e-12, "1 + 0.1 + 0.05");
	ok(isnan(spot_interval(&market[1], &rules)) &&
		spot_slowdown(&market[1], &rules) == 1,
	    "none where nothing is preempted");
	ok(spot_run(&run, &job, &m, &rules), "preempted");
	is_near(run.stay[0].end_s, 3600, 1e-12, "an hour");
	is_near(run.end_s, 3600 + (7200 - 3600 / 1.15) / 2, 1e-12, "that does less");
	rules.restart_s = 20000;
	ok(spot_run(&run, &job, &m, &rules) && run.stay[0].market == 1,
	    "where it is preempted too often it does not go");
	job.start_s = -1;
	ok(!spot_run(&run, &job, &m, &rules), "no price yet");
	spot_run_free(&run);
}

int
main(void)
{
	as_reference();
	by_hand();
	return done_testing();
}
