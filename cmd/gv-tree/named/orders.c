/* Rings, chains and one-hop trees. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hamilton.h"
#include "named.h"

static bool
has_direct_links(const struct fabric *f)
{
	size_t u, v;

	for (u = 0; u < f->n_gpus; u++)
		for (v = 0; v < f->n_gpus; v++)
			if (fabric_cap(f, u, v) > 0)
				return true;
	return false;
}

/*
 * The nodes from one GPU to another with the fewest hops, with a direct link or
 * about switches alone; their number, 0 = there is no way.
 */
static size_t
shortest(const struct fabric *f, size_t from, size_t to, bool direct, size_t *path)
{
	size_t *before = gv_xcalloc(f->n, sizeof(*before));
	size_t *queue = gv_xcalloc(f->n, sizeof(*queue));
	size_t head = 0, tail = 0, u, v, n = 0;

	for (v = 0; v < f->n; v++)
		before[v] = SIZE_MAX;
	before[from] = from;
	queue[tail++] = from;
	while (head < tail && before[to] == SIZE_MAX) {
		u = queue[head++];
		/* GPUs do not relay */
		for (v = 0; v < f->n && (u == from || u >= f->n_gpus); v++)
			if (before[v] == SIZE_MAX && fabric_cap(f, u, v) > 0 &&
			    (direct || u != from || v >= f->n_gpus)) {
				before[v] = u;
				queue[tail++] = v;
			}
	}
	if (before[to] != SIZE_MAX) {
		for (v = to; v != from; v = before[v])
			n++;
		path[0] = from;
		for (v = to, u = n++; v != from; v = before[v])
			path[u--] = v;
	}
	free(before);
	free(queue);
	return n;
}

/*
 * The largest weight at which trees of the given shares pass no link: cap over
 * load.  both_ways: each edge is used up and down.
 */
static void
fill(struct forest *t, const struct fabric *f, bool both_ways)
{
	int64_t *load = gv_xcalloc(f->n * f->n + 1, sizeof(*load));
	struct ratio w = {0, 0};
	size_t i, k, h;

	for (i = 0; i < t->n; i++)
		for (k = 0; k < t->tree[i].n_edges; k++) {
			const struct tree_edge *x = &t->tree[i].edge[k];

			for (h = 0; h + 1 < x->n_path; h++) {
				size_t u = x->path[h], v = x->path[h + 1];

				load[u * f->n + v] += t->tree[i].weight;
				load[v * f->n + u] += both_ways ? t->tree[i].weight : 0;
			}
		}
	for (i = 0; i < f->n * f->n; i++)
		if (load[i] > 0 &&
		    (w.under == 0 || f->cap[i] * w.under < w.over * load[i]))
			w = (struct ratio){f->cap[i], load[i]};
	free(load);
	t->unit = (struct ratio){f->unit * w.over, w.under};
}

static int
no_way(const struct fabric *f, size_t u, size_t v, const char *what, struct gv_error *e)
{
	char q[2][GV_QUOTE_LEN];

	return gv_error_set(e, "%s from %s to %s", what,
	    gv_quote(q[0], f->name[u], strlen(f->name[u])),
	    gv_quote(q[1], f->name[v], strlen(f->name[v])));
}

int
named_one_hop(
    struct forest *t, const struct fabric *f, const struct demand *d, struct gv_error *e)
{
	size_t *path = gv_xcalloc(f->n, sizeof(*path)), root, v, k;
	int rc = 0;

	*t = (struct forest){.unit = {f->unit, 1}};
	for (root = 0; root < f->n_gpus && rc == 0; root++) {
		struct tree *tree;

		if (d->share[root] == 0)
			continue;
		tree = forest_add(t, root, d->share[root], f->n_gpus - 1);
		for (v = 0, k = 0; v < f->n_gpus && rc == 0; v++) {
			size_t n = v != root ? shortest(f, root, v, true, path) : 0;

			if (v != root && (n < 2 || n > 3))
				rc = no_way(
				    f, root, v, "no link, and no switch between,", e);
			else if (v != root)
				tree_edge_set(&tree->edge[k++], path, n);
		}
	}
	free(path);
	if (rc == 0)
		fill(t, f, false);
	return rc;
}

/* The chain that begins at the root and goes once around the ring. */
static int
add_round(struct forest *t, const struct fabric *f, const size_t *order, size_t root,
    int64_t weight, bool direct, struct gv_error *e)
{
	size_t n = f->n_gpus, start = 0, i;
	struct tree *tree = forest_add(t, root, weight, n - 1);
	size_t *path = gv_xcalloc(f->n, sizeof(*path));
	int rc = 0;

	while (order[start] != root)
		start++;
	for (i = 0; i + 1 < n && rc == 0; i++) {
		size_t u = order[(start + i) % n], v = order[(start + i + 1) % n];
		size_t hops = shortest(f, u, v, direct, path);

		if (hops == 0)
			rc = no_way(f, u, v,
			    "direct links hold no ring or chain, and no switches lead",
			    e);
		else
			tree_edge_set(&tree->edge[i], path, hops);
	}
	free(path);
	return rc;
}

int
named_ring(
    struct forest *t, const struct fabric *f, const struct demand *d, struct gv_error *e)
{
	struct hamilton h = {0};
	size_t i, v, *order = gv_xcalloc(f->n_gpus, sizeof(*order));
	int rc = 0;

	*t = (struct forest){.unit = {f->unit, 1}};
	if (has_direct_links(f))
		rc = hamilton_pack(&h, f, HAMILTON_RING, 0, e);
	for (v = 0; v < f->n_gpus; v++)
		order[v] = v;
	for (v = 0; v < f->n_gpus && rc == 0; v++) {
		for (i = 0; i < h.n_orders && d->share[v] > 0 && rc == 0; i++)
			if (h.units[i] > 0)
				rc = add_round(
				    t, f, &h.order[i * h.n], v, h.units[i], true, e);
		if (h.n_orders == 0 && d->share[v] > 0 && rc == 0)
			rc = add_round(t, f, order, v, 1, false, e);
	}
	if (rc == 0 && h.n_orders > 0)
		t->unit.under = d->sum > 1 ? d->sum - 1 : 1;
	else if (rc == 0)
		fill(t, f, false);
	hamilton_free(&h);
	free(order);
	return rc;
}

int
named_chain(
    struct forest *t, const struct fabric *f, const size_t *root, struct gv_error *e)
{
	struct hamilton h = {0};
	size_t i, v, *order = gv_xcalloc(f->n_gpus, sizeof(*order));
	size_t first = root != NULL ? *root : 0;
	int rc = 0;

	*t = (struct forest){.unit = {f->unit, 1}};
	if (has_direct_links(f))
		rc = hamilton_pack(
		    &h, f, root != NULL ? HAMILTON_ROOT : HAMILTON_CHAIN, first, e);
	for (i = 0; i < h.n_orders && rc == 0; i++)
		if (h.units[i] > 0)
			rc = add_round(t, f, &h.order[i * h.n], h.order[i * h.n],
			    h.units[i], true, e);
	if (rc == 0 && h.n_orders == 0) {
		for (v = 0; v < f->n_gpus; v++)
			order[v] = (first + v) % f->n_gpus;
		rc = add_round(t, f, order, first, 1, false, e);
		if (rc == 0)
			fill(t, f, root == NULL);
	}
	hamilton_free(&h);
	free(order);
	return rc;
}
