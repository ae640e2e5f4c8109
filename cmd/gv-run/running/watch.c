#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-run/core/table.h"

/* ---- the file ---- */

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	       a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void
watch_open(struct watch *w)
{
	if (w->o->watch && stat(w->o->cluster, &w->seen) != 0)
		w->seen = (struct stat){0};
}

static void
forget(struct watch *w)
{
	gv_cluster_free(&w->next);
	gv_frame_free(&w->frame);
	w->pending = false;
	w->turns++;
}

void
watch_close(struct watch *w)
{
	forget(w);
}

bool
watch_leaves(const struct watch *w, size_t gpu)
{
	return w->pending && jobs_gpu_in(w->jobs, gpu, &w->next) < 0;
}

/* The file's table, of the nodes that are ours.  0 or -1. */
static int
read_table(struct watch *w, struct gv_error *e)
{
	const char *path = w->o->cluster;
	struct node_choice node = {0};
	int rc;

	if (w->allocation->slurm != NULL) {
		rc = allocation_table(w->allocation, w->o, &w->frame, e);
		if (rc == 0)
			rc = gv_cluster_from(&w->next, &w->frame, e);
		return rc;
	}
	rc = gv_cluster_read(&w->next, path, e);
	if (rc == 0)
		rc = node_select(&w->next, path, w->o->node, &node, e);
	if (rc == 0)
		rc = gv_frame_load(&w->frame, path, e);
	node_free(&node);
	return rc;
}

static void
read_again(struct watch *w)
{
	struct gv_error e = {0};

	forget(w);
	if (read_table(w, &e) == 0) {
		w->pending = true;
		w->turns++;
	} else {
		forget(w);
		gv_warn(
		    "warning: the cluster table is not good, the GPUs stay as they are:");
		gv_warn_error(&e);
	}
}

/* ---- the change ---- */

static bool
is_held(const struct watch *w)
{
	const struct gv_life *l = &w->jobs->life;
	size_t g;

	for (g = 0; g < l->rounds.n_gpus; g++)
		if (watch_leaves(w, g) &&
		    (!l->away[g] || l->holder[g] >= 0 || l->plan[g] >= 0))
			return true; /* or nobody has heard of it yet */
	return false;
}

static bool
has_pool(const struct gv_cluster *c, const char *type, const char *node)
{
	size_t p;

	for (p = 0; p < c->n_pools; p++)
		if (strcmp(c->type[c->pool[p].type].name, type) == 0 &&
		    strcmp(c->pool[p].node, node) == 0)
			return true;
	return false;
}

/* Pools that are not there any more have no GPUs. */
static void
tell_gone(const struct watch *w)
{
	const struct gv_cluster *c = &w->jobs->cluster;
	size_t p;

	for (p = 0; p < c->n_pools; p++) {
		const char *type = c->type[c->pool[p].type].name;

		if (!has_pool(&w->next, type, c->pool[p].node))
			journal_no_pool(
			    w->journal, &w->jobs->life, type, c->pool[p].node);
	}
}

/* The run's table as it is now. */
static int
table_now(const struct watch *w, struct gv_frame *f, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	int rc;

	table_write_to(w->jobs, policy_isolated_s(w->policy), out);
	rc = gv_out_close(out, e);
	if (rc == 0)
		rc = gv_frame_parse(f, "jobs.csv", text.s, text.len, e);
	gv_strbuf_free(&text);
	return rc;
}

static void
change(struct watch *w)
{
	char *pools = state_path(w->state, "cluster.csv");
	struct gv_error e = {0};
	struct gv_frame f = {0};
	int rc = table_now(w, &f, &e);

	if (rc == 0)
		rc = node_write(&w->next, &w->frame, pools, &e);
	if (rc == 0) {
		tell_gone(w);
		rc = jobs_change(w->jobs, &f, &w->next, w->work->log, &e);
		w->next = (struct gv_cluster){0}; /* is the jobs' */
	}
	free(pools);
	w->broken = rc != 0;
	if (w->broken) {
		gv_warn_error(&e);
		return;
	}
	forget(w);
	gv_life_tell_pools(&w->jobs->life);
	policy_grow(w->policy);
	policy_renew(w->policy);
	if (!w->o->quiet)
		gv_warn("%s: was read again: %zu GPUs", w->o->cluster,
		    w->jobs->life.rounds.n_gpus);
}

void
watch_turn(struct watch *w, bool again)
{
	struct stat now;

	if (!w->o->watch || w->broken)
		return;
	if (stat(w->o->cluster, &now) == 0 && (again || !is_same(&now, &w->seen))) {
		w->seen = now;
		read_again(w);
	}
	if (w->pending && !is_held(w))
		change(w);
}
