/* Rings, chains and one-hop trees. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hamilton.h"
#include "named.h"
#include "ways.h"

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
			size_t n = v != root ? ways_shortest(f, root, v, true, path) : 0;

			if (v != root && (n < 2 || n > 3))
				rc = ways_none(
				    f, root, v, "no link, and no switch between,", e);
			else if (v != root)
				tree_edge_set(&tree->edge[k++], path, n);
		}
	}
	free(path);
	if (rc == 0)
		ways_fill(t, f, false);
	return rc;
}

/* The chain that begins at the root and goes once around; h NULL: over switches. */
static int
add_round(struct forest *t, const struct fabric *f, const struct hamilton *h,
    const size_t *order, size_t root, int64_t weight, struct gv_error *e)
{
	size_t n = f->n_gpus, start = 0, i;
	struct tree *tree = forest_add(t, root, weight, n - 1);
	size_t *path = gv_xcalloc(f->n + 3, sizeof(*path));
	int rc = 0;

	while (order[start] != root)
		start++;
	for (i = 0; i + 1 < n && rc == 0; i++) {
		size_t u = order[(start + i) % n], v = order[(start + i + 1) % n];
		size_t hops = h != NULL ? hamilton_hop(h, u, v, path)
					: ways_shortest(f, u, v, false, path);

		if (hops == 0)
			rc = ways_none(f, u, v,
			    "direct links hold no ring or chain, and no switches lead",
			    e);
		else
			tree_edge_set(&tree->edge[i], path, hops);
	}
	free(path);
	return rc;
}

int
named_ring(struct forest *t, const struct fabric *f, const struct demand *d, bool relayed,
    struct gv_error *e)
{
	struct hamilton h = {0};
	size_t i, v, *order = gv_xcalloc(f->n_gpus, sizeof(*order));
	int rc = 0;

	*t = (struct forest){.unit = {f->unit, 1}};
	if (has_direct_links(f))
		rc = hamilton_pack(&h, f, HAMILTON_RING, 0, e);
	if (rc == 0 && relayed && h.n_orders == 0) {
		hamilton_free(&h);
		rc = hamilton_pack(&h, f, HAMILTON_RELAYED, 0, e);
	}
	for (v = 0; v < f->n_gpus; v++)
		order[v] = v;
	for (v = 0; v < f->n_gpus && rc == 0; v++) {
		for (i = 0; i < h.n_orders && d->share[v] > 0 && rc == 0; i++)
			if (h.units[i] > 0)
				rc = add_round(
				    t, f, &h, &h.order[i * h.n], v, h.units[i], e);
		if (h.n_orders == 0 && d->share[v] > 0 && rc == 0)
			rc = add_round(t, f, NULL, order, v, 1, e);
	}
	if (rc == 0 && h.n_orders > 0)
		t->unit.under = d->sum > 1 ? d->sum - 1 : 1;
	else if (rc == 0)
		ways_fill(t, f, false);
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
			rc = add_round(
			    t, f, &h, &h.order[i * h.n], h.order[i * h.n], h.units[i], e);
	if (rc == 0 && h.n_orders == 0) {
		for (v = 0; v < f->n_gpus; v++)
			order[v] = (first + v) % f->n_gpus;
		rc = add_round(t, f, NULL, order, first, 1, e);
		if (rc == 0)
			ways_fill(t, f, root == NULL);
	}
	hamilton_free(&h);
	free(order);
	return rc;
}
