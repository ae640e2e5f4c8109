#include "jobs.h"

#include <stdlib.h>
#include <string.h>

static struct gv_life_spec
spec_of(const struct gv_job *job, const char *log)
{
	return (struct gv_life_spec){.gang = (size_t)job->scale_factor,
	    .total_steps = job->total_steps,
	    .arrival_s = job->arrival_s,
	    .see = log};
}

void
jobs_make(struct jobs *j, const struct settings *o, char *const *log)
{
	size_t m;

	gv_life_names_init(&j->names, &j->cluster, j->table.job, j->table.n_jobs);
	gv_life_init(&j->life, &j->cluster, o->round_s, o->max_failures);
	j->life.rounds.order = o->order;
	for (m = 0; m < j->table.n_jobs; m++) {
		struct gv_life_spec spec =
		    spec_of(&j->table.job[m], log != NULL ? log[m] : NULL);

		gv_life_add(&j->life, &spec);
	}
	gv_life_take_shares(&j->life, &j->table);
}

void
jobs_free(struct jobs *j)
{
	gv_life_free(&j->life);
	gv_life_names_free(&j->names);
	gv_rates_free(&j->table);
	gv_cluster_free(&j->cluster);
	gv_hash_free(&j->taken);
	gv_arena_free(&j->arena);
}

void
jobs_taken(struct jobs *j, const char *id, size_t len)
{
	if (gv_hash_find(&j->taken, id, len) < 0)
		gv_hash_add(&j->taken, gv_arena_strndup(&j->arena, id, len), len);
}

/* ---- changes ---- */

/* The number that each type has in another cluster; the caller's. */
static ptrdiff_t *
map_types(const struct gv_cluster *from, const struct gv_cluster *to)
{
	ptrdiff_t *now = gv_xcalloc(from->n_types + 1, sizeof(*now));
	size_t i;

	for (i = 0; i < from->n_types; i++) {
		const char *name = from->type[i].name;

		now[i] = gv_cluster_find(to, (struct gv_cell){name, strlen(name)});
	}
	return now;
}

/* The same of GPUs. */
static ptrdiff_t *
map_gpus(const struct jobs *j, const struct gv_cluster *to)
{
	size_t n = j->life.rounds.n_gpus;
	ptrdiff_t *now = gv_xcalloc(n + 1, sizeof(*now));
	size_t g;

	for (g = 0; g < n; g++)
		now[g] = jobs_gpu_in(j, g, to);
	return now;
}

ptrdiff_t
jobs_gpu_in(const struct jobs *j, size_t gpu, const struct gv_cluster *to)
{
	const struct gv_pool *pool = gv_life_gpu_pool(&j->names, &j->life, gpu);
	const char *type = j->cluster.type[pool->type].name;
	int id = gv_life_gpu_id(&j->names, &j->life, gpu);
	size_t first = 0, p, i;

	for (p = 0; p < to->n_pools; first += to->pool[p++].gpus) {
		if (strcmp(to->pool[p].node, pool->node) != 0 ||
		    strcmp(to->type[to->pool[p].type].name, type) != 0)
			continue;
		for (i = 0; i < to->pool[p].gpus; i++)
			if (gv_pool_id(&to->pool[p], i) == id)
				return (ptrdiff_t)(first + i);
	}
	return -1;
}

int
jobs_change(struct jobs *j, struct gv_frame *table, struct gv_cluster *cluster,
    char *const *log, struct gv_error *e)
{
	struct gv_life_change c = {.cluster = cluster != NULL ? cluster : &j->cluster};
	struct gv_life_spec *spec;
	struct gv_rates t;
	ptrdiff_t *type = NULL, *gpu = NULL;
	size_t m, n = j->table.n_jobs;

	if (gv_rates_from(&t, table, c.cluster, e) != 0)
		return -1;
	gv_rates_spread(&t, c.cluster);
	spec = gv_xcalloc(t.n_jobs - n + 1, sizeof(*spec));
	for (m = n; m < t.n_jobs; m++)
		spec[m - n] = spec_of(&t.job[m], log[m]);
	if (cluster != NULL) {
		c.type = type = map_types(&j->cluster, cluster);
		c.gpu = gpu = map_gpus(j, cluster);
	}
	c.n_jobs = t.n_jobs - n;
	c.spec = spec;
	gv_life_change(&j->life, &c);
	gv_rates_free(&j->table);
	j->table = t;
	if (cluster != NULL) {
		gv_cluster_free(&j->cluster);
		j->cluster = *cluster;
	}
	gv_life_names_free(&j->names);
	gv_life_names_init(&j->names, &j->cluster, j->table.job, j->table.n_jobs);
	gv_life_take_shares(&j->life, &j->table);
	free(type);
	free(gpu);
	free(spec);
	return 0;
}

const char *
jobs_name(const struct jobs *j, size_t m, char q[GV_QUOTE_LEN])
{
	return gv_quote(q, j->table.job[m].id.s, j->table.job[m].id.len);
}
