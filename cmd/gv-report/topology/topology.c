#include "topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/kind.h"

bool
topology_takes(const struct gv_tab *t)
{
	enum gv_kind kind = gv_tab_kind(t);

	return kind == GV_KIND_LINKS || kind == GV_KIND_TREES;
}

/* Where the part behind the last dot begins. */
static size_t
last_part(struct gv_cell name)
{
	size_t i = name.len;

	while (i > 0 && name.s[i - 1] != '.')
		i--;
	return i;
}

static size_t
host_of(struct topology *t, struct gv_cell name)
{
	size_t len = last_part(name), i;
	ptrdiff_t known;

	len -= len > 0;
	known = gv_hash_find(&t->hosts, name.s, len);
	if (known >= 0)
		return (size_t)known;
	t->host = gv_xgrow(t->host, &t->cap_hosts, t->n_hosts + 1, sizeof(*t->host));
	t->host[t->n_hosts] = gv_arena_strndup(&t->arena, name.s, len);
	i = gv_hash_add(&t->hosts, t->host[t->n_hosts], len);
	t->n_hosts++;
	return i;
}

static size_t
node_of(struct topology *t, struct gv_cell name)
{
	ptrdiff_t known = gv_hash_find(&t->names, name.s, name.len);
	size_t part = last_part(name);
	struct topology_node *n;

	if (known >= 0)
		return (size_t)known;
	t->node = gv_xgrow(t->node, &t->cap_nodes, t->n_nodes + 1, sizeof(*t->node));
	n = &t->node[t->n_nodes];
	*n = (struct topology_node){.name = gv_arena_strndup(&t->arena, name.s, name.len),
	    .len = name.len,
	    .host = host_of(t, name),
	    .relays = name.len - part < 3 || memcmp(name.s + part, "gpu", 3) != 0};
	gv_hash_add(&t->names, n->name, n->len);
	return t->n_nodes++;
}

static struct topology_link *
link_of(struct topology *t, size_t src, size_t dst)
{
	const size_t pair[2] = {src, dst};
	ptrdiff_t known = gv_hash_find(&t->pairs, (const char *)pair, sizeof(pair));
	char *kept;

	if (known >= 0)
		return &t->link[known];
	kept = gv_arena_alloc(&t->arena, 1, sizeof(pair));
	memcpy(kept, pair, sizeof(pair));
	gv_hash_add(&t->pairs, kept, sizeof(pair));
	t->link = gv_xgrow(t->link, &t->cap_links, t->n_links + 1, sizeof(*t->link));
	t->link[t->n_links] = (struct topology_link){src, dst, NAN, 0};
	return &t->link[t->n_links++];
}

static int
cells(const struct gv_frame *f, const char *const *name, ptrdiff_t *column, size_t n,
    struct gv_error *e)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < n; i++)
		rc |= gv_frame_require(f, name[i], &column[i], e);
	return rc;
}

static int
read_links(struct topology *t, const struct gv_frame *f, struct gv_error *e)
{
	static const char *const name[] = {"src", "dst", "gbytes_per_s"};
	ptrdiff_t column[3];
	size_t i, before = e->count;

	if (cells(f, name, column, 3, e) != 0)
		return -1;
	for (i = 0; i < f->n_rows; i++) {
		struct topology_link *l;
		size_t src, dst;
		double rate;

		if (gv_frame_double(f, i, column[2], NAN, &rate, e) != 0)
			continue;
		if (!(rate >= 0)) {
			gv_frame_error(f, i, column[2], e, "expected a number from 0 on");
			continue;
		}
		src = node_of(t, gv_frame_cell(f, i, column[0]));
		dst = node_of(t, gv_frame_cell(f, i, column[1]));
		l = link_of(t, src, dst);
		l->rate = isnan(l->rate) ? rate : l->rate + rate;
	}
	return e->count == before ? 0 : -1;
}

static size_t
tree_of(struct topology *t, int64_t number, size_t root, double weight)
{
	char *key = gv_arena_alloc(&t->arena, 1, sizeof(number));
	size_t i;

	memcpy(key, &number, sizeof(number));
	i = gv_hash_add(&t->numbers, key, sizeof(number));
	if (i == t->n_trees) {
		t->tree = gv_xgrow(t->tree, &t->cap_trees, i + 1, sizeof(*t->tree));
		t->tree[i] = (struct topology_tree){
		    .number = number, .root = root, .weight = weight, .from = t->n_edges};
		t->n_trees++;
	}
	return i;
}

static void
add_hop(struct topology *t, size_t node)
{
	t->hop = gv_xgrow(t->hop, &t->cap_hops, t->n_hops + 1, sizeof(*t->hop));
	t->hop[t->n_hops++] = node;
}

/* src, the switches of path with ; between them, dst. */
static void
add_edge(struct topology *t, size_t tree, bool reduce, struct gv_cell src,
    struct gv_cell path, struct gv_cell dst)
{
	size_t first = t->n_hops, i, from = 0;

	add_hop(t, node_of(t, src));
	for (i = 0; i <= path.len && path.len > 0; i++) {
		if (i < path.len && path.s[i] != ';')
			continue;
		add_hop(t, node_of(t, (struct gv_cell){path.s + from, i - from}));
		from = i + 1;
	}
	add_hop(t, node_of(t, dst));
	t->edge = gv_xgrow(t->edge, &t->cap_edges, t->n_edges + 1, sizeof(*t->edge));
	t->edge[t->n_edges++] =
	    (struct topology_edge){tree, first, t->n_hops - first, reduce};
	t->tree[tree].to = t->n_edges;
}

static int
read_trees(struct topology *t, const struct gv_frame *f, struct gv_error *e)
{
	static const char *const name[] = {
	    "tree", "root", "weight", "phase", "src", "dst"};
	ptrdiff_t column[6], path = gv_frame_find(f, "path");
	size_t i, before = e->count;

	if (cells(f, name, column, 6, e) != 0)
		return -1;
	for (i = 0; i < f->n_rows; i++) {
		struct gv_cell phase = gv_frame_cell(f, i, column[3]);
		bool reduce = gv_cell_is(phase, "reduce");
		int64_t number;
		double weight;
		size_t root;

		if (!reduce && !gv_cell_is(phase, "broadcast"))
			gv_frame_error(
			    f, i, column[3], e, "expected reduce or broadcast");
		if ((gv_frame_int(f, i, column[0], INT64_MIN, &number, e) |
			gv_frame_double(f, i, column[2], NAN, &weight, e)) != 0)
			continue;
		root = node_of(t, gv_frame_cell(f, i, column[1]));
		add_edge(t, tree_of(t, number, root, weight), reduce,
		    gv_frame_cell(f, i, column[4]), gv_frame_cell(f, i, path),
		    gv_frame_cell(f, i, column[5]));
	}
	return e->count == before ? 0 : -1;
}

int
topology_read(struct topology *t, struct gv_tab *tab, struct gv_error *e)
{
	bool links = gv_tab_kind(tab) == GV_KIND_LINKS;
	bool *has = links ? &t->has_links : &t->has_trees;
	struct gv_frame f;
	int rc;

	if (!topology_takes(tab) || *has)
		return gv_error_at(e, gv_tab_file(tab), gv_tab_line(tab), NULL,
		    "expected one table of links and one of trees");
	*has = true;
	if (gv_frame_read(&f, tab, e) != 0)
		return -1;
	rc = links ? read_links(t, &f, e) : read_trees(t, &f, e);
	gv_frame_free(&f);
	return rc;
}

/* ---- what comes of it ---- */

/* How far each GPU is from the root; an edge feeds dst from src, in a reduce the other way. */
static void
measure_tree(struct topology *t, size_t k, size_t *depth)
{
	struct topology_tree *tree = &t->tree[k];
	bool reduce = true, changed = true;
	size_t i, rounds;

	for (i = tree->from; i < tree->to; i++)
		if (t->edge[i].tree == k && !t->edge[i].reduce)
			reduce = false;
	memset(depth, 0, t->n_nodes * sizeof(*depth));
	/* edges come behind what feeds them: few rounds, and an end for what is no tree */
	for (rounds = 0; changed && rounds < t->n_nodes; rounds++) {
		changed = false;
		tree->edges = 0;
		for (i = tree->from; i < tree->to; i++) {
			const struct topology_edge *e = &t->edge[i];
			size_t a = t->hop[e->first], b = t->hop[e->first + e->n - 1];
			size_t from = reduce ? b : a, to = reduce ? a : b;

			if (e->tree != k || e->reduce != reduce)
				continue;
			tree->edges++;
			if (to != tree->root && depth[to] < depth[from] + 1 &&
			    depth[from] < t->n_nodes) {
				depth[to] = depth[from] + 1;
				changed = true;
			}
		}
	}
	for (i = 0; i < t->n_nodes; i++)
		if (depth[i] > tree->depth)
			tree->depth = depth[i];
}

void
topology_finish(struct topology *t)
{
	size_t *depth, i, k;

	for (i = 0; i < t->n_edges; i++) {
		const struct topology_edge *e = &t->edge[i];

		for (k = 0; k + 1 < e->n; k++)
			link_of(t, t->hop[e->first + k], t->hop[e->first + k + 1])
			    ->used += t->tree[e->tree].weight;
	}
	depth = gv_xcalloc(t->n_nodes + 1, sizeof(*depth));
	for (k = 0; k < t->n_trees; k++)
		measure_tree(t, k, depth);
	free(depth);
}

void
topology_free(struct topology *t)
{
	free(t->node);
	free(t->host);
	free(t->link);
	free(t->tree);
	free(t->edge);
	free(t->hop);
	gv_hash_free(&t->names);
	gv_hash_free(&t->hosts);
	gv_hash_free(&t->pairs);
	gv_hash_free(&t->numbers);
	gv_arena_free(&t->arena);
	*t = (struct topology){0};
}
