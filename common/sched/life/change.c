/* Other GPUs and more jobs, while it goes on. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/life/core.h"

/* The life as it was, and the numbers that things have from now on. */
struct move {
	const struct gv_life_change *change;
	size_t n_jobs;   /* before */
	size_t n_rounds; /* jobs and pairs, before */
	size_t n_types;  /* before */
	size_t n_gpus;   /* before */
};

static ptrdiff_t
type_now(const struct move *v, size_t j)
{
	return v->change->type != NULL ? v->change->type[j] : (ptrdiff_t)j;
}

static ptrdiff_t
gpu_now(const struct move *v, size_t g)
{
	return v->change->gpu != NULL ? v->change->gpu[g] : (ptrdiff_t)g;
}

/* Pairs come behind all jobs. */
static ptrdiff_t
owner_now(const struct move *v, ptrdiff_t owner)
{
	return owner < (ptrdiff_t)v->n_jobs ? owner
					    : owner + (ptrdiff_t)v->change->n_jobs;
}

/* What each GPU has, of nobody where it is new. */
static ptrdiff_t *
move_owners(const struct move *v, ptrdiff_t *old, size_t n_gpus)
{
	ptrdiff_t *now = gv_xcalloc(n_gpus + 1, sizeof(*now));
	size_t g;

	for (g = 0; g < n_gpus; g++)
		now[g] = GV_GPU_IDLE;
	for (g = 0; g < v->n_gpus; g++)
		if (gpu_now(v, g) >= 0)
			now[gpu_now(v, g)] = owner_now(v, old[g]);
	free(old);
	return now;
}

static void
move_gpus(struct gv_life *l, const struct move *v)
{
	size_t n = l->rounds.n_gpus;
	bool *away = gv_xcalloc(n + 1, sizeof(*away));
	size_t g;

	l->holder = move_owners(v, l->holder, n);
	l->plan = move_owners(v, l->plan, n);
	l->n_away = 0;
	for (g = 0; g < v->n_gpus; g++)
		if (gpu_now(v, g) >= 0 && l->away[g]) {
			away[gpu_now(v, g)] = true;
			l->n_away++;
		}
	free(l->away);
	l->away = away;
	free(l->next_planned);
	free(l->gpus);
	free(l->idle);
	l->next_planned = gv_xcalloc(n + 1, sizeof(*l->next_planned));
	l->gpus = gv_xcalloc(n + 1, sizeof(*l->gpus));
	l->idle = gv_xcalloc(l->rounds.n_pools + 1, sizeof(*l->idle));
	l->n_touched = 0;
	gv_life_link(l);
}

static void
move_told(struct gv_life *l, const struct move *v)
{
	double *old = l->told;
	size_t n = l->n_told;
	size_t i;

	l->told = NULL;
	l->n_told = l->cap_told = 0;
	for (i = 0; i < n; i++) {
		ptrdiff_t type = type_now(v, i % v->n_types);

		if (type >= 0)
			*gv_life_told(l,
			    (size_t)owner_now(v, (ptrdiff_t)(i / v->n_types)),
			    (size_t)type) = old[i];
	}
	free(old);
	for (i = 0; i < l->n_due; i++)
		l->due[i] = (size_t)owner_now(v, (ptrdiff_t)l->due[i]);
}

static void
move_job(struct gv_life_job *j, const struct move *v)
{
	ptrdiff_t type = type_now(v, j->type);
	size_t i;

	j->type = type >= 0 ? (size_t)type : 0;
	j->as = owner_now(v, j->as);
	for (i = 0; i < j->n_gpus; i++)
		j->gpu[i] = (size_t)gpu_now(v, j->gpu[i]);
}

static void
add_jobs(struct gv_life *l, const struct gv_life_change *c)
{
	size_t before = l->cap_jobs;
	size_t k;

	l->job = gv_xgrow(l->job, &l->cap_jobs, l->rounds.n_jobs + 1, sizeof(*l->job));
	if (l->cap_jobs > before)
		memset(l->job + before, 0, (l->cap_jobs - before) * sizeof(*l->job));
	for (k = 0; k < c->n_jobs; k++)
		gv_life_begin_job(l, l->n_jobs, &c->spec[k]);
}

void
gv_life_change(struct gv_life *l, const struct gv_life_change *c)
{
	const struct move v = {
	    c, l->n_jobs, l->rounds.n_jobs, l->rounds.n_types, l->rounds.n_gpus};
	size_t *gang = gv_xcalloc(c->n_jobs + 1, sizeof(*gang));
	size_t i;

	gv_life_account(l);
	gv_life_settle(l);
	for (i = 0; i < c->n_jobs; i++)
		gang[i] = c->spec[i].gang;
	gv_rounds_change(&l->rounds, c->cluster, c->type, gang, c->n_jobs);
	free(gang);
	for (i = 0; i < v.n_jobs; i++)
		move_job(&l->job[i], &v);
	add_jobs(l, c);
	move_told(l, &v);
	move_gpus(l, &v);
	l->startable = l->fill = true;
}
