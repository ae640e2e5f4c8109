#include "nodes.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
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

/* The next type of the split cluster: of a type, on a node, with so many GPUs. */
static size_t
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
	return i;
}

/* The types of which a node has no GPUs, there: each, or one such type for all nodes. */
static void
add_empty(struct gv_nodes *s, const struct gv_cluster *c, bool each)
{
	size_t *shared = gv_xcalloc(c->n_types + 1, sizeof(*shared));
	size_t i, j;

	for (j = 0; j < c->n_types; j++)
		shared[j] = SIZE_MAX;
	for (i = 0; i < s->nodes.n; i++)
		for (j = 0; j < c->n_types; j++) {
			size_t *at = &s->type[i * c->n_types + j];

			if (*at != SIZE_MAX)
				continue;
			if (each || shared[j] == SIZE_MAX)
				shared[j] = add_type(
				    &s->split, c, j, each ? s->nodes.key[i].s : "", 0);
			*at = shared[j];
		}
	free(shared);
}

void
gv_nodes_split(struct gv_nodes *s, const struct gv_cluster *c, bool each)
{
	struct gv_cluster *to = &s->split;
	size_t *of = gv_xcalloc(c->n_pools + 1, sizeof(*of)); /* the node of each pool */
	size_t i, most;

	*s = (struct gv_nodes){0};
	for (i = 0; i < c->n_pools; i++)
		of[i] = gv_hash_add(&s->nodes, c->pool[i].node, strlen(c->pool[i].node));
	most = c->n_pools + (each ? s->nodes.n : 1) * c->n_types;
	to->type = gv_arena_alloc(&to->arena, most, sizeof(*to->type));
	to->pool = gv_arena_alloc(&to->arena, most, sizeof(*to->pool));
	s->type = gv_xcalloc(s->nodes.n * c->n_types + 1, sizeof(*s->type));
	for (i = 0; i < s->nodes.n * c->n_types; i++)
		s->type[i] = SIZE_MAX;
	for (i = 0; i < c->n_pools; i++) {
		const struct gv_pool *pool = &c->pool[i];
		size_t *at = &s->type[of[i] * c->n_types + pool->type];
		size_t type = add_type(to, c, pool->type, pool->node, pool->gpus);

		if (*at == SIZE_MAX)
			*at = type;
	}
	add_empty(s, c, each);
	free(of);
}

void
gv_nodes_free(struct gv_nodes *s)
{
	gv_cluster_free(&s->split);
	gv_hash_free(&s->nodes);
	free(s->type);
	*s = (struct gv_nodes){0};
}

/* Where the GPUs of a type, or of all types of a job, are. */
struct where {
	const char *node; /* NULL: nowhere */
	bool several;
};

static void
add_node(struct where *w, const char *node, bool several)
{
	w->several = w->several || several ||
		     (w->node != NULL && node != NULL && strcmp(w->node, node) != 0);
	if (node != NULL)
		w->node = node;
}

/*
 * [jobs] the one node of all GPUs that each job has rates on, NULL where there are several,
 * "" where it has none; the caller's.
 */
static const char **
only_nodes(const struct gv_rates *r, const struct gv_cluster *c)
{
	const char **node = gv_xcalloc(r->n_jobs + 1, sizeof(*node));
	struct where *of_type = gv_xcalloc(c->n_types + 1, sizeof(*of_type));
	struct where *of_job = gv_xcalloc(r->n_jobs + 1, sizeof(*of_job));
	size_t i;

	for (i = 0; i < c->n_pools; i++)
		add_node(&of_type[c->pool[i].type], c->pool[i].node, false);
	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];

		if (rate->steps_per_s > 0 && rate->type >= 0)
			add_node(&of_job[rate->job], of_type[rate->type].node,
			    of_type[rate->type].several);
	}
	for (i = 0; i < r->n_jobs; i++)
		node[i] = of_job[i].several        ? NULL
			  : of_job[i].node == NULL ? ""
						   : of_job[i].node;
	free(of_type);
	free(of_job);
	return node;
}

/* The node of a job is in the cluster; one without is where it can run alone. */
static int
set_node(struct gv_rates *r, size_t at, const char *only, const struct gv_nodes *s,
    struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(&r->frame, "node");
	struct gv_job *job = &r->job[at];
	char q[GV_QUOTE_LEN];

	if (job->node.len == 0 && only != NULL)
		job->node = (struct gv_cell){.s = only, .len = strlen(only)};
	else if (job->node.len > 0 &&
		 gv_hash_find(&s->nodes, job->node.s, job->node.len) < 0)
		return gv_frame_error(&r->frame, job->row, column, e,
		    "the cluster has no node %s",
		    gv_quote(q, job->node.s, job->node.len));
	if (job->node.len == 0 && only == NULL)
		return gv_frame_error(&r->frame, job->row, column, e,
		    "job %s has no node and could run on several; others have one",
		    gv_quote(q, job->id.s, job->id.len));
	return 0;
}

/* The split cluster's type of the rate on that node, or -1. */
static ptrdiff_t
type_there(const struct gv_nodes *s, const struct gv_cluster *c,
    const struct gv_rate *rate, struct gv_cell node)
{
	ptrdiff_t at = gv_hash_find(&s->nodes, node.s, node.len);

	return at < 0 ? -1
		      : (ptrdiff_t)s->type[(size_t)at * c->n_types + (size_t)rate->type];
}

int
gv_nodes_tie(struct gv_rates *r, const struct gv_cluster *c, const struct gv_nodes *s,
    struct gv_error *e)
{
	const char **only = only_nodes(r, c);
	size_t i;
	int rc = 0;

	for (i = 0; i < r->n_jobs; i++)
		rc |= set_node(r, i, only[i], s, e);
	free(only);
	for (i = 0; i < r->n_rates; i++) {
		struct gv_rate *rate = &r->rate[i];

		if (rate->with >= 0)
			return gv_frame_error(&r->frame, rate->row,
			    gv_frame_find(&r->frame, "with_job_id"), e,
			    "jobs that name their nodes share no GPUs");
		if (rate->type >= 0)
			rate->type = type_there(s, c, rate, r->job[rate->job].node);
	}
	return rc;
}
