/* Drawn lives for tests/unit/life_answers.c, and what is told of them. */
#ifndef LIFE_DRAWS_H
#define LIFE_DRAWS_H

#include "base/mem.h"
#include "sched/life/core.h"
#include "sched/life/events.h"
#include "recorded_frame.h"
#include "sched_draws.h"

enum { MOST_JOBS = 70, MOST_RATES = 900 };

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
	bool starving;
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
	w->starving = one_in(12);
	w->n_jobs = 1 + below(w->starving ? 2 : one_in(4) ? 50 : 12);
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

#endif
