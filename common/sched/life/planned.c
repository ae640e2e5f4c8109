/* The plan, by owner: the GPUs of each are a list, in ascending order. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/life/core.h"

/* Room for everybody, pairs too. */
static void
make_room(struct gv_life *l)
{
	size_t n = l->rounds.n_jobs;

	l->planned = gv_xgrow(l->planned, &l->cap_planned, n + 1, sizeof(*l->planned));
	for (; l->n_planned < n; l->n_planned++)
		l->planned[l->n_planned] = 0;
}

static void
link_first(struct gv_life *l, size_t g)
{
	l->next_planned[g] = l->planned[l->plan[g]];
	l->planned[l->plan[g]] = g + 1;
}

void
gv_life_link(struct gv_life *l)
{
	size_t g;

	make_room(l);
	memset(l->planned, 0, l->n_planned * sizeof(*l->planned));
	memset(l->idle, 0, l->rounds.n_pools * sizeof(*l->idle));
	for (g = l->rounds.n_gpus; g-- > 0;)
		if (l->plan[g] >= 0)
			link_first(l, g);
		else
			l->idle[l->rounds.gpu_pool[g]] += l->plan[g] == GV_GPU_IDLE;
}

void
gv_life_link_given(struct gv_life *l, const size_t *gpu, size_t n)
{
	make_room(l);
	while (n-- > 0) {
		link_first(l, gpu[n]);
		l->idle[l->rounds.gpu_pool[gpu[n]]]--;
	}
}

size_t
gv_life_planned(const struct gv_life *l, size_t owner, size_t *gpu)
{
	size_t n = 0;
	size_t at = owner < l->n_planned ? l->planned[owner] : 0;

	for (; at > 0; at = l->next_planned[at - 1])
		gpu[n++] = at - 1;
	return n;
}

/* Itself or the pair of it that has GPUs in the plan; -1 = none. */
static ptrdiff_t
planned_as(const struct gv_life *l, size_t m)
{
	const struct gv_rounds *r = &l->rounds;
	ptrdiff_t pair = r->job[m].pairs;

	if (m < l->n_planned && l->planned[m] > 0)
		return (ptrdiff_t)m;
	while (pair >= 0 && ((size_t)pair >= l->n_planned || l->planned[pair] == 0))
		pair = r->job[pair].next[r->job[pair].member[1] == m];
	return pair;
}

bool
gv_life_is_planned(const struct gv_life *l, size_t m)
{
	return planned_as(l, m) >= 0;
}

void
gv_life_unplan(struct gv_life *l, size_t m)
{
	ptrdiff_t as = planned_as(l, m);
	ptrdiff_t rest;
	size_t at;

	if (as < 0)
		return;
	rest = gv_rounds_leave(&l->rounds, as, m);
	if (rest >= 0)
		l->planned[rest] = l->planned[as];
	for (at = l->planned[as]; at > 0; at = l->next_planned[at - 1]) {
		l->plan[at - 1] = rest < 0 && l->away[at - 1] ? GV_GPU_AWAY : rest;
		l->idle[l->rounds.gpu_pool[at - 1]] += l->plan[at - 1] == GV_GPU_IDLE;
	}
	l->planned[as] = 0;
}

bool
gv_life_planned_away(const struct gv_life *l, size_t m)
{
	ptrdiff_t as = l->n_away > 0 ? planned_as(l, m) : -1;
	size_t at;

	for (at = as >= 0 ? l->planned[as] : 0; at > 0; at = l->next_planned[at - 1])
		if (l->away[at - 1])
			return true;
	return false;
}

void
gv_life_touch_gpu(struct gv_life *l, size_t g)
{
	if (l->startable)
		return;
	l->startable = l->n_touched >= l->rounds.n_gpus; /* as good as all */
	l->touched =
	    gv_xgrow(l->touched, &l->cap_touched, l->n_touched + 1, sizeof(*l->touched));
	l->touched[l->n_touched++] = g;
}

void
gv_life_touch(struct gv_life *l, size_t m)
{
	const struct gv_life_job *j = &l->job[m];
	ptrdiff_t as = planned_as(l, m);
	size_t i;

	for (i = 0; i < j->n_gpus; i++)
		gv_life_touch_gpu(l, j->gpu[i]);
	if (as >= 0)
		gv_life_touch_gpu(l, l->planned[as] - 1);
}
