/* Who shall have which GPUs, and who starts on those that are free. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/life_core.h"

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

void
gv_life_announce(struct gv_life *l)
{
	size_t i;

	if (!l->shares_due)
		return;
	l->shares_due = false;
	for (i = 0; i < l->n_active; i++)
		announce_job(l, l->active[i]);
	for (i = 0; i < l->rounds.n_live; i++)
		if (gv_rounds_is_pair(&l->rounds, l->rounds.live[i]))
			announce_job(l, l->rounds.live[i]);
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
	c->share = share;
	if (!gv_rounds_is_active(&l->rounds, m))
		return; /* told when it is */
	l->fill = true;
	l->shares_due = true;
}

/* ---- planning ---- */

/* Marks GPUs that cannot be given out: with everybody on them, or only those idle. */
static void
mark_away(struct gv_life *l, bool everybody)
{
	size_t g;

	for (g = 0; g < l->rounds.n_gpus; g++)
		if (l->away[l->rounds.gpu_pool[g]] && (everybody || l->plan[g] < 0))
			l->plan[g] = GV_GPU_AWAY;
}

static void
make_plan(struct gv_life *l, enum gv_round_mode mode)
{
	size_t g;

	gv_life_account(l);
	gv_life_settle(l);
	if (mode == GV_ROUND_NEW)
		memcpy(l->plan, l->holder, l->rounds.n_gpus * sizeof(*l->plan));
	if (mode == GV_ROUND_NEW || l->n[GV_LIFE_WAITING] > 0) { /* else nobody to fill */
		mark_away(l, mode == GV_ROUND_NEW);
		gv_rounds_plan(&l->rounds, mode, l->plan, l->plan);
	}
	for (g = 0; g < l->rounds.n_gpus; g++)
		if (l->plan[g] == GV_GPU_AWAY)
			l->plan[g] = GV_GPU_IDLE;
	l->fill = false;
	l->startable = true;
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

/* Links the GPUs of each owner in the plan, in ascending order; unlink takes that back. */
static void
link_planned(struct gv_life *l)
{
	size_t before = l->cap_planned;
	size_t g;

	l->planned = gv_xgrow(
	    l->planned, &l->cap_planned, l->rounds.n_jobs + 1, sizeof(*l->planned));
	if (l->cap_planned > before)
		memset(l->planned + before, 0,
		    (l->cap_planned - before) * sizeof(*l->planned));
	for (g = l->rounds.n_gpus; g-- > 0;)
		if (l->plan[g] >= 0) {
			l->next_planned[g] = l->planned[l->plan[g]];
			l->planned[l->plan[g]] = g + 1;
		}
}

static void
unlink_planned(struct gv_life *l)
{
	size_t g;

	for (g = 0; g < l->rounds.n_gpus; g++)
		if (l->plan[g] >= 0)
			l->planned[l->plan[g]] = 0;
}

/* The GPUs of an owner in the plan, which is linked. */
static size_t
planned_gpus(const struct gv_life *l, ptrdiff_t owner, size_t *gpu)
{
	size_t n = 0;
	size_t at;

	for (at = l->planned[owner]; at > 0; at = l->next_planned[at - 1])
		gpu[n++] = at - 1;
	return n;
}

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
	n = planned_gpus(l, owner, gpu);
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

static void
start_planned(struct gv_life *l)
{
	size_t *gpu;
	size_t g;

	if (!l->startable || l->pause_s > l->now_s)
		return;
	l->startable = false;
	gpu = gv_xcalloc(l->rounds.n_gpus + 1, sizeof(*gpu));
	link_planned(l);
	for (g = 0; g < l->rounds.n_gpus; g++) {
		ptrdiff_t owner = l->plan[g];
		const size_t *member;

		if (owner < 0 || l->holder[g] == owner)
			continue;
		member = l->rounds.job[owner].member;
		start_member(l, owner, member[0], gpu);
		if (member[1] != member[0])
			start_member(l, owner, member[1], gpu);
	}
	unlink_planned(l);
	free(gpu);
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
