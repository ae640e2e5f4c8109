#include "sched/life/events.h"

#include <string.h>

#include "base/num.h"

void
gv_life_names_init(struct gv_life_names *n, const struct gv_cluster *c,
    const struct gv_job *job, size_t n_jobs)
{
	size_t m;

	*n = (struct gv_life_names){.cluster = c, .job = job, .n_jobs = n_jobs};
	for (m = 0; m < n_jobs; m++)
		gv_hash_add(&n->ids, job[m].id.s, job[m].id.len);
}

void
gv_life_names_free(struct gv_life_names *n)
{
	gv_hash_free(&n->ids);
	*n = (struct gv_life_names){0};
}

const struct gv_pool *
gv_life_gpu_pool(const struct gv_life_names *n, const struct gv_life *l, size_t gpu)
{
	return &n->cluster->pool[l->rounds.gpu_pool[gpu]];
}

int
gv_life_gpu_id(const struct gv_life_names *n, const struct gv_life *l, size_t gpu)
{
	size_t p = l->rounds.gpu_pool[gpu];

	return gv_pool_id(&n->cluster->pool[p], gpu - l->rounds.pool[p].first);
}

void
gv_life_nodes(const struct gv_life_names *n, const struct gv_life *l, const size_t *gpu,
    size_t n_gpus, struct gv_strbuf *nodes)
{
	const char *first = gv_life_gpu_pool(n, l, gpu[0])->node;
	size_t i;

	for (i = 1;
	     i < n_gpus && strcmp(gv_life_gpu_pool(n, l, gpu[i])->node, first) == 0; i++)
		;
	gv_strbuf_str(nodes, first);
	for (n_gpus = i < n_gpus ? n_gpus : 1, i = 1; i < n_gpus; i++)
		gv_strbuf_fmt(nodes, ";%s", gv_life_gpu_pool(n, l, gpu[i])->node);
}

static struct gv_cell
text(const char *s)
{
	return (struct gv_cell){s, strlen(s)};
}

void
gv_life_event(const struct gv_life_names *n, const struct gv_life *l,
    const struct gv_life_row *row, struct gv_strbuf *gpus, struct gv_event *ev)
{
	size_t len;
	size_t i;

	*ev = (struct gv_event)GV_EVENT_NONE;
	ev->time_s = row->time_s;
	ev->kind = row->kind;
	ev->steps = row->steps;
	ev->round = row->round;
	ev->share = row->share;
	ev->reason = text(row->reason);
	if (row->job >= 0)
		ev->job_id = n->job[row->job].id;
	if (row->kind == GV_EVENT_ARRIVE)
		ev->reason = n->job[row->job].entity;
	if (row->with >= 0)
		ev->with_job_id = n->job[row->with].id;
	if (row->type >= 0)
		ev->gpu_type = text(n->cluster->type[row->type].name);
	gv_strbuf_clear(gpus);
	if (row->kind == GV_EVENT_POOL)
		ev->node = text(n->cluster->pool[row->pool].node);
	if (row->n_gpus == 0)
		return;
	for (i = 0; i < row->n_gpus; i++)
		gv_strbuf_fmt(
		    gpus, "%s%d", i > 0 ? ";" : "", gv_life_gpu_id(n, l, row->gpu[i]));
	len = gpus->len;
	gv_life_nodes(n, l, row->gpu, row->n_gpus, gpus);
	ev->gpus = (struct gv_cell){gpus->s, len};
	ev->node = (struct gv_cell){gpus->s + len, gpus->len - len};
}

/* ---- back ---- */

/* The GPU of that id and type on a node. */
static bool
find_gpu(const struct gv_life_names *n, const struct gv_life *l, size_t type,
    struct gv_cell node, int64_t id, size_t *gpu)
{
	bool found = false;
	size_t p;
	size_t i;

	for (p = 0; p < l->rounds.n_pools && !found; p++) {
		const struct gv_round_pool *pool = &l->rounds.pool[p];

		if (pool->type != type || !gv_cell_is(node, n->cluster->pool[p].node))
			continue;
		for (i = 0; i < pool->gpus && !found; i++) {
			*gpu = pool->first + i;
			found = gv_life_gpu_id(n, l, *gpu) == id;
		}
	}
	return found;
}

/* The list "0;1" as GPUs: their number, 0 when it is none of this cluster's. */
static size_t
parse_gpus(const struct gv_life_names *n, const struct gv_life *l, size_t type,
    const struct gv_event *ev, size_t *gpu)
{
	const char *s = ev->gpus.s;
	const char *end = s + ev->gpus.len;
	size_t n_gpus = 0;

	while (s < end) {
		const char *stop = memchr(s, ';', (size_t)(end - s));
		size_t len = (size_t)((stop != NULL ? stop : end) - s);
		int64_t id;

		if (n_gpus == l->rounds.n_gpus || gv_parse_int(s, len, &id) != 0 ||
		    !find_gpu(n, l, type, gv_event_node(ev, n_gpus), id, &gpu[n_gpus]))
			return 0;
		n_gpus++;
		s += len + 1;
	}
	return n_gpus;
}

static ptrdiff_t
find_job(const struct gv_life_names *n, struct gv_cell id)
{
	return id.len > 0 ? gv_hash_find(&n->ids, id.s, id.len) : -1;
}

void
gv_life_row(const struct gv_life_names *n, const struct gv_life *l,
    const struct gv_event *ev, size_t *gpu, struct gv_life_row *row)
{
	*row = (struct gv_life_row){.time_s = ev->time_s,
	    .kind = ev->kind,
	    .job = find_job(n, ev->job_id),
	    .with = find_job(n, ev->with_job_id),
	    .type = gv_cluster_find(n->cluster, ev->gpu_type),
	    .gpu = gpu,
	    .steps = ev->steps,
	    .round = ev->round,
	    .share = ev->share,
	    .reason = ""};
	if (row->type >= 0)
		row->n_gpus = parse_gpus(n, l, (size_t)row->type, ev, gpu);
	if (ev->kind == GV_EVENT_ALLOCATE && ev->with_job_id.len > 0 && row->with < 0)
		row->job = -1;
}
