/*
 * common/sched/life: whole lives of drawn jobs on drawn GPUs, with all that may come in at
 * any time, also what makes no sense then; every row, every launch and the state that is
 * reached, rows as events and back, and what a replay of them comes to.
 */
#include "life_draws.h"

enum { WORLDS = 1500, INPUTS = 120, PER_ANSWER = 15 };

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

/* Shells that cannot go on, one launch after another; hardly ever there is progress. */
static void
starve(struct world *w)
{
	struct gv_life *l = &w->l;
	size_t m = below(l->n_jobs);

	if (l->job[m].state == GV_LIFE_STARTING)
		gv_life_started(l, m);
	else if (one_in(40))
		gv_life_report(l, m, draw_steps(l, m), -1);
	else
		gv_life_starved(l, m, draw_status());
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

/* GPUs of a row: others, the same in another order, or one of them twice. */
static void
spoil_gpus(struct world *w, struct gv_life_row *row)
{
	size_t n = row->n_gpus > 0 && !one_in(4) ? row->n_gpus : below(4), i;
	size_t *gpu = gv_arena_alloc(&w->arena, n + 1, sizeof *gpu), how = below(4);

	for (i = 0; i < n; i++)
		gpu[i] = how == 0 || n != row->n_gpus ? below(w->l.rounds.n_gpus + 2)
			 : how == 1                   ? row->gpu[n - 1 - i]
						      : row->gpu[(i + 1) % n];
	if (how == 2 && n > 1)
		gpu[n / 2] = gpu[below(n)];
	if (how == 3 && n > 1)
		gpu[n - 1] = gpu[0];
	row->gpu = gpu;
	row->n_gpus = n;
}

/* A row says something else than was written. */
static void
spoil_row(struct world *w, struct gv_life_row *row)
{
	switch (below(6)) {
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
	case 4:
		spoil_gpus(w, row);
		break;
	default:
		row->kind = one_in(2) ? GV_EVENT_RESUME : GV_EVENT_ALLOCATE;
		row->share = uniform();
	}
}

/* What the rows come to that were written. */
static void
replay(struct world *w, struct recorded *rec, struct gv_life *back)
{
	size_t spoilt = one_in(3) ? 0 : 1 + below(10), i;

	begin_life(w, back, w->l.n_jobs);
	gv_life_take_shares(back, &w->table);
	for (i = 0; i < w->n_rows; i++) {
		struct gv_life_row row = w->row[i];

		if (spoilt > 0 && one_in(spoilt))
			spoil_row(w, &row);
		gv_life_replay(back, &row);
		recorded_owners(rec, back->holder, back->rounds.n_gpus);
	}
	recorded_life(rec, back);
}

/* A life that goes on after a replay. */
static void
restart(struct world *w, struct recorded *rec)
{
	struct gv_life back;
	double alive_s;

	replay(w, rec, &back);
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
	else if (w->starving)
		starve(w);
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
	drain(w, rec);
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
	for (i = 0; !w->other && i < 3; i++) {
		struct gv_life back;

		replay(w, rec, &back);
		gv_life_free(&back);
	}
}

int
main(void)
{
	struct recorded rec;
	size_t i;

	recorded_open(&rec);
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
