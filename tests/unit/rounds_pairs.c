/*
 * common/sched/rounds: two jobs on the same GPUs.  What a round must keep, how
 * well pairs receive what they were promised, and that leases go on.
 */
#include "tap.h"

#include <stdlib.h>

#include "rounds_help.h"

enum { MAX_TYPES = 3, MAX_JOBS = 14 };

static void
cluster(struct world *w, size_t n_types, size_t max_gpus)
{
	size_t t;
	size_t i;

	world_begin(w, n_types);
	for (t = 0; t < n_types; t++) {
		size_t nodes = max_gpus > 1 ? 1 + below(2) : 1;

		for (i = 0; i < nodes; i++)
			world_add_pool(w, t, 1 + below(max_gpus), "n");
	}
	world_start(w);
}

static void
add_jobs(struct world *w, size_t n, bool gangs)
{
	size_t m;
	size_t j;
	size_t k;

	w->n_jobs = n;
	for (m = 0; m < n; m++) {
		gv_rounds_add(&w->r, gangs ? (size_t)1 << below(3) : 1);
		gv_rounds_set_active(&w->r, m, true);
		for (j = 0; j < w->c.n_types; j++)
			gv_rounds_claim(&w->r, m, j)->rate = 1 + uniform();
	}
	for (m = 0; m < n; m++)
		for (k = 0; k < m && w->r.n_jobs < ALL_JOBS; k++) {
			size_t p;

			if (w->r.job[m].gang != w->r.job[k].gang || below(2) == 0)
				continue;
			p = gv_rounds_pair(&w->r, m, k);
			for (j = 0; j < w->c.n_types; j++) {
				gv_rounds_claim(&w->r, p, j)->rate = .5 + uniform();
				gv_rounds_claim(&w->r, p, j)->with_rate = .5 + uniform();
			}
		}
}

/* A mixture of random placements of jobs and pairs. */
static void
attainable_shares(struct world *w)
{
	size_t n_mix = 2 + below(10);
	double weight[16];
	double sum = draw_weights(weight, n_mix);
	size_t k;
	size_t i;

	for (k = 0; k < n_mix; k++) {
		size_t room[MAX_TYPES];
		bool placed[ALL_JOBS] = {false};

		for (i = 0; i < w->c.n_types; i++)
			room[i] = w->type[i].gpus;
		for (i = 0; i < 3 * w->r.n_jobs; i++) {
			size_t m = below(w->r.n_jobs);
			size_t j = below(w->c.n_types);
			const size_t *member = w->r.job[m].member;

			if (placed[member[0]] || placed[member[1]] ||
			    w->r.job[m].gang > room[j])
				continue;
			placed[member[0]] = placed[member[1]] = true;
			room[j] -= w->r.job[m].gang;
			w->x[m][j] += weight[k] / sum;
		}
	}
	world_promise(w);
}

/* ---- what every plan must keep ---- */

/* The GPUs of a job, alone or in a pair, as a set; GPUs are fewer than 64. */
static uint64_t
gpus_of(const struct world *w, const ptrdiff_t *owner, size_t job)
{
	uint64_t set = 0;
	size_t g;

	for (g = 0; g < w->r.n_gpus; g++)
		if (gv_rounds_has(&w->r, owner[g], job))
			set |= UINT64_C(1) << g;
	return set;
}

/* The GPUs of exactly this job or pair. */
static uint64_t
owned(const struct world *w, const ptrdiff_t *owner, size_t m)
{
	uint64_t set = 0;
	size_t g;

	for (g = 0; g < w->r.n_gpus; g++)
		if (owner[g] == (ptrdiff_t)m)
			set |= UINT64_C(1) << g;
	return set;
}

static uint64_t
of_type(const struct world *w, size_t type)
{
	uint64_t set = 0;
	size_t g;

	for (g = 0; g < w->r.n_gpus; g++)
		if (gv_rounds_type(&w->r, g) == type)
			set |= UINT64_C(1) << g;
	return set;
}

static size_t
size(uint64_t set)
{
	size_t n = 0;

	for (; set != 0; set &= set - 1)
		n++;
	return n;
}

/* The type where m is, -1 = nowhere; *whole: all of its gang is there. */
static ptrdiff_t
where(const struct world *w, uint64_t set, size_t gang, bool *whole)
{
	size_t j;

	*whole = true;
	for (j = 0; j < w->c.n_types; j++)
		if ((set & of_type(w, j)) != 0) {
			*whole = (set & ~of_type(w, j)) == 0 && size(set) == gang;
			return (ptrdiff_t)j;
		}
	return -1;
}

struct faults {
	long split, twice, unable, moved, idle;
};

static bool
no_faults(const struct faults *f)
{
	if (f->split + f->twice + f->unable + f->moved + f->idle == 0)
		return true;
	printf("# split %ld twice %ld unable %ld moved %ld idle %ld\n", f->split,
	    f->twice, f->unable, f->moved, f->idle);
	return false;
}

/*
 * m holds GPUs now.  If it does so where it did, they are the same; if a member did
 * on the type, they are those of a member unless somebody else has kept those.
 */
static void
check_lease(const struct world *w, const ptrdiff_t *was, const ptrdiff_t *now, size_t m,
    ptrdiff_t type, struct faults *f)
{
	uint64_t set = owned(w, now, m);
	size_t i;

	if ((owned(w, was, m) & of_type(w, (size_t)type)) != 0)
		f->moved += owned(w, was, m) != set;
	for (i = 0; i < 2; i++) {
		size_t who = w->r.job[m].member[i];
		uint64_t had = gpus_of(w, was, who) & of_type(w, (size_t)type);
		bool kept = false; /* by his mate of before, who runs without him */
		size_t k;

		if (had == 0 || had == set)
			continue;
		if (gpus_of(w, was, w->r.job[m].member[1 - i]) == set)
			continue;
		for (k = 0; k < w->n_jobs; k++)
			kept |= k != who && gpus_of(w, was, k) == had &&
				gpus_of(w, now, k) == had;
		f->moved += !kept;
	}
}

static void
check_plan(
    const struct world *w, const ptrdiff_t *was, const ptrdiff_t *now, struct faults *f)
{
	uint64_t idle = owned(w, now, SIZE_MAX); /* as GV_GPU_IDLE */
	bool whole;
	size_t m;
	size_t j;

	for (m = 0; m < w->r.n_jobs; m++) {
		uint64_t set = owned(w, now, m);
		ptrdiff_t at = where(w, set, w->r.job[m].gang, &whole);
		const struct gv_round_claim *c;
		size_t i;

		if (at < 0)
			continue;
		c = gv_rounds_claim(&w->r, m, (size_t)at);
		f->split += !whole;
		f->unable +=
		    c->rate == 0 || (gv_rounds_is_pair(&w->r, m) && c->with_rate == 0);
		for (i = 0; i < 2; i++) {
			size_t who = w->r.job[m].member[i];

			f->twice += gpus_of(w, now, who) != set;
			f->unable += !w->r.job[who].active || !w->r.job[who].ready;
		}
		check_lease(w, was, now, m, at, f);
	}
	for (m = 0; m < w->n_jobs; m++)
		for (j = 0; j < w->c.n_types; j++)
			f->idle += gpus_of(w, now, m) == 0 && w->r.job[m].active &&
				   w->r.job[m].ready &&
				   gv_rounds_claim(&w->r, m, j)->rate > 0 &&
				   size(idle & of_type(w, j)) >= w->r.job[m].gang;
}

static void
play(struct world *w, struct faults *f)
{
	ptrdiff_t next[MAX_GPUS];
	ptrdiff_t again[MAX_GPUS];

	gv_rounds_plan(&w->r, GV_ROUND_NEW, w->owner, next);
	memcpy(again, w->owner, sizeof(again));
	gv_rounds_plan(&w->r, GV_ROUND_NEW, again, again);
	f->moved += memcmp(again, next, w->r.n_gpus * sizeof(*next)) != 0;
	check_plan(w, w->owner, next, f);
	memcpy(w->owner, next, w->r.n_gpus * sizeof(*next));
	gv_rounds_pass(&w->r, round_s);
	gv_rounds_hold(&w->r, w->owner, round_s);
}

/* ---- tests ---- */

static void
test_shares(bool gangs)
{
	struct tracking t = {0};
	struct faults f = {0};
	long shared = 0;
	int trial;
	int k;

	for (trial = 0; trial < 200; trial++) {
		struct world w;
		size_t m;

		draws_begin((uint64_t)trial * 2 + gangs, 7, 2);
		cluster(&w, 1 + below(MAX_TYPES), gangs ? 6 : 3);
		add_jobs(&w, 2 + below(MAX_JOBS - 1), gangs);
		attainable_shares(&w);
		for (k = 1; k <= TRACKED_ROUNDS; k++) {
			play(&w, &f);
			track(&t, &w, k);
		}
		for (m = w.n_jobs; m < w.r.n_jobs; m++)
			shared += owned(&w, w.owner, m) != 0;
		gv_rounds_free(&w.r);
	}
	ok(no_faults(&f), "%s: rounds whole, no job twice, leases kept, nothing idle",
	    gangs ? "gangs" : "single GPUs");
	ok(shared > 100, "with pairs running: %ld", shared);
	judge_tracking(&t);
}

/* One GPU, two jobs: a half of the time together, a quarter each alone. */
static void
test_exact(void)
{
	struct faults f = {0};
	struct world w;
	size_t p;
	int k;

	draws.seed = 1;
	cluster(&w, 1, 1);
	w.n_jobs = 2;
	for (k = 0; k < 2; k++) {
		gv_rounds_add(&w.r, 1);
		gv_rounds_set_active(&w.r, k, true);
		*gv_rounds_claim(&w.r, (size_t)k, 0) =
		    (struct gv_round_claim){.rate = 1, .share = .25};
	}
	p = gv_rounds_pair(&w.r, 1, 0);
	*gv_rounds_claim(&w.r, p, 0) =
	    (struct gv_round_claim){.rate = 1, .with_rate = 1, .share = .5};
	for (k = 0; k < 80; k++)
		play(&w, &f);
	is_near(gv_rounds_claim(&w.r, p, 0)->received_s, 40 * round_s, 1e-12,
	    "together for exactly their share");
	is_near(gv_rounds_claim(&w.r, 0, 0)->received_s, 20 * round_s, 1e-12,
	    "alone for exactly their shares");
	is_near(gv_rounds_claim(&w.r, 1, 0)->received_s, 20 * round_s, 1e-12,
	    "the other one, too");
	ok(no_faults(&f), "in whole rounds");
	for (k = 0; k < 3; k++)
		gv_rounds_claim(&w.r, (size_t)k, 0)->share = 0;
	gv_rounds_settle(&w.r);
	for (k = 0; k < 20; k++)
		play(&w, &f);
	is_near(gv_rounds_claim(&w.r, p, 0)->received_s, 40 * round_s, 1e-12,
	    "who was not promised to share does not");
	gv_rounds_claim(&w.r, p, 0)->share = 1;
	gv_rounds_claim(&w.r, p, 0)->with_rate = 0;
	for (k = 0; k < 20; k++)
		play(&w, &f);
	is_near(gv_rounds_claim(&w.r, p, 0)->received_s, 40 * round_s, 1e-12,
	    "nor who cannot");
	gv_rounds_claim(&w.r, p, 0)->with_rate = 1;
	w.r.job[0].ready = false;
	for (k = 0; k < 20; k++)
		play(&w, &f);
	is_near(gv_rounds_claim(&w.r, p, 0)->received_s, 40 * round_s, 1e-12,
	    "nor while one of them may not run");
	gv_rounds_set_active(&w.r, 0, false);
	gv_rounds_claim(&w.r, p, 0)->lag_s = 0;
	gv_rounds_pass(&w.r, round_s);
	is_near(gv_rounds_claim(&w.r, p, 0)->lag_s, 0, 0,
	    "and nothing is owed to two of which one has left");
	ok(no_faults(&f), "whole rounds all the time");
	gv_rounds_free(&w.r);
}

/* Three jobs in pairs of two on two GPUs: more was promised than can be kept; nobody starves. */
static void
test_triangle(void)
{
	struct faults f = {0};
	struct world w;
	double longest = 0;
	size_t m;
	int k;

	draws.seed = 2;
	cluster(&w, 1, 1);
	w.type[0].gpus = w.pool[0].gpus = 2;
	gv_rounds_free(&w.r);
	gv_rounds_init(&w.r, &w.c, round_s);
	w.owner[0] = w.owner[1] = GV_GPU_IDLE;
	w.n_jobs = 3;
	for (m = 0; m < 3; m++) {
		gv_rounds_add(&w.r, 1);
		gv_rounds_set_active(&w.r, m, true);
		gv_rounds_claim(&w.r, m, 0)->rate = 1;
	}
	for (m = 0; m < 3; m++)
		*gv_rounds_claim(&w.r, gv_rounds_pair(&w.r, m, (m + 1) % 3), 0) =
		    (struct gv_round_claim){.rate = 1, .with_rate = 1, .share = .5};
	for (k = 0; k < 300; k++) {
		play(&w, &f);
		for (m = 3; m < 6; m++)
			longest = fmax(
			    longest, gv_rounds_claim(&w.r, m, 0)->waited_s / round_s);
	}
	ok(longest < 2 * GV_ROUND_DEBT + 6, "the longest wait was %.0f rounds", longest);
	for (m = 3; m < 6; m++)
		is_near(gv_rounds_claim(&w.r, m, 0)->received_s / round_s, 100, .05,
		    "each pair has a third");
	ok(no_faults(&f), "whole rounds");
	gv_rounds_free(&w.r);
}

/* Within a round: whoever runs stays as he is, idle GPUs are given. */
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

		draws_begin(5000 + (uint64_t)trial, 7, 2);
		cluster(&w, 1 + below(MAX_TYPES), 5);
		add_jobs(&w, 2 + below(MAX_JOBS - 1), true);
		attainable_shares(&w);
		play(&w, &f);
		for (m = 0; m < w.n_jobs; m++)
			if (below(3) == 0) { /* it leaves; the other one stays alone */
				gv_rounds_set_active(&w.r, m, false);
				for (g = 0; g < w.r.n_gpus; g++)
					w.owner[g] = gv_rounds_leave(&w.r, w.owner[g], m);
			}
		gv_rounds_plan(&w.r, GV_ROUND_FILL, w.owner, next);
		check_plan(&w, w.owner, next, &f);
		for (g = 0; g < w.r.n_gpus; g++)
			moved += w.owner[g] != GV_GPU_IDLE && next[g] != w.owner[g];
		gv_rounds_free(&w.r);
	}
	is_int(moved, 0, "filling moves nobody");
	ok(no_faults(&f), "and leaves no GPU idle that somebody can use");
}

/* Owners come and go one by one. */
static void
test_owners(void)
{
	struct world w;
	ptrdiff_t p;
	size_t m;

	draws.seed = 3;
	cluster(&w, 2, 3);
	for (m = 0; m < 4; m++)
		gv_rounds_add(&w.r, 1);
	p = (ptrdiff_t)gv_rounds_pair(&w.r, 2, 1);
	is_int(p, 4, "a pair has the next number");
	is_int((long long)gv_rounds_pair(&w.r, 1, 2), p, "and only one");
	is_int(gv_rounds_find_pair(&w.r, 2, 1), p, "found");
	is_int(gv_rounds_find_pair(&w.r, 2, 3), -1, "not found");
	ok(gv_rounds_is_pair(&w.r, (size_t)p) && !gv_rounds_is_pair(&w.r, 1),
	    "is a pair");
	ok(gv_rounds_has(&w.r, p, 1) && gv_rounds_has(&w.r, p, 2) &&
		!gv_rounds_has(&w.r, p, 3) && !gv_rounds_has(&w.r, GV_GPU_IDLE, 0),
	    "who is there");
	is_int(gv_rounds_join(&w.r, GV_GPU_IDLE, 2), 2, "one comes");
	is_int(gv_rounds_join(&w.r, 2, 1), p, "another one comes");
	is_int(gv_rounds_leave(&w.r, p, 2), 1, "the first one leaves");
	is_int(gv_rounds_leave(&w.r, 1, 1), GV_GPU_IDLE, "the other one, too");
	is_int(gv_rounds_leave(&w.r, p, 3), p, "who was not there cannot leave");
	is_int(gv_rounds_leave(&w.r, GV_GPU_AWAY, 3), GV_GPU_AWAY, "nor where nobody is");
	gv_rounds_free(&w.r);
}

int
main(void)
{
	test_shares(false);
	test_shares(true);
	test_exact();
	test_triangle();
	test_fill();
	test_owners();
	return done_testing();
}
