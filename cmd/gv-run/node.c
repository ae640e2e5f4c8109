#include "node.h"

#include <string.h>
#include <unistd.h>

static bool
same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static bool
of_one_node(const struct gv_cluster *c)
{
	size_t p;

	for (p = 1; p < c->n_pools; p++)
		if (!same(c->pool[p].node, c->pool[0].node))
			return false;
	return true;
}

static int
keep_node(struct gv_cluster *c, const char *file, const char *node, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	size_t n = 0;
	size_t p;
	size_t i;

	for (i = 0; i < c->n_types; i++)
		c->type[i].gpus = 0;
	for (p = 0; p < c->n_pools; p++) {
		struct gv_pool pool = c->pool[p];

		if (!same(pool.node, "") && !same(pool.node, node))
			continue;
		for (i = 0; i < n; i++)
			if (c->pool[i].type == pool.type)
				return gv_error_at(e, file, 0, "node",
				    "GPU type \"%s\" both with node %s and with none",
				    c->type[pool.type].name,
				    gv_quote(q, node, strlen(node)));
		c->pool[n++] = pool;
		c->type[pool.type].gpus += pool.gpus;
	}
	c->n_pools = n;
	if (n == 0)
		return gv_error_at(e, file, 0, "node", "no pool of node %s",
		    gv_quote(q, node, strlen(node)));
	return 0;
}

int
node_select(struct gv_cluster *c, const char *file, const char *node, struct gv_error *e)
{
	char host[256] = "";
	char q[2][GV_QUOTE_LEN];
	size_t p;

	if (node != NULL)
		return keep_node(c, file, node, e);
	if (of_one_node(c))
		return 0;
	gethostname(host, sizeof(host) - 1);
	for (p = 0; p < c->n_pools; p++)
		if (!same(c->pool[p].node, "") && !same(c->pool[p].node, host))
			return gv_error_at(e, file, 0, "node",
			    "pools of several nodes, %s is not this host (%s); say which "
			    "with --node",
			    gv_quote(q[0], c->pool[p].node, strlen(c->pool[p].node)),
			    gv_quote(q[1], host, strlen(host)));
	return keep_node(c, file, host, e);
}

int
node_write(const struct gv_cluster *c, const struct gv_frame *f, const char *path,
    struct gv_error *e)
{
	ptrdiff_t type = gv_frame_find(f, "gpu_type");
	ptrdiff_t node = gv_frame_find(f, "node");
	struct gv_out *out;
	struct gv_tabw w;
	size_t row;
	size_t i;

	if (gv_out_open(&out, path, e) != 0)
		return -1;
	gv_tabw_init(&w, out, false);
	for (i = 0; i < f->n_columns; i++)
		gv_tabw_cell(&w, f->name[i]);
	gv_tabw_end(&w);
	for (row = 0; row < f->n_rows; row++) {
		const char *name = gv_frame_cell(f, row, node).s;
		size_t p;

		for (p = 0; p < c->n_pools; p++)
			if (same(c->pool[p].node, name) &&
			    gv_cell_is(gv_frame_cell(f, row, type),
				c->type[c->pool[p].type].name))
				break;
		if (p == c->n_pools)
			continue;
		for (i = 0; i < f->n_columns; i++)
			gv_tabw_cell(&w, gv_frame_cell(f, row, (ptrdiff_t)i));
		gv_tabw_end(&w);
	}
	return gv_out_close(out, e);
}
