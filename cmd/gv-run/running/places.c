#include "places.h"

#include <math.h>
#include <string.h>

/* What a run that ends needs beside the grace time: for its last events, and Slurm's clock. */
static const double spare_s = 60;

/* Of the GPUs of a pool; whether any has changed. */
static bool
look_at_pool(struct places *p, size_t pool, const char **why, size_t *n_away)
{
	struct gv_life *l = &p->jobs->life;
	const struct gv_round_pool *of = &l->rounds.pool[pool];
	bool cpu = p->jobs->cluster.type[of->type].threads > 0;
	bool changed = false;
	size_t g;

	*n_away = 0;
	for (g = of->first; g < of->first + of->gpus; g++) {
		const char *reason;
		int id = cpu ? -1 : gv_life_gpu_id(&p->jobs->names, l, g);
		bool away = !gv_launch_usable(
		    p->by, p->jobs->cluster.pool[pool].node, id, &reason);
		bool leaves = watch_leaves(p->watch, g);

		changed |= !leaves && away != l->away[g];
		*n_away += away;
		if (away)
			*why = reason;
		gv_life_gpu_away(l, g, away || leaves);
	}
	return changed;
}

static void
say_pool(const struct places *p, size_t pool, const char *why, size_t n_away)
{
	const struct gv_pool *of = &p->jobs->cluster.pool[pool];
	const char *type = p->jobs->cluster.type[of->type].name;
	const char *on = of->node[0] != '\0' ? " of node " : "";

	if (n_away > 0)
		gv_warn("warning: %zu of %zu GPUs %s%s%s cannot be used: %s", n_away,
		    of->gpus, type, on, of->node, why);
	else
		gv_warn("GPUs %s%s%s can be used again", type, on, of->node);
}

static void
ends(struct places *p, const struct gv_launch_site *site)
{
	if (p->over)
		return;
	p->over = true;
	if (site->over)
		gv_warn("%s: the run stops, and goes on with --resume", site->reason);
	else
		gv_warn("the allocation ends in %.0f s: the run stops, and goes on with "
			"--resume",
		    fmax(site->left_s, 0));
}

void
places_look(struct places *p)
{
	struct gv_launch_site site;
	size_t pool;

	gv_launch_look(p->by, p->jobs->life.round != p->round, &site);
	p->round = p->jobs->life.round;
	if (site.over || site.left_s < p->o->grace_s + spare_s)
		ends(p, &site);
	if (site.turns == p->turns && p->watch->turns == p->watched)
		return;
	p->turns = site.turns;
	p->watched = p->watch->turns;
	for (pool = 0; pool < p->jobs->cluster.n_pools; pool++) {
		const char *why = "";
		size_t n_away;

		if (!look_at_pool(p, pool, &why, &n_away))
			continue;
		say_pool(p, pool, why, n_away);
		gv_life_tell_pool(&p->jobs->life, pool);
	}
}

int
places_check_room(const struct places *p, struct gv_error *e)
{
	const struct gv_life *life = &p->jobs->life;
	size_t m, n = 0, left = 0, first = 0;
	char q[GV_QUOTE_LEN];

	for (m = 0; m < life->n_jobs; m++) {
		if (life->job[m].state == GV_LIFE_FINISHED ||
		    life->job[m].state == GV_LIFE_DROPPED)
			continue;
		left++;
		if (!gv_rounds_possible(&life->rounds, m) && n++ == 0)
			first = m;
	}
	if (n == 0)
		return 0;
	jobs_name(p->jobs, first, q);
	if (n == left && p->o->launcher != LAUNCHER_SLURM && !p->o->watch)
		return gv_error_set(e,
		    "no job that is left can run on these GPUs, job %s for one: go on "
		    "with another table: -c",
		    q);
	gv_warn("warning: %zu job%s, first %s, cannot run on these GPUs and wait%s for "
		"others",
	    n, n > 1 ? "s" : "", q, n > 1 ? "" : "s");
	return 0;
}
