/*
 * common/sched/rounds: rounds planned and filled, one after another, for drawn jobs on
 * drawn GPUs, and all accounts; what is planned stands to what may be.
 */
#include "sched_draws.h"

#include "sched/rounds/search.h"
#include "sched/rounds/view.h"

enum { WORLDS = 4800, STEPS = 8, FULL = 600, SEARCHES = 6000, PER_ANSWER = 60 };

struct world {
	struct drawn d;
	struct gv_rounds r;
	ptrdiff_t *owner, *next; /* [d.n_gpus] */
	size_t n_alone;
	size_t past; /* one of so many has a longer one */
};

static long wrong;

/* ---- a world ---- */

/* What somebody has of a type; owed more or less before the first round. */
static void
draw_claims(struct world *w, size_t m)
{
	double debt_s = GV_ROUND_DEBT * w->r.round_s;
	size_t j;

	for (j = 0; j < w->r.n_types; j++) {
		struct gv_round_claim *k = gv_rounds_claim(&w->r, m, j);

		k->rate = draw_rate(&w->d);
		k->with_rate = draw_rate(&w->d);
		k->share = draw_share(&w->d);
		if (one_in(w->past)) {
			k->lag_s = one_in(3)   ? debt_s
				   : one_in(3) ? -debt_s
					       : (2 * uniform() - 1) * debt_s;
			k->waited_s = (double)below(4) * w->r.round_s;
			k->deficit_s = (double)below(3) - 1;
			k->since_s = w->r.round_s * (double)below(3);
		}
	}
	w->r.job[m].move_s = one_in(2) ? 0 : w->r.round_s * uniform();
}

static void
draw_pairs(struct world *w)
{
	size_t n = below(2 * w->n_alone + 1), i;

	for (i = 0; i < n; i++) {
		size_t a = below(w->n_alone), b = below(w->n_alone);

		if (a != b && w->r.job[a].gang == w->r.job[b].gang)
			draw_claims(w, gv_rounds_pair(&w->r, a, b));
	}
}

static void
world_init(struct world *w)
{
	size_t most = one_in(4) ? 160 : 1 + below(30);
	size_t m, i;

	w->past = one_in(3) ? 40 : 3;
	draw_cluster(&w->d);
	gv_rounds_init(&w->r, &w->d.c, one_in(2) ? 360 : 1 + below(9));
	w->r.order = one_in(3) ? GV_ROUND_GAVEL : GV_ROUND_OWED;
	w->r.strict = one_in(3);
	for (i = w->r.n_types; i-- > 1;) {
		size_t k = below(i + 1), type = w->r.turn[i];

		w->r.turn[i] = w->r.turn[k];
		w->r.turn[k] = type;
	}
	w->n_alone = 1 + below(most);
	for (m = 0; m < w->n_alone; m++) {
		gv_rounds_add(&w->r, draw_gang(&w->d));
		draw_claims(w, m);
		gv_rounds_set_active(&w->r, m, !one_in(6));
		w->r.job[m].ready = !one_in(9);
	}
	if (one_in(3))
		draw_pairs(w);
	w->owner = calloc(w->r.n_gpus + 1, sizeof *w->owner);
	w->next = calloc(w->r.n_gpus + 1, sizeof *w->next);
	for (i = 0; i < w->r.n_gpus; i++)
		w->owner[i] = GV_GPU_IDLE;
}

static void
world_free(struct world *w)
{
	gv_rounds_free(&w->r);
	free(w->owner);
	free(w->next);
}

/* ---- what may be ---- */

/* Gangs that are not whole, of two types, of jobs that may not run or twice; GPUs away. */
static void
judge(const struct world *w, const ptrdiff_t *before, const ptrdiff_t *next, bool anew)
{
	const struct gv_rounds *r = &w->r;
	size_t *gpus = calloc(r->n_jobs + 1, sizeof *gpus);
	size_t *type = calloc(r->n_jobs + 1, sizeof *type);
	size_t *runs = calloc(r->n_jobs + 1, sizeof *runs);
	size_t g, m;

	for (g = 0; g < r->n_gpus; g++) {
		wrong += (before[g] == GV_GPU_AWAY) != (next[g] == GV_GPU_AWAY);
		wrong += !anew && before[g] >= 0 && next[g] != before[g];
		if (next[g] < 0)
			continue;
		m = (size_t)next[g];
		wrong += gpus[m]++ > 0 && type[m] != gv_rounds_type(r, g);
		type[m] = gv_rounds_type(r, g);
	}
	for (m = 0; m < r->n_jobs; m++) {
		const struct gv_round_job *job = &r->job[m];

		if (gpus[m] == 0)
			continue;
		runs[job->member[0]]++;
		runs[job->member[1]] += job->member[0] != job->member[1];
		if (!anew)
			continue;
		wrong +=
		    gpus[m] != job->gang || !(gv_rounds_claim(r, m, type[m])->rate > 0);
		wrong += !gv_rounds_is_active(r, m) || !r->job[job->member[0]].ready;
	}
	for (m = 0; anew && m < r->n_jobs; m++)
		wrong += runs[m] > 1;
	free(gpus);
	free(type);
	free(runs);
}

/* ---- what happens ---- */

/* Who holds what, as the accounts have it. */
static void
hold(struct world *w)
{
	size_t g, m;

	for (m = 0; m < w->r.n_jobs; m++) {
		ptrdiff_t held = -1;

		for (g = 0; g < w->r.n_gpus && held < 0; g++)
			if (w->owner[g] == (ptrdiff_t)m)
				held = (ptrdiff_t)gv_rounds_type(&w->r, g);
		gv_rounds_set_held(&w->r, m, held);
	}
}

static void
change_job(struct world *w)
{
	size_t m = below(w->r.n_jobs), alone = below(w->n_alone);
	size_t type = below(w->r.n_types);

	switch (below(4)) {
	case 0:
		gv_rounds_set_share(&w->r, m, type, draw_share(&w->d));
		break;
	case 1:
		gv_rounds_set_active(&w->r, alone, !w->r.job[alone].active);
		break;
	case 2:
		w->r.job[alone].ready = !w->r.job[alone].ready;
		break;
	default:
		w->r.job[m].move_s = one_in(2) ? 0 : 3 * w->r.round_s * uniform();
	}
}

/* Somebody leaves its GPUs, GPUs go away or come back, one by one. */
static void
change_gpus(struct world *w)
{
	size_t i, n = below(4), g;

	for (i = 0; w->r.n_gpus > 0 && i < n; i++) {
		ptrdiff_t owner = w->owner[below(w->r.n_gpus)];

		for (g = 0; g < w->r.n_gpus; g++)
			if (w->owner[g] == owner && owner >= 0)
				w->owner[g] = GV_GPU_IDLE;
	}
	for (i = 0; w->r.n_gpus > 0 && one_in(3) && i < 3; i++) {
		g = below(w->r.n_gpus);
		w->owner[g] = w->owner[g] == GV_GPU_AWAY ? GV_GPU_IDLE : GV_GPU_AWAY;
	}
}

/* Those without a place among jobs, in any order, and GPUs that may be given. */
static void
fill_some(struct world *w, struct recorded *rec)
{
	size_t *job = calloc(w->r.n_live + 1, sizeof *job);
	size_t *idle = calloc(w->r.n_pools + 1, sizeof *idle);
	struct gv_round_fill f = {.job = job, .idle = idle, .next = w->next};
	size_t i, g;

	for (i = w->r.n_live; i-- > 0;) {
		size_t m = w->r.live[i];
		bool placed = gv_rounds_is_pair(&w->r, m) || one_in(20);

		for (g = 0; g < w->r.n_gpus && !placed; g++)
			placed = gv_rounds_has(&w->r, w->owner[g], m);
		if (!placed)
			job[f.n++] = m;
	}
	for (g = 0; g < w->r.n_gpus; g++) {
		w->next[g] = w->owner[g];
		idle[w->r.gpu_pool[g]] += w->owner[g] == GV_GPU_IDLE;
	}
	gv_rounds_fill(&w->r, &f);
	recorded_wholes(rec, f.given, f.n_given);
	recorded_wholes(rec, idle, w->r.n_pools);
	free(f.given);
	free(job);
	free(idle);
}

/* Time passes: counted by itself, or by who plans. */
static void
pass(struct world *w)
{
	double dt = one_in(5) ? 0 : w->r.round_s * (one_in(3) ? 1 : 3 * uniform());

	switch (below(8)) {
	case 0:
		gv_rounds_pause(&w->r, w->r.now_s + dt);
		break;
	case 1:
		gv_rounds_hold(&w->r, w->owner, dt);
		gv_rounds_pass(&w->r, dt);
		break;
	case 2:
		gv_rounds_at(&w->r, w->r.now_s - dt);
		gv_rounds_count(&w->r);
		break;
	default:
		gv_rounds_at(&w->r, w->r.now_s + dt);
	}
}

/* On other types and beside more jobs. */
static void
change_cluster(struct world *w)
{
	ptrdiff_t type[DRAWN_TYPES];
	size_t gang[5], n = below(5), i, before = w->n_alone, pairs;
	struct drawn d;

	draw_cluster(&d);
	d.gangs = w->d.gangs;
	d.rates = w->d.rates;
	d.shares = w->d.shares;
	for (i = 0; i < w->r.n_types; i++)
		type[i] = i < d.c.n_types && !one_in(4) ? (ptrdiff_t)i : -1;
	for (i = 0; i < n; i++)
		gang[i] = draw_gang(&d);
	w->d = d;
	w->d.c.type = w->d.type;
	w->d.c.pool = w->d.pool;
	gv_rounds_change(&w->r, &w->d.c, type, gang, n);
	pairs = w->r.n_jobs - before - n;
	w->n_alone += n;
	wrong += pairs > 0 && !gv_rounds_is_pair(&w->r, w->n_alone);
	for (i = before; i < w->n_alone; i++) {
		draw_claims(w, i);
		gv_rounds_set_active(&w->r, i, true);
	}
	w->owner = realloc(w->owner, (w->r.n_gpus + 1) * sizeof *w->owner);
	w->next = realloc(w->next, (w->r.n_gpus + 1) * sizeof *w->next);
	for (i = 0; i < w->r.n_gpus; i++)
		w->owner[i] = GV_GPU_IDLE;
}

/* Who is where, and who comes to whom. */
static void
ask(struct world *w, struct recorded *rec)
{
	const struct gv_rounds *r = &w->r;
	size_t m = below(w->n_alone), k = below(r->n_jobs), n;
	ptrdiff_t owner = one_in(4) ? GV_GPU_IDLE : (ptrdiff_t)k;

	for (n = 0; n < r->n_live && n < 3; n++)
		recorded_whole(rec, (long long)gv_rounds_place(&w->r, r->live[n]));
	recorded_whole(rec, gv_rounds_possible(r, below(w->n_alone)));
	recorded_whole(rec, gv_rounds_find_pair(r, m, k < w->n_alone ? k : m));
	recorded_whole(rec, gv_rounds_leave(r, owner, m));
	recorded_whole(rec, gv_rounds_leave(r, (ptrdiff_t)k, r->job[k].member[0]));
	recorded_whole(rec, gv_rounds_leave(r, (ptrdiff_t)k, r->job[k].member[1]));
	recorded_whole(rec, gv_rounds_join(r, GV_GPU_IDLE, m));
	recorded_whole(
	    rec, gv_rounds_join(r, (ptrdiff_t)r->job[k].member[0], r->job[k].member[1]));
}

static void
step(struct world *w, struct recorded *rec)
{
	size_t n = below(6), g;
	bool anew = !one_in(3);

	while (n-- > 0)
		change_job(w);
	if (one_in(12))
		change_cluster(w);
	if (one_in(3))
		gv_rounds_settle(&w->r);
	change_gpus(w);
	hold(w);
	pass(w);
	if (!anew && one_in(2)) {
		fill_some(w, rec);
	} else {
		gv_rounds_plan(
		    &w->r, anew ? GV_ROUND_NEW : GV_ROUND_FILL, w->owner, w->next);
	}
	judge(w, w->owner, w->next, anew);
	recorded_owners(rec, w->next, w->r.n_gpus);
	for (g = 0; g < w->r.n_gpus; g++)
		w->owner[g] = w->next[g];
	if (one_in(4))
		gv_rounds_count(&w->r);
	recorded_claims(rec, &w->r);
	ask(w, rec);
}

static void
test_rounds(struct recorded *rec)
{
	size_t i, k;

	for (i = 0; i < WORLDS; i++) {
		struct world w;

		draws_begin(i, 31, 0);
		world_init(&w);
		for (k = 0; k < STEPS; k++)
			step(&w, rec);
		world_free(&w);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(rec, "worlds to %zu", i);
	}
	is_int(wrong, 0, "whole gangs on one type, of those that may run");
}

/*
 * As many jobs wait as are just looked at, or one more or less, for so many idle GPUs, up to
 * some more than are counted as few.
 */
static void
full_world(struct world *w)
{
	size_t idle = 1 + below(one_in(3) ? 70 : 12), p, m;
	size_t jobs = 31 + 2 * idle + below(3);

	w->past = one_in(2) ? 300 : 3;
	if (one_in(4))
		jobs += below(80);
	draw_cluster(&w->d);
	for (p = 0; p < w->d.c.n_pools; p++)
		w->d.pool[p].gpus = p == 0 ? idle : 0;
	for (; w->d.c.n_pools > 1 && one_in(2) && idle > 1; idle--) {
		w->d.pool[0].gpus--;
		w->d.pool[w->d.c.n_pools - 1].gpus++;
	}
	gv_rounds_init(&w->r, &w->d.c, 10);
	w->r.order = one_in(3) ? GV_ROUND_GAVEL : GV_ROUND_OWED;
	w->r.strict = one_in(3);
	w->n_alone = jobs;
	for (m = 0; m < jobs; m++) {
		gv_rounds_add(&w->r, draw_gang(&w->d));
		draw_claims(w, m);
		gv_rounds_set_active(&w->r, m, true);
	}
	w->owner = calloc(w->r.n_gpus + 1, sizeof *w->owner);
	w->next = calloc(w->r.n_gpus + 1, sizeof *w->next);
	for (m = 0; m < w->r.n_gpus; m++)
		w->owner[m] = GV_GPU_IDLE;
}

static void
test_full(struct recorded *rec)
{
	size_t i;

	for (i = 0; i < FULL; i++) {
		struct world w;

		draws_begin(i, 32, 0);
		full_world(&w);
		gv_rounds_at(&w.r, w.r.now_s + 10 * uniform());
		gv_rounds_plan(&w.r, GV_ROUND_FILL, w.owner, w.next);
		judge(&w, w.owner, w.next, true);
		recorded_owners(rec, w.next, w.r.n_gpus);
		world_free(&w);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(
			    rec, "idle GPUs of which many want some, to %zu", i);
	}
	is_int(wrong, 0, "whole gangs there, too");
}

/* ---- the search alone ---- */

static double
cube(double x)
{
	return x * x * x;
}

static double
draw_weight(size_t kind)
{
	switch (kind) {
	case 0:
		return 1;
	case 1:
		return (double)(1 + below(4));
	case 2:
		return cube(.001 + uniform());
	case 3:
		return draw_far();
	default:
		return 1 + uniform() / 8;
	}
}

/* Jobs, and pairs of some of them, that wish to run on some types. */
static void
search_once(struct world *w, struct recorded *rec)
{
	size_t kind = below(5), some = 1 + below(4), n = 0, k, m, j;
	struct gv_round_wish *wish;
	size_t room[DRAWN_TYPES], used[DRAWN_TYPES] = {0};
	bool *taken;

	world_init(w);
	wish = calloc(w->r.n_jobs * w->r.n_types + 1, sizeof *wish);
	for (m = 0; m < w->r.n_jobs; m++)
		for (j = 0; j < w->r.n_types; j++)
			if (below(some) == 0) {
				double weight = draw_weight(kind);

				if (one_in(2))
					weight *= (double)w->r.job[m].gang;
				wish[n++] = (struct gv_round_wish){weight, m, j};
			}
	for (j = 0; j < w->r.n_types; j++)
		room[j] = one_in(4) ? below(w->d.type[j].gpus + 1) : w->d.type[j].gpus;
	taken = calloc(n + 1, sizeof *taken);
	gv_round_search(&w->r, room, wish, n, taken);
	for (k = 0; k < n; k++) {
		recorded_whole(rec, taken[k]);
		used[wish[k].type] += taken[k] ? w->r.job[wish[k].job].gang : 0;
	}
	for (j = 0; j < w->r.n_types; j++)
		wrong += used[j] > room[j];
	free(wish);
	free(taken);
	world_free(w);
}

static void
test_search(struct recorded *rec)
{
	size_t i;

	for (i = 0; i < SEARCHES; i++) {
		struct world w;

		draws_begin(i, 33, 0);
		search_once(&w, rec);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(rec, "searches to %zu", i);
	}
	is_int(wrong, 0, "no more GPUs are taken than there are");
}

int
main(void)
{
	struct recorded rec;

	recorded_open(&rec);
	test_rounds(&rec);
	test_full(&rec);
	test_search(&rec);
	recorded_close(&rec);
	return done_testing();
}
