#include "site.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "launch/local/local.h"
#include "measure.h"
#include "pools/allocation.h"
#include "scratch.h"

static struct site *open_site; /* whose directory is there, NULL = none */

/* The last thing when the program dies. */
static void
clean_up(void)
{
	struct gv_error ignored = {0};

	measure_abort();
	scratch_remove(open_site->scratch, &ignored);
}

int
site_scratch(struct site *s, const struct site_options *o, struct gv_error *e)
{
	if (s->scratch != NULL)
		return 0;
	if (o->state != NULL && gv_mkdirs(o->state, e) != 0)
		return -1;
	s->scratch = scratch_make(o->state, e);
	if (s->scratch == NULL)
		return -1;
	open_site = s;
	gv_on_die(clean_up);
	return 0;
}

static int
open_slurm(struct site *s, const struct site_options *o, struct gv_error *e)
{
	struct gv_slurm_options options = {.job = o->slurm_job};
	struct gv_frame frame = {0};
	struct gv_strbuf dir = {0};
	int rc = site_scratch(s, o, e);

	if (rc == 0) {
		gv_strbuf_fmt(&dir, "%s/launches", s->scratch);
		options.dir = dir.s;
		rc = gv_slurm_open(&s->slurm, &options, e);
	}
	gv_strbuf_free(&dir);
	if (rc != 0)
		return -1;
	s->by = gv_slurm_launcher(s->slurm);
	rc = gv_pools_table(
	    gv_slurm_allocation(s->slurm), o->cluster, o->quiet, &frame, e);
	if (rc == 0)
		rc = gv_cluster_from(&s->cluster, &frame, e);
	gv_frame_free(&frame);
	return rc;
}

static bool
is_here(const char *node, const struct site_options *o)
{
	char host[256] = "";
	size_t n = strlen(node);

	if (n == 0 || strcmp(node, "localhost") == 0)
		return true;
	if (o->node != NULL)
		return strcmp(node, o->node) == 0;
	gethostname(host, sizeof(host) - 1);
	return strncmp(node, host, n) == 0 && (host[n] == '\0' || host[n] == '.');
}

/*
 * Leaves the pools of this machine.  Some may name it and some nothing: their GPUs are counted
 * together.
 */
static int
keep_here(struct gv_cluster *c, const struct site_options *o, struct gv_error *e)
{
	size_t p, n = 0;
	bool several = false;

	for (p = 0; p < c->n_pools; p++) {
		if (!is_here(c->pool[p].node, o))
			continue;
		c->pool[n++] = c->pool[p];
		several |= strcmp(c->pool[n - 1].node, c->pool[0].node) != 0;
	}
	c->n_pools = n;
	return several ? gv_cluster_join(c, o->cluster, e) : 0;
}

int
site_open(struct site *s, const struct site_options *o, struct gv_error *e)
{
	*s = (struct site){.by = &gv_launch_local};
	if (o->slurm)
		return open_slurm(s, o, e);
	return gv_cluster_read(&s->cluster, o->cluster, e) == 0
		   ? keep_here(&s->cluster, o, e)
		   : -1;
}

int
site_close(struct site *s, struct gv_error *e)
{
	int rc = 0;

	gv_slurm_close(s->slurm);
	if (s->scratch != NULL) {
		gv_on_die(NULL);
		rc = scratch_remove(s->scratch, e);
	}
	free(s->scratch);
	gv_cluster_free(&s->cluster);
	*s = (struct site){0};
	return rc;
}

/* ---- GPUs ---- */

/* The pool of a type on this machine with the most GPUs, NULL = none. */
static const struct gv_pool *
find_pool(const struct gv_cluster *cluster, size_t type)
{
	const struct gv_pool *best = NULL;
	size_t i;

	for (i = 0; i < cluster->n_pools; i++) {
		const struct gv_pool *p = &cluster->pool[i];

		if (p->type == type && (best == NULL || p->gpus > best->gpus))
			best = p;
	}
	return best;
}

static void
add_pool(struct gpus *g, size_t *cap, const struct gv_pool *pool, size_t node)
{
	size_t i;

	for (i = 0; i < pool->gpus; i++) {
		g->gpu = gv_xgrow(g->gpu, cap, g->n + 1, sizeof(*g->gpu));
		g->gpu[g->n++] = (struct gpu){
		    .type = pool->type, .node = node, .id = gv_pool_id(pool, i)};
	}
}

/* Node by node, whatever the order of the pools is. */
static void
add_nodes(struct gpus *g, size_t *group, const struct site *s)
{
	const struct gv_slurm_allocation *a = gv_slurm_allocation(s->slurm);
	size_t cap = 0, i, p;

	for (i = 0; i < a->n_nodes; i++) {
		group[i] = a->node[i].group;
		for (p = 0; p < s->cluster.n_pools; p++)
			if (strcmp(s->cluster.pool[p].node, a->node[i].name) == 0)
				add_pool(g, &cap, &s->cluster.pool[p], i);
	}
}

void
site_gpus(struct gpus *g, const struct site *s, size_t most)
{
	size_t n_nodes = s->slurm != NULL ? gv_slurm_allocation(s->slurm)->n_nodes : 1;
	size_t *group = gv_xcalloc(n_nodes, sizeof(*group));
	size_t cap = 0, type;

	*g = (struct gpus){.n_nodes = n_nodes, .group = group, .most_runs = most};
	g->runs = gv_xcalloc(n_nodes, sizeof(*g->runs));
	if (s->slurm != NULL) {
		add_nodes(g, group, s);
		return;
	}
	for (type = 0; type < s->cluster.n_types; type++) {
		const struct gv_pool *pool = find_pool(&s->cluster, type);

		if (pool != NULL)
			add_pool(g, &cap, pool, 0);
	}
}

void
site_gpus_free(struct gpus *g)
{
	free(g->gpu);
	free(g->group);
	free(g->runs);
	*g = (struct gpus){0};
}

const char *
site_node(const struct site *s, const struct gpu *gpu)
{
	return s->slurm != NULL ? gv_slurm_allocation(s->slurm)->node[gpu->node].name
				: NULL;
}
