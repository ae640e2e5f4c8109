/* Who shall have which GPUs, and who starts on those that are free. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/life/core.h"

/* ---- shares are told when they change ---- */

static void
announce_job(struct gv_life *l, size_t m)
{
	const size_t *member = l->rounds.job[m].member;
	size_t j;

	for (j = 0; j < l->rounds.n_types; j++) {
		double share = gv_rounds_claim(&l->rounds, m, j)->share;
		struct gv_life_row row;

		if (*gv_life_told(l, m, j) == share)
			continue;
		row = gv_life_row_of(l, GV_EVENT_ALLOCATE, -1, "");
		row.job = (ptrdiff_t)member[0];
		row.with = member[0] != member[1] ? (ptrdiff_t)member[1] : -1;
		row.type = (ptrdiff_t)j;
		row.share = share;
		gv_life_emit(l, &row);
	}
}

static int
by_number(const void *a, const void *b)
{
	const size_t *x = a;
	const size_t *y = b;

	return *x < *y ? -1 : *x > *y;
}

void
gv_life_announce(struct gv_life *l)
{
	size_t pass;
	size_t i;

	if (!l->shares_due)
		return;
	l->shares_due = false;
	qsort(l->due, l->n_due, sizeof(*l->due), by_number);
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < l->n_due; i++)
			if (gv_rounds_is_pair(&l->rounds, l->due[i]) == (pass == 1) &&
			    gv_rounds_is_active(&l->rounds, l->due[i]))
				announce_job(l, l->due[i]);
	l->n_due = 0;
}

void
gv_life_renew(struct gv_life *l)
{
	gv_life_account(l);
	l->settle_due |= l->rounds.order == GV_ROUND_GAVEL;
}

void
gv_life_set_share(struct gv_life *l, size_t m, size_t type, double share)
{
	struct gv_round_claim *c = gv_rounds_claim(&l->rounds, m, type);

	if (c->share == share)
		return;
	gv_life_account(l); /* by the share before */
	gv_rounds_set_share(&l->rounds, m, type, share);
	if (!gv_rounds_is_active(&l->rounds, m))
		return; /* told when it is */
	l->fill = true;
	gv_life_share_due(l, m);
}

/* ---- planning ---- */

/* What it would cost to start those anew that run; less than it can be measured is nothing. */
static void
set_costs(struct gv_life *l)
{
	static const double least_s = .5;
	size_t i;

	for (i = 0; i < l->n_open; i++) {
		const struct gv_life_job *j = &l->job[l->open[i]];
		double so_far_s =
		    j->measured && !j->stepped ? l->now_s - j->launched_s : 0;
		double cost_s = fmax(j->startup_s, so_far_s);

		l->rounds.job[l->open[i]].move_s = cost_s < least_s ? 0 : cost_s;
	}
}

/* All GPUs but those away are given anew; who holds one of these cannot keep its others. */
static void
plan_anew(struct gv_life *l)
{
	size_t g;

	set_costs(l);
	memcpy(l->plan, l->holder, l->rounds.n_gpus * sizeof(*l->plan));
	for (g = 0; l->n_away > 0 && g < l->rounds.n_gpus; g++)
		if (l->away[g])
			l->plan[g] = GV_GPU_AWAY;
	gv_rounds_plan(&l->rounds, GV_ROUND_NEW, l->plan, l->plan);
	gv_life_link(l);
	l->startable = true;
}

/* GPUs that idle in the plan, by pool; how many. */
static size_t
count_idle(const struct gv_life *l, size_t *idle)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < l->rounds.n_pools; i++)
		sum += idle[i] = l->idle[i];
	return sum;
}

/* Those that wait, or leave and will wait then, and have no GPUs in the plan; how many. */
static size_t
list_unplanned(const struct gv_life *l, size_t *job)
{
	bool some_leave = l->n[GV_LIFE_STOPPING] > 0;
	size_t n = 0;
	size_t i;

	for (i = 0; i < l->n_waiting; i++)
		if (!gv_life_is_planned(l, l->waiting[i]))
			job[n++] = l->waiting[i];
	for (i = 0; some_leave && i < l->n_open; i++) {
		const struct gv_life_job *j = &l->job[l->open[i]];

		if (j->state == GV_LIFE_STOPPING && !j->held && !j->cancelled &&
		    !gv_life_is_planned(l, l->open[i]))
			job[n++] = l->open[i];
	}
	return n;
}

static void
plan_idle(struct gv_life *l)
{
	size_t *idle = gv_xcalloc(l->rounds.n_pools + 1, sizeof(*idle));
	size_t *job = gv_xcalloc(l->n_waiting + l->n_open + 1, sizeof(*job));
	struct gv_round_fill f = {.job = job, .idle = idle, .next = l->plan};
	size_t i;

	if (count_idle(l, idle) > 0) {
		f.n = list_unplanned(l, job);
		gv_rounds_fill(&l->rounds, &f);
	}
	gv_life_link_given(l, f.given, f.n_given);
	for (i = 0; i < f.n_given; i++)
		gv_life_touch_gpu(l, f.given[i]);
	free(f.given);
	free(job);
	free(idle);
}

static void
make_plan(struct gv_life *l, enum gv_round_mode mode)
{
	gv_life_account(l);
	gv_life_settle(l);
	if (mode == GV_ROUND_NEW)
		plan_anew(l);
	else
		plan_idle(l);
	l->fill = false;
	gv_life_put(l, mode == GV_ROUND_NEW ? GV_LIFE_ROUND : GV_LIFE_FILL, -1);
}

/* Whether the job's GPUs are not those it is planned on: of a gang they are as many. */
static bool
must_move(const struct gv_life *l, size_t m)
{
	const struct gv_life_job *j = &l->job[m];
	size_t i;

	for (i = 0; i < j->n_gpus; i++)
		if (!gv_rounds_has(&l->rounds, l->plan[j->gpu[i]], m))
			return true;
	return false;
}

static void
new_round(struct gv_life *l)
{
	double end_s = l->round_end_s + l->rounds.round_s;
	size_t i;

	/* on a grid, unless we are a whole round late or it is the first one */
	l->round_end_s =
	    end_s <= l->now_s || l->round < 0 ? l->now_s + l->rounds.round_s : end_s;
	l->round++;
	make_plan(l, GV_ROUND_NEW);
	for (i = 0; i < l->n_active; i++)
		if (must_move(l, l->active[i]))
			gv_life_stop(l, l->active[i]);
}

/* ---- starting ---- */

/* Starts m, a member of the owner in the plan, when nobody else holds GPUs that it shall have. */
static void
start_member(struct gv_life *l, ptrdiff_t owner, size_t m, size_t *gpu)
{
	struct gv_life_job *j = &l->job[m];
	ptrdiff_t mate = gv_rounds_leave(&l->rounds, owner, m);
	ptrdiff_t there;
	size_t n;
	size_t i;

	if (j->state != GV_LIFE_WAITING || j->retry_s > l->now_s)
		return;
	n = gv_life_planned(l, (size_t)owner, gpu);
	there = l->holder[gpu[0]];
	if (there != GV_GPU_IDLE && there != mate)
		return;
	for (i = 0; i < n; i++)
		if (l->holder[gpu[i]] != there)
			return;
	j->type = gv_rounds_type(&l->rounds, gpu[0]);
	j->unwanted = false;
	gv_life_take_gpus(l, m, gpu, n);
	gv_life_enter(l, m, GV_LIFE_STARTING);
	gv_life_put(l, GV_LIFE_START, (ptrdiff_t)m);
}

/* Starts who is planned on a GPU that it does not hold. */
static void
start_on(struct gv_life *l, size_t g, size_t *gpu)
{
	ptrdiff_t owner = l->plan[g];
	const size_t *member;

	if (owner < 0 || l->holder[g] == owner)
		return;
	member = l->rounds.job[owner].member;
	start_member(l, owner, member[0], gpu);
	if (member[1] != member[0])
		start_member(l, owner, member[1], gpu);
}

static void
start_planned(struct gv_life *l)
{
	bool all = l->startable;
	size_t n = all ? l->rounds.n_gpus : l->n_touched;
	size_t i;

	if (n == 0 || l->pause_s > l->now_s)
		return;
	if (!all)
		qsort(l->touched, n, sizeof(*l->touched), by_number);
	for (i = 0; i < n; i++)
		start_on(l, all ? i : l->touched[i], l->gpus);
	l->startable = false;
	l->n_touched = 0;
}

void
gv_life_turn(struct gv_life *l, bool plan)
{
	if (l->ending)
		return;
	if (plan)
		gv_life_announce(l);
	if (plan && l->now_s >= l->round_end_s && l->n_active > 0)
		new_round(l);
	else if (plan && l->fill)
		make_plan(l, GV_ROUND_FILL);
	start_planned(l);
}

double
gv_life_wakes_s(const struct gv_life *l, bool plan)
{
	double t = HUGE_VAL;

	if (l->ending)
		return t;
	if (l->fill && plan)
		return l->now_s;
	if (l->n_timers > 0)
		t = fmax(l->timer[0].time_s, l->now_s);
	if (l->n_active > 0 && plan)
		t = fmin(t, l->round_end_s);
	return t;
}
