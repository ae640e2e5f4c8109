/*
 * The life cycle of jobs: random histories keep their invariants, and the machine that
 * replays the rows of one is in the state of the one that wrote them.
 */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "sched/life/core.h"

enum { TYPES = 3, POOLS = 5, JOBS = 10, WORLDS = 1000, INPUTS = 1000, MAX_FAILURES = 4 };

static const double round_s = 8;

/* What a launcher and workers would be. */
struct worker {
	bool starting;
	bool there;
	bool told;
	double steps;
	double saved;
	double work;     /* steps ever done */
	double lost;     /* of them done again, or never told */
	double reported; /* last, -1 = nothing */
	double known;    /* steps in its last row, -1 = none */
};

struct world {
	struct gv_cluster c;
	struct gv_pool pool[POOLS];
	struct gv_gpu_type type[TYPES];
	struct gv_life life;
	struct gv_life_spec spec[JOBS];
	double rate[JOBS][TYPES];
	double with[JOBS][TYPES];
	struct worker worker[JOBS];
	size_t n_rows;
	size_t cap_rows;
	struct gv_life_row *row;
	struct gv_arena arena; /* their GPUs */
	long inputs;
	bool killed;
};

/* What the jobs are, and how fast alone and, on any type, beside the one before. */
static void
draw_jobs(struct world *w, uint64_t seed)
{
	size_t m;
	size_t j;

	draws_begin(seed, 1, 0);
	for (m = 0; m < JOBS; m++) {
		w->spec[m] =
		    (struct gv_life_spec){.gang = 1 + (size_t)(uniform() * uniform() * 4),
			.total_steps = uniform() < .2 ? NAN : floor(50 + 200 * uniform()),
			.arrival_s = uniform() < .5 ? 0 : 300 * uniform()};
		for (j = 0; j < w->c.n_types; j++)
			w->rate[m][j] = uniform() < .2 ? 0 : 1 + 9 * uniform();
	}
	for (m = 1; m < JOBS; m++)
		for (j = 0; j < w->c.n_types; j++)
			w->with[m][j] = 1 + uniform();
}

/* The rates of jobs from a to b, and of the pairs that they make. */
static void
set_rates(const struct world *w, struct gv_life *l, size_t a, size_t b)
{
	size_t m;
	size_t j;

	for (m = a; m < b; m++)
		for (j = 0; j < w->c.n_types; j++)
			gv_rounds_claim(&l->rounds, m, j)->rate = w->rate[m][j];
	for (m = a > 0 ? a : 1; m < b; m++)
		if (w->spec[m].gang == w->spec[m - 1].gang)
			for (j = 0; j < w->c.n_types; j++) {
				struct gv_round_claim *c = gv_rounds_claim(
				    &l->rounds, gv_rounds_pair(&l->rounds, m - 1, m), j);

				c->rate = c->with_rate = w->with[m][j];
			}
}

static void
add_jobs(const struct world *w, struct gv_life *l, size_t n)
{
	size_t m;

	for (m = 0; m < n; m++)
		gv_life_add(l, &w->spec[m]);
	set_rates(w, l, 0, n);
}

static void
world_init(struct world *w, uint64_t seed, bool some_later)
{
	size_t p;

	*w = (struct world){0};
	draws_begin(seed, 0, 0);
	w->c.type = w->type;
	w->c.pool = w->pool;
	w->c.n_types = 1 + (size_t)(TYPES * uniform());
	w->c.n_pools =
	    w->c.n_types + (size_t)((double)(POOLS - w->c.n_types) * uniform());
	for (p = 0; p < w->c.n_pools; p++) {
		w->pool[p].type = p % w->c.n_types;
		w->pool[p].gpus = 1 + (size_t)(3 * uniform());
		w->type[p % w->c.n_types].gpus += w->pool[p].gpus;
	}
	gv_life_init(&w->life, &w->c, round_s, MAX_FAILURES);
	draw_jobs(w, seed);
	add_jobs(w, &w->life, some_later ? 1 + (size_t)(JOBS * uniform()) : JOBS);
	for (p = 0; p < JOBS; p++)
		w->worker[p].known = w->worker[p].reported = -1;
}

static void
world_free(struct world *w)
{
	gv_life_free(&w->life);
	gv_arena_free(&w->arena);
	free(w->row);
}

/* ---- what comes out ---- */

static long wrong_steps;
static long starts, refusals, finishes, fails, drops, pairs_met, changes;

static void
keep_row(struct world *w, const struct gv_life_row *row)
{
	size_t *gpu = gv_arena_alloc(&w->arena, row->n_gpus + 1, sizeof(*gpu));
	struct worker *k = row->job >= 0 ? &w->worker[row->job] : NULL;
	struct gv_life_row *mine;

	w->row = gv_xgrow(w->row, &w->cap_rows, w->n_rows + 1, sizeof(*w->row));
	mine = &w->row[w->n_rows++];
	*mine = *row;
	if (row->n_gpus > 0)
		memcpy(gpu, row->gpu, row->n_gpus * sizeof(*gpu));
	mine->gpu = gpu;
	mine->reason = "";
	fails += row->kind == GV_EVENT_FAIL;
	drops += row->kind == GV_EVENT_DROP;
	finishes += row->kind == GV_EVENT_FINISH;
	pairs_met += row->kind == GV_EVENT_RESUME && row->with >= 0;
	if (k == NULL || row->kind == GV_EVENT_ARRIVE ||
	    row->kind == GV_EVENT_CHECKPOINT || isnan(row->steps))
		return;
	k->known = row->steps;
	wrong_steps += row->steps != k->reported;
}

static void
drain(struct world *w)
{
	struct gv_life_out out;

	while (gv_life_next(&w->life, &out)) {
		size_t m = (size_t)out.row.job;

		switch (out.kind) {
		case GV_LIFE_ROW:
			keep_row(w, &out.row);
			break;
		case GV_LIFE_START:
			w->worker[m].starting = true;
			starts++;
			break;
		case GV_LIFE_STOP:
		case GV_LIFE_KILL:
			w->worker[m].told = true;
			break;
		default:
			break;
		}
	}
}

/* ---- what goes in ---- */

static void
launcher(struct world *w, size_t m)
{
	struct worker *k = &w->worker[m];

	k->starting = false;
	if (uniform() < .1) {
		refusals++;
		gv_life_not_started(&w->life, m);
		return;
	}
	k->there = true;
	k->told = false;
	k->lost += k->steps - k->saved;
	k->steps = k->saved;
	gv_life_started(&w->life, m);
}

static void
report(struct world *w, size_t m, bool save)
{
	struct worker *k = &w->worker[m];

	if (save)
		k->saved = k->steps;
	k->reported = k->steps;
	gv_life_report(&w->life, m, k->steps, save ? k->saved : -1);
}

static void
train(struct world *w, size_t m)
{
	struct worker *k = &w->worker[m];
	double n = floor(30 * uniform());
	double left = w->life.job[m].spec.total_steps - k->steps;

	if (n > left)
		n = left;
	k->steps += n;
	k->work += n;
	report(w, m, uniform() < .3);
	if (uniform() < .5)
		gv_life_stepped(&w->life, m);
	if (!(left > n) && uniform() < .8) {
		k->there = false;
		gv_life_left(&w->life, m, uniform() < .9 ? 0 : 1);
	}
}

static void
leave(struct world *w, size_t m)
{
	struct worker *k = &w->worker[m];
	double u = uniform();

	k->there = false;
	if (u < .05) {
		gv_life_lost(&w->life, m, "the node is gone");
	} else if (u < .1) {
		gv_life_starved(&w->life, m, 2);
	} else if (k->told && u < .8) {
		report(w, m, true);
		gv_life_left(&w->life, m, u < .7 ? 143 : 0);
	} else {
		gv_life_left(&w->life, m, 1);
	}
}

static void
new_shares(struct world *w)
{
	struct gv_rounds *r = &w->life.rounds;
	size_t m;
	size_t j;

	for (m = 0; m < r->n_jobs; m++)
		for (j = 0; j < r->n_types; j++)
			gv_life_set_share(&w->life, m, j,
			    uniform() < .5 ? 0 : uniform() / (double)r->n_types);
	gv_life_announce(&w->life);
	/* of two changes at one moment with a plan between a journal tells the last */
	gv_life_time(&w->life, w->life.now_s + .001);
}

static void
wishes(struct world *w, size_t m)
{
	double u = uniform();

	if (u < .5)
		gv_life_hold(&w->life, m, "maintenance");
	else if (u < .95)
		gv_life_release(&w->life, m);
	else if (uniform() < .2)
		gv_life_cancel(&w->life, m);
	else if (uniform() < .5)
		gv_life_gpu_away(&w->life,
		    (size_t)((double)w->life.rounds.n_gpus * uniform()), uniform() < .5);
	else
		gv_life_pool_away(
		    &w->life, (size_t)((double)w->c.n_pools * uniform()), uniform() < .5);
}

/* More jobs are there, or none: then nothing must change. */
static void
more_jobs(struct world *w)
{
	size_t n = w->life.n_jobs;
	struct gv_life_change c = {.cluster = &w->c,
	    .n_jobs = (size_t)((double)(JOBS - n + 1) * uniform() * uniform()),
	    .spec = w->spec + n};

	gv_life_change(&w->life, &c);
	set_rates(w, &w->life, n, n + c.n_jobs);
	changes++;
}

/* Something comes in; whether it was planned with. */
static bool
input(struct world *w)
{
	bool plan;
	size_t m = (size_t)((double)w->life.n_jobs * uniform());
	struct worker *k = &w->worker[m];
	double u = uniform();

	w->inputs++;
	if (u < .35)
		gv_life_time(&w->life, w->life.now_s + 3 * uniform());
	else if (u < .40)
		new_shares(w);
	else if (u < .42)
		wishes(w, m);
	else if (u < .43)
		more_jobs(w);
	else if (k->starting)
		launcher(w, m);
	else if (k->there && uniform() < (k->told ? .5 : .03))
		leave(w, m);
	else if (k->there)
		train(w, m);
	drain(w);
	plan = uniform() < .8;
	gv_life_turn(&w->life, plan);
	drain(w);
	return plan;
}

/* ---- what must hold ---- */

/* The number of GPUs that are not as the jobs that hold them say. */
static long
gpus_wrong(const struct world *w)
{
	const struct gv_life *l = &w->life;
	const struct gv_rounds *r = &l->rounds;
	size_t held[64] = {0};
	size_t idle[64] = {0};
	long wrong = 0;
	size_t m;
	size_t i;

	for (i = 0; i < r->n_gpus; i++) {
		wrong += l->plan[i] < 0 && (l->plan[i] == GV_GPU_AWAY) != l->away[i];
		idle[r->gpu_pool[i]] += l->plan[i] == GV_GPU_IDLE;
	}
	for (i = 0; i < r->n_pools; i++)
		wrong += idle[i] != l->idle[i];
	for (m = 0; m < l->n_jobs; m++) {
		const struct gv_life_job *j = &l->job[m];

		wrong += gv_life_is_open(l, m) != (j->n_gpus > 0);
		wrong += j->n_gpus != 0 && j->n_gpus != j->spec.gang;
		for (i = 0; i < j->n_gpus; i++) {
			wrong += !gv_rounds_has(r, l->holder[j->gpu[i]], m);
			wrong += gv_rounds_type(r, j->gpu[i]) != j->type;
			held[j->gpu[i]]++;
		}
	}
	for (i = 0; i < r->n_gpus; i++)
		wrong +=
		    held[i] != (l->holder[i] < 0                                ? 0U
				   : gv_rounds_is_pair(r, (size_t)l->holder[i]) ? 2U
										: 1U);
	return wrong;
}

/* Those in wrong places of the lists of jobs, and timers that are before their parents. */
static long
lists_wrong(const struct gv_life *l)
{
	size_t n[GV_LIFE_STATES] = {0}, active = 0, i;
	long wrong = 0;

	for (i = 0; i < l->n_jobs; i++) {
		const struct gv_life_job *j = &l->job[i];

		n[j->state]++;
		if (l->rounds.job[i].active)
			wrong += active >= l->n_active || l->active[active++] != i;
		if (j->state == GV_LIFE_WAITING)
			wrong += j->waiting_at >= l->n_waiting ||
				 l->waiting[j->waiting_at] != i;
		if (gv_life_is_open(l, i) && j->state != GV_LIFE_STARTING)
			wrong += j->open_at >= l->n_open || l->open[j->open_at] != i;
	}
	for (i = 0; i < GV_LIFE_STATES; i++)
		wrong += n[i] != l->n[i];
	wrong += active != l->n_active || n[GV_LIFE_WAITING] != l->n_waiting;
	wrong +=
	    n[GV_LIFE_RUNNING] + n[GV_LIFE_STOPPING] + n[GV_LIFE_KILLING] != l->n_open;
	for (i = 1; i < l->n_timers; i++)
		wrong += l->timer[i].time_s < l->timer[(i - 1) / 2].time_s;
	return wrong;
}

/* Whether the job is to have GPUs that it has not got. */
static bool
wants_gpus(const struct gv_life *l, size_t m)
{
	const struct gv_life_job *j = &l->job[m];

	return (j->state == GV_LIFE_WAITING ||
		   (j->state == GV_LIFE_STOPPING && !j->held && !j->cancelled)) &&
	       l->rounds.job[m].ready && !gv_life_is_planned(l, m);
}

/* After planning: types with idle GPUs for a job that wants some. */
static long
idle_wrong(const struct gv_life *l)
{
	const struct gv_rounds *r = &l->rounds;
	size_t idle[TYPES] = {0}, g, m, j;
	long wrong = 0;

	for (g = 0; g < r->n_gpus; g++)
		idle[gv_rounds_type(r, g)] += l->plan[g] == GV_GPU_IDLE;
	for (m = 0; m < l->n_jobs; m++)
		for (j = 0; j < r->n_types; j++)
			wrong += idle[j] >= r->job[m].gang && wants_gpus(l, m) &&
				 gv_rounds_claim(r, m, j)->rate > 0;
	return wrong;
}

static bool
has_workers(enum gv_life_state s)
{
	return s == GV_LIFE_RUNNING || s == GV_LIFE_STOPPING || s == GV_LIFE_KILLING;
}

/* The state as a journal can tell it. */
static enum gv_life_state
as_told(const struct gv_life_job *j)
{
	if (j->state == GV_LIFE_STARTING)
		return j->held ? GV_LIFE_HELD : GV_LIFE_WAITING;
	return has_workers(j->state) ? GV_LIFE_RUNNING : j->state;
}

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* In how many ways a job differs in the machine that replayed. */
static long
job_differs(const struct world *w, const struct gv_life *got, size_t m)
{
	const struct gv_life_job *a = &w->life.job[m];
	const struct gv_life_job *b = &got->job[m];
	bool there = has_workers(a->state);
	long n = 0;
	size_t i;

	n += as_told(a) != b->state || a->held != b->held;
	n += b->steps != w->worker[m].known || a->checkpoint != b->checkpoint;
	n += a->startup_s != b->startup_s || a->stepped != b->stepped;
	n += a->launches != b->launches || a->failures != b->failures;
	n += a->failed_at != b->failed_at || a->arrived_s != b->arrived_s;
	n += there && (a->type != b->type || a->mate != b->mate);
	n += there != (b->n_gpus > 0);
	for (i = 0; there && i < b->n_gpus; i++)
		n += a->gpu[i] != b->gpu[i];
	return n;
}

static double worst_lag;

/* In how many ways the accounts differ. */
static long
claims_differ(const struct gv_life *a, const struct gv_life *b)
{
	long n = 0;
	size_t i;

	for (i = 0; i < a->rounds.n_jobs * a->rounds.n_types; i++) {
		const struct gv_round_claim *x = &a->rounds.claim[i];
		const struct gv_round_claim *y = &b->rounds.claim[i];

		n += !near(y->received_s, x->received_s);
		n += gv_rounds_is_active(&a->rounds, i / a->rounds.n_types) &&
		     !a->shares_due && x->share != y->share;
		if (gv_rounds_is_active(&a->rounds, i / a->rounds.n_types))
			worst_lag = fmax(worst_lag, fabs(x->lag_s - y->lag_s));
	}
	return n;
}

/* Replays what w has written, up to now; differences. */
static long
replay_differs(struct world *w, struct gv_life *got)
{
	struct gv_life_row now = {.job = -1, .round = -1, .kind = GV_EVENT_KINDS};
	long n = 0;
	size_t i;

	gv_life_init(got, &w->c, round_s, MAX_FAILURES);
	add_jobs(w, got, w->life.n_jobs);
	for (i = 0; i < w->n_rows; i++)
		gv_life_replay(got, &w->row[i]);
	now.time_s = w->life.now_s;
	gv_life_replay(got, &now);
	/* both count the time until now */
	gv_life_tell(&w->life, GV_EVENT_END);
	drain(w);
	w->n_rows--;
	gv_life_count(&w->life);
	gv_life_count(got);
	for (i = 0; i < w->life.n_jobs; i++)
		n += job_differs(w, got, i);
	n += claims_differ(&w->life, got);
	return n + (got->n_active != w->life.n_active);
}

/* gv-run is killed, and goes on from the journal. */
static long
kill_and_restart(struct world *w, uint64_t seed)
{
	uint64_t drawn = draws.n;
	struct gv_life got;
	long n = replay_differs(w, &got);
	size_t m;

	draws_begin(seed, 2, 0);
	draws.n = drawn;
	gv_life_restart(&got, got.now_s, got.now_s + 20 * uniform(), "killed");
	gv_life_free(&w->life);
	w->life = got;
	for (m = 0; m < JOBS; m++) {
		struct worker *k = &w->worker[m];

		k->there = k->starting = k->told = false;
		k->reported = k->known;
	}
	w->killed = true;
	drain(w);
	n += w->life.n_open != 0;
	return n;
}

/* Steps done are those that stand, and those that were lost. */
static long
steps_wrong(const struct world *w)
{
	long n = 0;
	size_t m;

	for (m = 0; m < w->life.n_jobs; m++) {
		const struct worker *k = &w->worker[m];
		const struct gv_life_job *j = &w->life.job[m];

		n += k->work != k->steps + k->lost;
		n += j->state == GV_LIFE_FINISHED &&
		     j->checkpoint < j->spec.total_steps &&
		     j->steps < j->spec.total_steps;
	}
	return n;
}

static void
test_random(void)
{
	long gpus = 0, lists = 0, idle = 0;
	long differ = 0;
	long steps = 0;
	long inputs = 0;
	long rows = 0;
	long kills = 0;
	uint64_t seed;

	for (seed = 1; seed <= WORLDS; seed++) {
		struct world w;
		struct gv_life got;
		int i;

		world_init(&w, seed, true);
		draws_begin(seed, 2, 0);
		for (i = 0; i < INPUTS; i++) {
			bool plan = input(&w);

			if (i % 10 == 0) {
				gpus += gpus_wrong(&w);
				lists += lists_wrong(&w.life);
				idle += plan ? idle_wrong(&w.life) : 0;
			}
			if (uniform() < .002) {
				differ += kill_and_restart(&w, seed);
				kills++;
			}
		}
		differ += replay_differs(&w, &got);
		steps += steps_wrong(&w);
		inputs += w.inputs;
		rows += (long)w.n_rows;
		gv_life_free(&got);
		world_free(&w);
	}
	printf("# %ld inputs, %ld rows: %ld starts, %ld refused, %ld finished, %ld "
	       "failures, "
	       "%ld dropped, %ld to a mate, %ld kills, %ld changes\n",
	    inputs, rows, starts, refusals, finishes, fails, drops, pairs_met, kills,
	    changes);
	printf("# largest difference of a lag: %.3g rounds\n", worst_lag / round_s);
	ok(inputs == 1000000, "a million inputs");
	is_int(gpus, 0, "GPUs are those of the jobs that hold them");
	is_int(lists, 0, "and jobs in the lists of their states");
	is_int(idle, 0, "no GPU idles that a job could use");
	is_int(wrong_steps, 0, "rows have the steps that were told last");
	is_int(steps, 0, "steps are conserved");
	is_int(differ, 0, "a replay of the rows gives the state");
	/* the mechanism forgets debts when shares change, also those of a held job, whose
	   shares no journal tells before it is released */
	ok(worst_lag <= 2 * round_s, "and what is owed to within two rounds");
}

/* Time goes on until the job is to be started; whether it is within round_s. */
static bool
await_start(struct gv_life *l, struct world *w, long *n_fails)
{
	double end_s = l->now_s + round_s;

	for (;;) {
		struct gv_life_out out;

		gv_life_turn(l, true);
		while (gv_life_next(l, &out)) {
			*n_fails +=
			    out.kind == GV_LIFE_ROW && out.row.kind == GV_EVENT_FAIL;
			w->worker[0].starting |= out.kind == GV_LIFE_START;
		}
		if (w->worker[0].starting)
			return l->now_s <= end_s;
		gv_life_time(l, gv_life_wakes_s(l, true));
	}
}

/* A shell that cannot fork is no failure of the job, but the 20th in a row is. */
static void
test_starved(void)
{
	struct gv_life_spec spec = {.gang = 1, .total_steps = 100};
	struct world w = {0};
	struct gv_life *l = &w.life;
	long n_fails = 0;
	long late = 0;
	int i;

	w.c = (struct gv_cluster){
	    .n_types = 1, .type = w.type, .n_pools = 1, .pool = w.pool};
	w.pool[0].gpus = w.type[0].gpus = 1;
	gv_life_init(l, &w.c, 1000 * round_s, MAX_FAILURES);
	gv_life_add(l, &spec);
	gv_rounds_claim(&l->rounds, 0, 0)->rate = 1;
	gv_life_arrive(l, 0);
	for (i = 1; i <= 2 * GV_LIFE_STARVED; i++) {
		w.worker[0].starting = false;
		late += !await_start(l, &w, &n_fails) && i <= 6;
		gv_life_started(l, 0);
		if (i == GV_LIFE_STARVED - 1)
			gv_life_report(l, 0, 10, -1); /* begins anew */
		gv_life_starved(l, 0, 2);
		if (i == 2 * GV_LIFE_STARVED - 3)
			is_int(n_fails, 0, "a starved shell is no failure");
	}
	await_start(l, &w, &n_fails);
	is_int(late, 0, "the job is tried again soon, not in the next round");
	ok(n_fails == 3, "from the 20th time without progress it is: %ld", n_fails);
	gv_life_free(l);
}

/* Whether a turn says to start job 0. */
static bool
starts_now(struct gv_life *l)
{
	struct gv_life_out out;
	bool starts_it = false;

	gv_life_turn(l, true);
	while (gv_life_next(l, &out))
		starts_it = starts_it || out.kind == GV_LIFE_START;
	return starts_it;
}

/* A node goes, then the job that was there: it has the other node's GPU at once. */
static void
test_lost(void)
{
	struct gv_life_spec spec = {.gang = 1, .total_steps = 100};
	struct world w = {0};
	struct gv_life *l = &w.life;
	size_t at;

	w.c = (struct gv_cluster){
	    .n_types = 1, .type = w.type, .n_pools = 2, .pool = w.pool};
	w.pool[0].gpus = w.pool[1].gpus = 1;
	w.type[0].gpus = 2;
	gv_life_init(l, &w.c, 1000 * round_s, MAX_FAILURES);
	gv_life_add(l, &spec);
	gv_rounds_claim(&l->rounds, 0, 0)->rate = 1;
	gv_life_arrive(l, 0);
	ok(starts_now(l), "a job starts");
	gv_life_started(l, 0);
	at = l->job[0].gpu[0];
	gv_life_pool_away(l, at, true);
	ok(!starts_now(l), "its node goes away");
	gv_life_lost(l, 0, "the node is gone");
	ok(starts_now(l) && l->job[0].gpu[0] == 1 - at, "it starts on the other at once");
	gv_life_free(l);
}

/* A node goes while a job starts there: the job was not started, and is no failure. */
static void
test_lost_start(void)
{
	struct gv_life_spec spec = {.gang = 1, .total_steps = 100};
	struct world w = {0};
	struct gv_life *l = &w.life;

	w.c = (struct gv_cluster){
	    .n_types = 1, .type = w.type, .n_pools = 1, .pool = w.pool};
	w.pool[0].gpus = w.type[0].gpus = 1;
	gv_life_init(l, &w.c, 1000 * round_s, MAX_FAILURES);
	gv_life_add(l, &spec);
	gv_rounds_claim(&l->rounds, 0, 0)->rate = 1;
	gv_life_arrive(l, 0);
	ok(starts_now(l), "a job starts");
	gv_life_lost(l, 0, "the node is gone");
	ok(l->job[0].state == GV_LIFE_WAITING && l->job[0].refusals == 1 &&
		l->job[0].failures == 0 && l->holder[0] < 0,
	    "it waits again, and its GPU is free");
	gv_life_lost(l, 0, "the node is gone");
	is_int(l->job[0].refusals, 1, "one that has no workers loses none");
	gv_life_starved(l, 0, 2);
	ok(l->job[0].starved == 0 && l->job[0].state == GV_LIFE_WAITING, "nor a shell");
	gv_life_free(l);
}

/* At the end of a run who is told to leave at once is told so once. */
static void
test_killed_once(void)
{
	struct gv_life_spec spec = {.gang = 1, .total_steps = 100};
	struct gv_life_out out;
	struct world w = {0};
	struct gv_life *l = &w.life;
	size_t m;
	int stops = 0, kills = 0;

	w.c = (struct gv_cluster){
	    .n_types = 1, .type = w.type, .n_pools = 1, .pool = w.pool};
	w.pool[0].gpus = w.type[0].gpus = 2;
	gv_life_init(l, &w.c, 1000 * round_s, MAX_FAILURES);
	for (m = 0; m < 2; m++) {
		gv_life_add(l, &spec);
		gv_rounds_claim(&l->rounds, m, 0)->rate = 1;
		gv_life_arrive(l, m);
	}
	ok(starts_now(l), "two jobs start");
	gv_life_started(l, 0);
	gv_life_started(l, 1);
	gv_life_end(l);
	gv_life_kill(l);
	gv_life_end(l);
	gv_life_kill(l);
	while (gv_life_next(l, &out)) {
		stops += out.kind == GV_LIFE_STOP;
		kills += out.kind == GV_LIFE_KILL;
	}
	ok(stops == 2 && kills == 2, "each is stopped and killed once");
	ok(l->job[0].state == GV_LIFE_KILLING && l->n[GV_LIFE_KILLING] == 2, "both are");
	gv_life_free(l);
}

/* A GPU goes away between two jobs: who was to have it next is not started there. */
static void
test_away_between(void)
{
	struct gv_life_spec spec = {.gang = 1, .total_steps = 100};
	struct world w = {0};
	struct gv_life *l = &w.life;
	size_t m;

	w.c = (struct gv_cluster){
	    .n_types = 1, .type = w.type, .n_pools = 1, .pool = w.pool};
	w.pool[0].gpus = w.type[0].gpus = 1;
	gv_life_init(l, &w.c, round_s, MAX_FAILURES);
	for (m = 0; m < 2; m++) {
		gv_life_add(l, &spec);
		gv_rounds_claim(&l->rounds, m, 0)->rate = 1;
		gv_rounds_claim(&l->rounds, m, 0)->share = .5;
	}
	gv_life_arrive(l, 1);
	starts_now(l);
	gv_life_started(l, 1);
	gv_life_arrive(l, 0);
	gv_life_time(l, 1.5 * round_s);
	starts_now(l);
	ok(l->plan[0] == 0 && gv_life_is_open(l, 1),
	    "the first is next, the second leaves");
	gv_life_gpu_away(l, 0, true);
	gv_life_left(l, 1, 128 + 15);
	ok(!starts_now(l), "its GPU went away meanwhile");
	gv_life_gpu_away(l, 0, false);
	ok(starts_now(l) && l->job[0].n_gpus == 1, "back, it has the first");
	gv_life_free(l);
}

/* ---- journals that somebody has changed ---- */

/* One row of a journal says something else: of another job, mate, type, GPUs, or share. */
static void
spoil(struct world *w, struct gv_life_row *row)
{
	size_t n = below(4), i;
	size_t *gpu = gv_arena_alloc(&w->arena, n + 1, sizeof(*gpu));

	switch (below(5)) {
	case 0:
		row->job = (ptrdiff_t)below(JOBS + 1) - 1;
		break;
	case 1:
		row->with = (ptrdiff_t)below(JOBS + 1) - 1;
		break;
	case 2:
		row->type = (ptrdiff_t)below(w->c.n_types + 1) - 1;
		break;
	case 3:
		for (i = 0; i < n; i++)
			gpu[i] = below(w->life.rounds.n_gpus + 2);
		row->gpu = gpu;
		row->n_gpus = n;
		break;
	default:
		row->kind = below(2) == 0 ? GV_EVENT_RESUME : GV_EVENT_ALLOCATE;
		row->share = uniform();
	}
}

/* GPUs that not just those hold that say so; a job has all GPUs of its gang, of its type. */
static long
holders_wrong(const struct gv_life *l)
{
	const struct gv_rounds *r = &l->rounds;
	size_t held[64] = {0};
	long wrong = 0;
	size_t m, i;

	for (m = 0; m < l->n_jobs; m++) {
		const struct gv_life_job *j = &l->job[m];

		wrong += j->n_gpus != 0 && j->n_gpus != j->spec.gang;
		wrong += j->mate >= 0 && j->mate == (ptrdiff_t)m;
		for (i = 0; i < j->n_gpus; i++) {
			wrong += j->gpu[i] >= r->n_gpus ||
				 !gv_rounds_has(r, l->holder[j->gpu[i]], m);
			wrong += gv_rounds_type(r, j->gpu[i]) != j->type;
			held[j->gpu[i]]++;
		}
	}
	for (i = 0; i < r->n_gpus; i++)
		wrong +=
		    held[i] != (l->holder[i] < 0                                ? 0U
				   : gv_rounds_is_pair(r, (size_t)l->holder[i]) ? 2U
										: 1U);
	return wrong;
}

/*
 * What a changed journal says is done as far as it can be: GPUs stay with those that have
 * them, shares are of jobs and pairs that there are, and life goes on from there.
 */
static void
test_spoilt(void)
{
	long wrong = 0, after = 0, changed = 0;
	uint64_t seed;

	for (seed = 1; seed <= 300; seed++) {
		struct world w, n;
		struct gv_life *l = &n.life;
		size_t i;

		world_init(&w, seed, false);
		world_init(&n, seed, false);
		draws_begin(seed, 3, 0);
		for (i = 0; i < 300; i++)
			input(&w);
		for (i = 0; i < w.n_rows; i++) {
			if (uniform() < .1) {
				spoil(&w, &w.row[i]);
				changed++;
			}
			gv_life_replay(l, &w.row[i]);
			wrong += holders_wrong(l);
		}
		gv_life_restart(l, l->now_s, l->now_s + 5, "killed");
		drain(&n);
		for (i = 0; i < 100; i++) {
			input(&n);
			after += gpus_wrong(&n);
		}
		world_free(&w);
		world_free(&n);
	}
	ok(changed > 1000, "%ld rows of journals were changed", changed);
	is_int(wrong, 0, "GPUs have one holder, whatever a journal says");
	is_int(after, 0, "and life goes on");
	wrong_steps = 0; /* workers there know nothing of what was changed */
}

int
main(void)
{
	test_starved();
	test_lost();
	test_lost_start();
	test_killed_once();
	test_away_between();
	test_spoilt();
	test_random();
	return done_testing();
}
