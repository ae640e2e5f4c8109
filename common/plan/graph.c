/* The layers' order. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/graph.h"

void
gv_graph_free(struct gv_graph *g)
{
	free(g->layer);
	free(g->edge);
	free(g->tie);
	memset(g, 0, sizeof(*g));
}

/* The layers whose feeders are all done, as a heap: the lowest number on top. */
struct ready {
	size_t n;
	uint32_t *heap;
};

static void
push(struct ready *r, uint32_t v)
{
	size_t i = r->n++;

	for (; i > 0 && r->heap[(i - 1) / 2] > v; i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = v;
}

static uint32_t
pop(struct ready *r)
{
	uint32_t top = r->heap[0], v = r->heap[--r->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < r->n) {
		if (child + 1 < r->n && r->heap[child + 1] < r->heap[child])
			child++;
		if (r->heap[child] >= v)
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = v;
	return top;
}

size_t *
gv_graph_fed(const struct gv_graph *g, uint32_t *dst)
{
	size_t *at = gv_xcalloc(g->n + 2, sizeof(*at));
	size_t i, k;

	for (k = 0; k < g->n_edges; k++)
		at[g->edge[k].src + 2]++;
	for (i = 2; i < g->n + 2; i++)
		at[i] += at[i - 1];
	for (k = 0; k < g->n_edges; k++)
		dst[at[g->edge[k].src + 1]++] = g->edge[k].dst;
	return at;
}

int
gv_graph_order(const struct gv_graph *g, uint32_t *order)
{
	size_t *waits = gv_xcalloc(g->n, sizeof(*waits));
	uint32_t *dst = gv_xcalloc(g->n_edges, sizeof(*dst));
	size_t *at = gv_graph_fed(g, dst);
	struct ready ready = {0, gv_xcalloc(g->n, sizeof(*ready.heap))};
	size_t i, k, n = 0;

	for (k = 0; k < g->n_edges; k++)
		waits[g->edge[k].dst]++;
	for (i = 0; i < g->n; i++)
		if (waits[i] == 0)
			push(&ready, (uint32_t)i);
	while (ready.n > 0) {
		i = order[n++] = pop(&ready);
		for (k = at[i]; k < at[i + 1]; k++)
			if (--waits[dst[k]] == 0)
				push(&ready, dst[k]);
	}
	if (n < g->n) {
		for (i = 0; waits[i] == 0; i++)
			;
		order[0] = (uint32_t)i;
	}
	free(waits);
	free(dst);
	free(at);
	free(ready.heap);
	return n == g->n ? 0 : -1;
}
