/* What comes in: the life of a job, transition by transition. */
#include "sched/life/life.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "sched/life/core.h"

/* ---- time ---- */

static void
timer_due(struct gv_life *l, const struct gv_life_timer *t)
{
	struct gv_life_job *j;

	if (t->job == SIZE_MAX) { /* launches may be tried again */
		l->startable = true;
		return;
	}
	j = &l->job[t->job];
	if (j->state == GV_LIFE_LATER) {
		gv_life_arrive(l, t->job);
	} else if (!l->rounds.job[t->job].ready && j->retry_s <= l->now_s) {
		l->rounds.job[t->job].ready = true;
		l->fill = true;
	}
}

void
gv_life_time(struct gv_life *l, double now_s)
{
	if (now_s > l->now_s)
		l->now_s = now_s;
	while (l->n_timers > 0 && l->timer[0].time_s <= l->now_s && !l->ending) {
		struct gv_life_timer t = l->timer[0];

		gv_life_timer_drop_first(l);
		timer_due(l, &t);
	}
}

/* ---- arrival ---- */

/* Why a job that gv_rounds_possible refuses can never run. */
static const char *
why_never(const struct gv_life *l, size_t m)
{
	size_t j;

	for (j = 0; j < l->rounds.n_types; j++)
		if (gv_rounds_claim(&l->rounds, m, j)->rate > 0)
			return "no GPU type it runs on has as many GPUs as it needs";
	return "it has no rate above 0 on a GPU type of the cluster";
}

void
gv_life_arrive(struct gv_life *l, size_t m)
{
	if (l->job[m].state != GV_LIFE_LATER)
		return;
	gv_life_write(l, GV_EVENT_ARRIVE, m, "");
	if (!gv_rounds_possible(&l->rounds, m))
		gv_life_write(l, GV_EVENT_DROP, m, why_never(l, m));
}

/* ---- starting ---- */

void
gv_life_started(struct gv_life *l, size_t m)
{
	struct gv_life_job *j = &l->job[m];
	struct gv_life_row row;
	ptrdiff_t mate;

	if (j->state != GV_LIFE_STARTING)
		return;
	l->refusals = 0;
	row = gv_life_row_of(
	    l, j->launches == 0 ? GV_EVENT_START : GV_EVENT_RESUME, (ptrdiff_t)m, "");
	mate = gv_life_mate(l, l->holder, m, j->gpu[0]);
	if (mate >= 0 && l->job[mate].state != GV_LIFE_STARTING)
		row.with = mate;
	gv_life_emit(l, &row);
	if (j->unwanted || l->ending) {
		gv_life_stop(l, m);
		l->fill = true; /* it may have GPUs that idle */
	}
}

/* 1/4, 1/2, 1, 2, ... s, a round at most. */
static double
refusal_wait_s(const struct gv_life *l, int refusals)
{
	return fmin(ldexp(.25, refusals < 60 ? refusals - 1 : 60), l->rounds.round_s);
}

static bool
is_done(const struct gv_life *l, size_t m)
{
	return l->job[m].state == GV_LIFE_FINISHED || l->job[m].state == GV_LIFE_DROPPED;
}

/* What waits until a job without workers has left its last state. */
static void
left_over(struct gv_life *l, size_t m)
{
	if (l->job[m].cancelled && !is_done(l, m))
		gv_life_write(l, GV_EVENT_DROP, m, "cancelled");
}

/* A job without workers, and all launches, wait: there is not enough of something. */
static void
wait_for_better(struct gv_life *l, size_t m, int times)
{
	struct gv_life_job *j = &l->job[m];

	j->retry_s = l->now_s + refusal_wait_s(l, times);
	l->rounds.job[m].ready = false;
	gv_life_timer_add(l, j->retry_s, m);
	l->pause_s = l->now_s + refusal_wait_s(l, ++l->refusals);
	gv_life_timer_add(l, l->pause_s, SIZE_MAX);
	l->fill = true;
}

void
gv_life_not_started(struct gv_life *l, size_t m)
{
	struct gv_life_job *j = &l->job[m];

	if (j->state != GV_LIFE_STARTING)
		return;
	gv_life_account(l);
	gv_life_free_gpus(l, m);
	gv_life_unplan(l, m);
	gv_life_enter(l, m, j->held ? GV_LIFE_HELD : GV_LIFE_WAITING);
	wait_for_better(l, m, ++j->refusals);
	left_over(l, m);
}

/* ---- running ---- */

void
gv_life_report(struct gv_life *l, size_t m, double steps, double checkpoint)
{
	struct gv_life_job *j = &l->job[m];
	struct gv_life_row row;

	if (j->state == GV_LIFE_FINISHED || j->state == GV_LIFE_DROPPED)
		return;
	if (steps >= 0)
		j->steps = steps;
	if (!(checkpoint >= 0) || checkpoint == j->checkpoint)
		return;
	row = gv_life_row_of(l, GV_EVENT_CHECKPOINT, (ptrdiff_t)m, "");
	row.steps = checkpoint;
	gv_life_emit(l, &row);
}

void
gv_life_stepped(struct gv_life *l, size_t m)
{
	const struct gv_life_job *j = &l->job[m];

	if (gv_life_is_open(l, m) && j->state != GV_LIFE_STARTING && !j->stepped)
		gv_life_write(l, GV_EVENT_FIRST_STEP, m, "");
}

static void
fail(struct gv_life *l, size_t m, const char *reason)
{
	const struct gv_life_job *j = &l->job[m];
	struct gv_strbuf why = {0};

	gv_life_write(l, GV_EVENT_FAIL, m, reason);
	if (j->failures >= l->max_failures) {
		gv_strbuf_fmt(&why,
		    "%d failure%s in a row without progress, the last: %s", j->failures,
		    j->failures == 1 ? "" : "s", reason);
		if (j->spec.see != NULL)
			gv_strbuf_fmt(&why, "; see %s", j->spec.see);
		gv_life_write(l, GV_EVENT_DROP, m, why.s);
	}
	gv_strbuf_free(&why);
}

void
gv_life_left(struct gv_life *l, size_t m, int status)
{
	const struct gv_life_job *j = &l->job[m];
	bool told = j->state == GV_LIFE_STOPPING || j->state == GV_LIFE_KILLING;
	bool all_safe = j->checkpoint >= j->spec.total_steps;
	bool all_done = status == 0 && !(told && j->steps < j->spec.total_steps);
	char reason[64];

	if (!told && j->state != GV_LIFE_RUNNING)
		return;
	snprintf(reason, sizeof(reason), "status %d%s", status,
	    told ? " when told to stop" : "");
	if (all_done || all_safe)
		gv_life_write(l, GV_EVENT_FINISH, m, status == 0 ? "" : reason);
	else if (told && (status == 0 || status == 143))
		gv_life_write(l, GV_EVENT_PREEMPT, m, "");
	else if (told &&
		 l->ending) /* it may have been killed: that is not held against it */
		gv_life_write(l, GV_EVENT_PREEMPT, m, reason);
	else
		fail(l, m, reason);
	left_over(l, m);
}

void
gv_life_starved(struct gv_life *l, size_t m, int status)
{
	struct gv_life_job *j = &l->job[m];

	if (j->state == GV_LIFE_STARTING || !gv_life_is_open(l, m))
		return;
	if (j->starved == 0 || j->steps > j->starved_at) {
		j->starved = 0;
		j->starved_at = j->steps;
	}
	if (++j->starved >= GV_LIFE_STARVED) {
		gv_life_left(l, m, status);
		return;
	}
	gv_life_write(l, GV_EVENT_PREEMPT, m, "its shell cannot fork");
	if (!is_done(l, m)) {
		gv_life_unplan(l, m); /* its GPUs are others' while it waits */
		wait_for_better(l, m, j->starved);
	}
	left_over(l, m);
}

void
gv_life_finish(struct gv_life *l, size_t m)
{
	if (!gv_life_is_open(l, m) && !is_done(l, m))
		gv_life_write(l, GV_EVENT_FINISH, m, "");
}

/* Nobody heard how it left; what it had saved last may have been all. */
static void
lose(struct gv_life *l, size_t m, const char *reason)
{
	bool all_safe = l->job[m].checkpoint >= l->job[m].spec.total_steps;

	gv_life_write(l, all_safe ? GV_EVENT_FINISH : GV_EVENT_PREEMPT, m, reason);
}

void
gv_life_lost(struct gv_life *l, size_t m, const char *reason)
{
	if (!gv_life_is_open(l, m))
		return;
	if (l->job[m].state == GV_LIFE_STARTING) {
		gv_life_not_started(l, m);
		return;
	}
	lose(l, m, reason);
	l->fill = true;
	left_over(l, m);
}

/* ---- what the user wants ---- */

void
gv_life_hold(struct gv_life *l, size_t m, const char *reason)
{
	if (l->job[m].held || is_done(l, m))
		return;
	gv_life_write(l, GV_EVENT_HOLD, m, reason);
	gv_life_stop(l, m);
}

void
gv_life_release(struct gv_life *l, size_t m)
{
	if (l->job[m].held && !is_done(l, m))
		gv_life_write(l, GV_EVENT_RELEASE, m, "");
}

void
gv_life_cancel(struct gv_life *l, size_t m)
{
	if (is_done(l, m))
		return;
	l->job[m].cancelled = true;
	gv_life_stop(l, m);
	if (!gv_life_is_open(l, m))
		left_over(l, m);
}

/* Nobody is planned there who has not begun. */
static void
leave(struct gv_life *l, size_t g)
{
	size_t i;

	for (i = 0; l->plan[g] >= 0 && i < 2; i++) {
		size_t m = l->rounds.job[l->plan[g]].member[i];

		if (!gv_life_is_open(l, m))
			gv_life_unplan(l, m);
	}
}

void
gv_life_gpu_away(struct gv_life *l, size_t gpu, bool away)
{
	size_t *idle = &l->idle[l->rounds.gpu_pool[gpu]];

	if (l->away[gpu] == away)
		return;
	l->n_away += away ? 1 : (size_t)-1;
	l->away[gpu] = away;
	l->fill = true;
	gv_life_ask(l);
	if (away)
		leave(l, gpu);
	if (away && l->plan[gpu] == GV_GPU_IDLE) {
		l->plan[gpu] = GV_GPU_AWAY;
		--*idle;
	} else if (!away && l->plan[gpu] == GV_GPU_AWAY) {
		l->plan[gpu] = GV_GPU_IDLE;
		++*idle;
	}
}

void
gv_life_pool_away(struct gv_life *l, size_t pool, bool away)
{
	const struct gv_round_pool *p = &l->rounds.pool[pool];
	size_t g;

	for (g = p->first; g < p->first + p->gpus; g++)
		gv_life_gpu_away(l, g, away);
}

size_t
gv_life_available(const struct gv_life *l, size_t type)
{
	size_t gpus = 0;
	size_t g;

	for (g = 0; g < l->rounds.n_gpus; g++)
		gpus += gv_rounds_type(&l->rounds, g) == type && !l->away[g];
	return gpus;
}

void
gv_life_end(struct gv_life *l)
{
	size_t i;

	l->ending = true;
	for (i = 0; i < l->n_active; i++)
		gv_life_stop(l, l->active[i]);
}

void
gv_life_kill(struct gv_life *l)
{
	size_t i;

	for (i = 0; i < l->n_open; i++) {
		size_t m = l->open[i];

		if (l->job[m].state == GV_LIFE_KILLING)
			continue;
		gv_life_put(l, GV_LIFE_KILL, (ptrdiff_t)m);
		gv_life_enter(l, m, GV_LIFE_KILLING);
	}
}

/* ---- the run ---- */

void
gv_life_tell_pool(struct gv_life *l, size_t p)
{
	const struct gv_round_pool *pool = &l->rounds.pool[p];
	struct gv_life_row row = gv_life_row_of(l, GV_EVENT_POOL, -1, "");
	size_t g;

	row.round = -1;
	row.type = (ptrdiff_t)pool->type;
	row.pool = p;
	row.gpu = l->gpus;
	for (g = pool->first; g < pool->first + pool->gpus; g++)
		if (!l->away[g])
			l->gpus[row.n_gpus++] = g;
	gv_life_emit(l, &row);
}

void
gv_life_tell_pools(struct gv_life *l)
{
	size_t p;

	for (p = 0; p < l->rounds.n_pools; p++)
		if (l->rounds.pool[p].gpus > 0)
			gv_life_tell_pool(l, p);
}

void
gv_life_tell(struct gv_life *l, enum gv_event_kind kind)
{
	struct gv_life_row row = gv_life_row_of(l, kind, -1, "");

	gv_life_emit(l, &row);
}

void
gv_life_restart(struct gv_life *l, double alive_s, double now_s, const char *reason)
{
	l->now_s = fmax(l->now_s, alive_s);
	gv_life_account(l);
	while (l->n_open > 0) {
		/* in order of numbers, so that the same journal gives the same rows */
		size_t first = l->open[0];
		size_t i;

		for (i = 1; i < l->n_open; i++)
			if (l->open[i] < first)
				first = l->open[i];
		lose(l, first, reason);
	}
	l->now_s = fmax(l->now_s, now_s);
	gv_rounds_pause(&l->rounds, l->now_s);
	l->round_end_s = l->now_s;
	gv_life_tell(l, GV_EVENT_RESTART);
}
