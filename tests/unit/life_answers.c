/*
 * common/sched/life: whole lives of drawn jobs on drawn GPUs, with all that may come in at
 * any time, also what makes no sense then; every row, every launch and the state that is
 * reached, rows as events and back, and what a replay of them comes to.
 */
#include "sched_draws.h"

#include "base/mem.h"
#include "sched/life/core.h"
#include "sched/life/events.h"

enum { WORLDS = 1500, INPUTS = 120, PER_ANSWER = 15, MOST_JOBS = 70, MOST_RATES = 900 };

struct world {
	struct drawn d;
	struct gv_life l;
	struct gv_life_spec spec[MOST_JOBS];
	struct gv_job job[MOST_JOBS];
	char id[MOST_JOBS][24];
	int gpu_id[DRAWN_POOLS][64]; /* of pools that say which */
	size_t n_jobs;               /* of spec, in the life or not yet */
	struct gv_rates table;
	struct gv_rate rate[MOST_RATES];
	struct gv_life_names names;
	size_t n_rows, cap_rows;
	struct gv_life_row *row; /* since the life began or was on other GPUs */
	struct gv_arena arena;   /* their GPUs and texts */
	bool other;              /* it has been on other GPUs */
	bool ending;
};

/* ---- a world ---- */

static double
draw_total(void)
{
	switch (below(4)) {
	case 0:
		return NAN;
	case 1:
		return 10;
	case 2:
		return (double)below(100);
	default:
		return 100 * uniform();
	}
}

static void
draw_jobs(struct world *w, size_t from)
{
	static const char *const entity[] = {"", "x", "team y"};
	size_t m;

	for (m = from; m < w->n_jobs; m++) {
		const char *of = entity[below(3)];
		struct gv_life_spec *spec = &w->spec[m];

		*spec = (struct gv_life_spec){.gang = draw_gang(&w->d)};
		spec->total_steps = draw_total();
		spec->arrival_s = one_in(8)   ? HUGE_VAL
				  : one_in(2) ? 0
					      : (double)below(40) * .5;
		spec->see = one_in(3) ? "a log" : NULL;
		snprintf(w->id[m], sizeof w->id[m], "j%zu", m);
		w->job[m] = (struct gv_job){.id = {w->id[m], strlen(w->id[m])},
		    .entity = {of, strlen(of)},
		    .scale_factor = (int64_t)w->spec[m].gang};
	}
}

static void
add_rate(struct world *w, size_t m, ptrdiff_t with, size_t type)
{
	struct gv_rate *rate = &w->rate[w->table.n_rates];

	if (w->table.n_rates == MOST_RATES)
		return;
	w->table.n_rates++;
	*rate = (struct gv_rate){.job = m, .type = (ptrdiff_t)type, .with = with};
	if (one_in(20))
		rate->type = -1;
	rate->steps_per_s = draw_rate(&w->d);
	if (with >= 0)
		rate->with_steps_per_s = draw_rate(&w->d);
	if (!one_in(3))
		rate->share = draw_share(&w->d);
}

/* Of the jobs that the life has: each on types, and pairs, in whichever order. */
static void
draw_table(struct world *w, bool pairs)
{
	size_t n = w->l.n_jobs, m, j, k;

	w->table = (struct gv_rates){.job = w->job, .rate = w->rate, .n_jobs = n};
	for (m = 0; m < n; m++)
		for (j = 0; j < w->d.c.n_types; j++)
			if (!one_in(8))
				add_rate(w, m, -1, j);
	for (k = 0; pairs && n > 1 && k < 2 * n; k++) {
		size_t a = below(n), b = one_in(2) ? (a + 1) % n : below(n);

		if (a != b && w->spec[a].gang == w->spec[b].gang)
			for (j = 0; j < w->d.c.n_types; j++)
				add_rate(w, a, (ptrdiff_t)b, j);
	}
}

/* Ids of their own for some pools. */
static void
draw_ids(struct world *w)
{
	size_t p, i;

	for (p = 0; p < w->d.c.n_pools; p++) {
		struct gv_pool *pool = &w->d.pool[p];

		pool->first_id = below(3);
		pool->id = NULL;
		if (!one_in(3) || pool->gpus > 64)
			continue;
		for (i = 0; i < pool->gpus; i++)
			w->gpu_id[p][i] = (int)(3 * i + below(3));
		pool->id = w->gpu_id[p];
	}
}

static void
new_names(struct world *w)
{
	gv_life_names_free(&w->names);
	gv_life_names_init(&w->names, &w->d.c, w->job, w->n_jobs);
}

static void
begin_life(const struct world *w, struct gv_life *l, size_t n_jobs)
{
	double round_s = one_in(2) ? 8 : 1 + (double)below(3);
	size_t m;

	gv_life_init(l, &w->d.c, round_s, 1 + (int)below(4));
	l->rounds.order = one_in(3) ? GV_ROUND_GAVEL : GV_ROUND_OWED;
	l->rounds.strict = one_in(4);
	for (m = 0; m < n_jobs; m++)
		gv_life_add(l, &w->spec[m]);
}

static void
world_init(struct world *w)
{
	memset(w, 0, sizeof *w);
	draw_cluster(&w->d);
	draw_ids(w);
	w->n_jobs = 1 + below(one_in(4) ? 50 : 12);
	draw_jobs(w, 0);
	begin_life(w, &w->l, w->n_jobs);
	draw_table(w, one_in(2));
	gv_life_take_shares(&w->l, &w->table);
	new_names(w);
}

static void
world_free(struct world *w)
{
	gv_life_free(&w->l);
	gv_life_names_free(&w->names);
	gv_arena_free(&w->arena);
	free(w->row);
}

/* ---- what comes out ---- */

static void
recorded_cell(struct recorded *rec, struct gv_cell c)
{
	recorded_whole(rec, (long long)c.len);
	if (c.len > 0)
		recorded_bytes(rec, c.s, c.len);
}

static void
recorded_row(struct recorded *rec, const struct gv_life_row *row)
{
	recorded_double(rec, row->time_s);
	recorded_whole(rec, row->kind);
	recorded_whole(rec, row->job);
	recorded_whole(rec, row->with);
	recorded_whole(rec, row->type);
	recorded_whole(rec, (long long)row->pool);
	recorded_whole(rec, (long long)row->n_gpus);
	recorded_wholes(rec, row->gpu, row->n_gpus);
	recorded_double(rec, row->steps);
	recorded_whole(rec, row->round);
	recorded_double(rec, row->share);
	recorded_text(rec, row->reason);
}

/* As it is read from the table, where somebody may have written something else. */
static void
read_event(struct gv_event *ev)
{
	static const char *const odd[] = {"j1", "j99", "", "0;1", "0;;1", "x", "n1;n2;n1",
	    "n2", "a", "1;1",
	    "0;1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24"};
	struct gv_cell *cell[] = {
	    &ev->job_id, &ev->gpu_type, &ev->node, &ev->gpus, &ev->with_job_id};
	const char *s = odd[below(sizeof odd / sizeof *odd)];
	size_t i;

	for (i = 0; i < 5; i++)
		if (cell[i]->s == NULL)
			cell[i]->s = "";
	if (one_in(4))
		*cell[below(5)] = (struct gv_cell){s, strlen(s)};
}

/* A row as the event of the table, and back. */
static void
recorded_event(struct recorded *rec, struct world *w, const struct gv_life_row *row)
{
	size_t *gpu = gv_xcalloc(w->l.rounds.n_gpus + 1, sizeof *gpu);
	struct gv_strbuf gpus = {0};
	struct gv_life_row back;
	struct gv_event ev;

	gv_life_event(&w->names, &w->l, row, &gpus, &ev);
	recorded_double(rec, ev.time_s);
	recorded_whole(rec, ev.kind);
	recorded_cell(rec, ev.job_id);
	recorded_cell(rec, ev.gpu_type);
	recorded_cell(rec, ev.node);
	recorded_cell(rec, ev.gpus);
	recorded_double(rec, ev.steps);
	recorded_whole(rec, ev.round);
	recorded_double(rec, ev.share);
	recorded_cell(rec, ev.reason);
	recorded_cell(rec, ev.with_job_id);
	read_event(&ev);
	gv_life_row(&w->names, &w->l, &ev, gpu, &back);
	recorded_row(rec, &back);
	gv_strbuf_free(&gpus);
	free(gpu);
}

static void
keep_row(struct world *w, const struct gv_life_row *row)
{
	size_t *gpu = gv_arena_alloc(&w->arena, row->n_gpus + 1, sizeof *gpu);

	w->row = gv_xgrow(w->row, &w->cap_rows, w->n_rows + 1, sizeof *w->row);
	w->row[w->n_rows] = *row;
	if (row->n_gpus > 0)
		memcpy(gpu, row->gpu, row->n_gpus * sizeof *gpu);
	w->row[w->n_rows].gpu = gpu;
	w->row[w->n_rows++].reason = "";
}

static void
drain(struct world *w, struct recorded *rec)
{
	struct gv_life_out out;

	while (gv_life_next(&w->l, &out)) {
		recorded_whole(rec, out.kind);
		recorded_row(rec, &out.row);
		if (out.kind != GV_LIFE_ROW)
			continue;
		keep_row(w, &out.row);
		if (one_in(4))
			recorded_event(rec, w, &out.row);
	}
}

static void
recorded_job(struct recorded *rec, const struct gv_life *l, size_t m)
{
	const struct gv_life_job *j = &l->job[m];

	recorded_whole(rec, j->state);
	recorded_double(rec, j->arrived_s);
	recorded_double(rec, j->steps);
	recorded_double(rec, j->checkpoint);
	recorded_whole(rec, j->launches);
	recorded_double(rec, j->launched_s);
	recorded_double(rec, j->launched_at);
	recorded_whole(
	    rec, j->stepped + 2 * j->measured + 4 * j->held + 8 * j->cancelled);
	recorded_double(rec, j->startup_s);
	recorded_whole(rec, j->failures);
	recorded_double(rec, j->failed_at);
	recorded_double(rec, j->retry_s);
	recorded_whole(rec, j->refusals);
	recorded_whole(rec, j->starved);
	recorded_double(rec, j->starved_at);
	recorded_whole(rec, (long long)j->type);
	recorded_whole(rec, j->mate);
	recorded_wholes(rec, j->gpu, j->n_gpus);
	recorded_whole(rec, j->as);
	recorded_whole(rec, gv_life_is_open(l, m) + 2 * gv_life_is_planned(l, m));
	if (j->n_gpus > 0 && l->holder[j->gpu[0]] >= 0)
		recorded_double(rec, gv_life_rate(l, m));
}

static void
recorded_life(struct recorded *rec, const struct gv_life *l)
{
	size_t i;

	recorded_double(rec, l->now_s);
	recorded_whole(rec, l->round);
	recorded_double(rec, l->round_end_s);
	recorded_double(rec, gv_life_wakes_s(l, true));
	recorded_double(rec, gv_life_wakes_s(l, false));
	recorded_whole(rec, gv_life_done(l) + 2 * gv_life_any_open(l));
	recorded_wholes(rec, l->n, GV_LIFE_STATES);
	recorded_owners(rec, l->holder, l->rounds.n_gpus);
	recorded_owners(rec, l->plan, l->rounds.n_gpus);
	recorded_wholes(rec, l->active, l->n_active);
	recorded_wholes(rec, l->open, l->n_open);
	recorded_wholes(rec, l->waiting, l->n_waiting);
	recorded_wholes(rec, l->idle, l->rounds.n_pools);
	recorded_doubles(rec, l->told, l->n_told);
	recorded_whole(rec, (long long)l->n_away);
	recorded_whole(rec, l->refusals);
	recorded_double(rec, l->pause_s);
	for (i = 0; i < l->n_timers; i++) {
		recorded_double(rec, l->timer[i].time_s);
		recorded_whole(rec, (long long)l->timer[i].job);
	}
	for (i = 0; i < l->rounds.n_types; i++)
		recorded_whole(rec, (long long)gv_life_available(l, i));
	for (i = 0; i < l->n_jobs; i++)
		recorded_job(rec, l, i);
	recorded_claims(rec, &l->rounds);
}

/* ---- what comes in ---- */

/* A job in this state, if there is one; else any. */
static size_t
one_of(const struct gv_life *l, enum gv_life_state state)
{
	size_t from = below(l->n_jobs), i;

	for (i = 0; i < l->n_jobs; i++)
		if (l->job[(from + i) % l->n_jobs].state == state)
			return (from + i) % l->n_jobs;
	return from;
}

static double
draw_steps(const struct gv_life *l, size_t m)
{
	const struct gv_life_job *j = &l->job[m];

	switch (below(6)) {
	case 0:
		return -1;
	case 1:
		return j->spec.total_steps;
	case 2:
		return j->steps;
	default:
		return fmax(0, j->steps) + (double)below(12);
	}
}

static int
draw_status(void)
{
	static const int status[] = {0, 0, 0, 143, 143, 1, 137, 2};

	return status[below(sizeof status / sizeof *status)];
}

/* What launchers and workers say. */
static void
worker_input(struct world *w)
{
	struct gv_life *l = &w->l;
	size_t starting = one_of(l, GV_LIFE_STARTING);
	size_t running = one_of(l, one_in(3) ? GV_LIFE_STOPPING : GV_LIFE_RUNNING);
	double steps = draw_steps(l, running);

	switch (below(14)) {
	case 0:
		gv_life_not_started(l, starting);
		break;
	case 1:
	case 2:
	case 3:
	case 4:
	case 5:
		gv_life_started(l, starting);
		break;
	case 6:
	case 7:
		gv_life_report(l, running, steps, draw_steps(l, running));
		break;
	case 8:
	case 9:
		gv_life_stepped(l, running);
		break;
	case 10:
	case 11:
		gv_life_left(l, running, draw_status());
		break;
	case 12:
		gv_life_starved(l, running, draw_status());
		break;
	default:
		gv_life_lost(l, one_in(4) ? starting : running, "the node is gone");
	}
}

/* What users, nodes and the run say, of any job, whatever it does. */
static void
other_input(struct world *w)
{
	struct gv_life *l = &w->l;
	size_t m = below(l->n_jobs);
	bool away = one_in(2);

	switch (below(12)) {
	case 0:
	case 1:
		gv_life_hold(l, m, "maintenance");
		break;
	case 2:
	case 3:
		gv_life_release(l, one_in(3) ? m : one_of(l, GV_LIFE_HELD));
		break;
	case 4:
		if (one_in(3))
			gv_life_cancel(l, m);
		break;
	case 5:
	case 6:
		if (l->rounds.n_gpus > 0)
			gv_life_gpu_away(l, below(l->rounds.n_gpus), away);
		break;
	case 7:
		gv_life_pool_away(l, below(l->rounds.n_pools), away);
		break;
	case 8:
		gv_life_tell_pool(l, below(l->rounds.n_pools));
		break;
	case 9:
		gv_life_arrive(l, m);
		break;
	case 10:
		if (one_in(3))
			gv_life_finish(l, m);
		break;
	default:
		gv_life_left(l, m, draw_status());
	}
}

static void
new_shares(struct world *w)
{
	struct gv_rounds *r = &w->l.rounds;
	size_t m, j;

	if (one_in(3)) {
		draw_table(w, one_in(2));
		gv_life_take_shares(&w->l, &w->table);
	}
	for (m = 0; m < r->n_jobs; m++)
		for (j = 0; j < r->n_types; j++)
			if (one_in(3))
				gv_life_set_share(&w->l, m, j, draw_share(&w->d));
	if (one_in(2))
		gv_life_renew(&w->l);
	if (one_in(2))
		gv_life_announce(&w->l);
}

/* Time until something is due, a while, or none. */
static void
pass(struct world *w)
{
	struct gv_life *l = &w->l;
	double wakes_s = gv_life_wakes_s(l, one_in(2));

	switch (below(5)) {
	case 0:
		gv_life_time(l, l->now_s - 1);
		break;
	case 1:
	case 2:
		gv_life_time(l, wakes_s < HUGE_VAL ? wakes_s : l->now_s + 1);
		break;
	default:
		gv_life_time(l, l->now_s + 4 * uniform());
	}
}

/* ---- other GPUs and more jobs ---- */

/* Whether somebody has it, or shall have it. */
static bool
is_used(const struct gv_life *l, size_t g)
{
	return l->holder[g] >= 0 || l->plan[g] >= 0;
}

/*
 * The GPUs of pools that go on: all, or only those in use; a pool more before or behind
 * them; and types in another order, or one more.
 */
static void
draw_change(struct world *w, struct gv_life_change *c, ptrdiff_t *type, ptrdiff_t *gpu)
{
	const struct gv_rounds *r = &w->l.rounds;
	size_t turn = below(r->n_types), n_types = r->n_types, first = 0, p, g, j;
	struct drawn old = w->d;
	bool before = one_in(3) && old.c.n_pools < DRAWN_POOLS;
	struct gv_pool new = {.type = below(n_types), .gpus = 1, .node = "n9"};

	new.gpus += below(3);
	n_types += one_in(3) && n_types < DRAWN_TYPES;
	for (j = 0; j < n_types; j++)
		w->d.type[j] = (struct gv_gpu_type){.name = old.type[j].name};
	for (j = 0; j < r->n_types; j++) {
		type[j] = (ptrdiff_t)((j + turn) % r->n_types);
		w->d.type[type[j]].name = old.type[j].name;
	}
	if (n_types > r->n_types)
		w->d.type[r->n_types].name = "new";
	w->d.c.n_types = n_types;
	w->d.c.n_pools = 0;
	if (before) {
		w->d.pool[w->d.c.n_pools++] = new;
		first = new.gpus;
	}
	for (p = 0; p < old.c.n_pools; p++) {
		struct gv_pool pool = old.pool[p];
		bool all = !one_in(3);

		pool.type = (size_t)type[pool.type];
		pool.gpus = 0;
		pool.id = NULL;
		for (g = r->pool[p].first; g < r->pool[p].first + r->pool[p].gpus; g++) {
			bool stays = all || is_used(&w->l, g);

			gpu[g] = stays ? (ptrdiff_t)(first + pool.gpus) : -1;
			pool.gpus += stays;
		}
		first += pool.gpus;
		w->d.pool[w->d.c.n_pools++] = pool;
	}
	if (!before && one_in(3) && w->d.c.n_pools < DRAWN_POOLS)
		w->d.pool[w->d.c.n_pools++] = new;
	for (p = 0, w->d.n_gpus = 0; p < w->d.c.n_pools; p++) {
		w->d.type[w->d.pool[p].type].gpus += w->d.pool[p].gpus;
		w->d.n_gpus += w->d.pool[p].gpus;
	}
	c->type = type;
	c->gpu = gpu;
}

static void
change_life(struct world *w)
{
	ptrdiff_t type[DRAWN_TYPES];
	ptrdiff_t *gpu = gv_xcalloc(w->l.rounds.n_gpus + 1, sizeof *gpu);
	size_t from = w->l.n_jobs;
	struct gv_life_change c = {.cluster = &w->d.c, .spec = w->spec + from};

	if (one_in(2)) {
		draw_change(w, &c, type, gpu);
		w->other = true;
	}
	c.n_jobs = below(4);
	if (from + c.n_jobs > MOST_JOBS)
		c.n_jobs = 0;
	w->n_jobs = from + c.n_jobs;
	draw_jobs(w, from);
	gv_life_change(&w->l, &c);
	draw_table(w, w->l.rounds.pairs.n > 0 && one_in(2));
	gv_life_take_shares(&w->l, &w->table);
	new_names(w);
	free(gpu);
}

/* ---- back from rows ---- */

/* A row says something else than was written. */
static void
spoil_row(struct world *w, struct gv_life_row *row)
{
	size_t n = row->n_gpus > 0 && one_in(2) ? row->n_gpus : below(4), i;
	size_t *gpu = gv_arena_alloc(&w->arena, n + 1, sizeof *gpu);

	switch (below(5)) {
	case 0:
		row->job = (ptrdiff_t)below(w->l.n_jobs + 1) - 1;
		break;
	case 1:
		row->with = (ptrdiff_t)below(w->l.n_jobs + 1) - 1;
		break;
	case 2:
		row->type = (ptrdiff_t)below(w->d.c.n_types + 1) - 1;
		break;
	case 3:
		for (i = 0; i < n; i++)
			gpu[i] = below(w->l.rounds.n_gpus + 2);
		row->gpu = gpu;
		row->n_gpus = n;
		break;
	default:
		row->kind = one_in(2) ? GV_EVENT_RESUME : GV_EVENT_ALLOCATE;
		row->share = uniform();
	}
}

/* A life that goes on after a replay of what was written. */
static void
restart(struct world *w, struct recorded *rec)
{
	bool spoilt = one_in(3);
	struct gv_life back;
	double alive_s;
	size_t i;

	begin_life(w, &back, w->l.n_jobs);
	gv_life_take_shares(&back, &w->table);
	for (i = 0; i < w->n_rows; i++) {
		struct gv_life_row row = w->row[i];

		if (spoilt && one_in(10))
			spoil_row(w, &row);
		gv_life_replay(&back, &row);
	}
	recorded_life(rec, &back);
	gv_life_free(&w->l);
	w->l = back;
	alive_s = w->l.now_s + (double)below(3) - 1;
	gv_life_restart(&w->l, alive_s, w->l.now_s + (double)below(4), "killed");
	w->ending = false;
}

/* ---- a life ---- */

static void
input(struct world *w, struct recorded *rec)
{
	double u = uniform();

	if (u < .3)
		pass(w);
	else if (u < .36)
		new_shares(w);
	else if (u < .48)
		other_input(w);
	else if (u < .49)
		change_life(w);
	else if (u < .493 && !w->other)
		restart(w, rec);
	else
		worker_input(w);
	drain(w, rec);
	gv_life_turn(&w->l, !one_in(5));
	drain(w, rec);
}

static void
end(struct world *w)
{
	if (one_in(3))
		gv_life_kill(&w->l);
	gv_life_end(&w->l);
	if (one_in(2))
		gv_life_kill(&w->l);
	w->ending = true;
}

static void
live(struct world *w, struct recorded *rec)
{
	size_t i;

	if (one_in(2))
		gv_life_tell_pools(&w->l);
	for (i = 0; i < INPUTS; i++) {
		input(w, rec);
		if (i % 10 == 0)
			recorded_life(rec, &w->l);
		if (i == INPUTS - 20 && one_in(2))
			end(w);
	}
	gv_life_count(&w->l);
	gv_life_tell(&w->l, GV_EVENT_END);
	drain(w, rec);
	recorded_life(rec, &w->l);
}

int
main(void)
{
	struct recorded rec;
	size_t i;

	recorded_open(&rec, "life_answers");
	for (i = 0; i < WORLDS; i++) {
		struct world w;

		draws_begin(i, 41, 0);
		world_init(&w);
		live(&w, &rec);
		world_free(&w);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(&rec, "lives to %zu", i);
	}
	recorded_close(&rec);
	return done_testing();
}
