/* What jobs do: they start, get on, end, save themselves. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim_parts.h"

/* ---- who is due when ---- */

static bool
earlier(const struct sim_due *a, const struct sim_due *b)
{
	return a->time_s != b->time_s ? a->time_s < b->time_s : a->job < b->job;
}

static void
heap_add(struct sim *s, const struct sim_due *due)
{
	size_t i = s->n_due;

	s->due = gv_xgrow(s->due, &s->cap_due, ++s->n_due, sizeof(*s->due));
	for (; i > 0 && earlier(due, &s->due[(i - 1) / 2]); i = (i - 1) / 2)
		s->due[i] = s->due[(i - 1) / 2];
	s->due[i] = *due;
}

static void
heap_drop_first(struct sim *s)
{
	struct sim_due last = s->due[--s->n_due];
	size_t i = 0;
	size_t next;

	while ((next = 2 * i + 1) < s->n_due) {
		if (next + 1 < s->n_due && earlier(&s->due[next + 1], &s->due[next]))
			next++;
		if (!earlier(&s->due[next], &last))
			break;
		s->due[i] = s->due[next];
		i = next;
	}
	s->due[i] = last;
}

double
sim_due_s(struct sim *s)
{
	while (s->n_due > 0 && s->due[0].stamp != s->job[s->due[0].job].stamp)
		heap_drop_first(s);
	return s->n_due > 0 ? s->due[0].time_s : HUGE_VAL;
}

static void
set_due(struct sim *s, size_t m, double time_s)
{
	struct sim_due due = {time_s, m, ++s->job[m].stamp};

	s->job[m].due_s = time_s;
	if (time_s < HUGE_VAL)
		heap_add(s, &due);
}

/* ---- how far they are ---- */

double
sim_steps(const struct sim *s, size_t m)
{
	const struct sim_job *j = &s->job[m];

	return j->steps + j->rate * fmax(0, s->life.now_s - j->from_s);
}

/* Its last checkpoint by now, if that is one of the present rate. */
static void
keep_checkpoint(struct sim *s, size_t m)
{
	struct sim_job *j = &s->job[m];
	double every_s = s->o->checkpoint_s;
	double last_s;

	if (!(every_s > 0) || !(j->rate > 0))
		return;
	last_s = j->launch_s + floor((s->life.now_s - j->launch_s) / every_s) * every_s;
	if (last_s >= j->from_s)
		j->safe = j->steps + j->rate * (last_s - j->from_s);
}

/* From now on it gets on at a rate; 0 = not at all. */
static void
set_rate(struct sim *s, size_t m, double rate)
{
	struct sim_job *j = &s->job[m];
	double left;

	keep_checkpoint(s, m);
	j->steps = sim_steps(s, m);
	j->from_s = fmax(j->from_s, s->life.now_s);
	j->rate = rate;
	left = fmax(0, s->life.job[m].spec.total_steps - j->steps);
	set_due(s, m, rate > 0 ? fmin(j->from_s + left / rate, j->fails_s) : HUGE_VAL);
}

/* Who is beside m on its GPUs, launched; -1 = nobody. */
static ptrdiff_t
mate_of(const struct sim *s, size_t m)
{
	ptrdiff_t mate = gv_life_mate(&s->life, s->life.holder, m, s->life.job[m].gpu[0]);

	return mate >= 0 && s->job[mate].there ? mate : -1;
}

/* Its speed is another one since somebody came to its GPUs, or left them. */
static void
change_rate(struct sim *s, ptrdiff_t mate)
{
	if (mate >= 0 && s->life.job[mate].state == GV_LIFE_RUNNING)
		set_rate(s, (size_t)mate, gv_life_rate(&s->life, (size_t)mate));
}

/* ---- coming and going ---- */

static void
start(struct sim *s, size_t m)
{
	struct sim_job *j = &s->job[m];
	double now_s = s->life.now_s;
	ptrdiff_t mate;

	gv_life_started(&s->life, m);
	mate = mate_of(s, m);
	if (mate < 0)
		sim_busy(s, m, true);
	j->there = true;
	if (isnan(j->start_s))
		j->start_s = now_s;
	j->launches++;
	j->held_s = now_s;
	j->from_s = j->launch_s = now_s + s->o->load_s;
	j->safe = j->steps;
	j->fails_s = sim_job_fails_s(s, m);
	set_rate(s, m, gv_life_rate(&s->life, m));
	change_rate(s, mate);
}

/* Its workers are gone: the life is told how by the caller.  Who was beside it. */
static ptrdiff_t
let_go(struct sim *s, size_t m)
{
	struct sim_job *j = &s->job[m];
	double now_s = s->life.now_s;
	ptrdiff_t mate = mate_of(s, m);

	j->running_s += now_s - j->held_s;
	j->gpu_s += (now_s - j->held_s) * (double)s->life.job[m].spec.gang;
	if (mate < 0)
		sim_busy(s, m, false);
	j->there = false;
	gv_life_report(&s->life, m, j->steps, -1);
	return mate;
}

/* Its workers leave: done, or as they were told to. */
static void
leave(struct sim *s, size_t m, bool done)
{
	ptrdiff_t mate;

	if (done)
		s->job[m].steps = s->life.job[m].spec.total_steps;
	mate = let_go(s, m);
	gv_life_left(&s->life, m, done ? 0 : 143);
	change_rate(s, mate);
}

/* The time of this launch that went into loading. */
static double
loading_s(const struct sim *s, size_t m)
{
	return fmin(s->o->load_s, s->life.now_s - s->job[m].held_s);
}

static void
finish(struct sim *s, size_t m)
{
	s->job[m].finish_s = s->job[m].due_s;
	set_due(s, m, HUGE_VAL);
	s->job[m].loading_s += loading_s(s, m);
	s->job[m].rate = 0;
	leave(s, m, true);
}

/* It fails by itself, and loses what it has done since it was safe. */
static void
fail(struct sim *s, size_t m)
{
	struct sim_job *j = &s->job[m];
	ptrdiff_t mate;

	j->loading_s += loading_s(s, m);
	j->failures++;
	s->job_failures++;
	set_rate(s, m, 0);
	mate = let_go(s, m); /* it has told of what is lost now, as a real one */
	j->lost += j->steps - j->safe;
	j->steps = j->safe;
	gv_life_left(&s->life, m, 1);
	gv_life_report(&s->life, m, j->steps, -1);
	change_rate(s, mate);
}

/* It is told to stop, and saves itself. */
static void
stop(struct sim *s, size_t m)
{
	struct sim_job *j = &s->job[m];

	j->loading_s += loading_s(s, m) + s->o->save_s;
	j->preemptions++;
	set_rate(s, m, 0);
	if (s->o->save_s > 0)
		set_due(s, m, s->life.now_s + s->o->save_s);
	else
		leave(s, m, false);
}

static void
tell(struct sim *s, const struct gv_life_row *row)
{
	size_t m = (size_t)row->job;

	if (row->kind == GV_EVENT_ARRIVE && s->o->ask_first && s->ask != NULL) {
		s->job[m].unasked = true;
		s->life.rounds.job[m].ready = false;
	}
	if (row->kind == GV_EVENT_FINISH || row->kind == GV_EVENT_DROP)
		s->left -= m >= s->o->first && m < s->o->last;
	if (s->row != NULL)
		s->row(s->ctx, s, row);
}

void
sim_obey(struct sim *s)
{
	struct gv_life_out out;

	while (gv_life_next(&s->life, &out)) {
		switch (out.kind) {
		case GV_LIFE_ROW:
			tell(s, &out.row);
			break;
		case GV_LIFE_START:
			start(s, (size_t)out.row.job);
			break;
		case GV_LIFE_STOP:
		case GV_LIFE_KILL:
			stop(s, (size_t)out.row.job);
			break;
		case GV_LIFE_ASK:
			s->asks = true;
			break;
		default:
			break;
		}
	}
}

/* Whether a job that is due has failed before its work was done. */
static bool
fails_first(const struct sim *s, size_t m)
{
	const struct sim_job *j = &s->job[m];
	double left = fmax(0, s->life.job[m].spec.total_steps - j->steps);

	return j->fails_s < j->from_s + left / j->rate;
}

void
sim_come_due(struct sim *s)
{
	while (sim_due_s(s) <= s->life.now_s) {
		size_t m = s->due[0].job;

		heap_drop_first(s);
		if (s->life.job[m].state == GV_LIFE_RUNNING && fails_first(s, m)) {
			fail(s, m);
		} else if (s->life.job[m].state == GV_LIFE_RUNNING) {
			finish(s, m);
		} else {
			set_due(s, m, HUGE_VAL);
			leave(s, m, false);
		}
	}
}

/* ---- GPUs that go and come ---- */

/* Its GPUs are gone, and with them what it has done since it was safe. */
static void
lose(struct sim *s, size_t m)
{
	struct sim_job *j = &s->job[m];
	bool saves = s->life.job[m].state == GV_LIFE_STOPPING;
	ptrdiff_t mate;

	if (!saves)
		j->loading_s += loading_s(s, m);
	set_rate(s, m, 0); /* it is due no more */
	j->lost += j->steps - j->safe;
	j->steps = j->safe;
	mate = let_go(s, m);
	gv_life_lost(&s->life, m, "its GPUs are gone");
	change_rate(s, mate);
}

void
sim_set_away(struct sim *s, size_t pool, unsigned why, bool away)
{
	const struct gv_round_pool *p = &s->life.rounds.pool[pool];
	unsigned before = s->away_why[pool];
	unsigned after = away ? before | why : before & ~why;
	size_t g;

	s->away_why[pool] = after;
	if ((before != 0) == (after != 0))
		return;
	sim_count(s);
	s->type[p->type].gpus += away ? -(double)p->gpus : (double)p->gpus;
	gv_life_pool_away(&s->life, pool, away);
	for (g = p->first; away && g < p->first + p->gpus; g++)
		while (s->life.holder[g] >= 0)
			lose(s, s->life.rounds.job[s->life.holder[g]].member[0]);
}
