/* Rows of the journal, applied: when they are made and when they are replayed. */
#include <math.h>

#include "sched/life/core.h"

/* Failed: is it to be tried at once, or after a wait?  1, 2, 4, ... s, a round at most. */
static void
count_failure(struct gv_life *l, size_t m)
{
	struct gv_life_job *j = &l->job[m];
	double got = fmax(j->steps, j->checkpoint);

	j->failures = got > j->failed_at ? 1 : j->failures + 1;
	j->failed_at = fmax(got, j->failed_at);
	l->fill = true;
	if (j->failures == 1)
		return;
	j->retry_s = l->now_s + fmin(ldexp(1, j->failures < 60 ? j->failures - 2 : 60),
				    l->rounds.round_s);
	l->rounds.job[m].ready = false;
	gv_life_unplan(l, m);
	gv_life_timer_add(l, j->retry_s, m);
}

/* A job without workers, and not at its end. */
static void
wait_again(struct gv_life *l, size_t m)
{
	bool away = gv_life_planned_away(l, m);

	if (l->job[m].held || away)
		gv_life_unplan(l, m);
	l->fill |= away; /* it may be planned elsewhere */
	gv_life_enter(l, m, l->job[m].held ? GV_LIFE_HELD : GV_LIFE_WAITING);
}

static void
leave_for_good(struct gv_life *l, size_t m, enum gv_life_state state)
{
	gv_life_free_gpus(l, m);
	gv_life_enter(l, m, state);
	gv_life_unplan(l, m);
	gv_life_changed(l);
}

/* Whether a job may have the GPUs of a row: they exist, once each, and are free or its mate's. */
static bool
may_take(const struct gv_life *l, const struct gv_life_row *row)
{
	size_t i, k;

	for (i = 0; i < row->n_gpus; i++) {
		ptrdiff_t there;

		if (row->gpu[i] >= l->rounds.n_gpus)
			return false;
		if (i > 0 && row->gpu[i] <= row->gpu[i - 1]) /* they mostly ascend */
			for (k = 0; k < i; k++)
				if (row->gpu[k] == row->gpu[i])
					return false;
		there = l->holder[row->gpu[i]];
		if (gv_rounds_type(&l->rounds, row->gpu[i]) != (size_t)row->type ||
		    (there != GV_GPU_IDLE && there != row->with))
			return false;
	}
	return row->n_gpus == l->job[row->job].spec.gang &&
	       (row->with < 0 || gv_rounds_find_pair(&l->rounds, (size_t)row->job,
				     (size_t)row->with) >= 0);
}

/* Steps that were done before it was looked at again took time, too. */
static void
apply_first_step(struct gv_life_job *j, double time_s, double rate)
{
	double more = fmax(0, j->steps - fmax(0, j->launched_at) - 1);

	j->startup_s =
	    fmax(0, time_s - j->launched_s - (rate > 0 && more > 0 ? more / rate : 0));
	j->stepped = j->measured = true;
}

static void
apply_start(struct gv_life *l, const struct gv_life_row *row)
{
	size_t m = (size_t)row->job;
	struct gv_life_job *j = &l->job[m];
	ptrdiff_t before = j->mate;
	ptrdiff_t with = row->with == row->job ? -1 : row->with;

	j->launches++;
	j->launched_s = row->time_s;
	j->launched_at = j->steps;
	j->stepped = false;
	j->refusals = 0;
	if (before >= 0 && l->job[before].mate == row->job)
		l->job[before].mate = -1;
	j->mate = with;
	if (with >= 0)
		l->job[with].mate = row->job;
	if (row->type < 0)
		return;
	if (j->n_gpus == 0) {
		j->type = (size_t)row->type;
		if (may_take(l, row))
			gv_life_take_gpus(l, m, row->gpu, row->n_gpus);
	}
	gv_life_enter(l, m, GV_LIFE_RUNNING);
}

static void
apply_share(struct gv_life *l, const struct gv_life_row *row)
{
	ptrdiff_t m = row->job;

	if (row->with >= 0)
		m = gv_rounds_find_pair(&l->rounds, (size_t)row->job, (size_t)row->with);
	if (m < 0 || row->type < 0)
		return;
	gv_rounds_set_share(&l->rounds, (size_t)m, (size_t)row->type, row->share);
	*gv_life_told(l, (size_t)m, (size_t)row->type) = row->share;
	l->settle_due = true;
}

static void
apply_to_job(struct gv_life *l, const struct gv_life_row *row)
{
	size_t m = (size_t)row->job;
	struct gv_life_job *j = &l->job[m];

	if (j->state == GV_LIFE_FINISHED || j->state == GV_LIFE_DROPPED)
		return;
	if (row->kind != GV_EVENT_ARRIVE && row->kind != GV_EVENT_CHECKPOINT &&
	    !isnan(row->steps))
		j->steps = row->steps;
	switch (row->kind) {
	case GV_EVENT_ARRIVE:
		j->arrived_s = row->time_s;
		if (j->state == GV_LIFE_LATER)
			wait_again(l, m);
		break;
	case GV_EVENT_ALLOCATE:
		apply_share(l, row);
		break;
	case GV_EVENT_START:
	case GV_EVENT_RESUME:
		apply_start(l, row);
		break;
	case GV_EVENT_CHECKPOINT:
		j->checkpoint = row->steps;
		break;
	case GV_EVENT_FIRST_STEP:
		apply_first_step(j, row->time_s,
		    row->type < 0
			? 0
			: gv_rounds_claim(&l->rounds, m, (size_t)row->type)->rate);
		break;
	case GV_EVENT_HOLD:
	case GV_EVENT_RELEASE:
		j->held = row->kind == GV_EVENT_HOLD;
		if (j->state == GV_LIFE_WAITING || j->state == GV_LIFE_HELD)
			wait_again(l, m);
		else
			gv_life_enter(l, m, j->state);
		break;
	case GV_EVENT_PREEMPT:
	case GV_EVENT_FAIL:
		gv_life_free_gpus(l, m);
		wait_again(l, m);
		if (row->kind == GV_EVENT_FAIL)
			count_failure(l, m);
		break;
	case GV_EVENT_FINISH:
	case GV_EVENT_DROP:
		leave_for_good(l, m,
		    row->kind == GV_EVENT_FINISH ? GV_LIFE_FINISHED : GV_LIFE_DROPPED);
		break;
	default:
		break;
	}
}

void
gv_life_emit(struct gv_life *l, const struct gv_life_row *row)
{
	struct gv_life_out out = {GV_LIFE_ROW, *row};

	gv_life_account(l);
	gv_life_queue(l, &out);
	if (row->job >= 0)
		apply_to_job(l, row);
}

void
gv_life_write(struct gv_life *l, enum gv_event_kind kind, size_t m, const char *reason)
{
	struct gv_life_row row = gv_life_row_of(l, kind, (ptrdiff_t)m, reason);

	gv_life_emit(l, &row);
}

void
gv_life_replay(struct gv_life *l, const struct gv_life_row *row)
{
	l->replaying = true;
	if (row->time_s > l->now_s)
		l->now_s = row->time_s;
	gv_life_account(l);
	if (row->round > l->round)
		l->round = row->round;
	if (row->job >= 0)
		apply_to_job(l, row);
	l->replaying = false;
}
