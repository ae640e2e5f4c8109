/* Merges of layers into groups, one after the other. */
#include "groups_merge.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

void
merges_free(struct merges *m)
{
	free(m->merge);
	memset(m, 0, sizeof(*m));
}

void
merges_add(struct merges *m, uint32_t src, uint32_t dst)
{
	m->merge[m->n++] = (struct gv_graph_edge){src, dst};
}

uint32_t *
merges_firsts(const struct merges *m, size_t k)
{
	uint32_t *first = gv_xcalloc(m->g->n, sizeof(*first));
	size_t i;

	for (i = 0; i < m->g->n; i++)
		first[i] = (uint32_t)i;
	/* backwards: what a group is merged into may itself be merged later */
	for (i = k; i-- > 0;)
		first[m->merge[i].dst] = first[m->merge[i].src];
	return first;
}

size_t
merges_groups(const struct merges *m, size_t k, uint32_t *group)
{
	uint32_t *first = merges_firsts(m, k);
	uint32_t *number = gv_xcalloc(m->g->n, sizeof(*number));
	uint32_t next = 0;
	size_t i;

	for (i = 0; i < m->g->n; i++) {
		if (number[first[i]] == 0)
			number[first[i]] = ++next;
		group[i] = number[first[i]] - 1;
	}
	free(first);
	free(number);
	return next;
}

/* ---- in the order of the layers ---- */

size_t
merges_order(const struct merges *m, const uint32_t *first, uint32_t *order)
{
	size_t n = 0, i;

	gv_graph_order(m->g, order);
	for (i = 0; i < m->g->n; i++)
		if (first[order[i]] == order[i])
			order[n++] = order[i];
	return n;
}
