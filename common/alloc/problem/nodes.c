#include "nodes.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

bool
gv_nodes_several(const struct gv_cluster *c)
{
	bool several = false;
	size_t i;

	for (i = 0; i < c->n_pools; i++) {
		if (c->pool[i].node[0] == '\0')
			return false;
		several = several || strcmp(c->pool[i].node, c->pool[0].node) != 0;
	}
	return several;
}

bool
gv_nodes_tied(const struct gv_rates *r, const struct gv_cluster *c)
{
	size_t i;

	if (!gv_nodes_several(c))
		return false;
	for (i = 0; i < r->n_jobs; i++)
		if (r->job[i].node.len > 0)
			return true;
	return false;
}

/* The type's pool on a node: SIZE_MAX, there is none. */
static size_t
find_pool(const struct gv_cluster *c, size_t type, const char *node)
{
	size_t i;

	for (i = 0; i < c->n_pools; i++)
		if (c->pool[i].type == type && strcmp(c->pool[i].node, node) == 0)
			return i;
	return SIZE_MAX;
}

/* The next type of the split cluster: of a type, on a node, with so many GPUs. */
static void
add_type(struct gv_cluster *to, const struct gv_cluster *c, size_t type, const char *node,
    size_t gpus)
{
	size_t len = strlen(c->type[type].name) + strlen(node) + 2;
	char *name = gv_arena_alloc(&to->arena, len, 1);
	size_t i = to->n_types++;

	snprintf(name, len, "%s@%s", c->type[type].name, node);
	to->type[i] = c->type[type];
	to->type[i].name = name;
	to->type[i].gpus = gpus;
	to->type[i].elsewhere = c->type[type].gpus - gpus;
	to->pool[i] = (struct gv_pool){.type = i, .gpus = gpus, .node = node};
	to->n_pools = to->n_types;
}

void
gv_nodes_split(struct gv_cluster *to, const struct gv_cluster *c)
{
	size_t most = c->n_pools * (c->n_types + 1);
	size_t i, j;

	*to = (struct gv_cluster){0};
	to->type = gv_arena_alloc(&to->arena, most, sizeof(*to->type));
	to->pool = gv_arena_alloc(&to->arena, most, sizeof(*to->pool));
	for (i = 0; i < c->n_pools; i++)
		add_type(to, c, c->pool[i].type, c->pool[i].node, c->pool[i].gpus);
	for (i = 0; i < c->n_pools; i++)
		for (j = 0; j < c->n_types; j++) {
			size_t k = 0;

			while (strcmp(c->pool[k].node, c->pool[i].node) != 0)
				k++;
			if (k == i && find_pool(c, j, c->pool[i].node) == SIZE_MAX)
				add_type(to, c, j, c->pool[i].node, 0);
		}
}

/* The split cluster's type of that name on that node, or -1. */
static ptrdiff_t
find_type(const struct gv_cluster *split, const char *type, struct gv_cell node)
{
	size_t len = strlen(type), i;

	for (i = 0; i < split->n_types; i++)
		if (gv_cell_is(node, split->pool[i].node) &&
		    strlen(split->type[i].name) == len + 1 + node.len &&
		    strncmp(split->type[i].name, type, len) == 0)
			return (ptrdiff_t)i;
	return -1;
}

static bool
has_node(const struct gv_cluster *c, struct gv_cell node)
{
	size_t i;

	for (i = 0; i < c->n_pools; i++)
		if (gv_cell_is(node, c->pool[i].node))
			return true;
	return false;
}

/*
 * [jobs] the one node of all GPUs that each job has rates on, NULL where there are several,
 * "" where it has none; the caller's.
 */
static const char **
only_nodes(const struct gv_rates *r, const struct gv_cluster *c)
{
	const char **node = gv_xcalloc(r->n_jobs, sizeof(*node));
	bool *several = gv_xcalloc(r->n_jobs, sizeof(*several));
	size_t i, k;

	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];

		for (k = 0; k < c->n_pools; k++) {
			const struct gv_pool *pool = &c->pool[k];
			const char **own = &node[rate->job];

			if (!(rate->steps_per_s > 0) ||
			    rate->type != (ptrdiff_t)pool->type)
				continue;
			GV_HOLDS(pool->node != NULL);
			if (*own != NULL && strcmp(*own, pool->node) != 0)
				several[rate->job] = true;
			*own = pool->node;
		}
	}
	for (i = 0; i < r->n_jobs; i++)
		if (several[i] || node[i] == NULL)
			node[i] = several[i] ? NULL : "";
	free(several);
	return node;
}

/* The node of a job is in the cluster; one without is where it can run alone. */
static int
set_node(struct gv_rates *r, size_t at, const char *only, const struct gv_cluster *c,
    struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(&r->frame, "node");
	struct gv_job *job = &r->job[at];
	char q[GV_QUOTE_LEN];

	if (job->node.len == 0 && only != NULL)
		job->node = (struct gv_cell){.s = only, .len = strlen(only)};
	else if (job->node.len > 0 && !has_node(c, job->node))
		return gv_frame_error(&r->frame, job->row, column, e,
		    "the cluster has no node %s",
		    gv_quote(q, job->node.s, job->node.len));
	if (job->node.len == 0 && only == NULL)
		return gv_frame_error(&r->frame, job->row, column, e,
		    "job %s has no node and could run on several; others have one",
		    gv_quote(q, job->id.s, job->id.len));
	return 0;
}

int
gv_nodes_tie(struct gv_rates *r, const struct gv_cluster *c,
    const struct gv_cluster *split, struct gv_error *e)
{
	const char **only = only_nodes(r, c);
	size_t i;
	int rc = 0;

	for (i = 0; i < r->n_jobs; i++)
		rc |= set_node(r, i, only[i], c, e);
	free(only);
	for (i = 0; i < r->n_rates; i++) {
		struct gv_rate *rate = &r->rate[i];

		if (rate->with >= 0)
			return gv_frame_error(&r->frame, rate->row,
			    gv_frame_find(&r->frame, "with_job_id"), e,
			    "jobs that name their nodes share no GPUs");
		if (rate->type >= 0)
			rate->type = find_type(
			    split, c->type[rate->type].name, r->job[rate->job].node);
	}
	return rc;
}
