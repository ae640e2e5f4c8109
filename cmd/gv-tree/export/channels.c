#include "channels.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { CHANNELS = 32 }; /* that NCCL's search has; it may double them */

static bool
has_rings(const struct plan *p)
{
	return p->wish.method == RING || p->wish.method == RELAYED_RING;
}

/* The GPUs of a chain in their order along it. */
static void
order_of(const struct plan *p, const struct tree *t, size_t *order, const char **kind)
{
	size_t k;

	order[0] = t->root;
	for (k = 0; k < t->n_edges; k++) {
		order[k + 1] = t->edge[k].to;
		if (t->edge[k].n_path > 2)
			*kind = t->edge[k].path[1] < p->f.n_gpus ? "NVB" : "SYS";
	}
	/* the hop that closes a ring is in no tree of its first GPU */
	if (has_rings(p) && strcmp(*kind, "NVL") == 0 &&
	    fabric_cap(&p->f, order[t->n_edges], order[0]) == 0)
		*kind = "NVB";
}

/* Of rings every GPU's tree is the same ring: one tree of each is looked at. */
static size_t
first_root(const struct plan *p)
{
	return has_rings(p) && p->forest.n > 0 ? p->forest.tree[0].root : SIZE_MAX;
}

static int64_t
whole_weight(const struct plan *p)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < p->forest.n; i++)
		if (first_root(p) == SIZE_MAX || p->forest.tree[i].root == first_root(p))
			sum += p->forest.tree[i].weight;
	return sum;
}

void
channels_free(struct channels *c)
{
	free(c->order);
	*c = (struct channels){0};
}

int
channels_of(struct channels *c, const struct plan *p, struct gv_error *e)
{
	int64_t sum = whole_weight(p);
	double unit = (double)p->forest.unit.over / (double)p->forest.unit.under * 1e-6;
	size_t n = p->f.n_gpus, i, cap = 0, *order = gv_xcalloc(n + 1, sizeof(*order));

	*c = (struct channels){.n_gpus = n, .rings = has_rings(p), .kind = "NVL"};
	if (!has_rings(p) && p->wish.method != CHAIN) {
		free(order);
		return gv_error_set(e,
		    "NCCL takes rings and chains, no trees: use --method=ring or chain");
	}
	for (i = 0; i < p->forest.n; i++) {
		const struct tree *t = &p->forest.tree[i];
		int64_t some = t->weight, k;

		if (first_root(p) != SIZE_MAX && t->root != first_root(p))
			continue;
		order_of(p, t, order, &c->kind);
		if (sum > CHANNELS) /* one at least; the others by weight */
			some = 1 + (t->weight - 1) * CHANNELS / sum;
		for (k = 0; k < some && c->n < CHANNELS; k++) {
			c->order =
			    gv_xgrow(c->order, &cap, (c->n + 1) * n, sizeof(*order));
			memcpy(c->order + c->n++ * n, order, n * sizeof(*order));
		}
	}
	free(order);
	/* each link of a ring carries the parts of all roots but one */
	c->gbytes_per_s = (double)sum * unit / (double)(c->n > 0 ? c->n : 1);
	if (has_rings(p) && p->forest.n > 0 && p->wish.collective != BROADCAST &&
	    p->wish.collective != REDUCE)
		c->gbytes_per_s *=
		    (double)(n - 1) * (p->wish.collective == ALL_REDUCE ? 2.0 : 1.0);
	return 0;
}
