/* The state of jobs: lists, GPUs, accounts of time, timers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sorted.h"
#include "sched/life/core.h"

void
gv_life_init(
    struct gv_life *l, const struct gv_cluster *c, double round_s, int max_failures)
{
	size_t g;

	*l = (struct gv_life){.round = -1, .max_failures = max_failures};
	gv_rounds_init(&l->rounds, c, round_s);
	l->holder = gv_xcalloc(l->rounds.n_gpus + 1, sizeof(*l->holder));
	l->plan = gv_xcalloc(l->rounds.n_gpus + 1, sizeof(*l->plan));
	l->away = gv_xcalloc(l->rounds.n_gpus + 1, sizeof(*l->away));
	l->next_planned = gv_xcalloc(l->rounds.n_gpus + 1, sizeof(*l->next_planned));
	l->gpus = gv_xcalloc(l->rounds.n_gpus + 1, sizeof(*l->gpus));
	l->idle = gv_xcalloc(l->rounds.n_pools + 1, sizeof(*l->idle));
	for (g = 0; g < l->rounds.n_gpus; g++)
		l->holder[g] = l->plan[g] = GV_GPU_IDLE;
	gv_life_link(l);
}

void
gv_life_free(struct gv_life *l)
{
	size_t m;

	for (m = 0; l->job != NULL && m < l->rounds.n_jobs && m < l->cap_jobs; m++)
		free(l->job[m].gpu);
	free(l->job);
	free(l->holder);
	free(l->plan);
	free(l->away);
	free(l->planned);
	free(l->next_planned);
	free(l->idle);
	free(l->gpus);
	free(l->waiting);
	free(l->due);
	free(l->touched);
	free(l->active);
	free(l->open);
	free(l->told);
	free(l->timer);
	free(l->out);
	free(l->out_gpus);
	gv_strbuf_free(&l->out_text);
	gv_rounds_free(&l->rounds);
	*l = (struct gv_life){0};
}

size_t
gv_life_add(struct gv_life *l, const struct gv_life_spec *spec)
{
	size_t before = l->cap_jobs;
	size_t m = gv_rounds_add(&l->rounds, spec->gang);

	/* by the number in rounds; what stands for a pair there is empty here */
	l->job = gv_xgrow(l->job, &l->cap_jobs, m + 1, sizeof(*l->job));
	if (l->cap_jobs > before)
		memset(l->job + before, 0, (l->cap_jobs - before) * sizeof(*l->job));
	gv_life_begin_job(l, m, spec);
	return m;
}

void
gv_life_begin_job(struct gv_life *l, size_t m, const struct gv_life_spec *spec)
{
	l->job[m] = (struct gv_life_job){.spec = *spec,
	    .steps = -1,
	    .checkpoint = -1,
	    .failed_at = -1,
	    .mate = -1,
	    .as = -1};
	l->n_jobs++;
	l->n[GV_LIFE_LATER]++;
	if (spec->arrival_s < HUGE_VAL)
		gv_life_timer_add(l, spec->arrival_s, m);
}

/* ---- lists ---- */

static bool
has_workers(enum gv_life_state state)
{
	return state == GV_LIFE_RUNNING || state == GV_LIFE_STOPPING ||
	       state == GV_LIFE_KILLING;
}

/* What it was promised accrues.  A launch under way stands in no journal: held is held. */
static bool
is_active(const struct gv_life_job *j)
{
	return j->state == GV_LIFE_WAITING ||
	       (j->state == GV_LIFE_STARTING && !j->held) || has_workers(j->state);
}

static void
set_active(struct gv_life *l, size_t m, bool active)
{
	size_t i = gv_sorted_place(l->active, l->n_active, m);

	gv_rounds_set_active(&l->rounds, m, active);
	if (active) {
		l->active = gv_xgrow(
		    l->active, &l->cap_active, l->n_active + 1, sizeof(*l->active));
		gv_sorted_insert(l->active, &l->n_active, i, m);
		gv_life_share_due(l, m);
	} else {
		gv_sorted_remove(l->active, &l->n_active, i);
	}
}

static void
set_waiting(struct gv_life *l, size_t m, bool waiting)
{
	if (waiting) {
		l->waiting = gv_xgrow(
		    l->waiting, &l->cap_waiting, l->n_waiting + 1, sizeof(*l->waiting));
		l->job[m].waiting_at = l->n_waiting;
		l->waiting[l->n_waiting++] = m;
	} else {
		size_t last = l->waiting[--l->n_waiting];

		l->waiting[l->job[m].waiting_at] = last;
		l->job[last].waiting_at = l->job[m].waiting_at;
	}
}

static void
set_open(struct gv_life *l, size_t m, bool open)
{
	if (open) {
		l->open =
		    gv_xgrow(l->open, &l->cap_open, l->n_open + 1, sizeof(*l->open));
		l->job[m].open_at = l->n_open;
		l->open[l->n_open++] = m;
	} else {
		size_t last = l->open[--l->n_open];

		l->open[l->job[m].open_at] = last;
		l->job[last].open_at = l->job[m].open_at;
	}
}

/* What a job runs as: itself, or its pair while the other one is there, too. */
static size_t
runs_as(const struct gv_life *l, size_t m)
{
	ptrdiff_t mate = l->job[m].mate;
	ptrdiff_t pair = -1;

	if (mate >= 0 && has_workers(l->job[mate].state) &&
	    l->job[mate].mate == (ptrdiff_t)m)
		pair = gv_rounds_find_pair(&l->rounds, m, (size_t)mate);
	return pair >= 0 ? (size_t)pair : m;
}

/* The time of GPUs is its own or its pair's from now on, or nobody's. */
static void
count_as(struct gv_life *l, size_t m)
{
	struct gv_life_job *j = &l->job[m];
	ptrdiff_t as = has_workers(j->state) ? (ptrdiff_t)runs_as(l, m) : -1;

	if (as != j->as && j->as >= 0)
		gv_rounds_set_held(&l->rounds, (size_t)j->as, -1);
	j->as = as;
	if (as >= 0)
		gv_rounds_set_held(&l->rounds, (size_t)as,
		    (ptrdiff_t)l->job[l->rounds.job[as].member[0]].type);
}

void
gv_life_enter(struct gv_life *l, size_t m, enum gv_life_state state)
{
	struct gv_life_job *j = &l->job[m];
	enum gv_life_state before = j->state;

	l->n[before]--;
	l->n[state]++;
	j->state = state;
	if (l->rounds.job[m].active != is_active(j)) {
		set_active(l, m, is_active(j));
		gv_life_changed(l);
	}
	if (has_workers(before) != has_workers(state))
		set_open(l, m, has_workers(state));
	if ((before == GV_LIFE_WAITING) != (state == GV_LIFE_WAITING))
		set_waiting(l, m, state == GV_LIFE_WAITING);
	count_as(l, m);
	if (j->mate >= 0)
		count_as(l, (size_t)j->mate);
}

void
gv_life_share_due(struct gv_life *l, size_t m)
{
	ptrdiff_t pair = l->rounds.job[m].pairs;
	bool is_pair = gv_rounds_is_pair(&l->rounds, m);

	l->shares_due = true;
	if (l->n_due > 0 && l->due[l->n_due - 1] == m)
		return;
	l->due = gv_xgrow(l->due, &l->cap_due, l->n_due + 1, sizeof(*l->due));
	l->due[l->n_due++] = m;
	while (!is_pair && pair >= 0) {
		const struct gv_round_job *p = &l->rounds.job[pair];

		gv_life_share_due(l, (size_t)pair);
		pair = p->next[p->member[1] == m];
	}
}

void
gv_life_ask(struct gv_life *l)
{
	if (!l->asked && !l->replaying)
		gv_life_put(l, GV_LIFE_ASK, -1);
	l->asked = !l->replaying;
}

void
gv_life_changed(struct gv_life *l)
{
	/* Gavel's accounts begin anew with new shares only */
	l->settle_due |= l->rounds.order == GV_ROUND_OWED;
	l->fill = true;
	gv_life_ask(l);
}

void
gv_life_stop(struct gv_life *l, size_t m)
{
	if (l->job[m].state == GV_LIFE_STARTING) {
		l->job[m].unwanted = true;
	} else if (l->job[m].state == GV_LIFE_RUNNING) {
		gv_life_put(l, GV_LIFE_STOP, (ptrdiff_t)m);
		gv_life_enter(l, m, GV_LIFE_STOPPING);
	}
}

/* ---- GPUs ---- */

void
gv_life_take_gpus(struct gv_life *l, size_t m, const size_t *gpu, size_t n)
{
	struct gv_life_job *j = &l->job[m];
	size_t i;

	j->gpu = gv_xcalloc(n + 1, sizeof(*gpu));
	j->n_gpus = n;
	for (i = 0; i < n; i++) {
		j->gpu[i] = gpu[i];
		l->holder[gpu[i]] = gv_rounds_join(&l->rounds, l->holder[gpu[i]], m);
	}
}

void
gv_life_free_gpus(struct gv_life *l, size_t m)
{
	struct gv_life_job *j = &l->job[m];
	size_t i;

	for (i = 0; i < j->n_gpus; i++)
		l->holder[j->gpu[i]] =
		    gv_rounds_leave(&l->rounds, l->holder[j->gpu[i]], m);
	gv_life_touch(l, m);
	free(j->gpu);
	j->gpu = NULL;
	j->n_gpus = 0;
}

ptrdiff_t
gv_life_mate(const struct gv_life *l, const ptrdiff_t *owner, size_t m, size_t gpu)
{
	ptrdiff_t mate = gv_rounds_leave(&l->rounds, owner[gpu], m);

	return mate >= 0 ? mate : -1;
}

double
gv_life_rate(const struct gv_life *l, size_t m)
{
	size_t as = (size_t)l->holder[l->job[m].gpu[0]];
	const struct gv_round_claim *c = gv_rounds_claim(&l->rounds, as, l->job[m].type);

	return l->rounds.job[as].member[0] == m ? c->rate : c->with_rate;
}

/* ---- accounts ---- */

void
gv_life_settle(struct gv_life *l)
{
	if (l->settle_due)
		gv_rounds_settle(&l->rounds);
	l->settle_due = false;
}

void
gv_life_account(struct gv_life *l)
{
	if (!(l->now_s > l->rounds.now_s))
		return;
	gv_life_settle(l);
	gv_rounds_at(&l->rounds, l->now_s);
}

void
gv_life_count(struct gv_life *l)
{
	gv_life_account(l);
	gv_life_settle(l);
	gv_rounds_count(&l->rounds);
}

double *
gv_life_told(struct gv_life *l, size_t m, size_t type)
{
	size_t n = l->rounds.n_jobs * l->rounds.n_types;

	l->told = gv_xgrow(l->told, &l->cap_told, n + 1, sizeof(*l->told));
	while (l->n_told < n)
		l->told[l->n_told++] = 0;
	return &l->told[m * l->rounds.n_types + type];
}

/* ---- timers: a heap, the earliest first ---- */

static bool
earlier(const struct gv_life_timer *a, const struct gv_life_timer *b)
{
	return a->time_s != b->time_s ? a->time_s < b->time_s : a->job < b->job;
}

void
gv_life_timer_add(struct gv_life *l, double time_s, size_t m)
{
	struct gv_life_timer t = {time_s, m};
	size_t i = l->n_timers;

	l->timer = gv_xgrow(l->timer, &l->cap_timers, ++l->n_timers, sizeof(*l->timer));
	for (; i > 0 && earlier(&t, &l->timer[(i - 1) / 2]); i = (i - 1) / 2)
		l->timer[i] = l->timer[(i - 1) / 2];
	l->timer[i] = t;
}

void
gv_life_timer_drop_first(struct gv_life *l)
{
	struct gv_life_timer last = l->timer[--l->n_timers];
	size_t i = 0;
	size_t next;

	while ((next = 2 * i + 1) < l->n_timers) {
		if (next + 1 < l->n_timers &&
		    earlier(&l->timer[next + 1], &l->timer[next]))
			next++;
		if (!earlier(&l->timer[next], &last))
			break;
		l->timer[i] = l->timer[next];
		i = next;
	}
	l->timer[i] = last;
}

/* ---- asked ---- */

bool
gv_life_is_open(const struct gv_life *l, size_t m)
{
	return l->job[m].state == GV_LIFE_STARTING || has_workers(l->job[m].state);
}

bool
gv_life_any_open(const struct gv_life *l)
{
	return l->n_open + l->n[GV_LIFE_STARTING] > 0;
}

bool
gv_life_done(const struct gv_life *l)
{
	return l->n[GV_LIFE_FINISHED] + l->n[GV_LIFE_DROPPED] == l->n_jobs;
}
