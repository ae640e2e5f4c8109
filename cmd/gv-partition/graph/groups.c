/* Groups of layers that stay together. */
#include "groups_merge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MANY = 4096 };

/* ---- along paths ---- */

/* A group and the next of its path that could be one; stale when the group has grown since. */
struct pair {
	double time_s; /* of both together */
	uint32_t src;
};

/* Disjoint paths of groups while they shrink, and a heap of their pairs, the lightest on top. */
struct paths {
	uint32_t *next; /* NOBODY at the end */
	double *time_s;
	size_t n;
	struct pair *heap;
};

static bool
lighter(const struct pair *a, const struct pair *b)
{
	return a->time_s < b->time_s || (!(b->time_s < a->time_s) && a->src < b->src);
}

static void
sift_down(struct paths *p, size_t i)
{
	for (;;) {
		size_t least = i, child;
		struct pair swap;

		for (child = 2 * i + 1; child <= 2 * i + 2 && child < p->n; child++)
			if (lighter(&p->heap[child], &p->heap[least]))
				least = child;
		if (least == i)
			return;
		swap = p->heap[i];
		p->heap[i] = p->heap[least];
		p->heap[least] = swap;
		i = least;
	}
}

static void
paths_open(struct paths *p, const struct merges *m)
{
	uint32_t *first = merges_firsts(m, m->n);
	size_t i;

	p->next = gv_xcalloc(m->g->n, sizeof(*p->next));
	p->time_s = gv_xcalloc(m->g->n, sizeof(*p->time_s));
	p->heap = gv_xcalloc(m->g->n, sizeof(*p->heap));
	for (i = 0; i < m->g->n; i++) {
		p->next[i] = NOBODY;
		p->time_s[first[i]] += m->g->layer[i].time_s;
	}
	free(first);
}

static void
paths_close(struct paths *p)
{
	free(p->next);
	free(p->time_s);
	free(p->heap);
}

/* Merges neighbours until so many merges were made, or none are left. */
static void
paths_merge(struct paths *p, struct merges *m, size_t most)
{
	size_t i;

	for (i = 0; i < m->g->n; i++)
		if (p->next[i] != NOBODY)
			p->heap[p->n++] = (struct pair){
			    p->time_s[i] + p->time_s[p->next[i]], (uint32_t)i};
	for (i = p->n / 2; i-- > 0;)
		sift_down(p, i);
	while (p->n > 0 && m->n < most) {
		uint32_t src = p->heap[0].src, dst = p->next[src];
		double now_s = dst == NOBODY ? 0 : p->time_s[src] + p->time_s[dst];

		if (dst == NOBODY) {
			p->heap[0] = p->heap[--p->n];
		} else if (p->heap[0].time_s < now_s) {
			p->heap[0].time_s = now_s;
		} else {
			merges_add(m, src, dst);
			p->time_s[src] = now_s;
			p->next[src] = p->next[dst];
			p->next[dst] = NOBODY; /* takes its pair out of the heap */
		}
		sift_down(p, 0);
	}
	paths_close(p);
}

void
merges_linear(struct merges *m, const struct gv_graph *g)
{
	struct paths p = {0};
	size_t *out = gv_xcalloc(g->n, sizeof(*out));
	size_t *in = gv_xcalloc(g->n, sizeof(*in));
	size_t k;

	*m = (struct merges){.g = g};
	m->merge = gv_xcalloc(g->n, sizeof(*m->merge));
	for (k = 0; k < g->n_edges; k++) {
		out[g->edge[k].src]++;
		in[g->edge[k].dst]++;
	}
	paths_open(&p, m);
	for (k = 0; k < g->n_edges; k++)
		if (out[g->edge[k].src] == 1 && in[g->edge[k].dst] == 1)
			p.next[g->edge[k].src] = g->edge[k].dst;
	paths_merge(&p, m, g->n);
	free(out);
	free(in);
}

/* Merges neighbours in the order of the layers until so many merges were made. */
static void
merge_in_order(struct merges *m, size_t most)
{
	uint32_t *first = merges_firsts(m, m->n);
	uint32_t *order = gv_xcalloc(m->g->n, sizeof(*order));
	struct paths p = {0};
	size_t n = merges_order(m, first, order), i;

	paths_open(&p, m);
	for (i = 1; i < n; i++)
		p.next[order[i - 1]] = order[i];
	paths_merge(&p, m, most);
	free(first);
	free(order);
}

void
merges_further(struct merges *m)
{
	if (m->g->n - m->n > MANY)
		merge_in_order(m, m->g->n - MANY);
	merges_edges(m);
	merge_in_order(m, m->g->n);
}
