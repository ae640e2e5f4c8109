/*
 * common/sched/rounds: what a round must keep, how well shares are tracked on a
 * virtual clock, that nobody starves, and how Gavel's own order would do.
 */
#include "tap.h"

#include <stdlib.h>

#include "rounds_help.h"

enum { MAX_TYPES = ALL_TYPES, MAX_JOBS = 24 };

/* ---- random worlds ---- */

static void
seed(uint64_t s)
{
	draws_begin(s, 1, 2);
}

static void
make_cluster(struct world *w, size_t n_types, size_t max_nodes)
{
	static const char *const node[] = {"n0", "n1", "n2"};
	size_t t;
	size_t i;

	world_begin(w, n_types);
	for (t = 0; t < n_types; t++) {
		size_t nodes = 1 + below(max_nodes);

		for (i = 0; i < nodes; i++) {
			size_t gpus = 1 + below(nodes == 1 ? 8 : 5);

			world_add_pool(w, t, gpus, node[i]);
		}
	}
	world_start(w);
}

static void
add_jobs(struct world *w, size_t n, bool gangs)
{
	size_t m;
	size_t j;

	for (m = 0; m < n; m++) {
		gv_rounds_add(&w->r, gangs && below(4) > 0 ? (size_t)1 << below(4) : 1);
		gv_rounds_set_active(&w->r, m, true);
		for (j = 0; j < w->c.n_types; j++)
			gv_rounds_claim(&w->r, m, j)->rate = 1 + uniform();
	}
}

/*
 * Shares that can be attained: a mixture of random placements.  full: nobody who
 * fits is left out of them, so that the shares use up what there is.
 */
static void
attainable_shares(struct world *w, bool full)
{
	size_t n = w->r.n_jobs;
	size_t n_mix = 2 + below(12);
	double weight[16];
	double sum = draw_weights(weight, n_mix);
	size_t k;
	size_t i;
	size_t q;

	for (k = 0; k < n_mix; k++) {
		size_t room[MAX_TYPES];
		size_t order[MAX_JOBS];

		for (i = 0; i < w->c.n_types; i++)
			room[i] = w->type[i].gpus;
		for (i = 0; i < n; i++) {
			q = below(i + 1);
			order[i] = order[q];
			order[q] = i;
		}
		for (i = 0; i < n; i++) {
			size_t m = order[i];
			size_t first = below(w->c.n_types);

			for (q = 0; q < w->c.n_types; q++) {
				size_t j = (first + q) % w->c.n_types;

				if (w->r.job[m].gang > room[j] ||
				    (!full && below(8) == 0))
					continue;
				room[j] -= w->r.job[m].gang;
				w->x[m][j] += weight[k] / sum;
				break;
			}
		}
	}
	world_promise(w);
}

/* ---- what every plan must keep ---- */

struct faults {
	long split, moved, idle, unable;
};

static size_t
count(const struct world *w, const ptrdiff_t *owner, ptrdiff_t who, size_t type)
{
	size_t n = 0;
	size_t g;

	for (g = 0; g < w->r.n_gpus; g++)
		n += owner[g] == who && gv_rounds_type(&w->r, g) == type;
	return n;
}

/* Where a job is, -1 = nowhere; a job on part of its gang or on two types is a fault. */
static ptrdiff_t
where(const struct world *w, const ptrdiff_t *owner, size_t m, struct faults *f)
{
	ptrdiff_t at = -1;
	size_t j;

	for (j = 0; j < w->c.n_types; j++) {
		size_t n = count(w, owner, (ptrdiff_t)m, j);

		if (n > 0) {
			f->split += at >= 0 || n != w->r.job[m].gang;
			f->unable += !(gv_rounds_claim(&w->r, m, j)->rate > 0);
			at = (ptrdiff_t)j;
		}
	}
	return at;
}

static void
check_plan(
    const struct world *w, const ptrdiff_t *was, const ptrdiff_t *now, struct faults *f)
{
	size_t m;
	size_t j;
	size_t g;

	for (m = 0; m < w->r.n_jobs; m++) {
		struct faults ignored = {0};
		ptrdiff_t before = where(w, was, m, &ignored);
		ptrdiff_t at = where(w, now, m, f);
		bool may = w->r.job[m].active && w->r.job[m].ready;

		f->unable += at >= 0 && !may;
		if (at >= 0 && at == before)
			for (g = 0; g < w->r.n_gpus; g++)
				f->moved +=
				    (was[g] == (ptrdiff_t)m) != (now[g] == (ptrdiff_t)m);
		for (j = 0; j < w->c.n_types && at < 0 && may; j++)
			f->idle += gv_rounds_claim(&w->r, m, j)->rate > 0 &&
				   count(w, now, GV_GPU_IDLE, j) >= w->r.job[m].gang;
	}
}

static bool
no_faults(const struct faults *f)
{
	if (f->split + f->moved + f->idle + f->unable > 0)
		printf("# split %ld moved %ld idle %ld unable %ld\n", f->split, f->moved,
		    f->idle, f->unable);
	return f->split + f->moved + f->idle + f->unable == 0;
}

static void
play(struct world *w, struct faults *f)
{
	ptrdiff_t next[MAX_GPUS];
	size_t m;

	gv_rounds_plan(&w->r, GV_ROUND_NEW, w->owner, next);
	check_plan(w, w->owner, next, f);
	memcpy(w->owner, next, sizeof(next));
	gv_rounds_pass(&w->r, round_s);
	for (m = 0; m < w->r.n_jobs; m++) {
		ptrdiff_t at = where(w, next, m, f);

		if (at >= 0)
			gv_rounds_credit(&w->r, m, (size_t)at, round_s);
	}
}

/* ---- Gavel's order, for comparison ---- */

/*
 * OSDI 2020, section 5, as its reference does it: types one after another,
 * X over the time received (seeded with half a round) as a fraction of all jobs',
 * which is the same for the jobs of a type and does not change their order.
 */
static void
gavel_round(const struct world *w, double received[MAX_JOBS][MAX_TYPES])
{
	bool placed[MAX_JOBS] = {false};
	size_t j;
	size_t m;

	for (j = 0; j < w->c.n_types; j++) {
		size_t room = w->type[j].gpus;
		bool tried[MAX_JOBS] = {false};

		for (;;) {
			size_t best = MAX_JOBS;

			for (m = 0; m < w->r.n_jobs; m++)
				if (!placed[m] && !tried[m] && w->x[m][j] > 0 &&
				    w->r.job[m].gang <= room &&
				    (best == MAX_JOBS ||
					w->x[m][j] / received[m][j] >
					    w->x[best][j] / received[best][j]))
					best = m;
			if (best == MAX_JOBS)
				break;
			tried[best] = placed[best] = true;
			room -= w->r.job[best].gang;
		}
		for (m = 0; m < w->r.n_jobs; m++)
			if (tried[m])
				received[m][j] += round_s;
	}
}

static double
gavel_shortfall(const struct world *w, int rounds)
{
	double received[MAX_JOBS][MAX_TYPES];
	double worst = 0;
	size_t m;
	size_t j;
	int k;

	for (m = 0; m < w->r.n_jobs; m++)
		for (j = 0; j < w->c.n_types; j++)
			received[m][j] = round_s / 2;
	for (k = 0; k < rounds; k++)
		gavel_round(w, received);
	for (m = 0; m < w->r.n_jobs; m++)
		for (j = 0; j < w->c.n_types; j++)
			worst = fmax(worst, w->x[m][j] - (received[m][j] - round_s / 2) /
							     (rounds * round_s));
	return worst;
}

/* ---- tests ---- */

static void
test_shares(bool gangs, bool full)
{
	struct tracking t = {0};
	double gavel = 0;
	struct faults f = {0};
	int gavel_over = 0;
	int trial;
	int k;

	for (trial = 0; trial < 200; trial++) {
		struct world w;

		seed((uint64_t)trial * 4 + gangs * 2 + full);
		make_cluster(&w, 1 + below(MAX_TYPES), gangs ? 3 : 1);
		add_jobs(&w, 1 + below(MAX_JOBS), gangs);
		attainable_shares(&w, full);
		for (k = 1; k <= TRACKED_ROUNDS; k++) {
			play(&w, &f);
			track(&t, &w, k);
		}
		gavel_over += gavel_shortfall(&w, 20) > .10;
		gavel = fmax(gavel, gavel_shortfall(&w, 20));
		gv_rounds_free(&w.r);
	}
	ok(no_faults(&f), "%s, %s: every round whole, leases kept, no GPU idle in vain",
	    gangs ? "gangs" : "single GPUs", full ? "full" : "with gaps");
	judge_tracking(&t);
	printf("# Gavel's order, round 20: %.1f points, over 10 points in %d of 200\n",
	    100 * gavel, gavel_over);
	ok(gavel_over > 20, "which Gavel's order misses");
}

/*
 * Many clusters with gangs, every round planned and nothing else looked at:
 * no lag comes near the debt at which the order changes, so none is ever forgotten.
 */
static void
test_many(void)
{
	int n = getenv("GV_LONG") != NULL ? 10000 : 400;
	struct tracking t = {0};
	double largest_lag = 0;
	int trial;
	int k;

	for (trial = 0; trial < n; trial++) {
		struct world w;
		size_t i;

		seed((uint64_t)(100000 + trial));
		make_cluster(&w, 1 + below(MAX_TYPES), 3);
		add_jobs(&w, 1 + below(MAX_JOBS), true);
		attainable_shares(&w, trial % 2 == 0);
		for (k = 1; k <= TRACKED_ROUNDS; k++) {
			gv_rounds_plan(&w.r, GV_ROUND_NEW, w.owner, w.owner);
			gv_rounds_pass(&w.r, round_s);
			for (i = 0; i < w.r.n_jobs * w.c.n_types; i++)
				largest_lag = fmax(largest_lag, w.r.claim[i].lag_s);
			gv_rounds_hold(&w.r, w.owner, round_s);
			track(&t, &w, k);
		}
		gv_rounds_free(&w.r);
	}
	printf("# %d clusters, largest lag %.2f rounds\n", n, largest_lag / round_s);
	judge_tracking(&t);
	ok(largest_lag < GV_ROUND_DEBT * round_s, "no lag is cut off");
}

/* Shares that fill one type of single GPUs are neither missed nor exceeded. */
static void
test_exact(void)
{
	static const double x[4] = {.5, .25, .125, .125};
	struct faults f = {0};
	struct world w;
	size_t m;
	int k;

	seed(1);
	make_cluster(&w, 1, 1);
	w.type[0].gpus = w.pool[0].gpus = 1;
	gv_rounds_free(&w.r);
	gv_rounds_init(&w.r, &w.c, round_s);
	add_jobs(&w, 4, false);
	for (m = 0; m < 4; m++)
		gv_rounds_claim(&w.r, m, 0)->share = x[m];
	for (k = 0; k < 80; k++)
		play(&w, &f);
	for (m = 0; m < 4; m++)
		is_near(gv_rounds_claim(&w.r, m, 0)->received_s, 80 * round_s * x[m],
		    1e-12, "job %zu has exactly its share of %g", m, x[m]);
	gv_rounds_free(&w.r);
}

/* The paper's example (section 3.1): 3 jobs, one V100, one K80. */
static void
test_paper(void)
{
	static const double x[3][2] = {{.4545, 0}, {.4545, .0909}, {.0909, .9091}};
	struct faults f = {0};
	struct world w;
	double worst = 0;
	size_t m;
	size_t j;
	int k;

	seed(1);
	make_cluster(&w, 2, 1);
	for (j = 0; j < 2; j++)
		w.type[j].gpus = w.pool[j].gpus = 1;
	gv_rounds_free(&w.r);
	gv_rounds_init(&w.r, &w.c, round_s);
	add_jobs(&w, 3, false);
	for (m = 0; m < 3; m++)
		for (j = 0; j < 2; j++)
			gv_rounds_claim(&w.r, m, j)->share = x[m][j];
	for (k = 0; k < 220; k++)
		play(&w, &f);
	for (m = 0; m < 3; m++)
		for (j = 0; j < 2; j++)
			worst = fmax(worst, fabs(gv_rounds_claim(&w.r, m, j)->received_s /
						     (220 * round_s) -
						 x[m][j]));
	printf("# off by at most %.2f points\n", 100 * worst);
	ok(worst < .01 && no_faults(&f),
	    "the paper's example is off by less than a point");
	gv_rounds_free(&w.r);
}

/*
 * Shares that nobody could attain, with gangs as large as a type: still everyone
 * runs wherever it was promised to, within the time that the header states.
 */
static void
test_no_starvation(void)
{
	struct faults f = {0};
	double longest = 0;
	long late = 0;
	int trial;

	for (trial = 0; trial < 100; trial++) {
		struct world w;
		size_t m;
		size_t j;
		int k;

		seed(1000 + (uint64_t)trial);
		make_cluster(&w, 1 + below(3), 2);
		add_jobs(&w, 2 + below(MAX_JOBS - 2), true);
		for (m = 0; m < w.r.n_jobs; m++) {
			for (j = 0; j < w.c.n_types; j++)
				gv_rounds_claim(&w.r, m, j)->share = .05 + uniform() / 4;
			if (below(3) == 0)
				w.r.job[m].gang = w.type[below(w.c.n_types)].gpus;
		}
		for (k = 0; k < 600; k++) {
			play(&w, &f);
			for (m = 0; m < w.r.n_jobs; m++)
				for (j = 0; j < w.c.n_types; j++) {
					const struct gv_round_claim *c =
					    gv_rounds_claim(&w.r, m, j);
					double waited = c->waited_s / round_s;

					if (w.r.job[m].gang > w.type[j].gpus)
						continue;
					longest = fmax(longest, waited);
					late += waited >
						GV_ROUND_DEBT / c->share +
						    (double)(w.r.n_jobs * w.c.n_types);
				}
		}
		gv_rounds_free(&w.r);
	}
	printf("# the longest wait was %.0f rounds\n", longest);
	is_int(late, 0, "nobody starves, whatever was promised");
	ok(longest > 50, "and there was a reason to fear it");
	ok(no_faults(&f), "rounds are whole");
}

/* One gang of all 8 GPUs among 16 busy single jobs. */
static void
test_big_gang(void)
{
	struct faults f = {0};
	struct world w;
	size_t m;
	int k;

	seed(1);
	make_cluster(&w, 1, 1);
	w.type[0].gpus = w.pool[0].gpus = 8;
	gv_rounds_free(&w.r);
	gv_rounds_init(&w.r, &w.c, round_s);
	add_jobs(&w, 17, false);
	w.r.job[16].gang = 8;
	for (m = 0; m < 16; m++)
		gv_rounds_claim(&w.r, m, 0)->share = .45;
	gv_rounds_claim(&w.r, 16, 0)->share = .1;
	for (k = 0; k < 200; k++)
		play(&w, &f);
	is_near(gv_rounds_claim(&w.r, 16, 0)->received_s / (200 * round_s), .1, .011,
	    "a gang of everything is not overtaken for good");
	gv_rounds_free(&w.r);
}

/* A round's rest: running jobs stay, idle GPUs go to whom they are owed, then to anybody. */
static void
test_fill(void)
{
	struct faults f = {0};
	long moved = 0;
	int trial;

	for (trial = 0; trial < 300; trial++) {
		ptrdiff_t next[MAX_GPUS];
		struct world w;
		size_t g;
		size_t m;

		seed(5000 + (uint64_t)trial);
		make_cluster(&w, 1 + below(MAX_TYPES), 3);
		add_jobs(&w, 1 + below(MAX_JOBS), true);
		attainable_shares(&w, false);
		play(&w, &f);
		for (m = 0; m < w.r.n_jobs;
		     m++) /* some have left meanwhile, some may not start */
			if (below(3) == 0) {
				gv_rounds_set_active(&w.r, m, false);
				for (g = 0; g < w.r.n_gpus; g++)
					if (w.owner[g] == (ptrdiff_t)m)
						w.owner[g] = GV_GPU_IDLE;
			}
		for (g = 0; g < w.r.n_gpus; g++)
			if (w.owner[g] == GV_GPU_IDLE && below(5) == 0)
				w.owner[g] = GV_GPU_AWAY;
		gv_rounds_plan(&w.r, GV_ROUND_FILL, w.owner, next);
		check_plan(&w, w.owner, next, &f);
		for (g = 0; g < w.r.n_gpus; g++)
			moved += w.owner[g] != GV_GPU_IDLE && next[g] != w.owner[g];
		gv_rounds_free(&w.r);
	}
	is_int(moved, 0, "filling moves nobody and gives out no GPU that is away");
	ok(no_faults(&f), "and leaves no GPU idle that somebody can use");
}

/* The fewest nodes that a gang can lie on, by trying all sets of pools. */
static size_t
fewest_nodes(const struct world *w, const size_t *idle, size_t want)
{
	size_t best = MAX_POOLS;
	size_t set;
	size_t p;

	for (set = 1; set < (size_t)1 << w->c.n_pools; set++) {
		size_t gpus = 0;
		size_t n = 0;

		for (p = 0; p < w->c.n_pools; p++)
			if (set >> p & 1) {
				gpus += idle[p];
				n++;
			}
		if (gpus >= want && n < best)
			best = n;
	}
	return best;
}

static void
test_nodes(void)
{
	long wrong = 0;
	int trial;

	for (trial = 0; trial < 500; trial++) {
		ptrdiff_t next[MAX_GPUS];
		size_t idle[MAX_POOLS] = {0};
		bool used[MAX_POOLS] = {false};
		struct world w;
		size_t total = 0;
		size_t nodes = 0;
		size_t g;
		size_t p;

		seed(9000 + (uint64_t)trial);
		make_cluster(&w, 1, 3);
		for (g = 0; g < w.r.n_gpus; g++) {
			w.owner[g] = below(3) == 0 ? GV_GPU_AWAY : GV_GPU_IDLE;
			idle[w.r.gpu_pool[g]] += w.owner[g] == GV_GPU_IDLE;
			total += w.owner[g] == GV_GPU_IDLE;
		}
		add_jobs(&w, 1, false);
		w.r.job[0].gang = 1 + below(total > 0 ? total : 1);
		gv_rounds_plan(&w.r, GV_ROUND_NEW, w.owner, next);
		for (g = 0; g < w.r.n_gpus; g++)
			if (next[g] == 0)
				used[w.r.gpu_pool[g]] = true;
		for (p = 0; p < w.c.n_pools; p++)
			nodes += used[p];
		wrong += total > 0 && nodes != fewest_nodes(&w, idle, w.r.job[0].gang);
		gv_rounds_free(&w.r);
	}
	is_int(wrong, 0, "a gang lies on as few nodes as it can");
}

/* Jobs that were promised nothing run on what is left over, and only there. */
static void
test_left_over(void)
{
	struct faults f = {0};
	struct world w;
	int k;

	seed(1);
	make_cluster(&w, 1, 1);
	w.type[0].gpus = w.pool[0].gpus = 2;
	gv_rounds_free(&w.r);
	gv_rounds_init(&w.r, &w.c, round_s);
	add_jobs(&w, 3, false);
	gv_rounds_claim(&w.r, 1, 0)->share = 1;
	for (k = 0; k < 10; k++)
		play(&w, &f);
	is_near(gv_rounds_claim(&w.r, 1, 0)->received_s, 10 * round_s, 0,
	    "a share of 1 is all of it");
	is_near(gv_rounds_claim(&w.r, 0, 0)->received_s, 5 * round_s, 0,
	    "the rest is divided");
	is_near(gv_rounds_claim(&w.r, 2, 0)->received_s, 5 * round_s, 0,
	    "among those without a share");
	ok(no_faults(&f), "rounds are whole");
	w.r.job[1].ready = false;
	play(&w, &f);
	is_int((long long)count(&w, w.owner, 1, 0), 0, "who is not ready is not placed");
	is_int((long long)count(&w, w.owner, GV_GPU_IDLE, 0), 0, "and his GPU is used");
	gv_rounds_free(&w.r);
}

/* After a change the past counts for a round at most, and never against anybody. */
static void
test_settle(void)
{
	struct faults f = {0};
	struct world w;
	int k;

	seed(1);
	make_cluster(&w, 1, 1);
	w.type[0].gpus = w.pool[0].gpus = 1;
	gv_rounds_free(&w.r);
	gv_rounds_init(&w.r, &w.c, round_s);
	add_jobs(&w, 2, false);
	gv_rounds_set_active(&w.r, 1, false);
	gv_rounds_claim(&w.r, 0, 0)->share = .5;
	gv_rounds_claim(&w.r, 1, 0)->share = .5;
	for (k = 0; k < 50; k++) /* alone, it receives twice what it was promised */
		play(&w, &f);
	is_near(gv_rounds_claim(&w.r, 0, 0)->lag_s, -25 * round_s, 1e-12,
	    "ahead by 25 rounds");
	gv_rounds_set_active(&w.r, 1, true);
	gv_rounds_settle(&w.r);
	for (k = 0; k < 10; k++)
		play(&w, &f);
	is_near(gv_rounds_claim(&w.r, 1, 0)->received_s, 5 * round_s, 0,
	    "not held against it");
	gv_rounds_count(&w.r);
	gv_rounds_claim(&w.r, 1, 0)->lag_s = 1e6;
	gv_rounds_settle(&w.r);
	is_near(gv_rounds_claim(&w.r, 1, 0)->lag_s, round_s, 0,
	    "a debt of a round at most is kept");
	w.r.job[0].gang = 2;
	ok(!gv_rounds_possible(&w.r, 0) && gv_rounds_possible(&w.r, 1),
	    "too large a gang");
	gv_rounds_free(&w.r);
	gv_rounds_free(&w.r);
}

/* For the time of a pause nobody is owed anything, also when time was told last long before. */
static void
test_pause(void)
{
	struct world w;

	seed(1);
	make_cluster(&w, 1, 1);
	add_jobs(&w, 1, false);
	gv_rounds_set_share(&w.r, 0, 0, .5);
	gv_rounds_at(&w.r, 100);
	gv_rounds_pause(&w.r, 500);
	is_near(gv_rounds_claim(&w.r, 0, 0)->lag_s, 50, 0, "owed until then");
	gv_rounds_at(&w.r, 520);
	gv_rounds_count(&w.r);
	is_near(gv_rounds_claim(&w.r, 0, 0)->lag_s, 60, 0, "and from its end on");
	gv_rounds_free(&w.r);
}

int
main(void)
{
	test_pause();
	test_shares(false, false);
	test_shares(false, true);
	test_shares(true, false);
	test_shares(true, true);
	test_many();
	test_exact();
	test_paper();
	test_no_starvation();
	test_big_gang();
	test_fill();
	test_nodes();
	test_left_over();
	test_settle();
	return done_testing();
}
