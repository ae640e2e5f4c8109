#include "pools/allocation.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"

/* ---- pools as Slurm has them ---- */

static void
write_pool(struct gv_tabw *w, const struct gv_slurm_node *node, size_t first, size_t n)
{
	struct gv_strbuf ids = {0};
	size_t i;

	for (i = first; i < first + n; i++)
		gv_strbuf_fmt(&ids, "%s%d", i > first ? ";" : "", node->gpu[i].id);
	gv_tabw_str(w, node->gpu[first].type);
	gv_tabw_int(w, (int64_t)n);
	gv_tabw_str(w, node->name);
	gv_tabw_str(w, ids.s);
	gv_tabw_end(w);
	gv_strbuf_free(&ids);
}

/* The GPUs of one type of a node stand together: Slurm numbers them so. */
static int
table_of_slurm(
    const struct gv_slurm_allocation *s, struct gv_frame *f, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_tabw w;
	size_t i, k, first;
	int rc;

	gv_tabw_init(&w, out, false);
	gv_tabw_str(&w, "gpu_type");
	gv_tabw_str(&w, "gpus");
	gv_tabw_str(&w, "node");
	gv_tabw_str(&w, "ids");
	gv_tabw_end(&w);
	for (i = 0; i < s->n_nodes; i++)
		for (first = 0; first < s->node[i].n_gpus; first = k) {
			const struct gv_slurm_gpu *gpu = s->node[i].gpu;

			for (k = first; k < s->node[i].n_gpus &&
					strcmp(gpu[k].type, gpu[first].type) == 0;)
				k++;
			write_pool(&w, &s->node[i], first, k - first);
		}
	rc = gv_out_close(out, e);
	if (rc == 0 && text.s != NULL)
		rc = gv_frame_parse(f, "Slurm's GPUs", text.s, text.len, e);
	gv_strbuf_free(&text);
	return rc;
}

/* ---- a table that was given ---- */

static void
add_row(struct gv_frame *to, const struct gv_frame *f, size_t row)
{
	struct gv_cell *cell = gv_xcalloc(f->n_columns + 1, sizeof(*cell));
	size_t i;

	for (i = 0; i < f->n_columns; i++)
		cell[i] = gv_frame_cell(f, row, (ptrdiff_t)i);
	gv_frame_add(to, cell, f->line[row]);
	free(cell);
}

/* Of a table, the rows of nodes that are in the allocation.  0 or -1. */
static int
take_rows(const struct gv_slurm_allocation *s, bool quiet, struct gv_frame *f,
    struct gv_error *e)
{
	ptrdiff_t node = gv_frame_find(f, "node");
	struct gv_strbuf others = {0};
	struct gv_frame ours;
	size_t row;

	gv_frame_start(&ours, f->file, f->tsv, f->name, f->n_columns);
	ours.header_line = f->header_line;
	for (row = 0; row < f->n_rows; row++) {
		struct gv_cell name = gv_frame_cell(f, row, node);

		if (name.len == 0)
			gv_frame_error(f, row, node, e,
			    "expected the node of these GPUs: under Slurm all have one");
		else if (gv_slurm_find(s, name.s, name.len) != NULL)
			add_row(&ours, f, row);
		else
			gv_strbuf_fmt(&others, "%s%.*s", others.len > 0 ? ", " : "",
			    (int)name.len, name.s);
	}
	if (e->count == 0 && others.len > 0 && !quiet)
		gv_warn("warning: not in the allocation, and left out: %s", others.s);
	if (e->count == 0 && ours.n_rows == 0)
		gv_error_at(e, f->file, 0, "node", "no node of the allocation");
	gv_strbuf_free(&others);
	gv_frame_free(f);
	*f = ours;
	return e->count == 0 ? 0 : -1;
}

static bool
has_gpu(const struct gv_slurm_node *node, int id)
{
	size_t i;

	for (i = 0; i < node->n_gpus; i++)
		if (node->gpu[i].id == id)
			return true;
	return false;
}

/* Real GPUs that the table names are there for tasks. */
static int
check_ids(
    const struct gv_slurm_allocation *s, const struct gv_frame *f, struct gv_error *e)
{
	struct gv_cluster c;
	size_t p, i;

	if (gv_cluster_from(&c, f, e) != 0)
		return -1;
	for (p = 0; p < c.n_pools; p++) {
		const struct gv_pool *pool = &c.pool[p];
		const struct gv_slurm_node *node =
		    gv_slurm_find(s, pool->node, strlen(pool->node));
		struct gv_strbuf seen = {0};

		for (i = 0; i < node->n_gpus; i++)
			gv_strbuf_fmt(&seen, "%s%d", i > 0 ? ";" : "", node->gpu[i].id);
		for (i = 0; c.type[pool->type].threads == 0 && i < pool->gpus; i++)
			if (!has_gpu(node, gv_pool_id(pool, i))) {
				gv_error_at(e, f->file, f->line[p], "ids",
				    "node %s has no GPU %d for its tasks, which see %s",
				    node->name, gv_pool_id(pool, i),
				    seen.len > 0 ? seen.s : "none");
				break;
			}
		gv_strbuf_free(&seen);
	}
	gv_cluster_free(&c);
	return e->count == 0 ? 0 : -1;
}

int
gv_pools_table(const struct gv_slurm_allocation *s, const char *given, bool quiet,
    struct gv_frame *f, struct gv_error *e)
{
	if (given == NULL)
		return table_of_slurm(s, f, e);
	if (gv_frame_load(f, given, e) != 0 || take_rows(s, quiet, f, e) != 0)
		return -1;
	return check_ids(s, f, e);
}

/* ---- groups ---- */

int
gv_pools_check_groups(const struct gv_slurm_allocation *s, const struct gv_cluster *c,
    size_t gang, struct gv_error *e)
{
	const struct gv_slurm_node **first = gv_xcalloc(c->n_types + 1, sizeof(*first));
	size_t p;

	for (p = 0; gang > 1 && p < c->n_pools; p++) {
		const struct gv_pool *pool = &c->pool[p];
		const struct gv_slurm_node *node =
		    gv_slurm_find(s, pool->node, strlen(pool->node));

		if (first[pool->type] == NULL)
			first[pool->type] = node;
		else if (first[pool->type]->group != node->group) {
			gv_error_set(e,
			    "GPU type \"%s\" is in two groups of a heterogeneous job "
			    "(nodes %s and %s), and a gang cannot run in both: call them "
			    "differently in a cluster table",
			    c->type[pool->type].name, first[pool->type]->name,
			    node->name);
			break;
		}
	}
	free(first);
	return e->count == 0 ? 0 : -1;
}
