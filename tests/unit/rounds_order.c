/*
 * common/sched/rounds: who goes first.  Ties, the cap of lags, the search beside all
 * placements there are, and Gavel's order beside its description.
 */
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rounds_help.h"
#include "sched/rounds/search.h"

enum { MAX_JOBS = 12 };

static void
seed(uint64_t s)
{
	draws_begin(s, 3, 4);
}

/* Types of so many GPUs each, jobs of one GPU that run anywhere. */
static void
make(struct world *w, size_t n_types, size_t gpus, size_t n_jobs)
{
	size_t t;
	size_t m;

	world_begin(w, n_types);
	for (t = 0; t < n_types; t++)
		world_add_pool(w, t, gpus, "n");
	world_start(w);
	for (m = 0; m < n_jobs; m++) {
		gv_rounds_add(&w->r, 1);
		gv_rounds_set_active(&w->r, m, true);
		for (t = 0; t < n_types; t++)
			gv_rounds_claim(&w->r, m, t)->rate = 1;
	}
}

/* Sets what a job is owed at the end of the coming round, in rounds. */
static void
owe(struct world *w, size_t m, size_t type, double share, double owed)
{
	gv_rounds_claim(&w->r, m, type)->share = share;
	gv_rounds_claim(&w->r, m, type)->lag_s = (owed - share) * round_s;
}

static void
plan(struct world *w)
{
	gv_rounds_plan(&w->r, GV_ROUND_NEW, w->owner, w->owner);
}

/* ---- ties ---- */

static void
test_ties(void)
{
	struct world w;

	make(&w, 1, 1, 3);
	owe(&w, 0, 0, .25, .5);
	owe(&w, 1, 0, .375, .5);
	owe(&w, 2, 0, .375, .5);
	plan(&w);
	is_int(w.owner[0], 1, "owed the same: the larger share, then the first row");
	owe(&w, 2, 0, .375, .5078125);
	plan(&w);
	is_int(w.owner[0], 2, "owed more: whatever the share");
	gv_rounds_free(&w.r);

	make(&w, 2, 1, 1);
	owe(&w, 0, 0, .25, .5);
	owe(&w, 0, 1, .25, .5);
	plan(&w);
	is_int(w.owner[0], 0, "the same on two types: the first of them");
	owe(&w, 0, 1, .375, .5);
	plan(&w);
	is_int(w.owner[1], 0, "or that of the larger share");
	is_int(w.owner[0], GV_GPU_IDLE, "and not both");
	gv_rounds_free(&w.r);
}

static void
test_debt(void)
{
	struct world w;

	make(&w, 1, 1, 3);
	owe(&w, 0, 0, .5, GV_ROUND_DEBT);
	owe(&w, 1, 0, .25, GV_ROUND_DEBT);
	owe(&w, 2, 0, .5, GV_ROUND_DEBT - .0625);
	gv_rounds_claim(&w.r, 0, 0)->waited_s = 10 * round_s;
	gv_rounds_claim(&w.r, 1, 0)->waited_s = 11 * round_s;
	gv_rounds_claim(&w.r, 2, 0)->waited_s = 12 * round_s;
	plan(&w);
	is_int(w.owner[0], 1, "of those in debt the longest waiting");
	gv_rounds_claim(&w.r, 0, 0)->waited_s = 11 * round_s;
	plan(&w);
	is_int(w.owner[0], 0, "that have waited as long: the larger share");
	owe(&w, 1, 0, .5, GV_ROUND_DEBT);
	plan(&w);
	is_int(w.owner[0], 0, "and the first row");
	gv_rounds_set_active(&w.r, 0, false);
	gv_rounds_set_active(&w.r, 1, false);
	plan(&w);
	is_int(w.owner[0], 2, "then the others");
	gv_rounds_free(&w.r);

	make(&w, 2, 1, 1);
	owe(&w, 0, 0, .5, GV_ROUND_DEBT + .25);
	owe(&w, 0, 1, .5, GV_ROUND_DEBT);
	gv_rounds_claim(&w.r, 0, 0)->waited_s = 10 * round_s;
	gv_rounds_claim(&w.r, 0, 1)->waited_s = 10 * round_s;
	plan(&w);
	ok(w.owner[0] == 0 && w.owner[1] == GV_GPU_IDLE,
	    "a debt on two types, waited for as long: the first type");
	owe(&w, 0, 0, .25, GV_ROUND_DEBT + .25);
	plan(&w);
	ok(w.owner[0] == GV_GPU_IDLE && w.owner[1] == 0,
	    "or the one of the larger share");
	gv_rounds_free(&w.r);

	/* in debt on one GPU, beside two that in all are owed more */
	make(&w, 1, 2, 3);
	w.r.job[0].gang = 2;
	owe(&w, 0, 0, .5, GV_ROUND_DEBT);
	owe(&w, 1, 0, .5, GV_ROUND_DEBT - .125);
	owe(&w, 2, 0, .5, GV_ROUND_DEBT - .125);
	plan(&w);
	ok(w.owner[0] == 0 && w.owner[1] == 0, "a gang in debt goes before a larger sum");
	owe(&w, 0, 0, .5, GV_ROUND_DEBT - .0625);
	plan(&w);
	ok(w.owner[0] != 0 && w.owner[1] != 0, "and not before");
	gv_rounds_free(&w.r);
}

static void
test_cap(void)
{
	struct world w;
	struct gv_round_claim *c;
	int k;

	make(&w, 1, 1, 2);
	c = gv_rounds_claim(&w.r, 0, 0);
	c->share = .25;
	for (k = 0; k < 4 * GV_ROUND_DEBT; k++)
		gv_rounds_pass(&w.r, round_s);
	is_near(c->lag_s, GV_ROUND_DEBT * round_s, 0, "a lag grows to its cap");
	gv_rounds_pass(&w.r, round_s);
	is_near(c->lag_s, GV_ROUND_DEBT * round_s, 0, "and no further");
	is_near(c->waited_s, (4 * GV_ROUND_DEBT + 1) * round_s, 0, "the wait goes on");
	gv_rounds_credit(&w.r, 0, 0, round_s);
	is_near(c->lag_s, (GV_ROUND_DEBT - 1) * round_s, 0, "a round less");
	is_near(c->waited_s, 0, 0, "no wait any more");
	is_near(gv_rounds_claim(&w.r, 1, 0)->lag_s, 0, 0, "nobody else is owed anything");
	gv_rounds_free(&w.r);
}

/* ---- the search ---- */

/* The largest sum of weights of all placements of wishes from i on. */
static double
best_of_all(const struct gv_rounds *r, const struct gv_round_wish *wish, size_t n,
    size_t i, size_t *room, bool *placed)
{
	const size_t *member;
	double best;

	if (i == n)
		return 0;
	best = best_of_all(r, wish, n, i + 1, room, placed);
	member = r->job[wish[i].job].member;
	if (!placed[member[0]] && !placed[member[1]] &&
	    r->job[wish[i].job].gang <= room[wish[i].type]) {
		double with;

		placed[member[0]] = placed[member[1]] = true;
		room[wish[i].type] -= r->job[wish[i].job].gang;
		with = wish[i].weight + best_of_all(r, wish, n, i + 1, room, placed);
		room[wish[i].type] += r->job[wish[i].job].gang;
		placed[member[0]] = placed[member[1]] = false;
		best = with > best ? with : best;
	}
	return best;
}

/* A small world of gangs and, if asked for, pairs; wishes at random.  Their number. */
static size_t
draw_wishes(struct world *w, struct gv_round_wish *wish, bool pairs)
{
	size_t n = 0;
	size_t n_jobs = 3 + below(7);
	size_t m, j;

	make(w, 1 + below(3), 1 + below(9), n_jobs);
	for (m = 0; m < n_jobs; m++)
		w->r.job[m].gang = (size_t)1 << below(4);
	for (m = 1; pairs && m < n_jobs; m++)
		if (w->r.job[m].gang == w->r.job[m - 1].gang)
			gv_rounds_pair(&w->r, m - 1, m);
	for (m = 0; m < w->r.n_jobs; m++)
		for (j = 0; j < w->c.n_types && n < 14; j++)
			if (below(3) > 0)
				wish[n++] = (struct gv_round_wish){.01 + uniform(), m, j};
	return n;
}

static void
test_search(bool pairs)
{
	double sum = 0;
	double sum_best = 0;
	double worst = 1;
	int missed = 0;
	int above = 0;
	int trial;

	for (trial = 0; trial < 2000; trial++) {
		struct gv_round_wish wish[14];
		bool placed[ALL_JOBS] = {false};
		size_t room[ALL_TYPES] = {0};
		bool taken[14];
		struct world w;
		double found = 0;
		double best;
		size_t n, i, j;

		seed((uint64_t)trial);
		n = draw_wishes(&w, wish, pairs);
		for (j = 0; j < w.c.n_types; j++)
			room[j] = w.type[j].gpus;
		best = best_of_all(&w.r, wish, n, 0, room, placed);
		gv_round_search(&w.r, room, wish, n, taken);
		for (i = 0; i < n; i++)
			if (taken[i])
				found += wish[i].weight;
		sum += found;
		sum_best += best;
		missed += found < best * (1 - 1e-9);
		above += found > best * (1 + 1e-9);
		worst = fmin(worst, best > 0 ? found / best : 1);
		gv_rounds_free(&w.r);
	}
	printf(
	    "# %s: %d of 2000 missed the largest sum; in all %.6f of it, at worst %.3f\n",
	    pairs ? "pairs" : "gangs", missed, sum / sum_best, worst);
	is_int(above, 0, "the search promises nothing twice");
	ok(sum > .999 * sum_best && worst > .75 && missed < 40,
	    "and finds nearly all there is");
}

/* Of single GPUs of one type it takes the largest weights. */
static void
test_search_exact(void)
{
	struct gv_round_wish wish[40];
	const size_t room = 15;
	bool taken[40];
	struct world w;
	size_t m;
	int wrong = 0;

	seed(5);
	make(&w, 1, 15, 40);
	for (m = 0; m < 40; m++)
		wish[m] = (struct gv_round_wish){(double)(1 + (m * 17) % 40), m, 0};
	gv_round_search(&w.r, &room, wish, 40, taken);
	for (m = 0; m < 40; m++)
		wrong += taken[m] != (wish[m].weight > 25);
	is_int(wrong, 0, "single GPUs: the 15 largest of 40");
	gv_rounds_free(&w.r);
}

/*
 * Many single GPUs of one type: the largest sum there is.  Gangs of several sizes on
 * several types: nobody twice, no room passed, and no wish left that there is room for.
 */
static void
test_search_many(void)
{
	static struct gv_round_wish wish[900];
	static bool taken[900];
	size_t trial, wrong = 0, left = 0;

	for (trial = 0; trial < 30; trial++) {
		size_t n_types = trial < 10 ? 1 : 1 + below(3);
		size_t n_jobs = 100 + below(200), n = 0, i, j, m;
		size_t room[ALL_TYPES], all;
		bool placed[300] = {false};
		double sum = 0, best = 0;
		struct gv_cluster c = {0};
		struct gv_pool pool[3] = {0};
		struct gv_gpu_type type[3] = {0};
		struct gv_rounds r;

		seed(100 + (uint64_t)trial);
		c.n_types = c.n_pools = n_types;
		c.type = type;
		c.pool = pool;
		for (j = 0; j < n_types; j++) {
			type[j] =
			    (struct gv_gpu_type){.name = "t", .gpus = 20 + below(100)};
			pool[j] =
			    (struct gv_pool){.type = j, .gpus = type[j].gpus, .node = ""};
			room[j] = type[j].gpus;
		}
		gv_rounds_init(&r, &c, round_s);
		for (m = 0; m < n_jobs; m++)
			gv_rounds_add(&r, trial < 10 ? 1 : (size_t)1 << below(4));
		for (m = 0; m < n_jobs; m++)
			for (j = 0; j < n_types; j++)
				wish[n++] = (struct gv_round_wish){.01 + uniform(), m, j};
		gv_round_search(&r, room, wish, n, taken);
		all = room[0];
		for (i = 0; i < n; i++) {
			const struct gv_round_wish *w = &wish[i];

			if (!taken[i])
				continue;
			wrong += placed[w->job] || r.job[w->job].gang > room[w->type];
			placed[w->job] = true;
			room[w->type] -= r.job[w->job].gang;
			sum += w->weight;
		}
		for (i = 0; i < n; i++)
			left += !placed[wish[i].job] &&
				r.job[wish[i].job].gang <= room[wish[i].type];
		for (i = 0; trial < 10 && i < n; i++) { /* among the largest that fit */
			size_t larger = 0;

			for (j = 0; j < n; j++)
				larger += wish[j].weight > wish[i].weight;
			best += larger < all ? wish[i].weight : 0;
		}
		wrong += trial < 10 && fabs(sum - best) > 1e-9;
		gv_rounds_free(&r);
	}
	is_int(wrong, 0, "hundreds of wishes: the best, nobody twice, no room passed");
	is_int(left, 0, "and none left that there is room for");
}

/* Who has no share is owed nothing, whatever was owed before. */
static void
test_no_share(void)
{
	struct world w;

	make(&w, 1, 1, 2);
	owe(&w, 0, 0, 0, GV_ROUND_DEBT + 1);
	owe(&w, 1, 0, .5, .25);
	plan(&w);
	is_int(w.owner[0], 1, "a share goes before what was owed without one");
	gv_rounds_free(&w.r);
}

/* ---- Gavel's order ---- */

struct gavel {
	double received[MAX_JOBS]
		       [ALL_TYPES]; /* since shares were new, and half a round */
	double deficit[MAX_JOBS][ALL_TYPES];
	double since;
};

/* OSDI 2020, section 5, as its program does it: the type of each job, -1 = none. */
static void
gavel_round(const struct world *w, const struct gavel *g, ptrdiff_t *type)
{
	size_t j, m;

	for (m = 0; m < w->r.n_jobs; m++)
		type[m] = -1;
	for (j = 0; j < w->c.n_types; j++) {
		size_t room = w->type[j].gpus;
		bool tried[MAX_JOBS] = {false};
		double total = 0;

		for (m = 0; m < w->r.n_jobs; m++)
			total += g->received[m][j];
		for (;;) {
			size_t best = MAX_JOBS;
			double best_p = 0;

			for (m = 0; m < w->r.n_jobs; m++) {
				double p = w->x[m][j] / (g->received[m][j] / total);

				if (type[m] >= 0 || tried[m] ||
				    !(gv_rounds_claim(&w->r, m, j)->rate > 0))
					continue;
				if (best == MAX_JOBS || p > best_p * (1 + 1e-12) ||
				    (p >= best_p * (1 - 1e-12) &&
					g->deficit[m][j] > g->deficit[best][j] + 1e-6)) {
					best = m;
					best_p = p;
				}
			}
			if (best == MAX_JOBS)
				break;
			tried[best] = true;
			if (w->r.job[best].gang <= room) {
				room -= w->r.job[best].gang;
				type[best] = (ptrdiff_t)j;
			}
		}
	}
}

/* Shares at random, new: what was received before counts as a deficit. */
static void
new_shares(struct world *w, struct gavel *g)
{
	size_t m, j;

	for (m = 0; m < w->r.n_jobs; m++)
		for (j = 0; j < w->c.n_types; j++) {
			g->deficit[m][j] +=
			    w->x[m][j] * g->since - (g->received[m][j] - round_s / 2);
			g->received[m][j] = round_s / 2;
			w->x[m][j] = below(4) == 0 ? 0 : uniform() / 4;
		}
	g->since = 0;
	world_promise(w);
	gv_rounds_settle(&w->r);
}

/* The type on which a job has its GPUs. */
static ptrdiff_t
where(const struct world *w, size_t m)
{
	size_t g;

	for (g = 0; g < w->r.n_gpus; g++)
		if (w->owner[g] == (ptrdiff_t)m)
			return (ptrdiff_t)gv_rounds_type(&w->r, g);
	return -1;
}

static void
test_gavel(void)
{
	long wrong = 0;
	long placed = 0;
	int trial, k;

	for (trial = 0; trial < 100; trial++) {
		struct gavel g = {0};
		struct world w;
		size_t m, j;

		seed(700 + (uint64_t)trial);
		make(&w, 1 + below(3), 1 + below(8), 2 + below(MAX_JOBS - 2));
		w.r.order = GV_ROUND_GAVEL;
		for (m = 0; m < w.r.n_jobs; m++) {
			w.r.job[m].gang = (size_t)1 << below(3);
			for (j = 0; j < w.c.n_types; j++) {
				gv_rounds_claim(&w.r, m, j)->rate = below(5) > 0;
				g.received[m][j] = round_s / 2;
			}
		}
		for (k = 0; k < 90; k++) {
			ptrdiff_t type[MAX_JOBS];

			if (k % 30 == 0)
				new_shares(&w, &g);
			gavel_round(&w, &g, type);
			plan(&w);
			gv_rounds_pass(&w.r, round_s);
			gv_rounds_hold(&w.r, w.owner, round_s);
			g.since += round_s;
			for (m = 0; m < w.r.n_jobs; m++) {
				wrong += where(&w, m) != type[m];
				placed += type[m] >= 0;
				if (type[m] >= 0)
					g.received[m][type[m]] += round_s;
			}
		}
		gv_rounds_free(&w.r);
	}
	is_int(wrong, 0, "Gavel's order: as its description says");
	ok(placed > 10000, "over many placements (%ld)", placed);
}

/* ---- many that are not there ---- */

/* Seconds of 200 rounds of 8 active jobs, and where they were in the last one. */
static double
rounds_s(size_t n_jobs, size_t first, ptrdiff_t *owner)
{
	struct world w;
	double start_s;
	double s;
	size_t m;
	int k;

	make(&w, 2, 3, n_jobs);
	for (m = 0; m < n_jobs; m++)
		if (m < first || m >= first + 8)
			gv_rounds_set_active(&w.r, m, false);
	for (m = first; m < first + 8; m++)
		owe(&w, m, m % 2, .1 + .05 * (double)(m - first), 0);
	start_s = (double)clock() / CLOCKS_PER_SEC;
	for (k = 0; k < 200; k++) {
		plan(&w);
		gv_rounds_pass(&w.r, round_s);
		for (m = 0; m < w.r.n_gpus; m++)
			gv_rounds_credit(
			    &w.r, (size_t)w.owner[m], gv_rounds_type(&w.r, m), round_s);
		gv_rounds_settle(&w.r);
	}
	s = (double)clock() / CLOCKS_PER_SEC - start_s;
	memcpy(owner, w.owner, w.r.n_gpus * sizeof(*owner));
	gv_rounds_free(&w.r);
	return s;
}

static void
test_gone(void)
{
	ptrdiff_t few[6];
	ptrdiff_t many[6];
	double few_s = rounds_s(8, 0, few);
	double many_s = rounds_s(100000, 50000, many);
	int wrong = 0;
	size_t i;

	for (i = 0; i < 6; i++)
		wrong += many[i] != few[i] + 50000;
	is_int(wrong, 0, "jobs that are not there change nothing");
	ok(many_s < 20 * few_s + .05, "and cost nothing (%g s of 8, %g s of 100,000)",
	    few_s, many_s);
}

int
main(void)
{
	test_gone();
	test_ties();
	test_debt();
	test_cap();
	test_search(false);
	test_search(true);
	test_search_exact();
	test_search_many();
	test_no_share();
	test_gavel();
	return done_testing();
}
