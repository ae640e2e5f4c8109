/* What layers need, and what needs them. */
#include "closures.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sets.h"

uint64_t *
closures_needs(const struct gv_graph *g)
{
	size_t words = (g->n + 63) / 64;
	uint64_t *need = gv_xcalloc(g->n * words, sizeof(*need));
	uint32_t *order = gv_xcalloc(g->n, sizeof(*order));
	uint32_t *dst = gv_xcalloc(g->n_edges, sizeof(*dst));
	size_t *at = gv_graph_fed(g, dst);
	size_t i, k, w;

	gv_graph_order(g, order);
	for (i = 0; i < g->n; i++) {
		size_t v = order[i];

		set_put(need + v * words, v);
		for (k = at[v]; k < at[v + 1]; k++)
			for (w = 0; w < words; w++)
				need[dst[k] * words + w] |= need[v * words + w];
	}
	free(order);
	free(dst);
	free(at);
	return need;
}

void
closures_open(struct closures *c, const struct gv_graph *g)
{
	size_t u, v;

	*c = (struct closures){.n = g->n, .words = (g->n + 63) / 64};
	c->need = closures_needs(g);
	c->feed = gv_xcalloc(g->n * c->words, sizeof(*c->feed));
	for (v = 0; v < g->n; v++)
		for (u = 0; u < g->n; u++)
			if (set_has(c->need + v * c->words, u))
				set_put(c->feed + u * c->words, v);
}

void
closures_close(struct closures *c)
{
	free(c->need);
	free(c->feed);
	memset(c, 0, sizeof(*c));
}
