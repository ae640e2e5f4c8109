/* Gangs on one node and on several: two speeds on the same GPUs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sched/rates.h"

static const char suffix[] = "_unconsolidated";

/* The type of the cluster whose GPUs those of that name are, spread; or -1. */
static ptrdiff_t
spread_of(const struct gv_cluster *c, struct gv_cell name)
{
	size_t len = sizeof(suffix) - 1;

	if (name.len <= len || memcmp(name.s + name.len - len, suffix, len) != 0)
		return -1;
	name.len -= len;
	return gv_cluster_find(c, name);
}

/* The nodes of each type.  The caller's. */
struct nodes {
	size_t n;
	size_t largest; /* GPUs */
};

static struct nodes *
find_nodes(const struct gv_cluster *c)
{
	struct nodes *nodes = gv_xcalloc(c->n_types, sizeof(*nodes));
	size_t i;

	for (i = 0; i < c->n_pools; i++) {
		struct nodes *of = &nodes[c->pool[i].type];

		of->n++;
		if (c->pool[i].gpus > of->largest)
			of->largest = c->pool[i].gpus;
	}
	return nodes;
}

/* Which rows a job has on a type; a set. */
enum { TOGETHER = 1, SPREAD = 2 };

/* Whether a row of the two may count on such nodes. */
static bool
may_count(bool together, unsigned has, size_t gang, const struct nodes *nodes)
{
	if (has != (TOGETHER | SPREAD))
		return true;
	return together ? gang <= nodes->largest : gang > 1 && nodes->n > 1;
}

/* Of the rows of a job on a type, the one that counts: *best is its number + 1. */
static void
choose(const struct gv_rates *r, const struct gv_cluster *c, const ptrdiff_t *spread,
    size_t *best)
{
	struct nodes *nodes = find_nodes(c);
	unsigned char *has = gv_xcalloc(r->n_jobs, c->n_types);
	size_t i;

	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];
		unsigned char *of = &has[rate->job * c->n_types];

		if (spread[i] >= 0)
			of[spread[i]] |= SPREAD;
		else if (rate->type >= 0 && rate->with < 0)
			of[rate->type] |= TOGETHER;
	}
	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];
		ptrdiff_t type = rate->type >= 0 ? rate->type : spread[i];
		size_t at;
		double before;

		if (rate->with >= 0 || type < 0)
			continue;
		at = rate->job * c->n_types + (size_t)type;
		if (!may_count(rate->type >= 0, has[at],
			(size_t)r->job[rate->job].scale_factor, &nodes[type]))
			continue;
		before = best[at] > 0 ? r->rate[best[at] - 1].steps_per_s : -1;
		if (rate->steps_per_s > before ||
		    (rate->steps_per_s == before && rate->type >= 0))
			best[at] = i + 1;
	}
	free(nodes);
	free(has);
}

void
gv_rates_spread(struct gv_rates *r, const struct gv_cluster *c)
{
	ptrdiff_t column = gv_frame_find(&r->frame, "gpu_type");
	ptrdiff_t *spread = gv_xcalloc(r->n_rates, sizeof(*spread));
	size_t *best = NULL;
	size_t i, n = 0;

	for (i = 0; i < r->n_rates; i++) {
		spread[i] = -1;
		if (r->rate[i].type < 0 && r->rate[i].with < 0)
			spread[i] = spread_of(
			    c, gv_frame_cell(&r->frame, r->rate[i].row, column));
		n += spread[i] >= 0;
	}
	if (n > 0) {
		best = gv_xcalloc(r->n_jobs, c->n_types * sizeof(*best));
		choose(r, c, spread, best);
	}
	for (i = 0; n > 0 && i < r->n_rates; i++) {
		struct gv_rate *rate = &r->rate[i];
		ptrdiff_t type = rate->type >= 0 ? rate->type : spread[i];

		if (rate->with < 0 && type >= 0)
			rate->type = best[rate->job * c->n_types + (size_t)type] == i + 1
					 ? type
					 : -1;
	}
	free(spread);
	free(best);
}
